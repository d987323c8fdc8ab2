//! Reading of rows in batches from sources that do not fit into memory or have no end.
//!
//! The beginning of the first file (its first 4 MiB; for a pipe, the rows of the first batch) determines the columns, the
//! [`Schema`]. Columns that appear later are appended if the stream may grow ([`StreamOptions::growth`]); existing features
//! keep their numbers. Every batch contains the [`Position`] of its end. A program that stores schema and position can
//! continue after its last row ([`Stream::resume`]), regardless of files that were added to the folder meanwhile. Rows that
//! are appended to a file after its end was reached are then read, too, also for files of a folder.
//!
//! Text is cut into blocks of whole rows, which are read by the readers of whole files, so that parsing, encoding and error
//! messages are the same. Arrays are read whole and returned in slices.

mod folder;
mod growth;
mod lines;
mod part;
mod rejected;
mod stdin;
mod width;

pub use growth::ColumnCap;
pub(crate) use rejected::BadRow;
pub use rejected::{RejectedRow, RowPlaces};

use crate::error::{Error, Result};
use crate::formats::csv::encode::Coded;
use crate::formats::detect::Format;
use crate::formats::read::ReadOptions;
use crate::remedy::Message;
use evermargin::data::{Labels, Matrix};
use evermargin::model::{Column, InputSpec, LabelPosition};
use folder::Folder;
use part::{Part, Piece};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use width::Width;

/// Maximum number of notes that are stored, so that none is made twice.
const MAX_NOTES: usize = 1000;

/// Source of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file, read to its end.
    File(PathBuf),
    /// A folder: its files in the order of names, including those that appear later. Names that begin with a dot or end in
    /// `~`, `.tmp` or `.part` are ignored.
    Folder(PathBuf),
    /// Standard input.
    Stdin,
}

/// Options of a stream. By default all properties of the data are detected.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamOptions {
    /// Options as for a single file; a separate file of labels is not supported.
    pub read: ReadOptions,
    /// Number of features; LIBSVM text is widened or cut to it.
    pub features: Option<usize>,
    /// Whether to wait for more files in a folder.
    pub follow: bool,
    /// Time between two checks of a folder.
    pub poll: Duration,
    /// Whether rows of text that cannot be used are returned in [`Chunk::rejected`]. Otherwise the first is an error.
    pub reject_bad_rows: bool,
    /// Limit up to which columns that appear later become features; without it they are ignored. Columns that the user
    /// named, or whose number is `features`, do not change.
    pub growth: Option<ColumnCap>,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            read: ReadOptions::default(),
            features: None,
            follow: false,
            poll: Duration::from_millis(500),
            reject_bad_rows: false,
            growth: None,
        }
    }
}

/// Mapping of rows to features, determined by the beginning of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// Format of the first file.
    pub format: Format,
    /// Encoding of table columns as features; empty for other formats.
    pub columns: Vec<Column>,
    /// Number of the last columns that appeared later, so that rows may lack them.
    #[serde(default)]
    pub optional_columns: usize,
    /// Position of the label in a table.
    pub label: Option<LabelPosition>,
    /// Number of features.
    pub features: usize,
    /// Number of the first column in LIBSVM text.
    pub index_base: Option<u8>,
    /// Whether batches are sparse matrices; `None` before the first batch.
    pub sparse: Option<bool>,
}

impl Schema {
    /// Schema of rows of `features` numbers.
    pub fn new(format: Format, features: usize) -> Self {
        Self { features, ..Self::of(format) }
    }

    /// Mapping of rows to features and labels, to be stored in a model. A stream supports neither kernel matrices nor several
    /// files with concatenated columns.
    pub fn input_spec(&self) -> InputSpec {
        InputSpec::new(self.columns.clone(), self.label.clone(), self.index_base)
            .with_optional_columns(self.optional_columns)
    }

    fn of(format: Format) -> Self {
        Self {
            format,
            columns: Vec::new(),
            optional_columns: 0,
            label: None,
            features: 0,
            index_base: None,
            sparse: None,
        }
    }
}

/// Position in a file at which reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEnd {
    /// Size of the file when it was opened; a file that is larger now has grown.
    pub size: u64,
    /// Number of bytes read, after decompression.
    pub bytes: u64,
    /// Number of lines read.
    pub lines: u64,
    /// Number of rows read.
    pub rows: u64,
}

