//! Python handle of a durable session: an engine whose events are on the disk before they take effect. Classes have their
//! names here.

use crate::classifier::PyClassifier;
use crate::engine::{
    Sources, engine_params, is_quick, label_sources, metrics, query_arms, reference_of, sources, summary_of,
};
use crate::error::{core_error, session_error};
use crate::rows::{Rows, to_python};
use crate::work::{exclusive, exclusive_long};
use evermargin::cpu::cpu_feature_level;
use evermargin::engine::{Effects, Engine, EngineParams, Event};
use evermargin::solver::Watch;
use evermargin_io::{Format, Schema};
use evermargin_session::{
    Batch, ClassCounts, LabelProtocol, Opened, Oracle, OtherCpu, Session, SessionConfig, SessionError,
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A session, or an empty store for a new one; `None` after it was closed.
#[pyclass(name = "Session", module = "evermargin._core", frozen)]
pub struct PySession(Mutex<Option<Opened>>);

/// Labels of the rows of a batch: names of classes (None = none yet), confidences and sources.
type Predictions<'py> = (Vec<Option<String>>, Bound<'py, PyArray1<f64>>, Sources);

/// Exemplars, and the number of samples that each represents.
type Exemplars<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>);

fn closed_error() -> PyErr {
    PyValueError::new_err("the session is closed, or has no batch yet")
}

impl PySession {
    fn lock_inner(&self) -> MutexGuard<'_, Option<Opened>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, work: impl FnOnce(&Session) -> T) -> PyResult<T> {
        match &*self.lock_inner() {
            Some(Opened::Session(session)) => Ok(work(session)),
            _ => Err(closed_error()),
        }
    }

    fn write<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Session) -> Result<T, SessionError> + Send,
    ) -> PyResult<T> {
        let done = exclusive(py, &self.0, |opened| match opened {
            Some(Opened::Session(session)) => Some(work(session)),
            _ => None,
        })?;
        done.ok_or_else(closed_error)?.map_err(|e| session_error(&e))
    }

    /// Like [`PySession::write`], for events that may take long: Ctrl-C ends the work and the session is not changed.
    fn write_long<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Session, &dyn Watch) -> Result<T, SessionError> + Send,
    ) -> PyResult<T> {
        let done = exclusive_long(py, &self.0, |opened, watch| match opened {
            Some(Opened::Session(session)) => work(session, watch).map_err(Some),
            _ => Err(None),
        })?;
        done.map_err(|error| error.map_or_else(closed_error, |error| session_error(&error)))
    }

    fn submit(&self, py: Python<'_>, event: Event) -> PyResult<String> {
        let effects = match event {
            event if is_quick(&event) => self.write(py, |session| session.submit(event))?,
            event => self.write_long(py, |session, watch| session.submit_watched(event, watch))?,
        };
        Ok(summary_of(&effects).to_string())
    }
}

fn named_predictions<'py>(
    py: Python<'py>,
    engine: &Engine,
    labels: &[evermargin::engine::InferredLabel],
) -> Predictions<'py> {
    let names = engine.classes().names();
    let name = |c: u32| names.get(c as usize).cloned();
    let classes = labels.iter().map(|l| l.class.and_then(name)).collect();
    let confidence: Vec<f64> = labels.iter().map(|l| l.confidence).collect();
    (classes, confidence.into_pyarray(py), sources(labels))
}

/// Parameters that may change when a session is resumed.
const BUDGET: [&str; 4] = ["budget", "queries_per_batch", "per_time", "queries_per_round"];

/// Names of parameters whose values differ, except those of the budget.
fn differences(one: &EngineParams, other: &EngineParams) -> Vec<String> {
    let (one, other) = (one.values(), other.values());
    let differs = |name: &String| other.get(name) != one.get(name) && !BUDGET.contains(&name.as_str());
    one.keys().filter(|name| differs(name)).cloned().collect()
}

/// Scores of predictions on arrival, under the names that the command line uses.
fn scores(session: &Session) -> Value {
    let statistics = session.statistics();
    let class = |class: &ClassCounts| {
        let scores = class.scores();
        let values = json!({
            "rows": class.actual,
            "precision": scores.precision,
            "recall": scores.recall,
            "f1": scores.f1,
        });
        (class.name.clone(), values)
    };
    json!({
        "kappa": statistics.kappa(),
        "kappa_t": statistics.kappa_t(),
        "kappa_m": statistics.kappa_m(),
        "windowed_accuracy": statistics.scores.recent.windowed(),
        "fading_accuracy": statistics.scores.recent.fading(),
        "per_class": statistics.classes.iter().map(class).collect::<serde_json::Map<_, _>>(),
    })
}

