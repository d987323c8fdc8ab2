//! Online estimators, which learn one sample at a time in bounded memory.

pub mod active;
pub mod incremental;
pub mod lasvm;
mod pool_scores;

pub use pool_scores::PoolScores;
