//! Summary of a training by `fit`, as text and as JSON.

use crate::args::semi;
use crate::output::console::{self, count, quoted, short};
use evermargin::estimators::online::lasvm::Online;
use evermargin::model::{Classifier, MulticlassScheme};
use evermargin::params::ParamValue;
use evermargin::pipeline::train::{Gamma, Trained};
use evermargin::solver::{Exit, Report};
use evermargin::{Labels, Model};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

/// The learner for rows of one class.
const ONE_CLASS: &str = "one-class";

/// Summary of a training by `fit`.
pub struct Summary<'a> {
    /// The data file.
    pub data: &'a Path,
    /// The kernel width as it was given.
    pub gamma: Option<Gamma>,
    /// Result of the training.
    pub trained: &'a Trained,
    /// All labels of the file, if some were hidden.
    pub truth: Option<&'a Labels>,
    /// Number of rows of the data.
    pub rows: usize,
    /// Number of features of the data.
    pub features: usize,
    /// The model file.
    pub model: Written<'a>,
    /// The state file.
    pub state: Option<Written<'a>>,
    /// Number of rows that were written as suspects.
    pub suspects: Option<usize>,
    /// Training time in seconds.
    pub seconds: f64,
}

/// A file that was written.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    /// Path of the file.
    pub path: &'a Path,
    /// Size in bytes.
    pub size: u64,
}

impl Summary<'_> {
    /// The line of `--json`.
    pub fn json(&self, started: Instant) -> Value {
        let c = &self.trained.classifier;
        let total = total(&self.trained.reports);
        let mut out = json!({
            "learner": c.learner,
            "kernel": kernel(c),
            "rows": self.rows,
            "features": self.features,
            "labeled": self.trained.counts.iter().sum::<usize>(),
            "classes": c.classes.len(),
            "class_names": c.classes,
            "class_counts": self.trained.counts,
            "scheme": c.scheme,
            "scaling": c.scaling.name(),
            "gamma": c.params.get("gamma"),
            "c": c.params.get("c"),
            "support_count": c.model.support_count(),
            "kernel_evaluations": total.kernel_evaluations,
            "objective": total.objective,
            "gap": total.gap,
            "steps": total.steps,
            "exit": total.exit,
            "threshold": c.params.get("threshold_value"),
            "probability": !c.calibration.is_empty(),
            "model": self.model.path.display().to_string(),
            "model_bytes": self.model.size,
            "threads": rayon::current_num_threads(),
            "seconds": self.seconds,
            "total_seconds": started.elapsed().as_secs_f64(),
        });
        let mut add = |name: &str, value: Value| out[name] = value;
        if let Some(online) = &self.trained.online {
            online_keys(online).into_iter().for_each(|(name, value)| add(name, value));
        }
        if let Some(semi) = &self.trained.semi {
            semi::keys(semi, self.truth, &c.classes).into_iter().for_each(|(name, value)| add(&name, value));
        }
        if let Some(state) = self.state {
            add("state", state.path.display().to_string().into());
            add("state_bytes", state.size.into());
        }
        if let Some(suspects) = self.suspects {
            add("suspects", suspects.into());
        }
        out
    }

    /// The text.
    pub fn text(&self) -> String {
        let c = &self.trained.classifier;
        let total = total(&self.trained.reports);
        let ended = ended(total.exit);
        let support = match &c.model {
            Model::Expansion { .. } => count(c.model.support_count(), "support vector"),
            Model::Linear { .. } => count(c.model.support_count(), "weight"),
            Model::Views { parts, .. } => {
                let size = count(c.model.support_count(), "point or weight");
                format!("{size} in {}", count(parts.len(), "view"))
            }
        };
        let (from, model) = (self.data.display(), self.model.path);
        format!(
            "{from}: {}, {}, {} ({})\n{}\n{ended} after {} in {} s: {support}, objective {}, gap {}\n{}model: {} ({})\n\
             next: evermargin predict {} NEW_DATA\n      {}",
            count(self.rows, "row"),
            count(self.features, "feature"),
            count(c.classes.len(), "class"),
            self.classes(),
            self.choices(),
            count(total.steps as usize, "step"),
            short(self.seconds),
            short(total.objective),
            short(total.gap),
            self.optional_lines(),
            model.display(),
            console::bytes(self.model.size),
            quoted(model),
            self.next(),
        )
    }

    fn classes(&self) -> String {
        let names = self.trained.classifier.classes.iter().zip(&self.trained.counts);
        let classes: Vec<String> = names.map(|(c, n)| format!("{c} {n}")).collect();
        match classes.get(..12) {
            Some(first) if classes.len() > 12 => format!("{}, …", first.join(", ")),
            _ => classes.join(", "),
        }
    }

    /// Lines about labels, suspects and the state, as far as there are any.
    fn optional_lines(&self) -> String {
        let mut out = String::new();
        if let Some(online) = &self.trained.online {
            let _ = writeln!(out, "used {}: {}", count(online.labels, "label"), online.stopped.why());
        }
        if let Some(found) = &self.trained.semi {
            let _ = writeln!(out, "{}", semi::text(found, self.truth, &self.trained.classifier.classes));
        }
        if let Some(suspects) = self.suspects {
            let _ = writeln!(out, "probably mislabeled: {}", count(suspects, "row"));
        }
        if let Some(state) = self.state {
            let _ = writeln!(out, "state: {} ({})", state.path.display(), console::bytes(state.size));
        }
        out
    }

    fn next(&self) -> String {
        match self.state {
            Some(state) => {
                let path = quoted(state.path);
                format!("evermargin fit MORE_DATA --resume {path} --state {path}    continues training")
            }
            None if self.trained.semi.is_some() => {
                format!("evermargin label {}    labels every row", quoted(self.data))
            }
            None if self.trained.classifier.learner == ONE_CLASS => {
                let (model, data) = (quoted(self.model.path), quoted(self.data));
                format!("evermargin predict {model} {data}    lists the rows outside")
            }
            None => format!("evermargin tune {}    searches for better parameters", quoted(self.data)),
        }
    }

    fn choices(&self) -> String {
        let c = &self.trained.classifier;
        let mut words = vec![c.learner.clone(), format!("{} kernel", kernel(c))];
        let gamma = c.params.get("gamma").and_then(ParamValue::as_f64);
        if let Some(gamma) = gamma.filter(|_| kernel(c) != "linear") {
            let how = match self.gamma {
                Some(Gamma::Value(_)) => "",
                Some(Gamma::Auto) => " (auto)",
                _ => " (scale)",
            };
            words.push(format!("gamma {}{how}", short(gamma)));
        }
        if let Some(cost) = c.params.get("c").and_then(ParamValue::as_f64) {
            words.push(format!("C {}", short(cost)));
        }
        if let Some(nu) = c.params.get("nu").and_then(ParamValue::as_f64).filter(|_| c.learner == ONE_CLASS) {
            words.push(format!("nu {}", short(nu)));
        }
        if c.scheme != MulticlassScheme::Binary {
            words.push(
                if c.scheme == MulticlassScheme::OneVsOne { "one-vs-one" } else { "one-vs-rest" }.into(),
            );
        }
        words.push(format!("scaling {}", c.scaling.name()));
        if let Some(threshold) = c.params.get("threshold_value").and_then(ParamValue::as_f64) {
            words.push(format!("threshold {}", short(threshold)));
        }
        if !c.calibration.is_empty() {
            words.push("probabilities".into());
        }
        words.join(", ")
    }
}

