//! Specifications of estimators: name, parameters, and how the parameter struct is filled from values.
//!
//! Values are flat, as a user writes them: `kernel=rbf gamma=0.5 c=10`. The kernel's parameters are nested into one field
//! here, in the same way for every estimator.

use super::folds::Path;
use crate::error::{Error, Result};
use crate::model::MulticlassScheme;
use crate::params::structs::{from_values, to_values};
use crate::params::{ParamSpec, ParamValue, ParamValues, one_of};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The specification of an estimator.
#[derive(Debug)]
pub struct EstimatorSpec {
    /// Name that a user writes.
    pub name: &'static str,
    /// Help text of one line.
    pub summary: &'static str,
    /// Specifications of its parameters.
    pub params: &'static [ParamSpec],
    /// Default scheme that reduces more than two classes to two-class problems.
    pub multiclass: MulticlassScheme,
    /// Whether it learns from rows of a single class and needs no labels.
    pub one_class: bool,
    /// Whether it also learns from rows without a label.
    pub uses_unlabeled: bool,
    /// Whether it serves only as a baseline for comparison.
    pub baseline: bool,
    /// Names of parameters with a fast path, and the function that computes held-out decisions along it.
    pub path: Option<(&'static [&'static str], Path)>,
}

impl EstimatorSpec {
    /// An estimator that learns from labeled rows.
    pub const fn supervised(name: &'static str, summary: &'static str, params: &'static [ParamSpec]) -> Self {
        Self {
            name,
            summary,
            params,
            multiclass: MulticlassScheme::OneVsRest,
            one_class: false,
            uses_unlabeled: false,
            baseline: false,
            path: None,
        }
    }

    /// An estimator that learns from labeled and unlabeled rows.
    pub const fn semi_supervised(
        name: &'static str,
        summary: &'static str,
        params: &'static [ParamSpec],
    ) -> Self {
        Self { uses_unlabeled: true, ..Self::supervised(name, summary, params) }
    }

    /// The same specification, marked as a baseline.
    #[must_use]
    pub const fn baseline(self) -> Self {
        Self { baseline: true, ..self }
    }

    /// The same specification with a fast path along the named parameters.
    #[must_use]
    pub const fn with_path(self, names: &'static [&'static str], path: Path) -> Self {
        Self { path: Some((names, path)), ..self }
    }

    /// The specification of a parameter; an unknown name is an error that lists the names.
    pub fn param(&self, name: &str) -> Result<&'static ParamSpec> {
        self.params.iter().find(|p| p.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.params.iter().map(|p| p.name).collect();
            Error::Data(format!(
                "learner {} has no parameter {name}: must be {}",
                self.name,
                one_of(name, &names)
            ))
        })
    }

    /// Whether the estimator has a parameter with this name.
    pub fn takes(&self, name: &str) -> bool {
        self.params.iter().any(|p| p.name == name)
    }

    /// The parameter to tune first, with a range of values to try: the cost C or the parameter with that role.
    pub fn first_to_tune(&self) -> Option<(&'static str, [f64; 2])> {
        const FIRST: [(&str, [f64; 2]); 4] = [
            ("c", [0.1, 1000.0]),
            ("gamma_i", [1e-3, 1e3]),
            ("lambda", [1e-6, 1.0]),
            ("inferred_weight", [0.1, 10.0]),
        ];
        FIRST.into_iter().find(|(name, _)| self.takes(name))
    }

    /// The given values, checked and converted to the types of their parameters.
    pub fn check(&self, values: &ParamValues) -> Result<ParamValues> {
        let one =
            |(name, value): (&String, &ParamValue)| Ok((name.clone(), self.param(name)?.accept(value)?));
        values.iter().map(one).collect()
    }

    /// Values of all parameters: the given ones, checked, and the defaults of the others.
    pub fn complete(&self, values: &ParamValues) -> Result<ParamValues> {
        let given = self.check(values)?;
        let one = |p: &ParamSpec| {
            let value = given.get(p.name).cloned().map_or_else(|| p.default_value(), Ok)?;
            Ok((p.name.to_string(), value))
        };
        self.params.iter().map(one).collect()
    }
}

/// A parameter struct that can be filled from flat values.
pub trait Parameters: Serialize + DeserializeOwned {
    /// Nests flat values as the fields of the struct require. The kernel is already nested.
    fn nest(_values: &mut ParamValues) {}

    /// The reverse of [`Parameters::nest`].
    fn flatten(_values: &mut ParamValues) {}

    /// Sets the fields that depend on the estimator's name.
    #[must_use]
    fn for_estimator(self, _name: &str) -> Self {
        self
    }
}

/// Fills the parameter struct of an estimator. Values that are not given have their defaults. A kernel width that depends
/// on the data (`scale`, `auto`) is set to 1 here.
pub fn read<P: Parameters>(spec: &EstimatorSpec, values: &ParamValues) -> Result<P> {
    let mut values = spec.complete(values)?;
    nest_kernel(&mut values);
    P::nest(&mut values);
    let params: P =
        from_values(&values).map_err(|e| Error::Data(format!("parameters of learner {}: {e}", spec.name)))?;
    Ok(params.for_estimator(spec.name))
}

/// Flat values of a parameter struct, without the parameters that its kernel does not have.
pub fn values_of<P: Parameters>(spec: &EstimatorSpec, params: &P) -> Result<ParamValues> {
    let mut values =
        to_values(params).map_err(|e| Error::Data(format!("parameters of learner {}: {e}", spec.name)))?;
    flatten_kernel(&mut values);
    P::flatten(&mut values);
    values.retain(|name, _| spec.takes(name));
    Ok(values)
}

/// Names of the parameters that define the kernel.
pub const OF_KERNEL: [&str; 4] = ["kernel", "gamma", "degree", "coef0"];

/// Parameters of a kernel, other than its name.
pub(crate) fn kernel_params(kernel: &str) -> &'static [&'static str] {
    match kernel {
        "rbf" => &["gamma"],
        "poly" => &["gamma", "degree", "coef0"],
        "sigmoid" => &["gamma", "coef0"],
        _ => &[],
    }
}

/// Moves the flat parameters of the kernel into the nested value from which the kernel is deserialized.
pub(crate) fn nest_kernel(values: &mut ParamValues) {
    let Some(name) = values.remove("kernel") else { return };
    let mut kernel = ParamValues::new();
    for param in ["gamma", "degree", "coef0"] {
        let Some(value) = values.remove(param) else { continue };
        if name.as_str().is_some_and(|name| kernel_params(name).contains(&param)) {
            // `scale` and `auto` are resolved later, when the data is known
            let value = if let ParamValue::Text(_) = value { ParamValue::Float(1.0) } else { value };
            kernel.insert(param.into(), value);
        }
    }
    kernel.insert("type".into(), name);
    values.insert("kernel".into(), kernel.into());
}

/// The reverse of [`nest_kernel`].
fn flatten_kernel(values: &mut ParamValues) {
    if let Some(ParamValue::Map(mut kernel)) = values.remove("kernel") {
        if let Some(name) = kernel.remove("type") {
            values.insert("kernel".into(), name);
        }
        values.extend(kernel);
    }
}
