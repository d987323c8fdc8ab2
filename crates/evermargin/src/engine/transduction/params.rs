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
    /// The kernel.
    pub kernel: Kernel,
    /// Weight of the cut over that of the labels, κn/2l.
    pub rho: f64,
    /// How the positives are chosen.
    pub variant: Variant,
    /// Share of the labels of a batch that may change when the past is summarized.
    pub tolerance: f64,
    /// Most exemplars; 0 = as many as the largest batch has samples.
    pub exemplars: usize,
    /// How much the samples of the batch count as density for what is remembered of those before.
    pub next_batch_weight: f64,
    /// Whether an exemplar weighs as many samples as it stands for.
    pub weigh: bool,
    /// What is remembered: exemplars, or any samples, to compare with.
    pub remember: MemoryPolicy,
    /// Batches as which the samples that left memory count at the most; 0 = they are forgotten, as the source has it. Only
    /// with a linear kernel, and where exemplars do not weigh.
    pub evicted_weight: f64,
}

/// What is remembered of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryPolicy {
    /// Exemplars.
    Exemplars,
    /// As many samples at random.
    Random,
    /// The batch before, nothing else.
    Nothing,
    /// Everything: batch learning, without bound.
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
    /// Refuses parameters that make no sense.
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

    /// The same with another kernel.
    pub(in crate::engine) fn with_kernel(&self, kernel: Kernel) -> Self {
        Self { kernel, ..self.clone() }
    }

    pub(super) fn submod(&self, shares: Vec<f64>, kappa: f64) -> SubmodParams {
        let (ratio, kernel, rho, variant) = (Ratio::Given(shares), self.kernel, self.rho, self.variant);
        SubmodParams { kernel, ratio, rho, kappa, variant, ..Default::default() }
    }

    /// Whether samples that left memory still count.
    pub(super) fn uses_evicted_centroids(&self) -> bool {
        let bounded = matches!(self.remember, MemoryPolicy::Exemplars | MemoryPolicy::Random);
        self.evicted_weight > 0.0 && self.rho > 0.0 && bounded && self.kernel == Kernel::Linear && !self.weigh
    }
}
