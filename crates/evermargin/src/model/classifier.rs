//! A model with everything needed to apply it to raw data: class names, multi-class scheme, scaling, columns and
//! calibration. Model files hold classifiers.

use super::coupling::{couple, normalize};
use super::{Calibration, InputSpec, Model, Ready, Scaling};
use crate::data::{Matrix, MatrixView, Row};
use crate::error::{Error, Result};
use crate::params::ParamValues;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Combination of two-class decision functions into a multi-class prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MulticlassScheme {
    /// Two classes, one output: f > 0 means `classes[1]`.
    Binary,
    /// Output j: class j (positive) against all others. The largest output wins.
    OneVsRest,
    /// One output for each pair a < b, in the order (0,1), (0,2), …, (1,2), …: f < 0 votes for a, else for b.
    /// The class with the most votes wins; ties go to the first class, as in LIBSVM and scikit-learn with sorted labels.
    OneVsOne,
}

impl MulticlassScheme {
    /// The class predicted from the outputs `f` of one row, among `classes` classes.
    pub fn vote(self, classes: usize, f: &[f64]) -> u32 {
        match self {
            Self::Binary => u32::from(f.first().is_some_and(|f| *f > 0.0)),
            Self::OneVsRest => first_largest(f.iter().copied()),
            Self::OneVsOne => {
                let mut votes = vec![0.0; classes];
                for ((a, b), v) in pairs(classes).zip(f) {
                    votes[if *v < 0.0 { a } else { b }] += 1.0;
                }
                first_largest(votes)
            }
        }
    }

    /// The name of each output in tables: the class for which it is positive.
    pub fn output_names(self, classes: &[String]) -> Vec<String> {
        match self {
            Self::Binary => classes.last().cloned().into_iter().collect(),
            Self::OneVsRest => classes.to_vec(),
            Self::OneVsOne => {
                pairs(classes.len()).map(|(a, b)| format!("{}/{}", classes[b], classes[a])).collect()
            }
        }
    }
}

/// Mapping of a table column to features.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Column {
    /// One feature, the number itself.
    Number {
        /// Name in the header.
        name: String,
    },
    /// One 0/1 feature per value that occurred in training; other values set none of them.
    Category {
        /// Name in the header.
        name: String,
        /// Values, sorted.
        values: Vec<String>,
    },
    /// One feature per bucket of words, weighted by their frequency in the document and their rarity in training.
    Text {
        /// Name in the header.
        name: String,
        /// Number of buckets, a power of two.
        buckets: u32,
        /// Number of documents in training.
        documents: u32,
        /// Buckets that occurred, ascending, each with the number of documents it occurred in.
        frequency: Vec<(u32, u32)>,
    },
}

impl Column {
    /// Name in the header.
    pub fn name(&self) -> &str {
        match self {
            Self::Number { name } | Self::Category { name, .. } | Self::Text { name, .. } => name,
        }
    }

    /// The index of a value in a category.
    pub fn place_of(&self, value: &str) -> Option<usize> {
        match self {
            Self::Category { values, .. } => values.binary_search_by(|k| k.as_str().cmp(value)).ok(),
            Self::Number { .. } | Self::Text { .. } => None,
        }
    }

    /// Number of features of the column.
    pub fn features(&self) -> usize {
        match self {
            Self::Number { .. } => 1,
            Self::Category { values, .. } => values.len(),
            Self::Text { buckets, .. } => *buckets as usize,
        }
    }
}

/// The learner of a model or a checkpoint, and its classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerInfo {
    /// Name of the learner in the registry.
    pub name: String,
    /// Its parameters as given and as chosen, for display.
    pub params: ParamValues,
    /// Class names, in the order of the outputs.
    pub classes: Vec<String>,
    /// Combination of the outputs into a class.
    pub scheme: MulticlassScheme,
}

