//! A sequential learner with the mapping of rows to samples: classes, scheme, scaling. It learns batch by batch, and its
//! state is plain data.
//!
//! Scaling and kernel width are fitted on the first rows. Classes are declared, and need not all occur at once. Until its
//! class occurs, an output learns that all samples are negatives; a class that has not occurred is never predicted.
//! Learning a table here is bit-identical to training on it (for `seq-lapmed`: if some row has no label).

use crate::data::{Label, Labels, Matrix, MatrixView};
use crate::error::{Error, Result};
use crate::estimators::med::{Saved, SeqMed, joined};
use crate::estimators::{ClassWeight, Targets, estimator};
use crate::model::{Classifier, InputSpec, LearnerInfo, MulticlassScheme, Scaling};
use crate::pipeline::checkpoint_head::CheckpointHead;
use crate::pipeline::online_checkpoint::{check_classes, refuse_batch_only_options};
use crate::pipeline::options::{ScalingChoice, TrainOptions};
use crate::pipeline::preprocess::{Prepared, problems, scheme_for};
use crate::pipeline::train::{described, with_gamma};
use crate::solver::{Progress, Report, Watch};
use serde::{Deserialize, Serialize};

/// A sequential learner of named classes.
#[derive(Debug, Clone, PartialEq)]
pub struct MedStream {
    head: CheckpointHead,
    class_weight: ClassWeight,
    state: SeqMed,
}

/// The state of a [`MedStream`] as plain data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MedCheckpoint {
    /// The learner, `seq-med` or `seq-lapmed`, and the mapping of rows to samples.
    pub head: CheckpointHead,
    /// Weights of classes by name, or the rule that derives them from counts.
    pub class_weight: ClassWeight,
    /// The posterior over decision functions.
    pub saved: Saved,
}

const NAMES: [&str; 2] = ["seq-med", "seq-lapmed"];

impl MedStream {
    /// An untrained learner for samples like the rows of `first`, none of which is learned.
    pub fn begin(options: &TrainOptions, classes: &[String], first: MatrixView<'_>) -> Result<Self> {
        let learner = estimator(&options.learner)?;
        if !NAMES.contains(&learner.name) {
            return Err(Error::parameter("learner", learner.name, "seq-med or seq-lapmed"));
        }
        learner.make(&options.params)?;
        refuse_batch_only_options(options)?;
        check_classes(classes)?;
        options.class_weight.of(classes, &vec![1.0; classes.len()])?;
        if first.rows() == 0 || first.cols() == 0 {
            return Err(Error::Data("the first rows of a stream are missing, or have no columns".into()));
        }
        let scheme = scheme_for(classes.len(), learner, options, &mut Vec::new());
        if scheme == MulticlassScheme::OneVsOne {
            return Err(Error::parameter("multi", "one-vs-one", "one-vs-rest where rows come in batches"));
        }
        let choice = options.scaling.unwrap_or_else(|| ScalingChoice::Named(Scaling::choose(first).0));
        let scaling = choice.fit(first)?;
        let x = scaling.apply(first.to_matrix())?;
        let labels = Labels { classes: classes.to_vec(), of: Vec::new() };
        let (class_weight, notes) = (vec![1.0; classes.len()], Vec::new());
        let problems = Vec::new();
        let prepared = Prepared { x, labels, scheme, problems, scaling, class_weight, weights: None, notes };
        let params = with_gamma(&prepared, learner, options, &mut Vec::new())?;
        let made = learner.make(&params)?;
        let Some(machine) = made.as_med() else {
            return Err(Error::parameter("learner", learner.name, "seq-med or seq-lapmed"));
        };
        let some: Vec<usize> = (0..prepared.x.rows().min(machine.batch)).collect();
        let outputs = if scheme == MulticlassScheme::Binary { 1 } else { classes.len() };
        let state = SeqMed::new(machine, prepared.x.view().select(&some).view(), outputs)?;
        let params = described(&made, options)?;
        let learner = LearnerInfo { name: learner.name.into(), params, classes: classes.to_vec(), scheme };
        let (input, counts) = (InputSpec::default(), vec![0; classes.len()]);
        let head = CheckpointHead { learner, scaling: prepared.scaling, input, counts };
        Ok(Self { head, class_weight: options.class_weight.clone(), state })
    }

