//! Baselines for comparison; they are not in the default list of learners.

pub mod cotraining;
pub mod parzen;
pub mod perceptron;
