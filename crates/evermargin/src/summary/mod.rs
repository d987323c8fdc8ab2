//! Summaries of data: exemplars, and the number of samples that each represents.
//!
//! [`choose`] picks rows of a pool; [`Summary`] maintains exemplars along a stream and across partitions; [`relax`]
//! solves the convex relaxation, a check on small pools.

mod carry;
mod exemplars;
mod facility;
mod qp;
pub(crate) mod quadratic;
mod stream;

pub use carry::carry_weights;
pub(crate) use exemplars::represent;
pub use exemplars::{
    ExemplarParams, Lambda, Objective, Pool, choose, choose_and_score, choose_plainly, choose_within,
    objective,
};
pub(crate) use qp::solve as relax_merits;
pub use qp::{Relaxed, relax};
pub use stream::Summary;