/// A trained classifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classifier {
    /// Name of the learner in the registry.
    pub learner: String,
    /// Its parameters as given and as chosen, for display.
    pub params: ParamValues,
    /// Class names, sorted; f > 0 of a binary model means `classes[1]`.
    pub classes: Vec<String>,
    /// Combination of the outputs into a class.
    pub scheme: MulticlassScheme,
    /// The decision functions.
    pub model: Model,
    /// Applied to features before the model.
    pub scaling: Scaling,
    /// Mapping from a file to features and labels.
    #[serde(default)]
    pub input: InputSpec,
    /// One calibration per output, or none.
    pub calibration: Vec<Calibration>,
}

/// Squared length above which decision values are computed in double precision.
const FAR: f64 = 1e30;

/// Predictions for each row.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// Index of the predicted class of each row.
    pub class: Vec<u32>,
    /// Decision values, rows × outputs, row major; always finite.
    pub decision: Vec<f64>,
    /// Probabilities, rows × classes, row major, when the classifier is calibrated.
    pub probability: Option<Vec<f64>>,
}

impl Classifier {
    /// A classifier of a learner, without calibration.
    pub fn new(learner: LearnerInfo, model: Model, scaling: Scaling, input: InputSpec) -> Self {
        let LearnerInfo { name, params, classes, scheme } = learner;
        Self { learner: name, params, classes, scheme, model, scaling, input, calibration: Vec::new() }
    }

    /// Its learner and its classes.
    pub fn learner_info(&self) -> LearnerInfo {
        LearnerInfo {
            name: self.learner.clone(),
            params: self.params.clone(),
            classes: self.classes.clone(),
            scheme: self.scheme,
        }
    }

    /// Sets the mapping from a file to features. A positive class chosen in training is kept. The positive class of a
    /// binary model becomes `classes[1]`, so that f > 0 means that class whatever the order of the names.
    pub fn set_input(&mut self, input: InputSpec) {
        let positive = input.positive.clone().or(self.input.positive.take());
        self.input = input.with_positive(positive);
        let binary = self.scheme == MulticlassScheme::Binary && self.classes.len() == 2;
        if binary && self.input.positive.as_ref().is_some_and(|name| same_class(name, &self.classes[0])) {
            self.classes.swap(0, 1);
            self.model.negate();
            self.calibration.iter_mut().for_each(Calibration::mirror);
        }
    }

    /// Number of features of a sample.
    pub fn features(&self) -> usize {
        self.model.cols()
    }

    /// Returns an error if parts of the classifier do not fit together (a file may hold anything).
    pub fn check(&self) -> Result<()> {
        self.model.check()?;
        let (k, outputs) = (self.classes.len(), self.model.outputs());
        let expected = match self.scheme {
            MulticlassScheme::Binary => 1,
            MulticlassScheme::OneVsRest => k,
            MulticlassScheme::OneVsOne => k * k.saturating_sub(1) / 2,
        };
        if k < 2 || (self.scheme == MulticlassScheme::Binary && k != 2) || outputs != expected {
            return Err(Error::Model(format!("{k} classes do not go with {outputs} decision functions")));
        }
        if !(self.calibration.is_empty() || self.calibration.len() == outputs) {
            return Err(Error::Model(format!(
                "{} calibrations but {outputs} decision functions",
                self.calibration.len()
            )));
        }
        let width = match &self.scaling {
            Scaling::None | Scaling::Unit => self.features(),
            Scaling::Affine { factor, .. } => factor.len(),
            Scaling::Tfidf { idf } => idf.len(),
        };
        if width != self.features() {
            return Err(Error::Model(format!("scaling of {width} columns for {} features", self.features())));
        }
        Ok(())
    }

    /// Classes, decision values and probabilities of unscaled samples.
    pub fn predict(&self, x: Matrix) -> Result<Predictions> {
        self.check_columns(x.cols())?;
        self.predict_scaled(self.scaling.apply(x)?.view())
    }

    /// The same if some columns are unknown, such as those of a missing view. They are set to 0 after scaling, which a
    /// sum over views treats as missing.
    pub fn predict_without(&self, x: Matrix, absent: &[Range<usize>]) -> Result<Predictions> {
        self.check_columns(x.cols())?;
        self.predict_scaled(self.scaling.apply(x)?.without(absent).view())
    }

