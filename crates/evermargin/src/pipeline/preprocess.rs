//! From a table with class labels to the input of a learner: the rows that count, scaled, and one two-class
//! problem for each decision function.

use crate::data::{Label, Labels, Matrix};
use crate::error::{Error, Remedy, Result};
use crate::estimators::{ClassWeight, EstimatorSpec, Targets};
use crate::model::{MulticlassScheme, Scaling};
use crate::pipeline::options::{Gamma, ScalingChoice, TrainOptions};
use std::borrow::Cow;

/// What a learner is given, and how it came to be.
#[derive(Debug)]
pub struct Prepared {
    /// Scaled samples. Unlabeled rows are dropped, except for learners that use them and from a precomputed kernel,
    /// whose rows are its columns.
    pub x: Matrix,
    /// Their labels; every class has a row.
    pub labels: Labels,
    /// How outputs make classes.
    pub scheme: MulticlassScheme,
    /// One problem an output.
    pub problems: Vec<Targets>,
    /// The scaling that was applied.
    pub scaling: Scaling,
    /// The weight of each class that is in the costs of the problems.
    pub class_weight: Vec<f64>,
    /// Weights of rows, where they were given.
    pub weights: Option<Vec<f64>>,
    /// What was chosen or left out, for people.
    pub notes: Vec<String>,
}

/// Drops rows without a label, scales, and poses the two-class problems.
pub fn prepare(
    x: Matrix,
    labels: &Labels,
    learner: &EstimatorSpec,
    options: &TrainOptions,
) -> Result<Prepared> {
    if labels.of.len() != x.rows() {
        return Err(Error::Shape { what: "labels", expected: x.rows(), found: labels.of.len() });
    }
    if x.cols() == 0 {
        return Err(Error::Data("the data has no features".into()));
    }
    let mut notes = Vec::new();
    let precomputed = options.kernel(learner).as_deref() == Some("precomputed");
    let mut weights = match &options.weights {
        Some(w) if w.len() != x.rows() => {
            return Err(Error::Shape { what: "weights", expected: x.rows(), found: w.len() });
        }
        Some(w) => w.clone(),
        None => vec![1.0; x.rows()],
    };
    let needs_all = learner.uses_unlabeled || options.warp.is_some();
    let mut labels = if learner.one_class {
        refuse_what_needs_two(learner, options)?;
        weighty(&one_sided(labels, &mut notes)?, &weights, needs_all).into_owned()
    } else {
        with_rows(&weighty(labels, &weights, needs_all), &mut notes)?
    };
    let scheme = scheme(&labels, learner, options, &mut notes)?;
    let mut x = x;
    if precomputed {
        if x.rows() != x.cols() {
            return Err(Error::Shape {
                what: "columns of a precomputed kernel",
                expected: x.rows(),
                found: x.cols(),
            });
        }
    } else if labels.labeled() < labels.of.len() && !needs_all {
        let keep: Vec<usize> = (0..labels.of.len()).filter(|&i| labels.of[i].is_some()).collect();
        if !learner.one_class {
            notes.push(format!("{} rows without a label are left out", labels.of.len() - keep.len()));
        }
        x = x.view().select(&keep);
        weights = keep.iter().map(|&i| weights[i]).collect();
        labels.of = keep.iter().map(|&i| labels.of[i]).collect();
    }

    let choice = match options.scaling {
        Some(choice) if precomputed && choice != ScalingChoice::NONE => {
            return Err(Error::parameter("scale", choice.name(), "none for a precomputed kernel"));
        }
        Some(choice) => choice,
        None if precomputed => ScalingChoice::NONE,
        None => {
            let (name, why) = Scaling::choose(x.view());
            notes.push(format!("scaling: {} ({why})", name.name()));
            ScalingChoice::Named(name)
        }
    };
    let scaling = choice.fit(x.view())?;
    let x = scaling.apply(x)?;

    let class_weight = options.class_weight.of(&labels.classes, &sums(&labels, &weights))?;
    let given = options.weights.as_ref().map(|_| weights.clone());
    for (w, class) in weights.iter_mut().zip(&labels.of) {
        *w *= class.map_or(1.0, |c| class_weight[c as usize]);
    }
    let problems = problems(&labels, scheme, &weights);
    Ok(Prepared { x, labels, scheme, problems, scaling, class_weight, weights: given, notes })
}

