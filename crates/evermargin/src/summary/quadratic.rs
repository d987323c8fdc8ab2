//! The set function of exemplars and batch queries: the merit of each element, minus the similarity between elements.
//!
//! G(E) = Σ_{m∈E} cₘ − λ Σ_{m,m'∈E} Kₘₘ',   gain of m = cₘ − λ(Kₘₘ + 2rₘ),   rₘ = Σ_{j∈E} Kₘⱼ
//!
//! (Emara 2012, equations IV.16, IV.17, V.7 and V.8 without the terms that depend on |E| only, which change no pick.)
//! With a linear kernel there is no matrix; rₘ is ⟨xₘ, z⟩ with z = Σ_E xⱼ. With any other kernel, r is a vector to
//! which each pick adds a kernel row.
//!
//! λ may decrease as the set grows, λ = N/(2s) for pick s (kernel herding). The greedy loop then gets s·gain, which has
//! the order of the gains, and a pick a changes it by cₘ − N·Kₘₐ.
//!
//! Lazy bounds, `rise`. If K ≥ 0: 0 for a fixed λ (gains only decrease), max c for λ proportional to 1/s. If K has
//! values down to −d: 2λd, or N·d more; this replaces the term −λd|E|² of the source. With linear kernels gains
//! are inner products, whose rounding is not monotone, so a bound on the rounding error is added.

use crate::data::MatrixView;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::gram::{Gram, KernelGram, Packed};
use crate::math::products::Design;
use crate::solver::Watch;
use crate::solver::lazy_greedy::SetFunction;

/// Relative error of a bound because kernel values have single precision.
const SINGLE: f64 = 1e-5;

/// The rows to choose from, and sums of kernel values over them.
pub(crate) enum Ground<'a> {
    /// Inner products ⟨x, z⟩ without a matrix.
    Linear(Design<'a>),
    /// Kernel rows within a byte limit.
    Kernel(Box<KernelGram<'static>>),
}

/// Weight of the similarity between elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Diversity {
    /// A fixed λ.
    Fixed(f64),
    /// λ = N/(2s) at pick s; the value is N.
    Falling(f64),
}

impl<'a> Ground<'a> {
    /// The rows of `x`, and Σⱼ weight[j]·K(xᵢ, xⱼ) of each; `None` if interrupted.
    pub(crate) fn new(
        x: MatrixView<'a>,
        kernel: Kernel,
        weight: &[f64],
        bytes: usize,
        watch: &dyn Watch,
    ) -> Result<Option<(Self, Vec<f64>)>> {
        check_kernel(&kernel)?;
        if kernel == Kernel::Linear {
            let mut ground = Self::Linear(Design::new(x, (0..x.rows() as u32).collect(), false));
            let mut sums = vec![0.0; x.rows()];
            ground.add_others(x, weight, &mut sums)?;
            return Ok(Some((ground, sums)));
        }
        let summed = KernelGram::summed(Packed::new(x, kernel)?, weight, bytes, watch)?;
        Ok(summed.map(|(gram, sums)| (Self::Kernel(Box::new(gram)), sums)))
    }

    /// `sum[i] += Σₖ coef[k]·K(xᵢ, zₖ)` over samples with the same columns.
    pub(crate) fn add_others(&mut self, z: MatrixView<'_>, coef: &[f64], sum: &mut [f64]) -> Result<()> {
        match self {
            Self::Linear(x) => {
                let others = Design::new(z, (0..z.rows() as u32).collect(), false);
                let active: Vec<u32> = (0..z.rows() as u32).collect();
                let (mut total, mut values) = (vec![0.0; z.cols()], vec![0.0; x.rows()]);
                others.add_transposed(&active, |k| coef[k], &mut total);
                x.mul(&total, &mut values);
                sum.iter_mut().zip(values).for_each(|(s, v)| *s += v);
                Ok(())
            }
            Self::Kernel(gram) => gram.accumulate_others(z, coef, sum),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Linear(x) => x.rows(),
            Self::Kernel(gram) => gram.len(),
        }
    }

    fn dim(&self) -> usize {
        match self {
            Self::Linear(x) => x.dim(),
            Self::Kernel(gram) => gram.len(),
        }
    }

    fn diag(&self, m: usize) -> f64 {
        match self {
            Self::Linear(x) => x.norm2(m),
            Self::Kernel(gram) => gram.diag(m),
        }
    }
}

/// The set function G and the set E.
pub(crate) struct Quadratic<'a> {
    ground: Ground<'a>,
    /// Merits c.
    merit: Vec<f64>,
    diagonal: Vec<f64>,
    diversity: Diversity,
    /// z = Σ_E x for the linear kernel, else r of every row.
    chosen: Vec<f64>,
    taken: usize,
    rise: f64,
}

impl<'a> Quadratic<'a> {
    /// An empty set; `least` is a lower bound of the kernel on these rows ([`min_value`]), `count` the maximum number
    /// of picks.
    pub(crate) fn new(
        ground: Ground<'a>,
        merit: Vec<f64>,
        diversity: Diversity,
        least: f64,
        count: usize,
    ) -> Self {
        let diagonal: Vec<f64> = (0..ground.len()).map(|m| ground.diag(m)).collect();
        let chosen = vec![0.0; ground.dim()];
        let mut f = Self { ground, merit, diagonal, diversity, chosen, taken: 0, rise: 0.0 };
        f.rise = f.largest_rise((1.0 + SINGLE) * (-least).max(0.0), count);
        f
    }

