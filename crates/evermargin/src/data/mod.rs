//! Samples and labels: row-major matrices, dense or compressed by rows (CSR), and class labels.

mod dataset;
mod labels;
mod matrix;
mod view;

pub use dataset::Dataset;
pub use labels::{Label, Labels};
pub use matrix::Matrix;
pub use view::{MAX_ABS, MatrixView, Row};
