//! Typed parameters of estimators from the JSON of the tables.

use crate::failure::{Failure, Result};
use evermargin::estimators::{Fit, estimator};
use evermargin::params::ParamValues;
use serde_json::Value;

/// Typed values of a JSON object.
pub fn typed(params: &Value) -> Result<ParamValues> {
    serde_json::from_value(params.clone()).map_err(|e| Failure::Unknown(format!("parameters {params}: {e}")))
}

/// The estimator of that name with these parameters.
pub fn make(name: &str, params: &Value) -> Result<Box<dyn Fit>> {
    Ok(Box::new(estimator(name)?.make(&typed(params)?)?))
}
