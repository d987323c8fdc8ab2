//! Python handle of a trained classifier.

use crate::error::{core_error, format_error};
use crate::rows::{Rows, table, to_python};
use crate::work::run_short;
use evermargin::model::{Classifier, Column, InputSpec, MulticlassScheme, Scaling};
use evermargin::{Kernel, Matrix, Model};
use evermargin_io::artifacts::model;
use evermargin_io::{Limits, json, libsvm_model, onnx};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A trained classifier. It is pickled as the bytes of a model file.
#[pyclass(name = "Classifier", module = "evermargin._core", frozen)]
pub struct PyClassifier(pub Classifier);

/// Classes, decision values and, for a calibrated classifier, probabilities.
type Predicted<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

#[pymethods]
impl PyClassifier {
    /// Class number of each row, decision values (rows by outputs), and probabilities (rows by classes) or None.
    fn predict<'py>(&self, py: Python<'py>, x: Rows<'py>) -> PyResult<Predicted<'py>> {
        let view = x.view()?;
        let predictions = run_short(py, || self.0.predict_view(view))?.map_err(|e| core_error(&e))?;
        let class: Vec<i64> = predictions.class.into_iter().map(i64::from).collect();
        let decision = table(py, predictions.decision, self.0.model.outputs())?;
        let probability = predictions.probability.map(|p| table(py, p, self.0.classes.len())).transpose()?;
        Ok((class.into_pyarray(py), decision, probability))
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = model::to_bytes(&self.0).map_err(|e| format_error(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads a classifier from the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        model::from_bytes("model", bytes).map(Self).map_err(|e| format_error(&e))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((slf.get_type().getattr("from_bytes")?, (slf.get().to_bytes(slf.py())?,)))
    }

    /// The text of the classifier as a LIBSVM model.
    fn to_libsvm(&self) -> PyResult<String> {
        libsvm_model::to_text(&self.0).map_err(|e| format_error(&e))
    }

    /// Reads a classifier from the text of a LIBSVM model.
    #[staticmethod]
    fn from_libsvm(text: &str) -> PyResult<Self> {
        let read = libsvm_model::from_text("model", text.as_bytes(), &Limits::default());
        read.map(Self).map_err(|e| format_error(&e))
    }

    /// The bytes of the classifier as an ONNX model.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = onnx::to_onnx(&self.0).map_err(|e| format_error(&e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// All parts of the classifier as JSON.
    fn to_json(&self) -> PyResult<String> {
        json::to_json(&self.0).map_err(|e| format_error(&e))
    }

    /// Builds a classifier from its parts: `kernel` is JSON like `{"type": "rbf", "gamma": 1}`, `coef` has one row per
    /// decision function, `scheme` is binary, one-vs-rest or one-vs-one. Without points the model is linear.
    #[staticmethod]
    fn from_parts(
        classes: Vec<String>,
        scheme: &str,
        kernel: &str,
        points: Option<Rows<'_>>,
        coef: PyReadonlyArray2<'_, f64>,
        bias: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let json_error = |e: serde_json::Error| PyValueError::new_err(format!("kernel or scheme: {e}"));
        let scheme: MulticlassScheme = serde_json::from_value(scheme.into()).map_err(json_error)?;
        let kernel: Kernel = serde_json::from_str(kernel).map_err(json_error)?;
        let coef: Vec<Vec<f64>> = coef.as_array().outer_iter().map(|row| row.to_vec()).collect();
        let bias = bias.as_array().to_vec();
        let (learner, model) = match points {
            Some(points) => {
                let points = points.view()?.to_matrix();
                ("svc", Model::Expansion { kernel, points, coef, bias })
            }
            None => ("linear", Model::Linear { weights: coef, bias }),
        };
        let classifier = Classifier {
            learner: learner.into(),
            params: evermargin::params::ParamValues::from([("kernel".into(), kernel.name().into())]),
            classes,
            scheme,
            model,
            scaling: Scaling::None,
            input: InputSpec::default(),
            calibration: Vec::new(),
        };
        classifier.check().map_err(|e| core_error(&e))?;
        Ok(Self(classifier))
    }

    /// Names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes.clone()
    }

    /// Name of the estimator.
    #[getter]
    fn learner(&self) -> String {
        self.0.learner.clone()
    }

    /// Multiclass scheme: binary, one-vs-rest or one-vs-one.
    #[getter]
    fn scheme(&self) -> &'static str {
        match self.0.scheme {
            MulticlassScheme::Binary => "binary",
            MulticlassScheme::OneVsRest => "one-vs-rest",
            MulticlassScheme::OneVsOne => "one-vs-one",
        }
    }

    /// Given and selected parameters as JSON.
    #[getter]
    fn params(&self) -> String {
        serde_json::to_string(&self.0.params).unwrap_or_default()
    }

    /// Number of features.
    #[getter]
    fn features(&self) -> usize {
        self.0.features()
    }

    /// Names of the features if all of them are numeric columns of a table with a header; None for other input.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        let named = |(at, column): (usize, &Column)| match column {
            // Columns of a table without a header have numbers instead of names.
            Column::Number { name } if *name != format!("column {}", at + 1) => Some(name.clone()),
            _ => None,
        };
        let columns = &self.0.input.columns;
        if columns.is_empty() { None } else { columns.iter().enumerate().map(named).collect() }
    }

    /// Copy of the classifier for a table whose columns have these names, one per feature.
    fn with_feature_names(&self, names: Vec<String>) -> PyResult<Self> {
        if names.len() != self.0.features() {
            let (expected, found) = (self.0.features(), names.len());
            return Err(core_error(&evermargin::Error::Shape { what: "feature names", expected, found }));
        }
        let mut classifier = self.0.clone();
        classifier.input.columns = names.into_iter().map(|name| Column::Number { name }).collect();
        Ok(Self(classifier))
    }

    /// Number of points or weights of the model.
    #[getter]
    fn support_count(&self) -> usize {
        self.0.model.support_count()
    }

    /// The points of an expansion; None for other models.
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.0.model {
            Model::Expansion { points, .. } => to_python(py, points).map(Some),
            _ => Ok(None),
        }
    }

    /// Coefficients of the points, or weights of the features, one row per decision function. None for views.
    fn coef<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.0.model {
            Model::Expansion { coef: rows, .. } | Model::Linear { weights: rows, .. } => {
                let cols = rows.first().map_or(0, Vec::len);
                let values = rows.concat();
                let matrix = Matrix::dense(values, rows.len(), cols).map_err(|e| core_error(&e))?;
                to_python(py, &matrix).map(Some)
            }
            Model::Views { .. } => Ok(None),
        }
    }

    /// The bias of each decision function.
    fn bias<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.model.bias())
    }
}
