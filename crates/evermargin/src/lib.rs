//! Large-margin learning with few labels: semi-supervised, online and active learning on data that fit into memory and on
//! streams that do not end.
//!
//! This crate holds the learners. It reads no files, has no clock and draws no random numbers of its own: the same input,
//! parameters and seed give the same result for any number of threads. `evermargin-io` reads data and saves models,
//! `evermargin-session` runs the durable loop over a stream, and `evermargin-cli` is the command line.
//!
//! # Quick start
//!
//! A [`Dataset`] has rows and class names; a parameter struct selects the estimator.
//!
//! ```
//! use evermargin::estimators::supervised::svc::SvcParams;
//! use evermargin::{Classifier, Dataset, datasets};
//!
//! # fn main() -> evermargin::Result<()> {
//! let (x, labels) = datasets::generate("two-moons", &datasets::GenerateParams { rows: 300, ..Default::default() })?;
//! let data = Dataset::new(x, labels)?;
//!
//! let classifier = Classifier::fit(SvcParams { c: 10.0, ..SvcParams::default() }, &data)?;
//! assert!(classifier.accuracy(&data)?.is_some_and(|accuracy| accuracy > 0.95));
//! # Ok(())
//! # }
//! ```
//!
//! With labels for a few rows only, [`estimators::auto`] combines several learners by their accuracy on held-out labels:
//!
//! ```
//! use evermargin::estimators::auto::AutoParams;
//! use evermargin::{Classifier, Dataset, datasets};
//!
//! # fn main() -> evermargin::Result<()> {
//! let (x, labels) = datasets::generate("two-moons", &datasets::GenerateParams { rows: 200, ..Default::default() })?;
//! let all = Dataset::new(x, labels)?;
//! let mut few = all.clone();
//! few.labels.of.iter_mut().skip(10).for_each(|label| *label = None);
//!
//! let classifier = Classifier::fit(AutoParams::default(), &few)?;
//! assert!(classifier.accuracy(&all)?.is_some_and(|accuracy| accuracy > 0.8));
//! # Ok(())
//! # }
//! ```
//!
//! [`pipeline::train::train`] returns the labels that a semi-supervised learner gives to the rows, reports and messages, and has
//! options for scaling, weights, calibration and thresholds. [`engine::Engine`] learns from a stream of events.
//!
//! # Estimators
//!
//! | labels | estimators |
//! |---|---|
//! | for all rows | [`svc`](estimators::supervised::svc), [`linear`](estimators::supervised::linear), [`rls`](estimators::supervised::rls), [`ramp`](estimators::supervised::ramp) (wrong labels), [`one_class`](estimators::supervised::one_class) |
//! | for few rows | [`auto`](estimators::auto), [`label_propagation`](estimators::transductive::label_propagation), [`tsvm`](estimators::transductive::tsvm), [`linear_da`](estimators::transductive::linear_da), [`submod`](estimators::transductive::submod), [`lap`](estimators::manifold::lap) |
//! | one row at a time | [`lasvm`](estimators::online::lasvm), [`med`](estimators::med) |
//! | several views | [`coreg`](estimators::multiview::coreg), [`colap`](estimators::multiview::colap) |
//!
//! [`estimators::ESTIMATORS`] lists all of them with their parameters.
//!
//! # Features
//!
//! - `approximate`: nearest neighbors that are nearly always exact, for graphs of more than 100,000 rows.

pub mod active;
pub mod cpu;
pub mod data;
pub mod datasets;
pub mod engine;
pub mod error;
pub mod estimators;
pub mod graph;
pub mod kernel;
pub mod math;
pub mod metrics;
pub mod model;
pub mod params;
pub mod pipeline;
pub mod resampling;
pub mod solver;
pub mod summary;
pub mod watch;

pub use data::{Dataset, Label, Labels, Matrix, MatrixView};
pub use error::{Error, Remedy, Result};
pub use kernel::Kernel;
pub use model::{Classifier, Model};