/// Most classes for which each pair is a problem unless asked for: the problems grow with the square.
const MAX_PAIRED_CLASSES: usize = 30;
/// Most classes of all.
pub(crate) const MAX_CLASSES: usize = 10_000;
/// Most bytes for labels and weights of the problems; each problem has its own, as long as the data.
const MAX_TARGET_BYTES: usize = 4 << 30;

/// Classes up to which one label per class is accepted.
const MAX_SINGLE_LABELS: usize = 100;

/// Whether labels that hardly repeat look like another column: too many of them, or several numbers with a fraction.
fn are_hardly_classes(classes: &[String]) -> bool {
    let has_fraction = |name: &String| name.parse::<f64>().is_ok_and(|v| v.fract() != 0.0);
    classes.len() > MAX_SINGLE_LABELS || (classes.len() > 10 && classes.iter().any(has_fraction))
}

/// The scheme asked for, or the one that suits; refuses labels that are hardly classes, and more problems than
/// fit into memory.
fn scheme(
    labels: &Labels,
    learner: &EstimatorSpec,
    options: &TrainOptions,
    notes: &mut Vec<String>,
) -> Result<MulticlassScheme> {
    let (k, labeled) = (labels.classes.len(), labels.labeled());
    if k == 2 {
        return Ok(MulticlassScheme::Binary);
    }
    if k > labeled / 2 && !learner.uses_unlabeled && are_hardly_classes(&labels.classes) {
        return Err(Error::Data(format!(
            "{k} different labels in {labeled} labeled rows are hardly classes: if the label is in another \
             column, name that column; a number cannot be predicted, only a class"
        )));
    }
    if learner.uses_unlabeled && options.multi == Some(MulticlassScheme::OneVsOne) {
        return Err(Error::parameter(
            "multi",
            "one-vs-one",
            format!("one-vs-rest for {}: a row without a label belongs to every pair", learner.name),
        ));
    }
    let scheme = scheme_for(k, learner, options, notes);
    let problems = if scheme == MulticlassScheme::OneVsOne { k * (k - 1) / 2 } else { k };
    let all = learner.uses_unlabeled || options.kernel(learner).as_deref() == Some("precomputed");
    let rows = if all { labels.of.len() } else { labeled };
    let bytes = problems.saturating_mul(rows).saturating_mul(size_of::<Label>() + size_of::<f64>());
    if k <= MAX_CLASSES && bytes <= MAX_TARGET_BYTES {
        return Ok(scheme);
    }
    let remedy = if scheme == MulticlassScheme::OneVsOne && k <= MAX_CLASSES {
        Remedy::OneVsRest
    } else {
        Remedy::FewerClassesOrRows
    };
    let what = format!(
        "{k} classes and {rows} rows make {problems} problems of {:.1} GB together; at most {MAX_CLASSES} classes \
         and {:.1} GB are allowed",
        bytes as f64 * 1e-9,
        MAX_TARGET_BYTES as f64 * 1e-9
    );
    Err(Error::Unsuitable { what, remedy })
}

/// The scheme asked for, or the one that suits so many classes.
pub(crate) fn scheme_for(
    k: usize,
    learner: &EstimatorSpec,
    options: &TrainOptions,
    notes: &mut Vec<String>,
) -> MulticlassScheme {
    match options.multi {
        _ if k == 2 => MulticlassScheme::Binary,
        Some(scheme) => scheme,
        None if learner.multiclass == MulticlassScheme::OneVsOne && k > MAX_PAIRED_CLASSES => {
            notes
                .push(format!("{k} classes: each against the rest, for there are {} pairs", k * (k - 1) / 2));
            MulticlassScheme::OneVsRest
        }
        None => learner.multiclass,
    }
}

/// The labels with only the classes that occur; two at least.
fn with_rows(labels: &Labels, notes: &mut Vec<String>) -> Result<Labels> {
    let counts = labels.counts();
    let kept: Vec<usize> = (0..counts.len()).filter(|&c| counts[c] > 0).collect();
    match kept.as_slice() {
        [] => {
            return Err(Error::Unsuitable { what: "no row has a label".into(), remedy: Remedy::LabelRows });
        }
        [only] => {
            return Err(Error::Data(format!(
                "training needs two classes or more; all {} labeled rows are of class {}",
                counts[*only], labels.classes[*only]
            )));
        }
        _ => {}
    }
    let mut number = vec![None; counts.len()];
    for (new, &old) in kept.iter().enumerate() {
        number[old] = Some(new as u32);
    }
    for (class, _) in labels.classes.iter().zip(&number).filter(|(_, n)| n.is_none()) {
        notes.push(format!("class {class} has no labeled row and will never be predicted"));
    }
    Ok(Labels {
        classes: kept.iter().map(|&c| labels.classes[c].clone()).collect(),
        of: labels.of.iter().map(|c| c.and_then(|c| number[c as usize])).collect(),
    })
}