/// Position in a stream after the last row of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// Index of the source, counted from 0. It never exceeds the last source, which may have more rows when the stream is
    /// resumed.
    pub source: usize,
    /// File of a folder that is being read.
    pub file: Option<String>,
    /// Files of a folder that were read to their end and still exist.
    pub done: BTreeMap<String, FileEnd>,
    /// Sizes of earlier sources that are files, by their indices.
    pub sizes: BTreeMap<usize, u64>,
    /// Number of bytes read of the file, after decompression.
    pub bytes: u64,
    /// Number of lines read of the file.
    pub lines: u64,
    /// Number of rows read of the file.
    pub rows: u64,
    /// Number of rows read in total.
    pub total: u64,
}

/// A batch of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// One sample per row. All batches of a stream have the same layout, and the number of columns never decreases.
    pub x: Matrix,
    /// The class of each row, if it has one.
    pub labels: Vec<Option<String>>,
    /// Text of each row for annotators: its text columns, else the line; at most 2 kB.
    pub shown: Vec<String>,
    /// Identifier of each row, if there is a column of identifiers; else empty.
    pub ids: Vec<String>,
    /// Columns of a table that appeared since the previous batch; their features follow the known ones.
    pub new_columns: Vec<Column>,
    /// The file and line of each row.
    pub places: RowPlaces,
    /// Rows in the range of this batch that cannot be used, in order; see [`StreamOptions::reject_bad_rows`]. They count
    /// toward the requested number of rows, so a batch may have no other row.
    pub rejected: Vec<RejectedRow>,
    /// Position in the stream after these rows.
    pub position: Position,
}

impl Chunk {
    fn empty(like: &Matrix) -> Self {
        Self {
            x: Matrix::empty(like.cols(), matches!(like, Matrix::Csr { .. })),
            labels: Vec::new(),
            shown: Vec::new(),
            ids: Vec::new(),
            new_columns: Vec::new(),
            places: RowPlaces::default(),
            rejected: Vec::new(),
            position: Position::default(),
        }
    }

    /// Number of usable and rejected rows.
    fn count(&self) -> usize {
        self.x.rows() + self.rejected.len()
    }
}

/// Reader of rows in batches.
pub struct Stream {
    sources: Vec<Source>,
    options: StreamOptions,
    schema: Option<Schema>,
    position: Position,
    part: Option<Part>,
    /// Size of the last opened file.
    size: u64,
    /// Whether the last source was read to its end.
    ended: bool,
    folder: Option<Folder>,
    notes: Vec<Message>,
    /// Notes of the last step, some of which may have been made before.
    new_notes: Vec<Message>,
    noted: BTreeSet<String>,
    /// Error to be returned by the next call, because rows before it were returned first.
    pending_error: Option<Error>,
    stop: Option<Arc<AtomicBool>>,
    /// Number of table columns at the last batch; `None` before the first batch.
    handed_out: Option<usize>,
}

/// Options and state of the stream that reading of a part requires.
pub(crate) struct Setting<'s> {
    options: &'s mut ReadOptions,
    schema: &'s mut Option<Schema>,
    notes: &'s mut Vec<Message>,
    features: Option<usize>,
    sources: &'s [Source],
    reject: bool,
    growth: Option<ColumnCap>,
    stop: Option<&'s Arc<AtomicBool>>,
}

impl Setting<'_> {
    /// Returns an error for a format that does not agree with the beginning of the stream or with the options.
    fn agree(&self, name: &str, format: Format) -> Result<()> {
        let kind = |f: Format| (f.is_table(), f == Format::Libsvm);
        match self.schema.as_ref().map(|s| s.format) {
            Some(first) if kind(first) != kind(format) => {
                let what = format!("{}, but the stream began as {}", format.name(), first.name());
                Err(Error::content(name, what))
            }
            _ if !format.is_table() && !self.options.text.is_empty() => {
                Err(Error::content(name, format!("{} has no columns of text", format.name())))
            }
            _ if !format.is_table() && self.options.id.is_some() => {
                Err(Error::content(name, format!("{} has no column of ids", format.name())))
            }
            _ => Ok(()),
        }
    }

    fn set_schema(&mut self, schema: Schema) {
        apply_schema(self.options, &schema);
        *self.schema = Some(schema);
    }

    /// Number of the first column and number of columns, as far as they can be determined before the first rows are read.
    fn width_of(&self, path: &Path) -> (Option<u8>, Option<usize>) {
        let base = self.options.index_base;
        if self.features.is_some() || path == Path::new("-") {
            return (base, self.features);
        }
        let mut width = Width::default();
        for source in self.sources {
            match source {
                Source::File(file) => width.scan(file, &self.options.limits),
                Source::Folder(folder) => {
                    let files = Folder::new(folder).files().unwrap_or_default();
                    files.iter().for_each(|file| width.scan(file, &self.options.limits));
                }
                Source::Stdin => {}
            }
        }
        if !width.pairs || width.highest > self.options.limits.columns() as u64 {
            return (base, None);
        }
        let base = base.unwrap_or(u8::from(!width.zero));
        (Some(base), Some(width.columns(base)))
    }
}