#[pymethods]
impl PySession {
    /// Opens the session in a directory, or creates the directory for a new one.
    #[staticmethod]
    #[pyo3(signature = (directory, allow_other_cpu=false, cpu_level=None))]
    fn open(
        py: Python<'_>,
        directory: PathBuf,
        allow_other_cpu: bool,
        cpu_level: Option<String>,
    ) -> PyResult<Self> {
        let other = if allow_other_cpu { OtherCpu::Continue } else { OtherCpu::Refuse };
        // Tests pass a level other than that of this machine.
        let cpu_level = cpu_level.unwrap_or_else(|| cpu_feature_level().name().to_string());
        let opened = py.detach(|| Session::open(&directory, &cpu_level, other));
        Ok(Self(Mutex::new(Some(opened.map_err(|e| session_error(&e))?))))
    }

    /// Whether the session has not begun.
    fn is_empty(&self) -> bool {
        matches!(&*self.lock_inner(), Some(Opened::Empty(_)))
    }

    /// Begins a session in an empty directory; `settings` is JSON with the parameters of the engine, `about` is a text that
    /// belongs to the caller.
    fn begin(
        &self,
        py: Python<'_>,
        settings: &str,
        columns: usize,
        sparse: bool,
        about: String,
    ) -> PyResult<()> {
        let params = engine_params(settings)?;
        let mut schema = Schema::new(if sparse { Format::Libsvm } else { Format::Csv }, columns);
        schema.sparse = Some(sparse);
        let config = SessionConfig {
            params,
            random_baseline: false,
            oracle: Oracle::None,
            batch_rows: 0,
            input: vec![about],
            schema,
            label_protocol: LabelProtocol::default(),
            positive: None,
            cpu_level: cpu_feature_level().name().into(),
        };
        Engine::new(&config.params).map_err(|e| core_error(&e))?; // raises errors that name the parameter
        let mut held = self.lock_inner();
        match held.take() {
            Some(Opened::Empty(store)) => {
                let session =
                    py.detach(|| Session::new(config, Some(*store))).map_err(|e| session_error(&e))?;
                *held = Some(Opened::Session(Box::new(session)));
                Ok(())
            }
            other => {
                *held = other;
                Err(PyValueError::new_err("the session has begun already"))
            }
        }
    }

    /// Closes the files, so that another process can open the directory.
    fn close(&self) {
        self.lock_inner().take();
    }

    /// Names of the parameters of the engine that must not change but differ from those with which the session began.
    fn differences(&self, settings: &str) -> PyResult<Vec<String>> {
        let params = engine_params(settings)?;
        self.read(|session| differences(&session.config().params, &params))
    }

    /// Sets the budget to that of these parameters.
    fn set_budget(&self, py: Python<'_>, settings: &str) -> PyResult<()> {
        let budget = engine_params(settings)?.budget;
        if self.read(|session| session.engine().params().budget == budget)? {
            return Ok(());
        }
        self.submit(py, Event::SetBudget { budget }).map(|_| ())
    }

    /// The value of every parameter of the engine, as JSON.
    fn params(&self) -> PyResult<String> {
        self.read(|session| json!(session.engine().params().values()).to_string())
    }

    /// The label sources with their weights, as JSON.
    fn label_sources(&self) -> PyResult<String> {
        self.read(|session| label_sources(session.engine()).to_string())
    }

    /// The strategies of the bandit, as JSON; empty for other strategies.
    fn query_arms(&self) -> PyResult<String> {
        self.read(|session| query_arms(session.engine()).to_string())
    }

    /// The options that the caller gave when the session began.
    #[getter]
    fn about(&self) -> PyResult<String> {
        self.read(|session| session.config().input.first().cloned().unwrap_or_default())
    }

    /// Number of columns, and whether rows are sparse.
    #[getter]
    fn layout(&self) -> PyResult<(usize, bool)> {
        self.read(|session| {
            let schema = session.schema();
            (schema.features, schema.sparse == Some(true))
        })
    }