    /// Learns rows in batches, in their order; `of` has the class index of each row, if known. After an error or an
    /// interruption (`None`) the learner is unchanged.
    pub fn learn(
        &mut self,
        x: Matrix,
        of: &[Option<u32>],
        weights: Option<&[f64]>,
        watch: &dyn Watch,
    ) -> Result<Option<Vec<Report>>> {
        self.check(&x, of, weights)?;
        let labels = Labels { classes: self.head.learner.classes.clone(), of: of.to_vec() };
        let counts: Vec<usize> = self.head.counts.iter().zip(labels.counts()).map(|(a, b)| a + b).collect();
        let targets = self.targets(&labels, &counts, weights)?;
        let x = self.head.scaling.apply(x)?;
        let params = self.state.params();
        let graph = params.uses_graph();
        let counts_in = |p: &Targets, i: usize| p.cost[i] > 0.0 && (graph || p.y[i] != Label::Unknown);
        let rows: Vec<usize> = (0..x.rows()).filter(|&i| targets.iter().any(|p| counts_in(p, i))).collect();
        let mut next = self.state.clone();
        let mut reports = Vec::new();
        for batch in rows.chunks(params.batch) {
            if !watch.proceed(&Progress { steps: next.batches(), violation: 1.0, tolerance: 0.0 }) {
                return Ok(None);
            }
            let part: Vec<Targets> = targets.iter().map(|p| p.select(batch)).collect();
            reports = joined(reports, next.learn(x.view().select(batch).view(), &part, &())?);
        }
        (self.state, self.head.counts) = (next, counts);
        Ok(Some(reports))
    }

    fn check(&self, x: &Matrix, of: &[Option<u32>], weights: Option<&[f64]>) -> Result<()> {
        let (rows, classes) = (x.rows(), self.head.learner.classes.len());
        for (what, expected, found) in [
            ("columns", self.state.cols(), x.cols()),
            ("labels", rows, of.len()),
            ("weights", rows, weights.map_or(rows, <[f64]>::len)),
        ] {
            if expected != found {
                return Err(Error::Shape { what, expected, found });
            }
        }
        let unfit = |w: &f64| !(w.is_finite() && *w >= 0.0);
        if let Some(i) = weights.and_then(|w| w.iter().position(unfit)) {
            return Err(Error::Data(format!("weight of row {}: must be a finite number, 0 or more", i + 1)));
        }
        match of.iter().flatten().find(|c| **c as usize >= classes) {
            Some(class) => Err(Error::Data(format!("class index {class}, but there are {classes} classes"))),
            None => Ok(()),
        }
    }

    /// The two-class problems of the rows.
    fn targets(&self, labels: &Labels, counts: &[usize], weights: Option<&[f64]>) -> Result<Vec<Targets>> {
        let sums: Vec<f64> = counts.iter().map(|&n| n as f64).collect();
        let class_weight = self.class_weight.of(&labels.classes, &sums)?;
        let class = |c: Option<u32>| c.map_or(1.0, |c| class_weight[c as usize]);
        let given = |i: usize| weights.map_or(1.0, |w| w[i]);
        let cost: Vec<f64> = labels.of.iter().enumerate().map(|(i, c)| given(i) * class(*c)).collect();
        Ok(problems(labels, self.head.learner.scheme, &cost))
    }

    /// The current classifier.
    pub fn classifier(&self) -> Classifier {
        self.head.classifier(self.state.model())
    }

    /// The variance of the decision value of each row.
    pub fn variance(&self, x: MatrixView<'_>) -> Result<Vec<f64>> {
        self.state.variance(self.head.scaling.apply(x.to_matrix())?.view())
    }

    /// Class names.
    pub fn classes(&self) -> &[String] {
        &self.head.learner.classes
    }

    /// Number of labeled rows of each class so far.
    pub fn counts(&self) -> &[usize] {
        &self.head.counts
    }

    /// Number of batches so far.
    pub fn batches(&self) -> u64 {
        self.state.batches()
    }

    /// The state needed to resume.
    pub fn save(&self) -> MedCheckpoint {
        MedCheckpoint {
            head: self.head.clone(),
            class_weight: self.class_weight.clone(),
            saved: self.state.save(),
        }
    }

    /// Resumes from a saved state; returns an error if its parts do not fit together.
    pub fn resume(checkpoint: MedCheckpoint) -> Result<Self> {
        let MedCheckpoint { head, class_weight, saved } = checkpoint;
        let LearnerInfo { name, classes, scheme, .. } = &head.learner;
        let wrong = |what: &str| Err(Error::State(what.into()));
        check_classes(classes)?;
        let outputs = match (*scheme, classes.len()) {
            (MulticlassScheme::Binary, 2) => 1,
            (MulticlassScheme::OneVsRest, k) => k,
            _ => return wrong("the number of classes and the multiclass scheme do not match"),
        };
        if !NAMES.contains(&name.as_str()) || head.counts.len() != classes.len() {
            return wrong("the number of classes and the number of counts differ");
        }
        class_weight.of(classes, &vec![1.0; classes.len()])?;
        let state = SeqMed::resume(&saved)?;
        if saved.bias.len() != outputs {
            return wrong("the number of classes and the number of decision functions do not match");
        }
        let made = Self { head, class_weight, state };
        made.classifier().check().map_err(|e| Error::State(e.to_string()))?;
        Ok(made)
    }
}