    /// The same for borrowed samples; they are copied only if there is a scaling.
    pub fn predict_view(&self, x: MatrixView<'_>) -> Result<Predictions> {
        if self.scaling != Scaling::None {
            return self.predict(x.to_matrix());
        }
        self.check_columns(x.cols())?;
        self.predict_scaled(x)
    }

    fn check_columns(&self, found: usize) -> Result<()> {
        let expected = self.features();
        if found == expected { Ok(()) } else { Err(Error::Shape { what: "columns", expected, found }) }
    }

    /// The same, bit-identical, with the result of [`Model::ready`] of its model; for repeated predictions of few rows.
    pub fn predict_by(&self, ready: &Ready, x: MatrixView<'_>) -> Result<Predictions> {
        self.check_columns(x.cols())?;
        if self.scaling == Scaling::None {
            return self.predict_scaled_by(ready, x);
        }
        self.predict_scaled_by(ready, self.scaling.apply(x.to_matrix())?.view())
    }

    fn predict_scaled(&self, x: MatrixView<'_>) -> Result<Predictions> {
        self.predict_scaled_by(&self.model.ready(), x)
    }

    fn predict_scaled_by(&self, ready: &Ready, x: MatrixView<'_>) -> Result<Predictions> {
        let mut decision = self.model.decision_by(ready, x)?;
        let outputs = self.model.outputs();
        for (i, f) in decision.chunks_mut(outputs).enumerate() {
            let row = x.row(i);
            if row.norm2() > FAR || f.iter().any(|f| !f.is_finite()) {
                decide_in_double_precision(&self.model, row, f);
            }
        }
        let class = decision.chunks(outputs).map(|f| self.scheme.vote(self.classes.len(), f)).collect();
        let probability = (!self.calibration.is_empty())
            .then(|| decision.chunks(outputs).flat_map(|f| self.probabilities(f)).collect());
        Ok(Predictions { class, decision, probability })
    }

    /// Probabilities of all classes from the outputs of one row. One-vs-rest: the probabilities of the outputs, divided
    /// by their sum. One-vs-one: pairwise coupling.
    fn probabilities(&self, f: &[f64]) -> Vec<f64> {
        let p: Vec<f64> =
            f.iter().zip(&self.calibration).map(|(v, c)| c.probability(*v).clamp(0.0, 1.0)).collect();
        match self.scheme {
            MulticlassScheme::Binary => vec![1.0 - p[0], p[0]],
            MulticlassScheme::OneVsRest => normalize(&p),
            MulticlassScheme::OneVsOne => {
                let k = self.classes.len();
                let mut first = vec![0.5; k * k]; // P(a | a or b); outputs are for b
                pairs(k).zip(&p).for_each(|((a, b), p)| first[a * k + b] = 1.0 - p);
                couple(&first, k)
            }
        }
    }
}

/// Whether two names denote the same class: equal texts or equal numbers.
fn same_class(a: &str, b: &str) -> bool {
    let number = |t: &str| t.trim().parse::<f64>().ok().filter(|v| v.is_finite());
    a == b || number(a).is_some_and(|v| number(b) == Some(v))
}

/// The pairs a < b in the order of [`MulticlassScheme::OneVsOne`].
fn pairs(k: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..k).flat_map(move |a| (a + 1..k).map(move |b| (a, b)))
}

/// The index of the largest score; ties go to the first.
fn first_largest(scores: impl IntoIterator<Item = f64>) -> u32 {
    let mut best: Option<(u32, f64)> = None;
    for (i, score) in (0..).zip(scores) {
        if best.is_none_or(|(_, top)| score > top) {
            best = Some((i, score));
        }
    }
    best.map_or(0, |(i, _)| i)
}

