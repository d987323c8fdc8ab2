//! What was found, for people: in a terminal, as Markdown, as a page. Nothing here changes a number.

pub mod at_hand;
pub mod chart;
pub mod embed;
pub mod html;
pub mod markdown;
mod page;
pub mod text;

/// How a run came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Around {
    /// The command line, without folders.
    pub command: String,
    /// Seed of every draw.
    pub seed: u64,
    /// The day.
    pub day: String,
}