/// Sets the options so that later files are read like files for a model with this schema.
fn apply_schema(options: &mut ReadOptions, schema: &Schema) {
    options.columns = (!schema.columns.is_empty()).then(|| schema.columns.clone());
    options.optional_columns = schema.optional_columns;
    options.trained_label.clone_from(&schema.label);
    options.cols = Some(schema.features);
    options.index_base = schema.index_base.or(options.index_base);
}

impl Stream {
    /// Creates a stream at the beginning of its sources. Nothing is read yet.
    pub fn open(sources: Vec<Source>, mut options: StreamOptions) -> Result<Self> {
        let refuse = |what: &str| Err(Error::content("stream", what));
        if sources.is_empty() {
            return refuse("no sources; name a file, a folder or -");
        }
        if options.read.labels_file.is_some() {
            return refuse(
                "a separate file of labels is not supported for streams; put the labels into the rows",
            );
        }
        let endless = |s: &Source| options.follow && matches!(s, Source::Folder(_));
        if sources[..sources.len() - 1].iter().any(endless) {
            return refuse("sources after a folder that is followed are never read; name the folder last");
        }
        if sources.iter().filter(|s| **s == Source::Stdin).count() > 1 {
            return refuse("standard input can be read only once");
        }
        options.features = options.features.or(options.read.cols);
        options.read.cols = options.features;
        Ok(Self {
            sources,
            options,
            schema: None,
            position: Position::default(),
            part: None,
            size: 0,
            ended: false,
            folder: None,
            notes: Vec::new(),
            new_notes: Vec::new(),
            noted: BTreeSet::new(),
            pending_error: None,
            stop: None,
            handed_out: None,
        })
    }

    /// Creates a stream that continues after a batch of an earlier one. Standard input continues with the bytes that arrive
    /// now.
    pub fn resume(
        sources: Vec<Source>,
        options: StreamOptions,
        schema: Schema,
        position: Position,
    ) -> Result<Self> {
        let mut stream = Self::open(sources, options)?;
        crate::artifacts::validate::check_columns(&schema.columns, schema.features)
            .map_err(|what| Error::content("stream", what))?;
        if schema.optional_columns > schema.columns.len() {
            return Err(Error::content("stream", "more columns may be missing than there are"));
        }
        stream.handed_out = Some(schema.columns.len());
        if stream.sources.get(position.source) == Some(&Source::Stdin) {
            stream.position = Position { bytes: 0, lines: 0, rows: 0, ..position };
        } else {
            stream.position = position;
        }
        apply_schema(&mut stream.options.read, &schema);
        stream.schema = Some(schema);
        stream.note_grown_sources();
        Ok(stream)
    }

    /// Adds notes about bytes that are not read because an earlier source has grown.
    fn note_grown_sources(&mut self) {
        for (&source, &size) in &self.position.sizes {
            let Some(Source::File(path)) = self.sources.get(source) else { continue };
            let grown = size_of(path).saturating_sub(size);
            if grown > 0 {
                let name = crate::decompress::display_name(path);
                let what = "has grown since it was read and is not the last source";
                self.new_notes.push(format!("{name} {what}: {grown} bytes are not read").into());
            }
        }
        self.collect_notes();
    }

    /// Stops waiting for standard input when the flag is set: whole rows that have arrived are returned, then the stream ends
    /// for now.
    pub fn stop_on(&mut self, flag: Arc<AtomicBool>) {
        self.stop = Some(flag);
    }

    fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|flag| flag.load(Ordering::SeqCst))
    }

    /// Mapping of rows to features; `None` before the first batch.
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref()
    }

    /// Current position in the stream.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Returns the notes for the user since the last call, each of them only once.
    pub fn take_notes(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.notes)
    }

    /// Returns the next rows: the requested number, or fewer at the end and if a folder that is followed has no more for now.
    /// `None` is the end. A folder that is followed has no end: while there is nothing to read, `idle` is called, and if it
    /// returns false, the result is `None`. An error does not change the position of the stream.
    pub fn next_batch(&mut self, rows: usize, idle: &mut dyn FnMut() -> bool) -> Result<Option<Chunk>> {
        if let Some(error) = self.pending_error.take() {
            return Err(error);
        }
        let rows = rows.max(1);
        let mut batch: Option<Chunk> = None;
        loop {
            let have = batch.as_ref().map_or(0, Chunk::count);
            if have >= rows {
                break;
            }
            match self.piece(rows - have, have > 0, idle) {
                Ok(Some(piece)) => self.add(&mut batch, piece),
                Ok(None) => break,
                // The error can result from an incomplete row.
                Err(_) if self.is_stopped() => break,
                Err(error) => {
                    self.part = None;
                    if have == 0 {
                        return Err(error);
                    }
                    self.pending_error = Some(error);
                    break;
                }
            }
        }
        let Some(mut batch) = batch else { return Ok(None) };
        batch.x = self.in_stream_layout(batch.x);
        let columns = self.schema.as_ref().map_or(&[][..], |schema| &schema.columns);
        if let Some(before) = self.handed_out {
            batch.new_columns = columns.get(before..).unwrap_or_default().to_vec();
        }
        if self.schema.is_some() {
            self.handed_out = Some(columns.len());
        }
        batch.position = self.position.clone();
        Ok(Some(batch))
    }

    /// Returns the next rows of one part. If bad rows are rejected, a file of a folder that cannot be read is one rejected
    /// row.
    fn piece(&mut self, wanted: usize, have: bool, idle: &mut dyn FnMut() -> bool) -> Result<Option<Piece>> {
        let error = match self.piece_of_part(wanted, have, idle) {
            Err(error) => error,
            piece => return piece,
        };
        let folder = match self.sources.get(self.position.source) {
            Some(Source::Folder(folder)) if self.options.reject_bad_rows && !self.is_stopped() => folder,
            _ => return Err(error),
        };
        let Some(name) = &self.position.file else { return Err(error) };
        let file = crate::decompress::display_name(&folder.join(name));
        let row = BadRow::of_file(error, &file).within(&file, 0);
        let from = if row.line > 0 { format!(", from line {} on", row.line) } else { String::new() };
        self.new_notes.push(format!("{file} was left out{from}: {}", row.reason).into());
        self.collect_notes();
        self.finish_part();
        self.position.total += 1;
        let (_, setting) = self.setting();
        Ok(Some(Piece::without_rows(row, &setting)))
    }

    fn piece_of_part(
        &mut self,
        wanted: usize,
        have: bool,
        idle: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Piece>> {
        loop {
            if self.part.is_none() && !self.advance(wanted, have, idle)? {
                return Ok(None);
            }
            let (part, mut setting) = self.setting();
            let Some(part) = part else { continue };
            let piece = part.next(wanted, &mut setting);
            let ((bytes, lines), rows) = (part.taken(), part.rows);
            let interrupted = part.is_interrupted();
            self.collect_notes();
            let Some(piece) = piece? else {
                if interrupted {
                    return Ok(None);
                }
                self.finish_part();
                continue;
            };
            self.position.total += piece.count() as u64;
            (self.position.bytes, self.position.lines, self.position.rows) = (bytes, lines, rows);
            return Ok(Some(piece));
        }
    }

    fn setting(&mut self) -> (Option<&mut Part>, Setting<'_>) {
        let setting = Setting {
            options: &mut self.options.read,
            schema: &mut self.schema,
            notes: &mut self.new_notes,
            features: self.options.features,
            sources: &self.sources,
            reject: self.options.reject_bad_rows,
            growth: self.options.growth,
            stop: self.stop.as_ref(),
        };
        (self.part.as_mut(), setting)
    }

    /// Opens the next file; returns false if there is none.
    fn advance(&mut self, wanted: usize, have: bool, idle: &mut dyn FnMut() -> bool) -> Result<bool> {
        loop {
            let path = match self.sources.get(self.position.source).filter(|_| !self.ended) {
                None => return Ok(false),
                Some(Source::File(path)) => path.clone(),
                Some(Source::Stdin) => PathBuf::from("-"),
                Some(Source::Folder(folder)) => {
                    let folder = folder.clone();
                    let watched = self.folder.get_or_insert_with(|| Folder::new(&folder));
                    let next = match self.position.file.clone() {
                        Some(name) => Some(name),
                        None => watched.next(&mut self.position.done, self.options.follow)?,
                    };
                    match next {
                        Some(name) => {
                            let path = folder.join(&name);
                            if self.position.file.is_none() {
                                // If the file was read before, it has grown.
                                let end = self.position.done.get(&name).copied().unwrap_or_default();
                                (self.position.bytes, self.position.lines, self.position.rows) =
                                    (end.bytes, end.lines, end.rows);
                            }
                            self.position.file = Some(name);
                            path
                        }
                        None if !self.options.follow => {
                            if self.position.source + 1 == self.sources.len() {
                                return Ok(false);
                            }
                            self.finish_source();
                            continue;
                        }
                        None if have || !idle() => return Ok(false),
                        None => {
                            std::thread::sleep(self.options.poll);
                            continue;
                        }
                    }
                }
            };
            self.size = size_of(&path);
            let (_, mut setting) = self.setting();
            let opened = Part::open(&path, wanted, &mut setting);
            self.collect_notes();
            if let Some(mut part) = opened? {
                part.go_to(self.position.bytes, self.position.rows)?;
                self.part = Some(part);
                return Ok(true);
            }
            self.new_notes.push(format!("{} is empty", crate::decompress::display_name(&path)).into());
            self.collect_notes();
            self.finish_part();
        }
    }

    fn finish_part(&mut self) {
        self.part = None;
        let Position { bytes, lines, rows, .. } = self.position;
        match self.position.file.take() {
            Some(name) => {
                self.position.done.insert(name, FileEnd { size: self.size, bytes, lines, rows });
                (self.position.bytes, self.position.lines, self.position.rows) = (0, 0, 0);
            }
            None => self.finish_source(),
        }
    }

    fn finish_source(&mut self) {
        self.folder = None;
        if self.position.source + 1 == self.sources.len() {
            self.ended = true;
            return;
        }
        if let Some(Source::File(_)) = self.sources.get(self.position.source) {
            self.position.sizes.insert(self.position.source, self.size);
        }
        (self.position.bytes, self.position.lines, self.position.rows) = (0, 0, 0);
        self.position.done.clear();
        self.position.source += 1;
    }

    fn add(&mut self, batch: &mut Option<Chunk>, mut piece: Piece) {
        piece.number_rejected_rows(self.position.total - piece.count() as u64);
        for (name, values) in &piece.unknown {
            if self.noted.len() < MAX_NOTES && self.noted.insert(format!("unknown {name}")) {
                self.notes.push(Coded::unknown_note(name, values).into());
            }
        }
        let unlabeled = self.options.read.unlabeled;
        let labels = if unlabeled { vec![None; piece.x.rows()] } else { class_names(&piece.labels) };
        let batch = batch.get_or_insert_with(|| Chunk::empty(&piece.x));
        batch.places.extend(&piece.name, &piece.lines);
        if batch.x.rows() == 0 {
            batch.x = piece.x;
        } else {
            if piece.x.cols() > batch.x.cols() {
                let narrow = std::mem::replace(&mut batch.x, Matrix::empty(0, false));
                batch.x = narrow.with_cols(piece.x.cols());
            }
            (0..piece.x.rows()).for_each(|i| batch.x.push(piece.x.view().row(i)));
        }
        batch.labels.extend(labels);
        batch.shown.extend(piece.shown);
        batch.ids.extend(piece.ids);
        batch.rejected.extend(piece.rejected);
    }

    /// Converts a batch to the layout of the stream, which the first batch determines.
    fn in_stream_layout(&mut self, x: Matrix) -> Matrix {
        let Some(schema) = &mut self.schema else { return x };
        if x.rows() == 0 {
            return Matrix::empty(schema.features, schema.sparse.unwrap_or(false));
        }
        let x = x.with_cols(schema.features);
        let x = match schema.sparse {
            None => x.into_natural_layout(),
            Some(true) if matches!(x, Matrix::Dense { .. }) => x.view().to_csr(),
            Some(false) if matches!(x, Matrix::Csr { .. }) => x.view().to_dense(),
            Some(_) => x,
        };
        schema.sparse = Some(matches!(x, Matrix::Csr { .. }));
        x
    }

    /// Adds the notes of the last step that were not made before.
    fn collect_notes(&mut self) {
        for note in self.new_notes.drain(..) {
            if self.noted.len() < MAX_NOTES && self.noted.insert(note.to_string()) {
                self.notes.push(note);
            }
        }
    }
}

/// Size of a file on disk; 0 if it is not known.
fn size_of(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}

fn class_names(labels: &Labels) -> Vec<Option<String>> {
    let number = |name: &str| name.parse::<f64>().is_ok_and(f64::is_finite);
    let plain = |name: &String| match name.strip_prefix('+') {
        // The class `+1` is always `1`, although `Labels` keeps the sign in batches that have non-numeric classes, too.
        Some(rest) if number(name) => rest.to_string(),
        _ => name.clone(),
    };
    let names: Vec<String> = labels.classes.iter().map(plain).collect();
    labels.of.iter().map(|class| class.and_then(|c| names.get(c as usize).cloned())).collect()
}