/// Decision values of a row so far away that single precision overflows, in double precision. Where double precision
/// overflows, too (polynomials), the result is the largest number, or 0 if infinities of both signs are added.
fn decide_in_double_precision(model: &Model, row: Row<'_>, f: &mut [f64]) {
    let (terms, bias): (Vec<Vec<f64>>, _) = match model {
        Model::Linear { weights, bias } => {
            (weights.iter().map(|w| vec![row.dot(Row::Dense(w))]).collect(), bias)
        }
        Model::Expansion { kernel, points, coef, bias } => {
            let k: Vec<f64> = (0..points.rows()).map(|p| kernel.eval(points.view().row(p), row)).collect();
            (coef.iter().map(|c| c.iter().zip(&k).map(|(c, k)| c * k).collect()).collect(), bias)
        }
        Model::Views { parts, bias, .. } => {
            let mut terms = vec![Vec::new(); bias.len()];
            for part in parts {
                let mut one = Matrix::empty(model.cols(), matches!(row, Row::Sparse(..)));
                one.push(row);
                let mut g = vec![0.0; bias.len()];
                decide_in_double_precision(&part.model, part.columns.of(one.view()).view().row(0), &mut g);
                terms.iter_mut().zip(g).for_each(|(t, g)| t.push(g));
            }
            (terms, bias)
        }
    };
    for ((f, terms), b) in f.iter_mut().zip(terms).zip(bias) {
        let sum = terms.iter().sum::<f64>() + b;
        *f = if sum.is_nan() { 0.0 } else { sum.clamp(-f64::MAX, f64::MAX) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;

    fn classifier(
        classes: &[&str],
        scheme: MulticlassScheme,
        weights: Vec<Vec<f64>>,
        bias: Vec<f64>,
    ) -> Classifier {
        Classifier {
            learner: "linear".into(),
            params: ParamValues::new(),
            classes: classes.iter().map(ToString::to_string).collect(),
            scheme,
            model: Model::Linear { weights, bias },
            scaling: Scaling::None,
            input: InputSpec::default(),
            calibration: Vec::new(),
        }
    }

    fn row(values: &[f64]) -> Matrix {
        Matrix::dense(values.to_vec(), 1, values.len()).unwrap()
    }

    #[test]
    fn set_input_makes_the_positive_class_the_second() {
        let calibrations = [
            Calibration::Sigmoid { a: -2.0, b: 0.5 },
            Calibration::Isotonic { at: vec![-1.0, 0.5, 2.0], probability: vec![0.1, 0.6, 0.9] },
        ];
        for calibration in calibrations {
            let weights = vec![vec![1.0]];
            let mut c = classifier(&["2", "not-2"], MulticlassScheme::Binary, weights, vec![0.25]);
            c.calibration = vec![calibration];
            let before = c.predict(row(&[0.5])).unwrap();
            c.set_input(InputSpec::default().with_positive(Some("2.0".into())));
            assert_eq!(c.classes, ["not-2", "2"]);
            let after = c.predict(row(&[0.5])).unwrap();
            assert_eq!((before.class, before.decision), (vec![1], vec![0.75]));
            assert_eq!((after.class, after.decision), (vec![0], vec![-0.75]));
            let (before, after) = (before.probability.unwrap(), after.probability.unwrap());
            assert!((before[0] - after[1]).abs() < 1e-15 && (before[1] - after[0]).abs() < 1e-15);
            c.set_input(c.input.clone());
            assert_eq!(c.classes, ["not-2", "2"], "the order is right already");
        }
    }

    #[test]
    fn positive_decision_values_mean_the_second_class() {
        let c = classifier(&["a", "b"], MulticlassScheme::Binary, vec![vec![1.0]], vec![0.0]);
        assert_eq!(c.predict(row(&[2.0])).unwrap().class, [1]);
        assert_eq!(c.predict(row(&[-2.0])).unwrap().class, [0]);
        assert_eq!(c.predict(row(&[0.0])).unwrap().class, [0]);
    }

    #[test]
    fn one_vs_one_counts_votes_and_ties_go_to_the_first_class() {
        let weights = vec![vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]];
        let c = classifier(&["a", "b", "c"], MulticlassScheme::OneVsOne, weights.clone(), vec![0.0; 3]);
        c.check().unwrap();
        // (a,b) votes for b, (a,c) for a, (b,c) for b
        assert_eq!(c.predict(row(&[0.1, -9.0, -0.1])).unwrap().class, [1]);
        // a cycle with one vote each goes to the first class, whatever the sizes of the decision values
        assert_eq!(c.predict(row(&[9.0, -1.0, 2.0])).unwrap().class, [0]);
        // a decision value of 0 is a vote for the second class of the pair, as in LIBSVM
        assert_eq!(c.predict(row(&[0.0, 0.0, 0.0])).unwrap().class, [2]);
        let c = classifier(&["a", "b", "c"], MulticlassScheme::OneVsRest, weights, vec![0.0; 3]);
        assert_eq!(c.predict(row(&[-1.0, -0.5, -3.0])).unwrap().class, [1]);
    }

    #[test]
    fn decisions_of_far_points_are_finite() {
        let mut c = classifier(&["a", "b"], MulticlassScheme::Binary, vec![], vec![]);
        let points = Matrix::dense(vec![1e60, -1e60], 2, 1).unwrap();
        let kernel = Kernel::Poly { gamma: 1e9, coef0: 1.0, degree: 9 };
        c.model = Model::Expansion { kernel, points, coef: vec![vec![1.0, -1.0]], bias: vec![0.5] };
        for far in [1e99, -1e99, 0.0] {
            let p = c.predict(row(&[far])).unwrap();
            assert!(p.decision[0].is_finite(), "{p:?}");
        }
        let points = Matrix::dense(vec![1.0, -1.0], 2, 1).unwrap();
        let kernel = Kernel::Rbf { gamma: 1.0 };
        c.model = Model::Expansion { kernel, points, coef: vec![vec![1.0, -1.0]], bias: vec![0.5] };
        assert_eq!(c.predict(row(&[1e99])).unwrap().decision, [0.5]);
    }

    #[test]
    fn probabilities_agree_with_calibration_and_coupling() {
        let sigmoid = Calibration::Sigmoid { a: -1.0, b: 0.0 };
        let mut c = classifier(&["a", "b"], MulticlassScheme::Binary, vec![vec![1.0]], vec![0.0]);
        c.calibration = vec![sigmoid.clone()];
        let p = c.predict(row(&[2.0])).unwrap().probability.unwrap();
        assert!((p[1] - 1.0 / (1.0 + (-2.0f64).exp())).abs() < 1e-12 && (p[0] + p[1] - 1.0).abs() < 1e-12);
        // consistent pairwise probabilities return the original probabilities
        let truth = [0.5, 0.3, 0.2];
        let logit = |a: usize, b: usize| f64::ln(truth[b] / truth[a]);
        let weights = vec![vec![logit(0, 1)], vec![logit(0, 2)], vec![logit(1, 2)]];
        let mut c = classifier(&["a", "b", "c"], MulticlassScheme::OneVsOne, weights, vec![0.0; 3]);
        c.calibration = vec![sigmoid; 3];
        let p = c.predict(row(&[1.0])).unwrap().probability.unwrap();
        assert!(p.iter().zip(truth).all(|(p, t)| (p - t).abs() < 1e-6), "{p:?}");
    }

    #[test]
    fn refuses_parts_that_do_not_fit_together() {
        let mut c = classifier(&["a", "b", "c"], MulticlassScheme::Binary, vec![vec![1.0]], vec![0.0]);
        assert!(c.check().is_err());
        c.classes.pop();
        c.check().unwrap();
        c.scaling = Scaling::Affine { name: "minmax".into(), shift: vec![], factor: vec![1.0, 1.0] };
        assert!(c.check().is_err());
        let error = c.predict(row(&[1.0, 2.0])).unwrap_err().to_string();
        assert_eq!(error, "columns: expected 1, found 2");
    }
}
