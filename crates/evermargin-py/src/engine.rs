//! The loop that never ends, as a handle. Classes are numbers here, which the engine knows by their digits; what they
//! are called is known to whoever holds the handle.

use crate::classifier::PyClassifier;
use crate::error::{of_core, of_format, of_json, parameter_error};
use crate::rows::{Rows, to_python};
use crate::specs::{accepts_none, allowed_in_python};
use crate::work::{exclusive, exclusive_long};
use evermargin::active::Stopped;
use evermargin::engine::{
    Effects, Engine, EngineParams, Event, InferredLabel, QueryStrategy, Rate, RowSource, SourceWeight,
    engine_param_specs,
};
use evermargin::params::{ParamValue, ParamValues};
use evermargin_io::LoadOptions;
use evermargin_io::artifacts::engine::{ENGINE, seal, unseal_with};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What pickle calls to make the object again, and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, bool));

/// The engine. Pickled through its own bytes.
#[pyclass(name = "Engine", module = "evermargin._core", frozen)]
pub struct PyEngine(Mutex<Engine>);

/// What is kept of an engine, and what its owner says about it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Artifact {
    about: String,
    state: Engine,
}

/// Labels of the rows of a batch: classes (-1 = none yet), confidences and sources (None = no label); then the other
/// effects as JSON.
type Applied<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Sources, String);

/// The source of the label of each row.
pub type Sources = Vec<Option<&'static str>>;

/// Samples, and how many each stands for.
type Exemplars<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>);

impl PyEngine {
    fn held(&self) -> MutexGuard<'_, Engine> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn apply<'py>(&self, py: Python<'py>, event: Event) -> PyResult<Applied<'py>> {
        let done = if is_short(&event) {
            exclusive(py, &self.0, |engine| engine.apply(event).map(|effects| (numbers(engine), effects)))?
        } else {
            exclusive_long(py, &self.0, |engine, watch| {
                let plan = engine.plan_watched(event, watch)?;
                let effects = engine.commit(plan);
                Ok::<_, evermargin::Error>((numbers(engine), effects))
            })?
        };
        let (numbers, effects) = done.map_err(|e| of_core(&e))?;
        let class = |c: Option<u32>| c.and_then(|c| numbers.get(c as usize).copied()).unwrap_or(-1);
        let classes: Vec<i64> = effects.labels.iter().map(|l| class(l.class)).collect();
        let sure: Vec<f64> = effects.labels.iter().map(|l| l.confidence).collect();
        let sources = sources(&effects.labels);
        Ok((classes.into_pyarray(py), sure.into_pyarray(py), sources, summary_of(&effects).to_string()))
    }

    fn open(bytes: &[u8], allow_other_cpu: bool) -> PyResult<(Self, String)> {
        let options = LoadOptions { allow_other_cpu, ..LoadOptions::default() };
        let kept: Artifact = unseal_with(ENGINE, "state", bytes, &options).map_err(|e| of_format(&e))?;
        Ok((Self(Mutex::new(kept.state)), kept.about))
    }
}

/// Parameters of an engine from JSON: values by the names of the table of engine parameters. None stands for the word
/// `none`. Errors name the parameter, the value and what is allowed, in the words of Python.
///
/// The engine asks nothing unless [`Event::Ask`] is applied, because a method call of the user asks. So a round is what one
/// call asks for, `queries_per_round` by default.
pub fn engine_params(settings: &str) -> PyResult<EngineParams> {
    let given: Map<String, Value> = serde_json::from_str(settings).map_err(|e| of_json(&e))?;
    let spec = |name: &str| engine_param_specs().find(|spec| spec.name == name);
    let mut values = ParamValues::new();
    for (name, value) in given {
        let shown = value.as_str().map_or_else(|| python_text(&value), ToString::to_string);
        let typed = match (spec(&name), value) {
            (Some(spec), Value::Null) if accepts_none(spec.kind) => Some("none".into()),
            (_, value) => serde_json::from_value::<ParamValue>(value).ok(),
        };
        let Some(typed) = typed else {
            let allowed = spec(&name).map_or_else(|| "a value".into(), |spec| allowed_in_python(spec.kind));
            return Err(parameter_error(&name, &shown, &allowed));
        };
        values.insert(name, typed);
    }
    let mut params = EngineParams::from_values(&values).map_err(|error| match error {
        evermargin::Error::Parameter { name, value, allowed } => {
            let kind = spec(name).map(|spec| spec.kind).filter(|kind| kind.to_string() == allowed);
            parameter_error(name, &value, &kind.map_or(allowed, allowed_in_python))
        }
        error => of_core(&error),
    })?;
    params.budget.rounds_on_request = true;
    Ok(params)
}

/// Whether an event is learned at once, so that nothing needs to be copied for an interruption.
pub fn is_short(event: &Event) -> bool {
    use Event::{Answer, Compare, Related, SetRatio, Skip};
    matches!(event, Answer { .. } | Compare { .. } | Related { .. } | SetRatio { .. } | Skip { .. })
}

/// The labeled sample that a query compares with, as JSON; null where the query is for the class.
pub fn reference_of(engine: &Engine, sample: u64) -> Value {
    json!(engine.reference_of(sample))
}

/// A value as Python shows it.
fn python_text(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        value => value.to_string(),
    }
}

