//! What a user writes for the settings of a training, on the command line and in Python.

use crate::error::{Error, Result};
use crate::metrics::Criterion;
use crate::model::{CalibrationKind, ScalingName};
use crate::pipeline::train::{Gamma, Multi, ScalingChoice};
use std::str::FromStr;

fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|v: &f64| v.is_finite())
}

impl FromStr for Gamma {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "scale" => Ok(Self::Scale),
            "auto" => Ok(Self::Auto),
            _ => finite(text)
                .map(Self::Value)
                .ok_or_else(|| Error::parameter("gamma", text, "a number, scale or auto")),
        }
    }
}

impl FromStr for ScalingChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Ok(name) = text.parse::<ScalingName>() {
            return Ok(Self::Named(name));
        }
        let divisor = text.strip_prefix("divide=").and_then(finite).filter(|by| *by != 0.0);
        divisor.map(Self::Divide).ok_or_else(|| {
            let names: Vec<&str> = ScalingName::ALL.iter().map(|s| s.name()).collect();
            Error::parameter("scale", text, format!("one of {}, divide=N", names.join(", ")))
        })
    }
}

impl FromStr for Multi {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "one-vs-one" => Ok(Self::OneVsOne),
            "one-vs-rest" => Ok(Self::OneVsRest),
            _ => Err(Error::parameter("multi", text, "one-vs-one or one-vs-rest")),
        }
    }
}

impl FromStr for Criterion {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let named = [Self::GMeans, Self::F1, Self::Accuracy, Self::Mcc, Self::BreakEven];
        if let Some(found) = named.into_iter().find(|c| c.name() == text) {
            return Ok(found);
        }
        let share = text.strip_prefix("rate=").and_then(finite).filter(|s| *s > 0.0 && *s < 1.0);
        share.map(Self::Rate).ok_or_else(|| {
            let allowed = "g-means, f1, accuracy, mcc, break-even or rate=SHARE (between 0 and 1)";
            Error::parameter("threshold", text, allowed)
        })
    }
}

impl FromStr for CalibrationKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "sigmoid" => Ok(Self::Sigmoid),
            "isotonic" => Ok(Self::Isotonic),
            _ => Err(Error::parameter("probability", text, "sigmoid or isotonic")),
        }
    }
}
