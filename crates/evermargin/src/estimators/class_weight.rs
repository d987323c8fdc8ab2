//! Class weights, which multiply the cost of the examples of each class.

use crate::error::{Error, Result};
use crate::params::{ParamValue, ParamValues, one_of};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Class weights, which multiply the cost of the examples of each class.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeight {
    /// Weight 1 for every class.
    #[default]
    None,
    /// n / (k·nᶜ) for n rows in k classes, so that every class has the same total weight.
    Balanced,
    /// n₁ / nᶜ, where n₁ is the number of rows of the largest class, whose weight is 1. With two classes the smaller one
    /// has the cost C·IR, IR being the imbalance ratio n₁ / nᶜ (the "different costs" of Ertekin 2009).
    Ratio,
    /// Weights by class name; 1 for classes that are not named.
    Explicit(BTreeMap<String, f64>),
}

impl ClassWeight {
    /// One weight per class, given the total weight of the rows of each class. An explicit weight for an unknown class
    /// name is an error.
    pub fn of(&self, classes: &[String], sizes: &[f64]) -> Result<Vec<f64>> {
        match self {
            Self::Explicit(map) => explicit(classes, map),
            by_size => Ok(by_size.of_sizes(sizes)),
        }
    }

    /// Weights that follow from the class sizes alone. The result is 1 for explicit weights, which depend on names, and
    /// for a class without rows.
    pub fn of_sizes(&self, sizes: &[f64]) -> Vec<f64> {
        let numerator = match self {
            Self::None | Self::Explicit(_) => return vec![1.0; sizes.len()],
            Self::Balanced => sizes.iter().sum::<f64>() / sizes.len() as f64,
            Self::Ratio => sizes.iter().copied().fold(0.0, f64::max),
        };
        sizes.iter().map(|&n| if n > 0.0 { numerator / n } else { 1.0 }).collect()
    }

    /// The value that is stored in a model; `None` if all weights are 1.
    pub fn value(&self) -> Option<ParamValue> {
        match self {
            Self::None => None,
            Self::Balanced => Some("balanced".into()),
            Self::Ratio => Some("ratio".into()),
            Self::Explicit(map) => Some(
                map.iter().map(|(class, w)| (class.clone(), (*w).into())).collect::<ParamValues>().into(),
            ),
        }
    }

    /// The weights that a stored value describes: none, `balanced`, `ratio`, or one number per class.
    pub fn from_value(value: Option<&ParamValue>) -> Result<Self> {
        let wrong = |value: &ParamValue| {
            Error::parameter("class_weight", value, "balanced, ratio, or one positive number per class")
        };
        match value {
            None => Ok(Self::None),
            Some(ParamValue::Text(name)) if name == "balanced" => Ok(Self::Balanced),
            Some(ParamValue::Text(name)) if name == "ratio" => Ok(Self::Ratio),
            Some(given @ ParamValue::Map(map)) => {
                let weight = |(class, w): (&String, &ParamValue)| w.as_f64().map(|w| (class.clone(), w));
                let map: Option<BTreeMap<String, f64>> = map.iter().map(weight).collect();
                map.map(Self::Explicit).ok_or_else(|| wrong(given))
            }
            Some(other) => Err(wrong(other)),
        }
    }
}

fn explicit(classes: &[String], map: &BTreeMap<String, f64>) -> Result<Vec<f64>> {
    let mut out = vec![1.0; classes.len()];
    for (class, &w) in map {
        let Some(at) = classes.iter().position(|c| c == class) else {
            let names: Vec<&str> = classes.iter().map(String::as_str).collect();
            return Err(Error::parameter("class_weight", class, one_of(class, &names)));
        };
        if !(w > 0.0 && w.is_finite()) {
            return Err(Error::parameter("class_weight", w, "a positive number"));
        }
        out[at] = w;
    }
    Ok(out)
}
