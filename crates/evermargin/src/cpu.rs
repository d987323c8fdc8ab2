//! The CPU feature level: the compiled code paths that this machine runs, as far as they affect the bits of a result. A
//! state records its level, because learning that continues at another level diverges in the last bits.

use crate::math::simd;
use std::fmt;

/// A set of CPU features that decides the rounding of floating-point results.
///
/// The loops of this crate differ only in whether a multiplication and an addition are fused. The matrix products of the
/// linear-algebra crate also block their sums by register width, so AVX-512 is a level of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CpuLevel {
    /// Without fused multiply-add.
    Baseline,
    /// Fused multiply-add in the 128-bit registers of 64-bit ARM.
    Neon,
    /// AVX2 with fused multiply-add.
    Fma,
    /// AVX-512 with fused multiply-add.
    Avx512,
}

impl CpuLevel {
    /// All levels, in ascending order.
    pub const ALL: [Self; 4] = [Self::Baseline, Self::Neon, Self::Fma, Self::Avx512];

    /// The name as recorded in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Neon => "neon",
            Self::Fma => "fma",
            Self::Avx512 => "avx512",
        }
    }

    /// The level with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

impl fmt::Display for CpuLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The CPU feature level of this process.
pub fn cpu_feature_level() -> CpuLevel {
    if simd::has_avx512() {
        CpuLevel::Avx512
    } else if simd::has_avx2_fma() {
        CpuLevel::Fma
    } else if cfg!(target_arch = "aarch64") {
        CpuLevel::Neon
    } else {
        CpuLevel::Baseline
    }
}

#[cfg(test)]
mod tests {
    use super::{CpuLevel, cpu_feature_level};

    #[test]
    fn names_identify_levels() {
        for level in CpuLevel::ALL {
            assert_eq!(CpuLevel::from_name(level.name()), Some(level));
        }
        assert_eq!(CpuLevel::from_name("sse9"), None);
        assert!(CpuLevel::ALL.is_sorted());
        assert_eq!(cpu_feature_level(), cpu_feature_level());
    }
}
