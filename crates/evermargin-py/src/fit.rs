//! Training by a learner of the registry.

use crate::classifier::PyClassifier;
use crate::error::{of_core, of_json};
use crate::rows::{Rows, numbers};
use crate::work::long;
use evermargin::Labels;
use evermargin::estimators::LEARNERS;
use evermargin::estimators::manifold::deformed_kernel::DeformedKernelParams;
use evermargin::pipeline::train::{ClassWeight, TrainOptions, Trained, train};
use evermargin::solver::{Exit, Watch};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Settings as Python writes them; words are read by the core.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    pub params: Map<String, Value>,
    pub gamma: Value,
    pub multi: Option<String>,
    pub class_weight: Value,
    pub scale: Option<String>,
    pub probability: Option<String>,
    pub threshold: Option<String>,
    pub folds: usize,
    pub seed: u64,
    pub compare: bool,
    pub warp: Option<DeformedKernelParams>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            params: Map::new(),
            gamma: Value::Null,
            multi: None,
            class_weight: Value::Null,
            scale: None,
            probability: None,
            threshold: None,
            folds: 5,
            seed: 1,
            compare: true,
            warp: None,
        }
    }
}

impl Settings {
    /// Options of a training by `learner`.
    pub fn options(self, learner: &str) -> evermargin::Result<TrainOptions> {
        let mut options = TrainOptions::new(learner);
        options.params = self.params;
        options.gamma = match &self.gamma {
            Value::Null => None,
            Value::String(word) => Some(word.parse()?),
            other => Some(other.to_string().parse()?),
        };
        if let Some(multi) = word(self.multi)? {
            options.multi = multi;
        }
        options.class_weight = class_weight(&self.class_weight)?;
        options.scaling = word(self.scale)?;
        options.calibration = word(self.probability)?;
        options.threshold = word(self.threshold)?;
        options.folds = self.folds;
        options.seed = self.seed;
        options.compare = self.compare;
        options.warp = self.warp;
        Ok(options)
    }
}

fn word<T: FromStr<Err = evermargin::Error>>(text: Option<String>) -> evermargin::Result<Option<T>> {
    text.map(|t| t.parse()).transpose()
}

fn class_weight(value: &Value) -> evermargin::Result<ClassWeight> {
    match value {
        Value::Null => Ok(ClassWeight::None),
        Value::String(name) if name == "balanced" => Ok(ClassWeight::Balanced),
        Value::String(name) if name == "ratio" => Ok(ClassWeight::Ratio),
        Value::Object(map) if map.values().all(Value::is_number) => {
            let weight = |(class, w): (&String, &Value)| w.as_f64().map(|w| (class.clone(), w));
            Ok(ClassWeight::Explicit(map.iter().filter_map(weight).collect::<BTreeMap<_, _>>()))
        }
        other => Err(evermargin::Error::parameter(
            "class_weight",
            other,
            "None, balanced, ratio or {class: weight}",
        )),
    }
}

/// What a training gave.
#[pyclass(module = "evermargin._core", frozen)]
pub struct Training(pub Trained);

impl From<Trained> for Training {
    fn from(trained: Trained) -> Self {
        Self(trained)
    }
}

/// Numbers of classes, scores, confidences, and whether the label was given.
type Transduction<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
);

#[pymethods]
impl Training {
    /// The classifier.
    #[getter]
    fn classifier(&self) -> PyClassifier {
        PyClassifier(self.0.classifier.clone())
    }

    /// What was chosen or left out, for people.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    /// Steps, objectives, reasons of the ends, and what a semi-supervised or online learner tells beside, as JSON.
    #[getter]
    fn report(&self) -> String {
        let mut report = json!({
            "outputs": self.0.reports,
            "steps": self.0.reports.iter().map(|r| r.steps).sum::<u64>(),
            "kernel_evaluations": self.0.reports.iter().map(|r| r.kernel_evaluations).sum::<u64>(),
            "exit": worst(&self.0),
        });
        if let (Value::Object(map), Some(semi)) = (&mut report, &self.0.semi) {
            let base = semi.baseline.as_ref();
            map.insert("ratio".into(), json!(semi.ratio));
            map.insert("facts".into(), json!(semi.facts));
            map.insert("agreement".into(), json!(base.map(|b| b.agreement)));
            map.insert("cross_validated".into(), json!(base.and_then(|b| b.cross_validated)));
        }
        if let (Value::Object(map), Some(online)) = (&mut report, &self.0.online) {
            map.insert("labels".into(), json!(online.labels));
            map.insert("stopped".into(), json!(online.stopped.why()));
            map.insert("support".into(), json!(online.support));
        }
        report.to_string()
    }

    /// The labels a semi-supervised learner gave to the rows; None for others.
    fn transduction<'py>(&self, py: Python<'py>) -> Option<Transduction<'py>> {
        let semi = self.0.semi.as_ref()?;
        let class: Vec<i64> = semi.class.iter().map(|&c| i64::from(c)).collect();
        Some((
            class.into_pyarray(py),
            PyArray1::from_slice(py, &semi.score),
            PyArray1::from_slice(py, &semi.confidence),
            PyArray1::from_slice(py, &semi.given),
        ))
    }
}

/// The least satisfying end of all outputs.
fn worst(trained: &Trained) -> Exit {
    let order = [Exit::Interrupted, Exit::Limit, Exit::Stalled];
    let found = order.into_iter().find(|e| trained.reports.iter().any(|r| r.exit == *e));
    found.unwrap_or(Exit::Converged)
}

/// Trains a learner of the registry. `codes` has the number of the class of each row, or -1 for none.
#[pyfunction]
#[pyo3(signature = (learner, x, codes, classes, settings, weights=None, verbose=false))]
pub fn fit(
    py: Python<'_>,
    learner: &str,
    x: Rows<'_>,
    codes: PyReadonlyArray1<'_, i64>,
    classes: Vec<String>,
    settings: &str,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    verbose: bool,
) -> PyResult<Training> {
    let settings: Settings = serde_json::from_str(settings).map_err(|e| of_json(&e))?;
    let mut options = settings.options(learner).map_err(|e| of_core(&e))?;
    options.weights = numbers(weights.as_ref());
    let labels = Labels { classes, of: crate::rows::classes(&codes) };
    let view = x.view()?;
    let name = verbose.then_some(learner);
    // The layout follows from the values, as when a file is read: zeros that are stored change nothing.
    let learn = |watch: &dyn Watch| train(view.to_matrix().into_natural_layout(), &labels, &options, watch);
    let trained = long(py, name, learn)?;
    trained.map(Training).map_err(|e| of_core(&e))
}

/// The registry as JSON: name, summary, parameters (name, default, help), whether it is semi-supervised.
#[pyfunction]
pub fn learners() -> String {
    let one = |l: &evermargin::estimators::Learner| {
        let parameters: Vec<Value> = l
            .parameters
            .iter()
            .map(|p| json!({ "name": p.name, "default": p.default, "help": p.help }))
            .collect();
        json!({ "name": l.name, "summary": l.summary, "semi": l.semi, "parameters": parameters })
    };
    Value::Array(LEARNERS.iter().map(one).collect()).to_string()
}
