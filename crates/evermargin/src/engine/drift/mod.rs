//! Drift detectors on the prediction errors for labels that no query strategy chose.
//!
//! Problem: decide, one label at a time and in bounded memory, whether the errors of the engine have become more
//! frequent. Four tests are available ([`DriftMethod`]): windows of fixed size (`windowed.rs`), ADWIN (`adwin.rs`),
//! KSWIN (`kswin.rs`) and Page-Hinkley (`page_hinkley.rs`). The input of all tests but KSWIN is 1 for a
//! wrong prediction and 0 for a correct one. KSWIN compares distributions and needs more than two values. Its input is
//! 1 − confidence for a correct prediction and the confidence for a wrong one, where the confidence is the estimated
//! probability that the prediction is correct. If the classifier is the only label source, this is a monotone function
//! of the signed margin of the true class.
//!
//! Departure: ADWIN and KSWIN also detect a decrease of the errors. They then drop old values, as in their sources, but
//! no drift is reported.

mod adwin;
mod kswin;
mod page_hinkley;
#[cfg(test)]
mod tests;
mod windowed;

pub use adwin::Adwin;
pub use kswin::Kswin;
pub use page_hinkley::PageHinkley;
pub use windowed::WindowedTest;

use super::params::named;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Drift detector of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriftMethod {
    /// No drift detection.
    None,
    /// Comparison of a window of 50 labels with the mean of earlier windows.
    Windowed,
    /// ADWIN, an adaptive window.
    Adwin,
    /// KSWIN, a two-sample Kolmogorov-Smirnov test.
    Kswin,
    /// The Page-Hinkley test.
    PageHinkley,
}

impl DriftMethod {
    /// All values.
    pub const ALL: [Self; 5] = [Self::None, Self::Windowed, Self::Adwin, Self::Kswin, Self::PageHinkley];

    /// Name in parameters and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Windowed => "windowed",
            Self::Adwin => "adwin",
            Self::Kswin => "kswin",
            Self::PageHinkley => "page-hinkley",
        }
    }
}

impl FromStr for DriftMethod {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("drift", text, &Self::ALL.map(|method| (method.name(), method)))
    }
}

/// Detected change of a sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Mean of the values before the change.
    pub before: f64,
    /// Mean of the values after it.
    pub now: f64,
}

/// State of the detector in use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ErrorDetector {
    None,
    Windowed(WindowedTest),
    Adwin(Adwin),
    Kswin(Kswin),
    PageHinkley(PageHinkley),
}

impl ErrorDetector {
    pub fn new(method: DriftMethod) -> Self {
        match method {
            DriftMethod::None => Self::None,
            DriftMethod::Windowed => Self::Windowed(WindowedTest::default()),
            DriftMethod::Adwin => Self::Adwin(Adwin::default()),
            DriftMethod::Kswin => Self::Kswin(Kswin::default()),
            DriftMethod::PageHinkley => Self::PageHinkley(PageHinkley::default()),
        }
    }

    pub fn method(&self) -> DriftMethod {
        match self {
            Self::None => DriftMethod::None,
            Self::Windowed(_) => DriftMethod::Windowed,
            Self::Adwin(_) => DriftMethod::Adwin,
            Self::Kswin(_) => DriftMethod::Kswin,
            Self::PageHinkley(_) => DriftMethod::PageHinkley,
        }
    }

    /// Adds an outcome; returns a change if the errors have become more frequent. `doubt` is the input of KSWIN (see
    /// the module).
    pub fn add(&mut self, wrong: bool, doubt: f64, seed: u64) -> Option<Change> {
        let error = f64::from(u8::from(wrong));
        let change = match self {
            Self::None => None,
            Self::Windowed(test) => test.add(u64::from(wrong), 1),
            Self::Adwin(adwin) => adwin.add(error),
            Self::Kswin(kswin) => kswin.add(doubt, seed),
            Self::PageHinkley(test) => test.add(error),
        };
        change.filter(|c| c.now > c.before)
    }

    /// Returns an error for a state that no sequence produces (a file may hold anything).
    pub fn check(&self, method: DriftMethod) -> Result<()> {
        if self.method() != method {
            return Err(Error::State("its drift detector does not match its parameters".into()));
        }
        match self {
            Self::None => Ok(()),
            Self::Windowed(test) => test.check(),
            Self::Adwin(adwin) => adwin.check(),
            Self::Kswin(kswin) => kswin.check(),
            Self::PageHinkley(test) => test.check(),
        }
    }
}

fn refuse_unless(fits: bool) -> Result<()> {
    if fits { Ok(()) } else { Err(Error::State("the state of its drift detector is out of range".into())) }
}
