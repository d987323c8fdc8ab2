//! The registry: every learner by name, with its parameters. One table serves the command line and Python.
//!
//! Parameters come as a flat JSON object, as a person would write them: `{"kernel": "rbf", "gamma": 0.5, "c": 10}`.

use super::Fit;
use super::table::LEARNERS;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::kernel::Kernel;
use crate::pipeline::cross_validation::Path;
use crate::pipeline::train::Multi;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Makes a learner from parameters.
pub type Build = fn(&Map<String, Value>) -> Result<Box<dyn Fit>>;

/// A learner: what it is called, what it takes, how it is made.
#[derive(Debug)]
pub struct Learner {
    /// The name a user writes.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// What it takes.
    pub parameters: &'static [Parameter],
    /// What [`Multi::Auto`] means for it.
    pub multi: Multi,
    /// Whether it also learns from rows without a label.
    pub semi: bool,
    /// Makes the learner from parameters, all optional.
    pub build: Build,
    /// Held-out decisions along a path of one of these parameters, where the learner knows a faster way than refitting.
    pub path: Option<(&'static [&'static str], Path)>,
}

/// A parameter of a learner.
#[derive(Debug)]
pub struct Parameter {
    /// The name a user writes.
    pub name: &'static str,
    /// Its default, as a user would write it.
    pub default: &'static str,
    /// One line for people.
    pub help: &'static str,
}

/// The learner of that name, or an error that lists the names.
pub fn learner(name: &str) -> Result<&'static Learner> {
    LEARNERS.iter().find(|l| l.name == name).ok_or_else(|| {
        let names: Vec<&str> = LEARNERS.iter().map(|l| l.name).collect();
        Error::parameter("learner", name, one_of(name, &names))
    })
}

impl Learner {
    /// Whether it learns from rows of one class alone, so that labels are not needed.
    pub fn one_class(&self) -> bool {
        self.multi == Multi::OneClass
    }

    /// Whether it takes a parameter of that name.
    pub fn takes(&self, name: &str) -> bool {
        self.parameters.iter().any(|p| p.name == name)
    }

    /// The parameter to tune first, and values that are worth a try: its cost, or what takes its place.
    pub fn first_to_tune(&self) -> Option<(&'static str, [f64; 2])> {
        const FIRST: [(&str, [f64; 2]); 3] =
            [("c", [0.1, 1000.0]), ("gamma_i", [1e-3, 1e3]), ("lambda", [1e-6, 1.0])];
        FIRST.into_iter().find(|(name, _)| self.takes(name))
    }

    /// Makes the learner; refuses parameters it does not take, with a list of those it does.
    pub fn make(&self, params: &Map<String, Value>) -> Result<Box<dyn Fit>> {
        if let Some(unknown) = params.keys().find(|k| !self.takes(k)) {
            let names: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
            return Err(Error::Data(format!(
                "learner {} has no parameter {unknown}: must be {}",
                self.name,
                one_of(unknown, &names)
            )));
        }
        (self.build)(params)
    }

    /// The same along a graph of all rows where one is given; refuses it if the learner has none.
    pub fn make_along(
        &self,
        params: &Map<String, Value>,
        graph: Option<&Arc<Graph>>,
    ) -> Result<Box<dyn Fit>> {
        let fit = self.make(params)?;
        let Some(graph) = graph else { return Ok(fit) };
        fit.along(graph).ok_or_else(|| {
            Error::parameter(
                "graph",
                "given",
                format!(
                    "left out: learner {} has none of its own (--warp would give its kernel one)",
                    self.name
                ),
            )
        })
    }
}