/// What rows are called that have no label.
const OUTSIDE: &str = "outside";
const INSIDE: &str = "inside";

/// Labels for a learner of one class, the second: rows of it and rows without a label are learned from, rows of another are not.
fn one_sided(labels: &Labels, notes: &mut Vec<String>) -> Result<Labels> {
    let counts = labels.counts();
    let present: Vec<usize> = (0..counts.len()).filter(|&c| counts[c] > 0).collect();
    let name = |c: usize| labels.classes[c].clone();
    let (classes, inside) = match present.as_slice() {
        [] => (vec![OUTSIDE.into(), INSIDE.into()], None),
        [only] => (vec![not(&name(*only)), name(*only)], Some(*only)),
        [other, inside] => {
            notes.push(format!(
                "{} is inside; the {} rows of class {} are not learned from",
                name(*inside),
                counts[*other],
                name(*other)
            ));
            (vec![name(*other), name(*inside)], Some(*inside))
        }
        many => {
            return Err(Error::Unsuitable {
                what: format!("{} classes, but this learner learns one", many.len()),
                remedy: Remedy::ChooseClass { such_as: name(many[0]) },
            });
        }
    };
    let learned = |class: &Option<u32>| class.is_none_or(|c| Some(c as usize) == inside).then_some(1);
    Ok(Labels { classes, of: labels.of.iter().map(learned).collect() })
}

/// The name of everything but a class.
fn not(class: &str) -> String {
    format!("not-{class}")
}

/// Refuses, for a learner of one class, what takes rows of two.
fn refuse_what_needs_two(learner: &EstimatorSpec, options: &TrainOptions) -> Result<()> {
    let given = [
        ("class_weight", options.class_weight != ClassWeight::None),
        ("probability", options.calibration.is_some()),
        ("threshold", options.threshold.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((name, _)) => {
            let allowed = format!("left out: {} learns from one class, and it needs two", learner.name);
            Err(Error::parameter(name, "given", allowed))
        }
        None => Ok(()),
    }
}

/// The labels of rows that weigh something: a weight of 0 is absence, where rows without a label are not learned from.
fn weighty<'a>(labels: &'a Labels, weights: &[f64], needs_all: bool) -> Cow<'a, Labels> {
    if needs_all || weights.iter().all(|w| *w != 0.0) {
        return Cow::Borrowed(labels);
    }
    let of = labels.of.iter().zip(weights).map(|(class, w)| class.filter(|_| *w != 0.0)).collect();
    Cow::Owned(Labels { classes: labels.classes.clone(), of })
}

/// The weight of all labeled rows of each class.
fn sums(labels: &Labels, weights: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; labels.classes.len()];
    for (class, w) in labels.of.iter().zip(weights) {
        if let Some(class) = class {
            sums[*class as usize] += w;
        }
    }
    sums
}

/// One problem an output of the scheme.
pub(crate) fn problems(labels: &Labels, scheme: MulticlassScheme, cost: &[f64]) -> Vec<Targets> {
    let k = labels.classes.len() as u32;
    let pose = |neg: &dyn Fn(u32) -> bool, pos: u32| Targets {
        y: labels
            .of
            .iter()
            .map(|class| match *class {
                Some(c) if c == pos => Label::Pos,
                Some(c) if neg(c) => Label::Neg,
                _ => Label::Unknown,
            })
            .collect(),
        cost: cost.to_vec(),
    };
    match scheme {
        MulticlassScheme::Binary => vec![pose(&|c| c == 0, 1)],
        MulticlassScheme::OneVsRest => (0..k).map(|j| pose(&|c| c != j, j)).collect(),
        MulticlassScheme::OneVsOne => {
            (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b))).map(|(a, b)| pose(&|c| c == a, b)).collect()
        }
    }
}

impl Prepared {
    /// The class that a learner of one class knows by name, where it knows of no other.
    pub(crate) fn lone_class(&self) -> Option<String> {
        match self.labels.classes.as_slice() {
            [other, inside] if *other == not(inside) => Some(inside.clone()),
            _ => None,
        }
    }

    /// The number a gamma stands for on these samples.
    pub fn gamma(&self, gamma: Gamma) -> f64 {
        gamma.weighted(self.x.view(), self.weights.as_deref())
    }
}
