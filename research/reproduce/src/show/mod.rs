//! Reports of results: terminal output, Markdown and HTML. Nothing here changes a number.

pub mod at_hand;
pub mod chart;
pub mod embed;
pub mod html;
pub mod markdown;
mod page;
pub mod text;

/// Command line, seed and date of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Around {
    /// Requested tables.
    pub tables: Vec<String>,
    /// Options of the command line, without folders and files.
    pub options: Vec<String>,
    /// Random seed of all draws.
    pub seed: u64,
    /// Date of the run.
    pub day: String,
}

/// Number of tables from which they are not listed by name.
const MANY: usize = 6;

impl Around {
    /// Command of the whole run.
    pub fn command(&self) -> String {
        match self.tables.as_slice() {
            many if many.len() > MANY => self.command_for("TABLES"),
            few => self.command_for(&few.join(" ")),
        }
    }

    /// Command that runs only this table.
    pub fn command_for(&self, table: &str) -> String {
        let words =
            ["evermargin-reproduce", table].into_iter().chain(self.options.iter().map(String::as_str));
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }
}
