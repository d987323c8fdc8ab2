//! The specifications of all estimators, from which `python/generate.py` writes the estimator classes, and those of the
//! engine's parameters.

use crate::error::core_error;
use evermargin::engine::ENGINE_PARAMS;
use evermargin::estimators::{ESTIMATORS, EstimatorSpec};
use evermargin::params::{End, FloatRange, ParamKind, ParamSpec};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Every estimator as JSON: name, summary, whether it is a baseline, uses unlabeled rows or learns from one class, and its
/// parameters (name, kind, type, min, max, choices, default as a typed value, text of the allowed values, help). For a bound
/// that is not itself allowed, `min_open` or `max_open` is true; `or_zero` says that 0 is allowed outside the range.
#[pyfunction]
pub fn specs() -> PyResult<String> {
    let all: Result<Vec<Value>, evermargin::Error> = ESTIMATORS.iter().map(|e| estimator_spec(e)).collect();
    Ok(Value::Array(all.map_err(|e| core_error(&e))?).to_string())
}

/// Every parameter of the engine as JSON in the format of [`specs`], with the heading of its group. Defaults and allowed
/// values are in Python notation.
#[pyfunction]
pub fn engine_specs() -> PyResult<String> {
    let mut all = Vec::new();
    for group in &ENGINE_PARAMS {
        for param in group.params {
            let mut spec = param_spec(param).map_err(|e| core_error(&e))?;
            spec["group"] = group.title.into();
            spec["allowed"] = allowed_in_python(param.kind).into();
            if accepts_none(param.kind) && param.default == "none" {
                spec["default"] = Value::Null;
            }
            all.push(spec);
        }
    }
    Ok(Value::Array(all).to_string())
}

/// Whether a parameter of this kind accepts None.
pub fn accepts_none(kind: ParamKind) -> bool {
    use ParamKind as K;
    matches!(kind, K::OptionalCount | K::OptionalFloat(_) | K::Quota | K::ClassWeights)
}

/// Text of the allowed values of a parameter in Python notation; it completes "must be …".
pub fn allowed_in_python(kind: ParamKind) -> String {
    match kind {
        ParamKind::Bool => "True or False".into(),
        ParamKind::ClassWeights => "None, balanced, ratio, or a dict of positive weights by class".into(),
        kind if accepts_none(kind) => kind.to_string().replacen("none", "None", 1),
        kind => kind.to_string(),
    }
}

fn estimator_spec(estimator: &EstimatorSpec) -> Result<Value, evermargin::Error> {
    let params: Result<Vec<Value>, evermargin::Error> = estimator.params.iter().map(param_spec).collect();
    Ok(json!({
        "name": estimator.name,
        "summary": estimator.summary,
        "baseline": estimator.baseline,
        "uses_unlabeled": estimator.uses_unlabeled,
        "one_class": estimator.one_class,
        "multiclass": estimator.multiclass,
        "params": params?,
    }))
}

fn param_spec(param: &ParamSpec) -> Result<Value, evermargin::Error> {
    let mut out = json!({
        "name": param.name,
        "kind": param.kind.type_name(),
        "type": python_type(&param.kind),
        "min": null,
        "max": null,
        "choices": null,
        "default": param.default_value()?,
        "allowed": param.kind.to_string(),
        "help": param.help,
    });
    match param.kind {
        ParamKind::Float(range) | ParamKind::PerView(range) => bounds(&range, &mut out),
        ParamKind::Gamma => bounds(&FloatRange::POSITIVE, &mut out),
        ParamKind::Ratio => bounds(&FloatRange::UNIT_OPEN, &mut out),
        ParamKind::Integer { min, max } => {
            out["min"] = min.into();
            out["max"] = (max < i64::MAX).then_some(max).into();
        }
        ParamKind::Limit => out["min"] = 1.into(),
        _ => {}
    }
    match param.kind {
        ParamKind::Choice(words) => out["choices"] = json!(words),
        ParamKind::Limit => out["choices"] = json!(["none"]),
        ParamKind::Gamma => out["choices"] = json!(["scale", "auto"]),
        ParamKind::Ratio => out["choices"] = json!(["labels", "auto"]),
        _ => {}
    }
    Ok(out)
}

fn python_type(kind: &ParamKind) -> &'static str {
    match kind {
        ParamKind::Float(_) => "float",
        ParamKind::Integer { .. } => "int",
        ParamKind::Limit => "int or str",
        ParamKind::OptionalCount => "int or None",
        ParamKind::OptionalFloat(_) => "float or None",
        ParamKind::ClassWeights => "dict, str or None",
        ParamKind::Bool => "bool",
        ParamKind::Quota => "str or None",
        ParamKind::Choice(_) | ParamKind::Views | ParamKind::Kernels | ParamKind::Rule { .. } => "str",
        ParamKind::Gamma => "float or str",
        ParamKind::Ratio => "float, str or list of float",
        ParamKind::PerView(_) => "float or list of float",
    }
}

fn bounds(range: &FloatRange, out: &mut Value) {
    for (name, open, end) in [("min", "min_open", range.min), ("max", "max_open", range.max)] {
        match end {
            End::Unbounded => {}
            End::Open(limit) => (out[name], out[open]) = (limit.into(), true.into()),
            End::Closed(limit) => (out[name], out[open]) = (limit.into(), false.into()),
        }
    }
    out["or_zero"] = range.or_zero.into();
}
