//! Parameters of transduction over a stream.

use crate::error::{Error, Result};
use crate::estimators::transductive::Ratio;
use crate::estimators::transductive::submod::{SubmodParams, Variant};
use crate::kernel::Kernel;
use serde::{Deserialize, Serialize};

/// Parameters of [`super::Transduction`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TransductionParams {
    /// Kernel.
    pub kernel: Kernel,
    /// Weight of the cut relative to that of the labels, κn/2l.
    pub rho: f64,
    /// Method of selecting the positives.
    pub variant: Variant,
    /// Share of the labels of a batch that may change when the past is summarized.
    pub tolerance: f64,
    /// Maximum number of exemplars; 0 = as many as the largest batch has rows.
    pub exemplars: usize,
    /// Weight of the density of the batch in the choice of exemplars of earlier batches.
    pub next_batch_weight: f64,
    /// Whether an exemplar has the weight of all samples it represents.
    pub weigh: bool,
    /// Rule for choosing the remembered samples; all rules except exemplars are for comparison.
    pub remember: MemoryPolicy,
    /// Maximum total weight of evicted samples, in batches; 0 = they are forgotten, as in the source. Applies only to a
    /// linear kernel without `weigh`.
    pub evicted_weight: f64,
}

/// Rule for choosing the remembered samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryPolicy {
    /// Exemplars.
    Exemplars,
    /// Samples drawn at random, as many as exemplars.
    Random,
    /// The previous batch only.
    Nothing,
    /// All samples, without bound (batch learning).
    Everything,
}

impl Default for TransductionParams {
    fn default() -> Self {
        Self {
            kernel: Kernel::Linear,
            rho: 10.0,
            variant: Variant::Polished,
            tolerance: 0.05,
            exemplars: 0,
            next_batch_weight: 1.0,
            weigh: false,
            remember: MemoryPolicy::Exemplars,
            evicted_weight: 0.0,
        }
    }
}

impl TransductionParams {
    /// Returns an error for invalid parameters.
    pub fn check(&self) -> Result<()> {
        self.kernel.check_of_samples()?;
        if !(0.0..=1.0).contains(&self.tolerance) {
            return Err(Error::parameter("tolerance", self.tolerance, "a share from 0 to 1"));
        }
        for (name, value) in [
            ("rho", self.rho),
            ("next_batch_weight", self.next_batch_weight),
            ("evicted_weight", self.evicted_weight),
        ] {
            if !(0.0..=1e15).contains(&value) {
                return Err(Error::parameter(name, value, "a number from 0 to 1e15"));
            }
        }
        if self.exemplars > 1 << 24 {
            return Err(Error::parameter("exemplars", self.exemplars, "at most 16777216"));
        }
        Ok(())
    }

    /// The same parameters with another kernel.
    pub(in crate::engine) fn with_kernel(&self, kernel: Kernel) -> Self {
        Self { kernel, ..self.clone() }
    }

    pub(super) fn submod(&self, shares: Vec<f64>, kappa: f64) -> SubmodParams {
        let (ratio, kernel, rho, variant) = (Ratio::Given(shares), self.kernel, self.rho, self.variant);
        SubmodParams { kernel, ratio, rho, kappa, variant, ..Default::default() }
    }

    /// Whether evicted samples still count.
    pub(super) fn uses_evicted_centroids(&self) -> bool {
        let bounded = matches!(self.remember, MemoryPolicy::Exemplars | MemoryPolicy::Random);
        self.evicted_weight > 0.0 && self.rho > 0.0 && bounded && self.kernel == Kernel::Linear && !self.weigh
    }
}
