//! Groups of rows, for `--group COLUMN --max-per-group K`: the values of a column of the table.

use crate::args::DataArgs;
use crate::failure::Failure;
use crate::input::{Input, column, options_of};
use evermargin::solver::partition_matroid::GroupLimit;
use evermargin_io::{ReadOptions, read};
use std::path::Path;

/// A maximum number of rows per group.
#[derive(Debug, Clone, clap::Args, Default)]
#[command(next_help_heading = "Groups")]
pub struct GroupArgs {
    /// Column of a table, by name or number, whose values group the rows [default: no groups]
    ///
    /// The column remains a feature unless --columns leaves it out.
    #[arg(long, value_name = "NAME|INDEX")]
    pub group: Option<String>,
    /// Maximum number of rows chosen per group of --group [default: 1]
    #[arg(long, value_name = "K", requires = "group", value_parser = crate::args::values::from_one)]
    pub max_per_group: Option<u64>,
}

/// The group of each row that was read, and the maximum number of rows per group.
#[derive(Debug)]
pub struct Groups {
    of: Vec<u32>,
    max_per_group: usize,
}

impl GroupArgs {
    /// Reads the groups of the rows of `source`, which came from `path`. Rows with an empty cell form one group.
    pub fn read(&self, path: &Path, args: &DataArgs, source: &Input) -> Result<Option<Groups>, Failure> {
        let Some(name) = &self.group else { return Ok(None) };
        if path == Path::new("-") {
            return Err(Failure::Usage(
                "--group: standard input cannot be read twice; use a file for DATA".into(),
            ));
        }
        let options = ReadOptions {
            label: Some(column(name)),
            label_purpose: Some("--group"),
            unlabeled: false,
            text: Vec::new(),
            only: None,
            labels_file: None,
            ..options_of(args, ReadOptions::default())
        };
        let data = read(path, &options)?;
        if data.input_spec().columns.is_empty() {
            return Err(Failure::Usage(format!(
                "--group {name}: {} is not a table with columns",
                path.display()
            )));
        }
        let (found, empty) = (data.labels.of, data.labels.classes.len() as u32);
        let number = |row: usize| found.get(row).copied().flatten().unwrap_or(empty);
        let rows: Vec<u32> = match &source.kept {
            Some(kept) => kept.iter().map(|&row| number(row)).collect(),
            None => (0..source.data.x.rows()).map(number).collect(),
        };
        let max_per_group = usize::try_from(self.max_per_group.unwrap_or(1)).unwrap_or(usize::MAX);
        Ok(Some(Groups { of: compact(&rows), max_per_group }))
    }
}

impl Groups {
    /// The groups of some of the rows.
    pub fn select(&self, rows: &[usize]) -> Self {
        let of: Vec<u32> = rows.iter().map(|&row| self.of[row]).collect();
        Self { of: compact(&of), max_per_group: self.max_per_group }
    }

    /// A note if fewer rows were chosen than requested because the groups allow no more.
    pub fn shortfall(&self, chosen: usize, wanted: usize) -> Option<String> {
        let mut sizes = vec![0_usize; self.of.iter().max().map_or(0, |last| *last as usize + 1)];
        self.of.iter().for_each(|group| sizes[*group as usize] += 1);
        let allowed: usize = sizes.iter().map(|size| (*size).min(self.max_per_group)).sum();
        let (groups, max) = (sizes.len(), self.max_per_group);
        (chosen < wanted && chosen == allowed).then(|| {
            format!("{chosen} of {wanted} rows: --max-per-group {max} allows no more from {groups} groups")
        })
    }

    /// The limit for choosing rows.
    pub fn limit(&self) -> Result<GroupLimit<'_>, Failure> {
        Ok(GroupLimit::new(&self.of, self.max_per_group)?)
    }
}

/// The same groups, numbered in the order in which they appear.
fn compact(groups: &[u32]) -> Vec<u32> {
    let mut numbers = std::collections::HashMap::new();
    groups
        .iter()
        .map(|group| {
            let next = numbers.len() as u32;
            *numbers.entry(*group).or_insert(next)
        })
        .collect()
}
