//! Kernels: similarity of two samples. Blocks of kernel values are computed by [`crate::kernel::gram`].

pub mod gram;
use crate::data::Row;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A kernel with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Kernel {
    /// x·z
    Linear,
    /// exp(−gamma·|x − z|²)
    Rbf {
        /// Inverse squared width.
        gamma: f64,
    },
    /// (gamma·x·z + coef0)^degree
    Poly {
        /// Factor of the inner product.
        gamma: f64,
        /// Constant term.
        coef0: f64,
        /// Power.
        degree: u32,
    },
    /// tanh(gamma·x·z + coef0); not positive definite in general
    Sigmoid {
        /// Factor of the inner product.
        gamma: f64,
        /// Constant term.
        coef0: f64,
    },
    /// The data matrix itself is the kernel matrix: row i, column j holds the kernel of samples i and j.
    Precomputed,
}

impl Kernel {
    /// The parameter gamma, if the kernel has one.
    pub fn gamma(&self) -> Option<f64> {
        match *self {
            Self::Rbf { gamma } | Self::Poly { gamma, .. } | Self::Sigmoid { gamma, .. } => Some(gamma),
            Self::Linear | Self::Precomputed => None,
        }
    }

    /// The kernel of two samples (for [`Kernel::Precomputed`], which has no samples, the inner product).
    pub fn eval(&self, a: Row<'_>, b: Row<'_>) -> f64 {
        self.from_dot(a.dot(b), a.norm2(), b.norm2())
    }

    /// The kernel value from the inner product and the two squared lengths.
    pub fn from_dot(&self, dot: f64, a2: f64, b2: f64) -> f64 {
        match *self {
            Self::Linear | Self::Precomputed => dot,
            Self::Rbf { gamma } => (-gamma * (a2 + b2 - 2.0 * dot).max(0.0)).exp(),
            Self::Poly { gamma, coef0, degree } => (gamma * dot + coef0).powi(degree as i32),
            Self::Sigmoid { gamma, coef0 } => (gamma * dot + coef0).tanh(),
        }
    }

    /// As [`Kernel::check`], and also refuses [`Kernel::Precomputed`], because new samples need computed kernel values.
    pub fn check_of_samples(&self) -> Result<()> {
        if *self == Self::Precomputed {
            return Err(Error::parameter(
                "kernel",
                "precomputed",
                "a kernel of samples for an online learner",
            ));
        }
        self.check()
    }

    /// Refuses invalid kernel parameters.
    pub fn check(&self) -> Result<()> {
        let gamma = match *self {
            Self::Rbf { gamma } | Self::Poly { gamma, .. } | Self::Sigmoid { gamma, .. } => gamma,
            Self::Linear | Self::Precomputed => 1.0,
        };
        if !(gamma > 0.0 && gamma.is_finite()) {
            return Err(Error::parameter("gamma", gamma, "a positive number"));
        }
        if let Self::Poly { coef0, .. } | Self::Sigmoid { coef0, .. } = *self
            && !coef0.is_finite()
        {
            return Err(Error::parameter("coef0", coef0, "a finite number"));
        }
        if let Self::Poly { degree, .. } = *self
            && !(1..=32).contains(&degree)
        {
            return Err(Error::parameter("degree", degree, "a whole number from 1 to 32"));
        }
        Ok(())
    }

    /// Name of the kernel as used in parameters.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Rbf { .. } => "rbf",
            Self::Poly { .. } => "poly",
            Self::Sigmoid { .. } => "sigmoid",
            Self::Precomputed => "precomputed",
        }
    }
}
