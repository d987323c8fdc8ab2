//! From a table with class labels to the input of a learner: the rows that are used, scaled, and one two-class problem
//! per decision function.

use crate::data::{Label, Labels, Matrix};
use crate::error::{Error, Remedy, Result};
use crate::estimators::{ClassWeight, EstimatorSpec, Targets};
use crate::model::{MulticlassScheme, Scaling};
use crate::pipeline::options::{Gamma, ScalingChoice, TrainOptions};
use std::borrow::Cow;

/// The input of a learner and the facts about its preparation.
#[derive(Debug)]
pub struct Prepared {
    /// Scaled samples. Unlabeled rows are dropped, except for learners that use them and for a precomputed kernel,
    /// whose rows correspond to its columns.
    pub x: Matrix,
    /// Labels of the samples; every class has a row.
    pub labels: Labels,
    /// Combination of the outputs into a class.
    pub scheme: MulticlassScheme,
    /// One problem per output.
    pub problems: Vec<Targets>,
    /// The scaling that was applied.
    pub scaling: Scaling,
    /// The weight of each class, included in the costs of the problems.
    pub class_weight: Vec<f64>,
    /// Weights of rows, if given.
    pub weights: Option<Vec<f64>>,
    /// Messages about choices made and rows left out, for display.
    pub notes: Vec<String>,
}

/// Drops rows without a label, scales, and builds the two-class problems.
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
        refuse_two_class_options(learner, options)?;
        without_zero_weights(&one_class_labels(labels, &mut notes)?, &weights, needs_all).into_owned()
    } else {
        with_occurring_classes(&without_zero_weights(labels, &weights, needs_all), &mut notes)?
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

    let class_weight = options.class_weight.of(&labels.classes, &weight_sums(&labels, &weights))?;
    let given = options.weights.as_ref().map(|_| weights.clone());
    for (w, class) in weights.iter_mut().zip(&labels.of) {
        *w *= class.map_or(1.0, |c| class_weight[c as usize]);
    }
    let problems = problems(&labels, scheme, &weights);
    Ok(Prepared { x, labels, scheme, problems, scaling, class_weight, weights: given, notes })
}

/// Maximum number of classes for one-vs-one by default, because the number of pairs grows with its square.
const MAX_PAIRED_CLASSES: usize = 30;
/// Maximum number of classes.
pub(crate) const MAX_CLASSES: usize = 10_000;
/// Maximum size of the labels and weights of all problems in bytes; each problem has its own, one per row.
const MAX_TARGET_BYTES: usize = 4 << 30;

/// Maximum number of classes if most classes have a single label.
const MAX_SINGLE_LABELS: usize = 100;

/// Whether labels that rarely repeat look like another column: there are too many, or several have a fraction.
fn look_like_another_column(classes: &[String]) -> bool {
    let has_fraction = |name: &String| name.parse::<f64>().is_ok_and(|v| v.fract() != 0.0);
    classes.len() > MAX_SINGLE_LABELS || (classes.len() > 10 && classes.iter().any(has_fraction))
}

/// The requested scheme, or the one that suits the learner. Returns an error for labels that do not look like classes,
/// and for more problems than fit into memory.
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
    if k > labeled / 2 && !learner.uses_unlabeled && look_like_another_column(&labels.classes) {
        return Err(Error::Data(format!(
            "{k} different labels in {labeled} labeled rows do not look like classes: if the label is in another \
             column, name that column; only classes can be predicted, not numbers"
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

/// The requested scheme, or the one that suits the learner and `k` classes.
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
            notes.push(format!(
                "{k} classes: one-vs-rest is used, because there are {} pairs",
                k * (k - 1) / 2
            ));
            MulticlassScheme::OneVsRest
        }
        None => learner.multiclass,
    }
}

/// The labels restricted to classes that occur; at least two.
fn with_occurring_classes(labels: &Labels, notes: &mut Vec<String>) -> Result<Labels> {
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

/// Class names for a one-class learner if no row has a label.
const OUTSIDE: &str = "outside";
const INSIDE: &str = "inside";

/// Labels for a one-class learner, whose class is the second: its rows and unlabeled rows are used for training, rows of
/// another class are not.
fn one_class_labels(labels: &Labels, notes: &mut Vec<String>) -> Result<Labels> {
    let counts = labels.counts();
    let present: Vec<usize> = (0..counts.len()).filter(|&c| counts[c] > 0).collect();
    let name = |c: usize| labels.classes[c].clone();
    let (classes, inside) = match present.as_slice() {
        [] => (vec![OUTSIDE.into(), INSIDE.into()], None),
        [only] => (vec![not(&name(*only)), name(*only)], Some(*only)),
        [other, inside] => {
            notes.push(format!(
                "{} is inside; the {} rows of class {} are not used for training",
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

/// The name of the complement of a class.
fn not(class: &str) -> String {
    format!("not-{class}")
}

/// Returns an error for options that need two classes, if the learner is a one-class learner.
fn refuse_two_class_options(learner: &EstimatorSpec, options: &TrainOptions) -> Result<()> {
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

/// The labels without those of rows of weight 0, for learners that do not use unlabeled rows.
fn without_zero_weights<'a>(labels: &'a Labels, weights: &[f64], needs_all: bool) -> Cow<'a, Labels> {
    if needs_all || weights.iter().all(|w| *w != 0.0) {
        return Cow::Borrowed(labels);
    }
    let of = labels.of.iter().zip(weights).map(|(class, w)| class.filter(|_| *w != 0.0)).collect();
    Cow::Owned(Labels { classes: labels.classes.clone(), of })
}

/// The total weight of the labeled rows of each class.
fn weight_sums(labels: &Labels, weights: &[f64]) -> Vec<f64> {
    let mut weight_sums = vec![0.0; labels.classes.len()];
    for (class, w) in labels.of.iter().zip(weights) {
        if let Some(class) = class {
            weight_sums[*class as usize] += w;
        }
    }
    weight_sums
}

/// One problem per output of the scheme.
pub(crate) fn problems(labels: &Labels, scheme: MulticlassScheme, cost: &[f64]) -> Vec<Targets> {
    let k = labels.classes.len() as u32;
    let targets = |neg: &dyn Fn(u32) -> bool, pos: u32| Targets {
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
        MulticlassScheme::Binary => vec![targets(&|c| c == 0, 1)],
        MulticlassScheme::OneVsRest => (0..k).map(|j| targets(&|c| c != j, j)).collect(),
        MulticlassScheme::OneVsOne => (0..k)
            .flat_map(|a| (a + 1..k).map(move |b| (a, b)))
            .map(|(a, b)| targets(&|c| c == a, b))
            .collect(),
    }
}

impl Prepared {
    /// The class of a one-class learner, if it has a name and there is no other class.
    pub(crate) fn lone_class(&self) -> Option<String> {
        match self.labels.classes.as_slice() {
            [other, inside] if *other == not(inside) => Some(inside.clone()),
            _ => None,
        }
    }

    /// The value of gamma on these samples.
    pub fn gamma(&self, gamma: Gamma) -> f64 {
        gamma.weighted(self.x.view(), self.weights.as_deref())
    }
}
