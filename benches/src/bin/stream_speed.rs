//! Rate of reading a stream: `stream_speed ROWS_PER_BATCH FILE|FOLDER|- [TEXT_COLUMN]`.

use evermargin_io::{LabelColumn, ReadOptions, Source, Stream, StreamOptions};
use std::path::PathBuf;
use std::time::Instant;

const USAGE: &str = "usage: stream_speed ROWS_PER_BATCH FILE|FOLDER|- [TEXT_COLUMN]";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let batch = args.next().ok_or(USAGE)?.parse()?;
    let source = match args.next().ok_or(USAGE)? {
        dash if dash == "-" => Source::Stdin,
        name if PathBuf::from(&name).is_dir() => Source::Folder(name.into()),
        name => Source::File(name.into()),
    };
    let text = args.map(LabelColumn::Name).collect();
    let read = ReadOptions { text, ..ReadOptions::default() };
    let mut stream = Stream::open(vec![source], StreamOptions { read, ..StreamOptions::default() })?;
    let (start, mut rows, mut values, mut batches) = (Instant::now(), 0, 0, 0);
    while let Some(chunk) = stream.next_batch(batch, &mut || false)? {
        rows += chunk.x.rows();
        values += chunk.x.view().nonzeros();
        batches += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{rows} rows, {values} values, {batches} batches, {seconds:.2} s, {:.0} rows/s",
        rows as f64 / seconds
    );
    Ok(())
}
