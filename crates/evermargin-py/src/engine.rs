//! Python handle of the engine. Classes are numbers here, and their names in the engine are the digits of these numbers;
//! the Python estimator maps them to the labels of the user.

use crate::classifier::PyClassifier;
use crate::error::{core_error, format_error, json_error, parameter_error};
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

/// Function that pickle calls to restore the object, and its arguments.
type PickleParts<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, bool));

/// The engine. It is pickled as the bytes of `to_bytes`.
#[pyclass(name = "Engine", module = "evermargin._core", frozen)]
pub struct PyEngine(Mutex<Engine>);

/// Contents of the artifact of an engine; `about` is a text that belongs to the caller.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Artifact {
    about: String,
    state: Engine,
}

/// Labels of the rows of a batch as classes (-1 = none yet), confidences and sources (None = no label), and the other
/// effects as JSON.
type Applied<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Sources, String);

/// Source of the label of each row.
pub type Sources = Vec<Option<&'static str>>;

/// Exemplars, and the number of samples that each represents.
type Exemplars<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>);

impl PyEngine {
    fn lock_inner(&self) -> MutexGuard<'_, Engine> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn apply<'py>(&self, py: Python<'py>, event: Event) -> PyResult<Applied<'py>> {
        let done = if is_quick(&event) {
            exclusive(py, &self.0, |engine| engine.apply(event).map(|effects| (numbers(engine), effects)))?
        } else {
            exclusive_long(py, &self.0, |engine, watch| {
                let plan = engine.plan_watched(event, watch)?;
                let effects = engine.commit(plan);
                Ok::<_, evermargin::Error>((numbers(engine), effects))
            })?
        };
        let (numbers, effects) = done.map_err(|e| core_error(&e))?;
        let class = |c: Option<u32>| c.and_then(|c| numbers.get(c as usize).copied()).unwrap_or(-1);
        let classes: Vec<i64> = effects.labels.iter().map(|l| class(l.class)).collect();
        let confidences: Vec<f64> = effects.labels.iter().map(|l| l.confidence).collect();
        let sources = sources(&effects.labels);
        Ok((
            classes.into_pyarray(py),
            confidences.into_pyarray(py),
            sources,
            summary_of(&effects).to_string(),
        ))
    }

    fn open(bytes: &[u8], allow_other_cpu: bool) -> PyResult<(Self, String)> {
        let options = LoadOptions { allow_other_cpu, ..LoadOptions::default() };
        let artifact: Artifact =
            unseal_with(ENGINE, "state", bytes, &options).map_err(|e| format_error(&e))?;
        Ok((Self(Mutex::new(artifact.state)), artifact.about))
    }
}

/// Parameters of an engine from a JSON object of parameter names and values. None stands for the value `none`. Errors name
/// the parameter, the value and the allowed values in Python notation.
///
/// The engine selects queries only when [`Event::Ask`] is applied, that is, when the user calls a method. One such call is
/// a round, of `queries_per_round` queries by default.
pub fn engine_params(settings: &str) -> PyResult<EngineParams> {
    let given: Map<String, Value> = serde_json::from_str(settings).map_err(|e| json_error(&e))?;
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
        error => core_error(&error),
    })?;
    params.budget.rounds_on_request = true;
    Ok(params)
}

/// Whether an event is processed quickly, so that no copy of the state is needed for an interruption.
pub fn is_quick(event: &Event) -> bool {
    use Event::{Answer, Compare, Related, SetRatio, Skip};
    matches!(event, Answer { .. } | Compare { .. } | Related { .. } | SetRatio { .. } | Skip { .. })
}

/// Labeled sample with which a query compares its sample, as JSON; null if the query asks for the class.
pub fn reference_of(engine: &Engine, sample: u64) -> Value {
    json!(engine.reference_of(sample))
}

/// Text of a value in Python notation.
fn python_text(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        value => value.to_string(),
    }
}

/// Numbers that are the names of the classes of the engine.
fn numbers(engine: &Engine) -> Vec<i64> {
    engine.classes().names().iter().map(|name| name.parse().unwrap_or(-1)).collect()
}

/// Names of the sources of labels.
pub fn sources(labels: &[InferredLabel]) -> Sources {
    labels.iter().map(|label| label.source.map(RowSource::name)).collect()
}

/// Label sources with their weights and accuracies on held-out labels.
pub fn label_sources(engine: &Engine) -> Value {
    let weights = engine.label_sources().weights().iter();
    let source = |s: &SourceWeight| json!({ "source": RowSource::from(s.source).name(), "weight": s.weight, "accuracy": s.accuracy });
    weights.map(source).collect()
}

/// Strategies of the bandit, each with its fraction of useful queries and its number of answers.
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
    let metrics = engine.metrics();
    let ema = |rate: &Rate| (rate.of > 0).then_some(rate.ema);
    json!({
        "rows": engine.rows() - engine.rejected_rows(),
        "samples": engine.rows(),
        "rejected_rows": engine.rejected_rows(),
        "batches": engine.batches(),
        "version": engine.version(),
        "labels_spent": engine.budget_usage().total,
        "labels_kept": engine.memory().map_or(0, evermargin::engine::LabelMemory::len),
        "prequential_accuracy": metrics.given.share(),
        "prequential_accuracy_late": ema(&metrics.given),
        "model_accuracy": metrics.model.share(),
        "transduction_accuracy": metrics.transduction.share(),
        "judged": metrics.given.of,
        "drifts": metrics.drifts,
        "exemplars": engine.transduction().map_or(0, |t| t.exemplars().rows()),
        "support_count": engine.support_count(),
        "samples_kept": engine.stored_samples(),
        "columns": engine.columns(),
        "dropped_columns": engine.dropped_columns(),
    })
}