/// The name of the kernel of a model.
pub fn kernel(c: &Classifier) -> String {
    match &c.model {
        Model::Expansion { kernel, .. } => kernel.name().into(),
        // the kernel of the parameters is that of the candidates
        Model::Linear { .. } if c.learner == "auto" => "linear".into(),
        Model::Linear { .. } | Model::Views { .. } => {
            c.params.get("kernel").and_then(ParamValue::as_str).unwrap_or("linear").into()
        }
    }
}

/// Words for the exit of a solver.
pub fn ended(exit: Exit) -> &'static str {
    match exit {
        Exit::Converged => "converged",
        Exit::Limit => "step limit reached, not converged,",
        Exit::Interrupted => "interrupted, not converged,",
        Exit::Stalled => "stalled at the limits of floating point",
    }
}

/// One report for all problems: sums, the largest gap, the worst exit.
pub fn total(reports: &[Report]) -> Report {
    let rank = |e: Exit| match e {
        Exit::Converged => 0,
        Exit::Stalled => 1,
        Exit::Limit => 2,
        Exit::Interrupted => 3,
    };
    let mut out = Report { steps: 0, objective: 0.0, gap: 0.0, kernel_evaluations: 0, exit: Exit::Converged };
    for r in reports {
        out.steps += r.steps;
        out.objective += r.objective;
        out.gap = out.gap.max(r.gap);
        out.kernel_evaluations += r.kernel_evaluations;
        if rank(r.exit) > rank(out.exit) {
            out.exit = r.exit;
        }
    }
    out
}

/// Keys that an online learner adds to `--json`.
fn online_keys(online: &Online) -> [(&'static str, Value); 12] {
    let counts = &online.counts;
    let ramp = |[left, slope, right]: [u64; 3]| json!({ "left": left, "slope": slope, "right": right });
    [
        ("labels_used", online.labels.into()),
        ("stopped", json!(online.stopped)),
        ("samples_seen", counts.seen.into()),
        ("process_steps", counts.process.into()),
        ("reprocess_steps", counts.reprocess.into()),
        ("spare_evaluations", counts.spare.into()),
        ("admitted", ramp(counts.admitted)),
        ("dropped", ramp(counts.dropped)),
        ("support_negative", online.support[0].into()),
        ("support_positive", online.support[1].into()),
        ("virtual_points", online.virtual_points[0].into()),
        ("virtual_support", online.virtual_points[1].into()),
    ]
}