/// The number of each class of the engine.
fn numbers(engine: &Engine) -> Vec<i64> {
    engine.classes().names().iter().map(|name| name.parse().unwrap_or(-1)).collect()
}

/// The names of the sources of labels.
pub fn sources(labels: &[InferredLabel]) -> Sources {
    labels.iter().map(|label| label.source.map(RowSource::name)).collect()
}

/// The label sources with their weights and accuracies on held-out labels.
pub fn label_sources(engine: &Engine) -> Value {
    let weights = engine.label_sources().weights().iter();
    let source = |s: &SourceWeight| json!({ "source": RowSource::from(s.source).name(), "weight": s.weight, "accuracy": s.accuracy });
    weights.map(source).collect()
}

/// The strategies of the bandit: share of useful questions and number of answers of each.
pub fn query_arms(engine: &Engine) -> Value {
    let arms = engine.query_arms().into_iter();
    let arm = |(strategy, usefulness, answers): (QueryStrategy, f64, u64)| json!({ "strategy": strategy.name(), "usefulness": usefulness, "answers": answers });
    arms.map(arm).collect()
}

/// Effects without the labels of rows.
pub fn summary_of(effects: &Effects) -> Value {
    json!({
        "questions": effects.questions,
        "implied": effects.implied,
        "published": effects.published,
        "drift": effects.drift,
        "advice": effects.advice.map(Stopped::why),
        "notes": effects.notes,
        "rejected": effects.rejected.iter().map(|r| json!({
            "row": r.row,
            "reason": r.reason.text(),
            "column": r.column,
            "value": r.value,
            "label_only": r.reason.concerns_label(),
        })).collect::<Vec<_>>(),
    })
}

/// Counts and measurements of an engine.
pub fn metrics(engine: &Engine) -> Value {
    let meter = engine.metrics();
    let late = |rate: &Rate| (rate.of > 0).then_some(rate.ema);
    json!({
        "rows": engine.rows() - engine.rejected_rows(),
        "samples": engine.rows(),
        "rejected_rows": engine.rejected_rows(),
        "batches": engine.batches(),
        "version": engine.version(),
        "labels_spent": engine.budget_usage().total,
        "labels_kept": engine.memory().map_or(0, evermargin::engine::LabelMemory::len),
        "prequential_accuracy": meter.given.share(),
        "prequential_accuracy_late": late(&meter.given),
        "model_accuracy": meter.model.share(),
        "transduction_accuracy": meter.transduction.share(),
        "judged": meter.given.of,
        "drifts": meter.drifts,
        "exemplars": engine.transduction().map_or(0, |t| t.exemplars().rows()),
        "support_count": engine.support_count(),
        "samples_kept": engine.stored_samples(),
        "columns": engine.columns(),
        "dropped_columns": engine.dropped_columns(),
    })
}

#[pymethods]
impl PyEngine {
    /// An engine that has seen nothing; `settings` is JSON of its parameters. Without transduction it summarizes no
    /// unlabeled rows.
    #[new]
    #[pyo3(signature = (settings, transduction = true))]
    fn new(settings: &str, transduction: bool) -> PyResult<Self> {
        let mut params = engine_params(settings)?;
        if !transduction {
            params.transduction = None;
        }
        Engine::new(&params).map(|engine| Self(Mutex::new(engine))).map_err(|e| of_core(&e))
    }

    /// The value of every parameter, as JSON.
    fn params(&self) -> PyResult<String> {
        serde_json::to_string(&self.held().params().values()).map_err(|e| of_json(&e))
    }

    /// The label sources with their weights, as JSON.
    fn label_sources(&self) -> String {
        label_sources(&self.held()).to_string()
    }

