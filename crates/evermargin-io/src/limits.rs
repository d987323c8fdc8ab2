//! What a file may ask of the machine. A file over a limit is an error that names the option to raise.

/// Limits on files; each is an option of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a file after decompression (`--max-bytes`).
    pub max_bytes: u64,
    /// Bytes of a line (`--max-line`).
    pub max_line: usize,
    /// Columns, and with them the largest index (`--max-columns`); never above 4 294 967 294.
    pub max_columns: usize,
    /// Rows (`--max-rows`).
    pub max_rows: usize,
    /// Values of a dense array or table (`--max-cells`).
    pub max_cells: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 64 << 30,
            max_line: 64 << 20,
            max_columns: 10_000_000,
            max_rows: 2_000_000_000,
            max_cells: 8_000_000_000,
        }
    }
}

impl Limits {
    /// Columns fit the 32-bit column numbers of a sparse matrix, whatever was asked for.
    pub(crate) fn columns(&self) -> usize {
        self.max_columns.min(u32::MAX as usize - 1)
    }

    /// Refuses the shape of a dense array. Rows without columns take no bytes in the file, so that nothing but this
    /// bounds how many there are.
    pub(crate) fn check_array(&self, rows: usize, columns: usize) -> Result<usize, String> {
        if columns == 0 && rows > 0 {
            return Err(format!("{rows} rows without columns"));
        }
        self.check_shape(rows, columns)
    }

    /// Refuses a dense shape over the limits; the message is a whole sentence without the file's name.
    pub(crate) fn check_shape(&self, rows: usize, columns: usize) -> Result<usize, String> {
        if columns > self.columns() {
            return Err(over(columns, "columns", self.columns(), "--max-columns"));
        }
        if rows > self.max_rows {
            return Err(over(rows, "rows", self.max_rows, "--max-rows"));
        }
        match rows.checked_mul(columns) {
            Some(cells) if cells <= self.max_cells => Ok(cells),
            _ => Err(format!(
                "{rows} rows of {columns} columns are over the cap of {} values; if it is right, raise --max-cells",
                self.max_cells
            )),
        }
    }
}

/// The sentence for a count over its cap.
pub(crate) fn over(count: usize, what: &str, cap: usize, option: &str) -> String {
    format!("{count} {what} are over the cap of {cap}; if it is right, raise {option}")
}