#[pymethods]
impl PyEngine {
    /// A new engine; `settings` is JSON with its parameters. Without transduction it summarizes no unlabeled rows.
    #[new]
    #[pyo3(signature = (settings, transduction = true))]
    fn new(settings: &str, transduction: bool) -> PyResult<Self> {
        let mut params = engine_params(settings)?;
        if !transduction {
            params.transduction = None;
        }
        Engine::new(&params).map(|engine| Self(Mutex::new(engine))).map_err(|e| core_error(&e))
    }

    /// The value of every parameter, as JSON.
    fn params(&self) -> PyResult<String> {
        serde_json::to_string(&self.lock_inner().params().values()).map_err(|e| json_error(&e))
    }

    /// The label sources with their weights, as JSON.
    fn label_sources(&self) -> String {
        label_sources(&self.lock_inner()).to_string()
    }

    /// The strategies of the bandit, as JSON; empty for other strategies.
    fn query_arms(&self) -> String {
        query_arms(&self.lock_inner()).to_string()
    }

    /// Processes a batch of samples; -1 in `codes` stands for no label.
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

    /// Answers a query.
    fn answer<'py>(&self, py: Python<'py>, sample: u64, code: u32) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Answer { sample, label: code.to_string() })
    }

    /// Skips a query.
    fn skip<'py>(&self, py: Python<'py>, sample: u64) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Skip { sample })
    }

    /// States whether two samples belong to the same class.
    fn relate<'py>(&self, py: Python<'py>, a: u64, b: u64, same: bool) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Related { a, b, same })
    }

    /// Turns a query into a comparison with a labeled sample.
    fn compare<'py>(&self, py: Python<'py>, sample: u64) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Compare { sample })
    }

    /// Sets the proportion of each class, in the order of their numbers.
    fn set_ratio<'py>(&self, py: Python<'py>, shares: Vec<f64>) -> PyResult<Applied<'py>> {
        self.apply(py, Event::SetRatio { shares })
    }

    /// Labeled sample with which a query compares its sample, as JSON; null if the query asks for the class.
    fn reference(&self, sample: u64) -> String {
        reference_of(&self.lock_inner(), sample).to_string()
    }

    /// Corrects a label.
    fn correct<'py>(&self, py: Python<'py>, sample: u64, code: u32) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Correct { sample, label: code.to_string() })
    }

    /// Withdraws a label.
    fn withdraw<'py>(&self, py: Python<'py>, sample: u64) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Withdraw { sample })
    }

    /// Selects `count` queries.
    fn ask<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Ask { count })
    }

    /// Closes the batch at the time `now`.
    fn tick<'py>(&self, py: Python<'py>, now: u64) -> PyResult<Applied<'py>> {
        self.apply(py, Event::Tick { now })
    }

    /// The current classifier, with the numbers of the classes as their names; None until labels of two classes are known.
    fn classifier(&self) -> Option<PyClassifier> {
        self.lock_inner().classifier().map(PyClassifier)
    }

    /// Counts and measurements, as JSON.
    fn metrics(&self) -> String {
        metrics(&self.lock_inner()).to_string()
    }

    /// Scaled exemplars and the number of samples that each represents; None before the first batch.
    fn exemplars<'py>(&self, py: Python<'py>) -> PyResult<Option<Exemplars<'py>>> {
        let engine = self.lock_inner();
        let Some(transduction) = engine.transduction() else { return Ok(None) };
        let weights = PyArray1::from_slice(py, transduction.weights());
        Ok(Some((to_python(py, transduction.exemplars())?, weights)))
    }

    /// Samples whose labels are in memory, and the numbers of their classes.
    fn labels<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>) {
        let engine = self.lock_inner();
        let (names, labeled) = (numbers(&engine), engine.memory().map_or(&[][..], |m| m.labeled()));
        let samples: Vec<i64> = labeled.iter().map(|l| l.sample as i64).collect();
        let classes: Vec<i64> = labeled.iter().map(|l| names[l.class as usize]).collect();
        (samples.into_pyarray(py), classes.into_pyarray(py))
    }

    /// Samples with an open query, oldest first.
    fn questions(&self) -> Vec<u64> {
        self.lock_inner().pending_queries()
    }

    /// The bytes of the engine with the text `about`, which belongs to the caller.
    #[pyo3(signature = (about=""))]
    fn to_bytes<'py>(&self, py: Python<'py>, about: &str) -> PyResult<Bound<'py, PyBytes>> {
        let artifact = Artifact { about: about.into(), state: self.lock_inner().clone() };
        Ok(PyBytes::new(py, &seal(ENGINE, &artifact).map_err(|e| format_error(&e))?))
    }

    /// Restores an engine from its bytes.
    #[staticmethod]
    #[pyo3(signature = (bytes, allow_other_cpu = false))]
    fn from_bytes(bytes: &[u8], allow_other_cpu: bool) -> PyResult<Self> {
        Self::open(bytes, allow_other_cpu).map(|(engine, _)| engine)
    }

    /// Restores an engine from its bytes, with the text `about` that was saved with it.
    #[staticmethod]
    fn with_about(bytes: &[u8]) -> PyResult<(Self, String)> {
        Self::open(bytes, false)
    }

    /// Pickles are often used for prediction on another machine, so they open on every CPU feature level.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<PickleParts<'py>> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py(), "")?, true)))
    }
}
