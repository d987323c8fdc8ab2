//! Options of a training (estimator, parameters, scaling, kernel width, weights, calibration, threshold), and their
//! parsing from text.

use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::estimators::manifold::deformed_kernel::DeformedKernelParams;
use crate::estimators::{ClassWeight, EstimatorSpec, estimator};
use crate::graph::Graph;
use crate::metrics::Criterion;
use crate::model::{CalibrationKind, MulticlassScheme, Scaling, ScalingName};
use crate::params::{ParamValue, ParamValues};
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use std::sync::Arc;

/// All options of a training.
#[derive(Debug, Clone)]
pub struct TrainOptions {
    /// Name of the estimator in the registry.
    pub learner: String,
    /// Its parameters, without gamma.
    pub params: ParamValues,
    /// Kernel width; `None` means [`Gamma::Scale`].
    pub gamma: Option<Gamma>,
    /// Multi-class scheme; `None` means the one that suits the estimator.
    pub multi: Option<MulticlassScheme>,
    /// Weights of classes.
    pub class_weight: ClassWeight,
    /// One weight per row.
    pub weights: Option<Vec<f64>>,
    /// Scaling; `None` chooses one from the data and adds a note.
    pub scaling: Option<ScalingChoice>,
    /// Probabilities, from held-out decisions of `folds` folds.
    pub calibration: Option<CalibrationKind>,
    /// Criterion for the threshold of two classes, from the same held-out decision values; `None` keeps 0.
    pub threshold: Option<Criterion>,
    /// Number of folds for calibration and threshold.
    pub folds: usize,
    /// Random seed.
    pub seed: u64,
    /// Whether to compare a semi-supervised learner with its supervised baseline, by cross-validation if there are
    /// enough labels.
    pub compare: bool,
    /// Deforms the kernel along a graph of all rows, labeled or not; for learners with a kernel.
    pub warp: Option<DeformedKernelParams>,
    /// A graph of the rows, for learners that use one.
    pub graph: Option<Arc<Graph>>,
}

impl TrainOptions {
    /// Default options for a learner.
    pub fn new(learner: &str) -> Self {
        Self {
            learner: learner.into(),
            params: ParamValues::new(),
            gamma: None,
            multi: None,
            class_weight: ClassWeight::None,
            weights: None,
            scaling: None,
            calibration: None,
            threshold: None,
            folds: 5,
            seed: 1,
            compare: true,
            warp: None,
            graph: None,
        }
    }

    /// Name of the kernel that the learner will use, if it has one.
    pub fn kernel(&self, learner: &EstimatorSpec) -> Option<String> {
        let default = learner.params.iter().find(|p| p.name == "kernel")?.default;
        let given = self.params.get("kernel").and_then(ParamValue::as_str);
        Some(given.unwrap_or(default).to_string())
    }

    /// Sets a parameter of the estimator from text.
    pub fn parse(&mut self, name: &str, text: &str) -> Result<()> {
        let value = estimator(&self.learner)?.param(name)?.parse(text)?;
        self.put(name, value);
        Ok(())
    }

    /// Sets a parameter of the estimator to a typed value.
    pub fn set(&mut self, name: &str, value: impl Into<ParamValue>) -> Result<()> {
        let value = estimator(&self.learner)?.param(name)?.accept(&value.into())?;
        self.put(name, value);
        Ok(())
    }

    fn put(&mut self, name: &str, value: ParamValue) {
        if name == "gamma" {
            self.gamma = match value {
                ParamValue::Text(word) if word == "auto" => Some(Gamma::Auto),
                ParamValue::Text(_) => Some(Gamma::Scale),
                number => number.as_f64().map(Gamma::Value),
            };
        } else {
            self.params.insert(name.into(), value);
        }
    }
}

/// A requested scaling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScalingChoice {
    /// A scaling that is fitted on the training samples.
    Named(ScalingName),
    /// Every value divided by one number.
    Divide(f64),
}

impl ScalingChoice {
    /// No scaling.
    pub const NONE: Self = Self::Named(ScalingName::None);

    /// Name as written by users.
    pub fn name(self) -> String {
        match self {
            Self::Named(name) => name.name().into(),
            Self::Divide(by) => format!("divide={by}"),
        }
    }

    /// Fits the scaling on training samples.
    pub fn fit(self, x: MatrixView<'_>) -> Result<Scaling> {
        match self {
            Self::Named(name) => Scaling::fit(name, x),
            Self::Divide(by) if by.is_normal() => {
                Ok(Scaling::Affine { name: self.name(), shift: Vec::new(), factor: vec![1.0 / by; x.cols()] })
            }
            Self::Divide(_) => {
                Err(Error::parameter("scale", self.name(), "divided by a number that is not 0"))
            }
        }
    }
}