    /// Processes a batch with arbitrary values. Returns the predictions on arrival, and the other effects as JSON; unusable
    /// rows are rejected and counted.
    fn ingest<'py>(
        &self,
        py: Python<'py>,
        x: Rows<'py>,
        labels: Vec<Option<String>>,
    ) -> PyResult<(Predictions<'py>, String)> {
        let x = x.to_any_matrix()?;
        let batch = Batch::new(x, labels);
        let effects = self.write_long(py, |session, watch| session.ingest_watched(batch, watch))?;
        let summary = summary_of(&effects).to_string();
        self.read(|session| (named_predictions(py, session.engine(), &effects.labels), summary))
    }

    /// Answers a query. This and the following methods return the effects of the event as JSON.
    fn answer(&self, py: Python<'_>, sample: u64, label: String) -> PyResult<String> {
        self.submit(py, Event::Answer { sample, label })
    }

    /// Skips a query.
    fn skip(&self, py: Python<'_>, sample: u64) -> PyResult<String> {
        self.submit(py, Event::Skip { sample })
    }

    /// States whether two samples belong to the same class; answers a query that compares them.
    fn relate(&self, py: Python<'_>, a: u64, b: u64, same: bool) -> PyResult<String> {
        self.submit(py, Event::Related { a, b, same })
    }

    /// Turns a query into a comparison with a labeled sample.
    fn compare(&self, py: Python<'_>, sample: u64) -> PyResult<String> {
        self.submit(py, Event::Compare { sample })
    }

    /// Labeled sample with which a query compares its sample, as JSON; null if the query asks for the class.
    fn reference(&self, sample: u64) -> PyResult<String> {
        self.read(|session| reference_of(session.engine(), sample).to_string())
    }

    /// Changes a label.
    fn correct(&self, py: Python<'_>, sample: u64, label: String) -> PyResult<String> {
        self.submit(py, Event::Correct { sample, label })
    }

    /// Removes a label.
    fn withdraw(&self, py: Python<'_>, sample: u64) -> PyResult<String> {
        self.submit(py, Event::Withdraw { sample })
    }

    /// Asks for more queries.
    fn ask(&self, py: Python<'_>, count: usize) -> PyResult<String> {
        self.submit(py, Event::Ask { count })
    }

    /// Closes the batch at the time `now`.
    fn close_batch(&self, py: Python<'_>, now: u64) -> PyResult<()> {
        self.write_long(py, |session, watch| session.close_batch_watched(now, watch))
    }

    /// Opens the store again after a storage error. Returns whether the failed event is in the store and has been applied.
    fn reopen_store(&self, py: Python<'_>) -> PyResult<bool> {
        self.write(py, Session::reopen_store)
    }

    /// Open queries, as JSON.
    fn queries(&self) -> PyResult<String> {
        self.read(|session| json!(session.queries()).to_string())
    }

    /// Samples with an open query, oldest first.
    fn questions(&self) -> PyResult<Vec<u64>> {
        self.read(|session| session.engine().pending_queries())
    }

    /// Whether the last batch is closed.
    #[getter]
    fn batch_closed(&self) -> PyResult<bool> {
        self.read(Session::is_batch_closed)
    }

    /// Labels of the rows of the last closed batch.
    fn predictions<'py>(&self, py: Python<'py>) -> PyResult<Predictions<'py>> {
        self.read(|session| named_predictions(py, session.engine(), session.predictions()))
    }

    /// Rejected rows of the last batch, as JSON.
    fn rejected_rows(&self) -> PyResult<String> {
        self.read(|session| json!(session.rejected_rows()).to_string())
    }

    /// Drift, advice and notes since the last call, as JSON.
    fn take_notices(&self, py: Python<'_>) -> PyResult<String> {
        let notices: Vec<Effects> = self.write(py, |session| Ok(session.take_notices()))?;
        Ok(Value::Array(notices.iter().map(summary_of).collect()).to_string())
    }

    /// Names of the classes, in the order of their first appearance.
    #[getter]
    fn classes(&self) -> PyResult<Vec<String>> {
        self.read(|session| session.engine().classes().names().to_vec())
    }

    /// The current classifier; None until labels of two classes are known.
    fn classifier(&self) -> PyResult<Option<PyClassifier>> {
        self.read(|session| session.classifier().map(PyClassifier))
    }

    /// Counts of the stream and measurements of the engine as JSON, under the names that the command line uses. Counts of
    /// the stream that are updated only at the end of a batch and that the engine has as well are omitted.
    fn statistics(&self) -> PyResult<String> {
        self.read(|session| {
            let mut found = metrics(session.engine());
            let stream = serde_json::to_value(session.statistics().current).unwrap_or_default();
            if let (Some(found), Value::Object(stream)) = (found.as_object_mut(), stream) {
                let duplicates = ["batch", "exemplars", "queries", "remembered_labels", "support_vectors"];
                found.extend(stream.into_iter().filter(|(name, _)| !duplicates.contains(&name.as_str())));
            }
            if let (Some(found), Value::Object(scores)) = (found.as_object_mut(), scores(session)) {
                found.extend(scores);
            }
            found.to_string()
        })
    }

    /// Counts and measurements of the engine, as JSON.
    fn metrics(&self) -> PyResult<String> {
        self.read(|session| metrics(session.engine()).to_string())
    }

    /// Scaled exemplars and the number of samples that each represents; None before the first batch.
    fn exemplars<'py>(&self, py: Python<'py>) -> PyResult<Option<Exemplars<'py>>> {
        self.read(|session| {
            let Some(transduction) = session.engine().transduction() else { return Ok(None) };
            let weights = PyArray1::from_slice(py, transduction.weights());
            Ok(Some((to_python(py, transduction.exemplars())?, weights)))
        })?
    }

    /// Samples whose labels are in memory, and their classes.
    fn labels(&self) -> PyResult<Vec<(u64, String)>> {
        self.read(|session| {
            let engine = session.engine();
            let labeled = engine.memory().map_or(&[][..], |m| m.labeled());
            labeled.iter().map(|l| (l.sample, engine.classes().names()[l.class as usize].clone())).collect()
        })
    }
}