    /// The strategies of the bandit, as JSON; empty for other strategies.
    fn query_arms(&self) -> String {
        query_arms(&self.held()).to_string()
    }

    /// Samples arrive; -1 in `codes` is no label.
    fn batch<'py>(
        &self,
        py: Python<'py>,
        x: Rows<'py>,
        codes: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Applied<'py>> {
        let name = |c: &i64| (*c >= 0).then(|| c.to_string());
        let labels = codes.as_array().iter().map(name).collect();
        self.apply(py, Event::Batch { x: x.to_any_matrix()?, labels })
    }

    /// A question is answered.
    fn answer<'py>(&self, py: Python<'py>, sample: u64, code: u32) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Answer { sample, label: code.to_string() })
    }

    /// A question is passed over.
    fn skip<'py>(&self, py: Python<'py>, sample: u64) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Skip { sample })
    }

    /// Two samples are of the same class, or of two.
    fn relate<'py>(&self, py: Python<'py>, a: u64, b: u64, same: bool) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Related { a, b, same })
    }

    /// A question becomes a comparison.
    fn compare<'py>(&self, py: Python<'py>, sample: u64) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Compare { sample })
    }

    /// Sets the share of each class, in the order of their numbers.
    fn set_ratio<'py>(&self, py: Python<'py>, shares: Vec<f64>) -> PyResult<Applied<'py>> {
        self.apply(py, Event::SetRatio { shares })
    }

    /// The labeled sample that a question compares with, as JSON; null where the class is asked for.
    fn reference(&self, sample: u64) -> String {
        reference_of(&self.held(), sample).to_string()
    }

    /// A label is changed.
    fn correct<'py>(&self, py: Python<'py>, sample: u64, code: u32) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Correct { sample, label: code.to_string() })
    }

    /// A label is taken back.
    fn withdraw<'py>(&self, py: Python<'py>, sample: u64) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Withdraw { sample })
    }

    /// So many questions are wanted.
    fn ask<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Ask { count })
    }

    /// The batch is done with.
    fn tick<'py>(&self, py: Python<'py>, now: u64) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Tick { now })
    }

    /// The classifier as it is, its classes named by their numbers; None while labels of two classes are missing.
    fn classifier(&self) -> Option<PyClassifier> {
        self.held().classifier().map(PyClassifier)
    }

    /// Counts and measurements, as JSON.
    fn metrics(&self) -> String {
        metrics(&self.held()).to_string()
    }

    /// Exemplars as the engine sees them (scaled) and how many samples each stands for; None before the first batch.
    fn exemplars<'py>(&self, py: Python<'py>) -> PyResult<Option<Exemplars<'py>>> {
        let engine = self.held();
        let Some(known) = engine.transduction() else { return Ok(None) };
        Ok(Some((to_python(py, known.exemplars())?, PyArray1::from_slice(py, known.weights()))))
    }

    /// Samples whose labels are remembered, and the numbers of their classes.
    fn labels<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>) {
        let engine = self.held();
        let (names, told) = (numbers(&engine), engine.memory().map_or(&[][..], |m| m.labeled()));
        let samples: Vec<i64> = told.iter().map(|t| t.sample as i64).collect();
        let classes: Vec<i64> = told.iter().map(|t| names[t.class as usize]).collect();
        (samples.into_pyarray(py), classes.into_pyarray(py))
    }

    /// Samples that wait for an answer, oldest first.
    fn questions(&self) -> Vec<u64> {
        self.held().pending_queries()
    }

    /// Its bytes, with what its owner says about it.
    #[pyo3(signature = (about=""))]
    fn to_bytes<'py>(&self, py: Python<'py>, about: &str) -> PyResult<Bound<'py, PyBytes>> {
        let kept = Artifact { about: about.into(), state: self.held().clone() };
        Ok(PyBytes::new(py, &seal(ENGINE, &kept).map_err(|e| of_format(&e))?))
    }

    /// An engine from its bytes.
    #[staticmethod]
    #[pyo3(signature = (bytes, allow_other_cpu = false))]
    fn from_bytes(bytes: &[u8], allow_other_cpu: bool) -> PyResult<Self> {
        Self::open(bytes, allow_other_cpu).map(|(engine, _)| engine)
    }

    /// The same with what its owner said about it.
    #[staticmethod]
    fn with_about(bytes: &[u8]) -> PyResult<(Self, String)> {
        Self::open(bytes, false)
    }

    /// A pickle is mostly made to predict elsewhere, so it opens at every CPU level.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py(), "")?, true)))
    }
}