/// Kernel width: a number or a rule.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gamma {
    /// This number.
    Value(f64),
    /// 1/(d·Var X), the variance over all cells of the scaled samples, zeros included.
    #[default]
    Scale,
    /// 1/d.
    Auto,
}

impl Gamma {
    /// The value on these samples. `Scale` is 1/(d·Var X), with the variance over all cells, zeros included, or 1 if that
    /// variance is 0.
    pub fn on(self, x: MatrixView<'_>) -> f64 {
        self.weighted(x, None)
    }

    /// The same with weighted rows.
    pub(super) fn weighted(self, x: MatrixView<'_>, weights: Option<&[f64]>) -> f64 {
        if let (Self::Scale, Some(weights)) = (self, weights) {
            return scale_weighted(x, weights);
        }
        let (MatrixView::Dense { values, .. } | MatrixView::Csr { values, .. }) = x;
        let cols = x.cols() as f64;
        match self {
            Self::Value(value) => value,
            Self::Auto => 1.0 / cols,
            Self::Scale => {
                let cells = x.rows() as f64 * cols;
                // Zeros are counted, not summed, so that the result has the same bits whether they are stored or not.
                let nonzeros = || values.iter().filter(|v| **v != 0.0);
                let mean = nonzeros().sum::<f64>() / cells;
                let zeros = cells - nonzeros().count() as f64;
                let squares: f64 = nonzeros().map(|v| (v - mean) * (v - mean)).sum();
                let variance = (squares + zeros * mean * mean) / cells;
                if variance > 0.0 { 1.0 / (cols * variance) } else { 1.0 }
            }
        }
    }
}

/// 1/(d·Var X) of weighted rows.
fn scale_weighted(x: MatrixView<'_>, weights: &[f64]) -> f64 {
    let cols = x.cols() as f64;
    let cells = weights.iter().sum::<f64>() * cols;
    let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
        let row = |i: usize| {
            let mut total = 0.0;
            x.row(i).for_each(|_, v| total += f(v));
            weights[i] * total
        };
        (0..x.rows()).map(row).sum()
    };
    let mean = sum(&|v| v) / cells;
    // `for_each` skips zeros: each adds mean² instead.
    let variance = sum(&|v| (v - mean) * (v - mean) - mean * mean) / cells + mean * mean;
    if variance > 0.0 { 1.0 / (cols * variance) } else { 1.0 }
}

fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|v: &f64| v.is_finite())
}

impl FromStr for Gamma {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "scale" => Ok(Self::Scale),
            "auto" => Ok(Self::Auto),
            _ => finite(text)
                .map(Self::Value)
                .ok_or_else(|| Error::parameter("gamma", text, "a number, scale or auto")),
        }
    }
}

impl FromStr for ScalingChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Ok(name) = text.parse::<ScalingName>() {
            return Ok(Self::Named(name));
        }
        let divisor = text.strip_prefix("divide=").and_then(finite).filter(|by| *by != 0.0);
        divisor.map(Self::Divide).ok_or_else(|| {
            let names: Vec<&str> = ScalingName::ALL.iter().map(|s| s.name()).collect();
            Error::parameter("scale", text, format!("one of {}, divide=N", names.join(", ")))
        })
    }
}

impl FromStr for MulticlassScheme {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "one-vs-one" => Ok(Self::OneVsOne),
            "one-vs-rest" => Ok(Self::OneVsRest),
            _ => Err(Error::parameter("multi", text, "one-vs-one or one-vs-rest")),
        }
    }
}

impl FromStr for Criterion {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let named = [Self::GMeans, Self::F1, Self::Accuracy, Self::Mcc, Self::BreakEven];
        if let Some(found) = named.into_iter().find(|c| c.name() == text) {
            return Ok(found);
        }
        let share = text.strip_prefix("rate=").and_then(finite).filter(|s| *s > 0.0 && *s < 1.0);
        share.map(Self::Rate).ok_or_else(|| {
            let allowed = "g-means, f1, accuracy, mcc, break-even or rate=SHARE (between 0 and 1)";
            Error::parameter("threshold", text, allowed)
        })
    }
}

impl FromStr for CalibrationKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "sigmoid" => Ok(Self::Sigmoid),
            "isotonic" => Ok(Self::Isotonic),
            _ => Err(Error::parameter("probability", text, "sigmoid or isotonic")),
        }
    }
}
