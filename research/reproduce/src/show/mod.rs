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
    /// Tables as they were asked for.
    pub tables: Vec<String>,
    /// The options of the command line, those with folders and files left out.
    pub options: Vec<String>,
    /// Seed of every draw.
    pub seed: u64,
    /// The day.
    pub day: String,
}

/// More tables than a line of text should name.
const MANY: usize = 6;

impl Around {
    /// The command that all of it comes from.
    pub fn command(&self) -> String {
        match self.tables.as_slice() {
            many if many.len() > MANY => self.command_for("TABLES"),
            few => self.command_for(&few.join(" ")),
        }
    }

    /// The command that shows this table alone.
    pub fn command_for(&self, table: &str) -> String {
        let words =
            ["evermargin-reproduce", table].into_iter().chain(self.options.iter().map(String::as_str));
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}