/// Moves the flat kernel parameters into the object the kernel is read from.
pub(crate) fn with_kernel(params: &Map<String, Value>) -> Result<Map<String, Value>> {
    let mut out = params.clone();
    let gamma = out.remove("gamma").unwrap_or_else(|| 1.0.into());
    let degree = out.remove("degree").unwrap_or_else(|| 3.into());
    let coef0 = out.remove("coef0").unwrap_or_else(|| 0.0.into());
    let name = out.remove("kernel").unwrap_or_else(|| "rbf".into());
    let kernel = match name.as_str() {
        Some("linear" | "precomputed") => serde_json::json!({ "type": name }),
        Some("rbf") => serde_json::json!({ "type": name, "gamma": gamma }),
        Some("poly") => {
            serde_json::json!({ "type": name, "gamma": gamma, "coef0": coef0, "degree": degree })
        }
        Some("sigmoid") => serde_json::json!({ "type": name, "gamma": gamma, "coef0": coef0 }),
        other => {
            let written = other.map_or_else(|| name.to_string(), str::to_string);
            let names = ["linear", "rbf", "poly", "sigmoid", "precomputed"];
            return Err(Error::parameter("kernel", &written, one_of(&written, &names)));
        }
    };
    out.insert("kernel".into(), kernel);
    Ok(out)
}

/// The kernel out of parameters that have passed [`with_kernel`].
#[derive(Debug, Deserialize)]
pub(crate) struct KernelOnly {
    /// The kernel.
    pub kernel: Kernel,
}

/// Reads parameters into their struct; each must have the right type.
pub(crate) fn read<P: DeserializeOwned>(learner: &str, params: &Map<String, Value>) -> Result<P> {
    serde_json::from_value(Value::Object(params.clone()))
        .map_err(|e| Error::Data(format!("parameters of learner {learner}: {e}")))
}

/// "one of a, b, c", and the nearest when one is near.
pub(crate) fn one_of(wrong: &str, names: &[&str]) -> String {
    let list = format!("one of {}", names.join(", "));
    match near(wrong, names).first() {
        Some(name) => format!("{list} (did you mean {name}?)"),
        None => list,
    }
}

/// The names at most two edits from one that is wrong, nearest first.
pub fn near<'n>(wrong: &str, names: &[&'n str]) -> Vec<&'n str> {
    let mut near: Vec<(usize, &str)> =
        names.iter().map(|n| (distance(wrong, n), *n)).filter(|(d, _)| *d <= 2).collect();
    near.sort_unstable();
    near.into_iter().map(|(_, name)| name).collect()
}

/// Edits (insert, delete, replace) between two names.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn unknown_names_are_answered_with_the_list_and_the_nearest() {
        let error = learner("svm").unwrap_err().to_string();
        assert!(error.starts_with("parameter learner = svm: must be one of svc, "), "{error}");
        assert!(error.ends_with("(did you mean svc?)"), "{error}");
        let error = learner("svc").unwrap().make(&params(r#"{"gama": 1}"#)).unwrap_err().to_string();
        assert!(
            error.starts_with("learner svc has no parameter gama: must be one of kernel, gamma,"),
            "{error}"
        );
        assert!(error.ends_with("(did you mean gamma?)"), "{error}");
        let error = learner("svc").unwrap().make(&params(r#"{"kernel": "rbg"}"#)).unwrap_err().to_string();
        assert!(error.contains("kernel = rbg") && error.ends_with("(did you mean rbf?)"), "{error}");
        let error = learner("svc").unwrap().make(&params(r#"{"c": "big"}"#)).unwrap_err().to_string();
        assert!(error.starts_with("parameters of learner svc: "), "{error}");
    }

    #[test]
    fn every_learner_is_made_from_its_written_defaults() {
        for learner in LEARNERS {
            assert!(learner.make(&Map::new()).is_ok(), "{}", learner.name);
            let mut all = Map::new();
            for p in learner.parameters {
                if p.default == "scale" {
                    continue; // resolved from the data by `train`
                }
                let value = serde_json::from_str(p.default).unwrap_or_else(|_| p.default.into());
                all.insert(p.name.into(), value);
            }
            let plain = format!("{:?}", learner.make(&Map::new()).unwrap());
            assert_eq!(plain, format!("{:?}", learner.make(&all).unwrap()), "{}", learner.name);
        }
    }

    #[test]
    fn kernel_parameters_are_flat() {
        let made =
            learner("svc").unwrap().make(&params(r#"{"kernel": "poly", "gamma": 2, "degree": 4}"#)).unwrap();
        assert!(format!("{made:?}").contains("Poly { gamma: 2.0, coef0: 0.0, degree: 4 }"), "{made:?}");
    }
}
