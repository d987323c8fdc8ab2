//! Output of commands: messages, progress, summaries, figures.

pub(crate) mod console;
pub(crate) mod files;
pub(crate) mod fit_summary;
pub(crate) mod heatmap;
pub(crate) mod picture;
pub(crate) mod progress;
