//! Limits on files. A file over a limit is an error whose remedy names the limit to raise.

use crate::memory;
use crate::remedy::{Limit, Message, Remedy};

/// Limits on the size of files and of the memory for reading them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of bytes of a file after decompression.
    pub max_bytes: u64,
    /// Maximum number of bytes of a line.
    pub max_line: usize,
    /// Maximum number of columns, and with it the largest index; never above 4 294 967 294.
    pub max_columns: usize,
    /// Maximum number of rows.
    pub max_rows: usize,
    /// Maximum number of values of a dense array or table.
    pub max_cells: usize,
    /// Maximum number of bytes of memory for a file that is read as a whole. The default is three quarters of the free
    /// memory, but at most 256 MiB or 200 bytes per byte of the file, whichever is more. A stream is not read as a whole.
    pub max_memory: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 64 << 30,
            max_line: 64 << 20,
            max_columns: 10_000_000,
            max_rows: 2_000_000_000,
            max_cells: 8_000_000_000,
            max_memory: None,
        }
    }
}

impl Limits {
    /// Maximum number of columns, bounded by the 32-bit column numbers of a sparse matrix.
    pub(crate) fn columns(&self) -> usize {
        self.max_columns.min(u32::MAX as usize - 1)
    }

    /// Copy of the limits with the memory that a file of `input` bytes may take.
    pub(crate) fn for_input(&self, input: u64) -> Self {
        let available = if self.max_memory.is_some() { None } else { memory::available() };
        Self { max_memory: Some(memory::limit(self.max_memory, available, input)), ..self.clone() }
    }

    /// Copy of the limits with the memory reduced by `bytes`, which are in use.
    pub(crate) fn reduced_by(&self, bytes: usize) -> Self {
        let left = self.max_memory.map(|limit| limit.saturating_sub(bytes as u64));
        Self { max_memory: left, ..self.clone() }
    }

    /// Returns an error if an allocation of `bytes` is over the memory limit or not possible.
    pub(crate) fn check_memory(&self, bytes: usize) -> Result<(), Message> {
        let refused = |allowed: &str| {
            let needed = memory::size_text(bytes as u64);
            let what = format!("its values need {needed} of memory, but {allowed}");
            Err(Message::new(what, Remedy::UseLessMemory))
        };
        if let Some(left) = self.max_memory.filter(|left| bytes as u64 > *left) {
            return refused(&format!("{} are left under the limit", memory::size_text(left)));
        }
        match Vec::<u8>::new().try_reserve_exact(bytes) {
            Ok(()) => Ok(()),
            Err(_) => refused("the system does not grant them"),
        }
    }

    /// An empty vector with room for `count` values.
    pub(crate) fn vector<T>(&self, count: usize) -> Result<Vec<T>, Message> {
        let bytes = count.saturating_mul(size_of::<T>());
        self.check_memory(bytes)?;
        let mut vector = Vec::new();
        vector
            .try_reserve_exact(count)
            .map_err(|e| Message::new(format!("does not fit in memory ({e})"), Remedy::UseLessMemory))?;
        Ok(vector)
    }

    /// Checks the shape of a dense array and returns its number of values. Rows without columns are an error: they take no
    /// bytes in the file, so the size of the file does not bound their number.
    pub(crate) fn check_array(&self, rows: usize, columns: usize) -> Result<usize, Message> {
        if columns == 0 && rows > 0 {
            return Err(format!("{rows} rows without columns").into());
        }
        self.check_shape(rows, columns)
    }

    /// Checks a dense shape against the limits and returns its number of values. The message does not name the file.
    pub(crate) fn check_shape(&self, rows: usize, columns: usize) -> Result<usize, Message> {
        if columns > self.columns() {
            return Err(over(columns, "columns", self.columns(), Limit::Columns));
        }
        if rows > self.max_rows {
            return Err(over(rows, "rows", self.max_rows, Limit::Rows));
        }
        match rows.checked_mul(columns) {
            Some(cells) if cells <= self.max_cells => Ok(cells),
            _ => Err(Message::new(
                format!("{rows} rows of {columns} columns are over the cap of {} values", self.max_cells),
                Remedy::Raise(Limit::Cells),
            )),
        }
    }
}

/// Message for a count over its limit.
pub(crate) fn over(count: usize, what: &str, cap: usize, limit: Limit) -> Message {
    Message::new(format!("{count} {what} are over the cap of {cap}"), Remedy::Raise(limit))
}

/// Message for a file of more than `cap` bytes.
pub(crate) fn too_many_bytes(cap: u64) -> Message {
    Message::new(format!("over the cap of {cap} bytes"), Remedy::Raise(Limit::Bytes))
}

/// Message for a line of more than `cap` bytes.
pub(crate) fn line_too_long(cap: usize) -> Message {
    Message::new(format!("the line is over the cap of {cap} bytes"), Remedy::Raise(Limit::Line))
}

/// Message for a column number over the limit.
pub(crate) fn index_too_large(index: impl std::fmt::Display, cap: impl std::fmt::Display) -> Message {
    Message::new(format!("index {index} is over the cap of {cap}"), Remedy::Raise(Limit::Columns))
}