    fn largest_rise(&self, negative_bound: f64, count: usize) -> f64 {
        let best = self.merit.iter().copied().fold(0.0, f64::max);
        let widest = self.diagonal.iter().copied().fold(0.0, f64::max);
        let (rise, size) = match self.diversity {
            Diversity::Fixed(lambda) => (2.0 * lambda * negative_bound, 2.0 * lambda),
            Diversity::Falling(total) => (best + total * negative_bound, total),
        };
        let rounding = match &self.ground {
            Ground::Linear(x) => (x.dim() + count + 8) as f64 * f64::EPSILON * size * count as f64 * widest,
            Ground::Kernel(_) => 0.0,
        };
        rise + 4.0 * rounding
    }

    /// rₘ: the sum of kernel values between m and the chosen elements.
    fn similarity_to_chosen(&self, m: usize) -> f64 {
        match &self.ground {
            Ground::Linear(x) => x.dot(m, &self.chosen),
            Ground::Kernel(_) => self.chosen[m],
        }
    }

    /// The gain at pick s = |E| + 1 as passed to the greedy loop: multiplied by s if λ decreases.
    fn scaled_gain(&self, m: usize) -> f64 {
        let alike = self.diagonal[m] + 2.0 * self.similarity_to_chosen(m);
        match self.diversity {
            Diversity::Fixed(lambda) => self.merit[m] - lambda * alike,
            Diversity::Falling(total) => (self.taken + 1) as f64 * self.merit[m] - 0.5 * total * alike,
        }
    }

    /// G of the chosen elements `taken`, with this λ.
    pub(crate) fn value(&self, taken: &[usize], lambda: f64) -> f64 {
        taken.iter().map(|&m| self.merit[m] - lambda * self.similarity_to_chosen(m)).sum()
    }

    /// Divisor that turns the gains of the greedy loop into gains of G at pick s, counted from 1.
    pub(crate) fn scale(&self, pick: usize) -> f64 {
        match self.diversity {
            Diversity::Fixed(_) => 1.0,
            Diversity::Falling(_) => pick as f64,
        }
    }
}

impl SetFunction for Quadratic<'_> {
    fn elements(&self) -> usize {
        self.merit.len()
    }

    fn gain(&self, m: usize) -> f64 {
        self.scaled_gain(m)
    }

    fn add(&mut self, m: usize) {
        match &mut self.ground {
            Ground::Linear(x) => x.add_row(m, 1.0, &mut self.chosen),
            Ground::Kernel(gram) => gram.accumulate(&[m], &[1.0], &mut self.chosen),
        }
        self.taken += 1;
    }

    fn rise(&self) -> f64 {
        self.rise
    }

    /// With a decreasing λ the bounds rise by the largest merit at each pick, so that most gains would be computed
    /// anyway.
    fn prefers_plain(&self) -> bool {
        matches!((&self.ground, self.diversity), (Ground::Kernel(_), Diversity::Falling(_)))
    }
}

/// Returns an error for the precomputed kernel, which has no samples, and for invalid kernels.
pub(crate) fn check_kernel(kernel: &Kernel) -> Result<()> {
    if *kernel == Kernel::Precomputed {
        return Err(Error::parameter("kernel", "precomputed", "a kernel of samples"));
    }
    kernel.check()
}

/// A lower bound of the kernel on any two of these rows; 0 if no value can be negative.
pub(crate) fn min_value(kernel: &Kernel, x: MatrixView<'_>) -> f64 {
    let (MatrixView::Dense { values, .. } | MatrixView::Csr { values, .. }) = x;
    let positive = values.iter().all(|v| *v >= 0.0);
    let longest = (0..x.rows()).map(|i| x.row(i).norm2()).fold(0.0, f64::max);
    match *kernel {
        Kernel::Rbf { .. } => 0.0,
        Kernel::Poly { degree, .. } if degree.is_multiple_of(2) => 0.0,
        Kernel::Poly { coef0, .. } | Kernel::Sigmoid { coef0, .. } if positive && coef0 >= 0.0 => 0.0,
        Kernel::Linear | Kernel::Precomputed if positive => 0.0,
        Kernel::Linear | Kernel::Precomputed => -longest,
        Kernel::Poly { gamma, coef0, degree } => -(gamma * longest + coef0.abs()).powi(degree as i32),
        Kernel::Sigmoid { .. } => -1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Matrix;

    #[test]
    fn min_value_is_a_lower_bound_of_the_kernel() {
        let values: Vec<f64> = (0..40 * 3).map(|k| f64::from((k * 37) % 19) / 5.0 - 1.8).collect();
        let signed = Matrix::dense(values.clone(), 40, 3).unwrap();
        let positive = Matrix::dense(values.iter().map(|v| v.abs()).collect(), 40, 3).unwrap();
        let kernels = [
            Kernel::Linear,
            Kernel::Rbf { gamma: 0.3 },
            Kernel::Poly { gamma: 0.5, coef0: 0.2, degree: 3 },
            Kernel::Poly { gamma: 0.5, coef0: -0.2, degree: 2 },
            Kernel::Poly { gamma: 0.5, coef0: -3.0, degree: 1 },
            Kernel::Sigmoid { gamma: 1.0, coef0: -0.1 },
        ];
        for (x, kernel) in [&signed, &positive].into_iter().flat_map(|x| kernels.map(|k| (x, k))) {
            let bound = min_value(&kernel, x.view());
            let pairs = (0..40).flat_map(|i| (0..40).map(move |j| (i, j)));
            let least = pairs.map(|(i, j)| kernel.eval(x.view().row(i), x.view().row(j)));
            let least = least.fold(f64::INFINITY, f64::min);
            assert!(least >= bound - 1e-12 * bound.abs(), "{kernel:?}: {least} < {bound}");
        }
        assert_eq!(min_value(&Kernel::Linear, positive.view()), 0.0);
    }
}
