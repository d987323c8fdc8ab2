//! The settings of a training from Python: a dictionary of options, with the parameters of the estimator under `params`.
//! Every value is converted to its type and checked here, before the rows are read.

use crate::error::core_error;
use evermargin::estimators::{ClassWeight, estimator};
use evermargin::params::{ParamValue, ParamValues};
use evermargin::pipeline::train::TrainOptions;
use evermargin::{Error, Result};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::json;
use std::str::FromStr;

/// Options of a training by `learner`.
pub fn train_options(learner: &str, settings: &Bound<'_, PyDict>) -> PyResult<TrainOptions> {
    let mut options = TrainOptions::new(learner);
    for (name, value) in settings.iter() {
        let name: String = name.extract()?;
        if name == "params" {
            set_params(&mut options, value.cast::<PyDict>()?)?;
        } else {
            set_option(&mut options, &name, &option_value(&name, &value)?).map_err(|e| core_error(&e))?;
        }
    }
    Ok(options)
}

fn set_params(options: &mut TrainOptions, params: &Bound<'_, PyDict>) -> PyResult<()> {
    let spec = estimator(&options.learner).map_err(|e| core_error(&e))?;
    for (name, value) in params.iter() {
        let name: String = name.extract()?;
        let param = spec.param(&name).map_err(|e| core_error(&e))?;
        let Some(typed) = param_value(&value) else {
            let shown = value.repr()?.to_string();
            return Err(core_error(&Error::parameter(param.name, shown, param.kind.to_string())));
        };
        options.set(&name, typed).map_err(|e| core_error(&e))?;
    }
    Ok(())
}

fn option_value(name: &str, value: &Bound<'_, PyAny>) -> PyResult<ParamValue> {
    param_value(value).ok_or_else(|| match value.repr() {
        Ok(shown) => PyTypeError::new_err(format!("{name}={shown}: this type is not allowed")),
        Err(error) => error,
    })
}

fn set_option(options: &mut TrainOptions, name: &str, value: &ParamValue) -> Result<()> {
    match name {
        "multi" => options.multi = Some(parse_text(value)?),
        "class_weight" => options.class_weight = ClassWeight::from_value(Some(value))?,
        "scale" if value.as_str() == Some("auto") => options.scaling = None,
        "scale" => options.scaling = Some(parse_text(value)?),
        "probability" => options.calibration = Some(parse_text(value)?),
        "threshold" => options.threshold = Some(parse_text(value)?),
        "folds" => options.folds = whole_number("folds", value)? as usize,
        "seed" => options.seed = whole_number("seed", value)?,
        "compare" => {
            let error = || Error::parameter("compare", value, "true or false");
            options.compare = value.as_bool().ok_or_else(error)?;
        }
        _ => return Err(Error::Data(format!("there is no training option {name}"))),
    }
    Ok(())
}

fn parse_text<T: FromStr<Err = Error>>(value: &ParamValue) -> Result<T> {
    value.to_string().parse()
}

fn whole_number(name: &'static str, value: &ParamValue) -> Result<u64> {
    value.as_u64().ok_or_else(|| Error::parameter(name, value, "a whole number from 0 on"))
}

/// Converts a value of Python or numpy; `None` if its type has no counterpart.
fn param_value(value: &Bound<'_, PyAny>) -> Option<ParamValue> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Some(flag.is_true().into());
    }
    if value.is_instance_of::<PyInt>() {
        return value.extract::<i128>().map(ParamValue::Integer).ok();
    }
    if value.is_instance_of::<PyFloat>() {
        return value.extract::<f64>().map(ParamValue::Float).ok();
    }
    if value.is_instance_of::<PyString>() {
        return value.extract::<String>().map(ParamValue::Text).ok();
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter().ok()?.map(|item| item.ok().and_then(|item| param_value(&item)));
        return items.collect::<Option<Vec<_>>>().map(ParamValue::List);
    }
    if let Ok(map) = value.cast::<PyDict>() {
        let pairs = map.iter().map(|(key, item)| Some((key.extract().ok()?, param_value(&item)?)));
        return pairs.collect::<Option<ParamValues>>().map(ParamValue::Map);
    }
    let plain = value.call_method0("tolist").ok()?; // a method of numpy scalars and arrays
    if plain.is(value) { None } else { param_value(&plain) }
}

/// Settings that a training by `learner` receives, as JSON: the values in the parameter struct of the estimator under
/// `params`, and every option of the training as text.
#[pyfunction]
pub fn resolved_params(learner: &str, settings: &Bound<'_, PyDict>) -> PyResult<String> {
    let options = train_options(learner, settings)?;
    let spec = estimator(learner).map_err(|e| core_error(&e))?;
    let params = spec.make(&options.params).and_then(|params| params.values()).map_err(|e| core_error(&e))?;
    let received = json!({
        "params": params,
        "gamma": format!("{:?}", options.gamma),
        "multi": format!("{:?}", options.multi),
        "class_weight": format!("{:?}", options.class_weight),
        "scale": format!("{:?}", options.scaling),
        "probability": format!("{:?}", options.calibration),
        "threshold": format!("{:?}", options.threshold),
        "folds": options.folds,
        "seed": options.seed,
        "compare": options.compare,
    });
    Ok(received.to_string())
}
