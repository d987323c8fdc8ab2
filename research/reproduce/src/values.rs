//! Parameters of estimators as the tables write them, typed.

use crate::failure::{Failure, Result};
use evermargin::estimators::{Fit, estimator};
use evermargin::params::ParamValues;
use serde_json::Value;

/// The typed values of an object.
pub fn typed(params: &Value) -> Result<ParamValues> {
    serde_json::from_value(params.clone()).map_err(|e| Failure::Unknown(format!("parameters {params}: {e}")))
}

/// The estimator of that name with these parameters.
pub fn make(name: &str, params: &Value) -> Result<Box<dyn Fit>> {
    Ok(Box::new(estimator(name)?.make(&typed(params)?)?))
}
