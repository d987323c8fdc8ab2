//! Rate of durable appends of 1 KiB events to the store, compared with a plain file that is appended to and synced. The
//! two alternate, so that both run on the disk in the same condition.
//!
//! `cargo run --release --manifest-path research/Cargo.toml --bin append_speed -- [DIRECTORY] [SECONDS]`

use evermargin_store::{Event, Open, Store};
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

const BODY: [u8; 1024] = [0xa5; 1024];

/// Appends batches for `seconds` and returns events per second.
fn rate(
    seconds: f64,
    batch: usize,
    mut append: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let (start, mut batches) = (Instant::now(), 0);
    while start.elapsed().as_secs_f64() < seconds {
        append()?;
        batches += 1;
    }
    Ok((batches * batch) as f64 / start.elapsed().as_secs_f64())
}

fn store_rate(home: &Path, seconds: f64, batch: usize) -> Result<f64, Box<dyn Error>> {
    let mut store = Store::open(&home.join("store"), Open::Either)?;
    let events = vec![Event { kind: "batch", body: &BODY }; batch];
    rate(seconds, batch, || Ok(store.append(&events).map(|_| ())?))
}

fn plain_rate(home: &Path, seconds: f64, batch: usize) -> Result<f64, Box<dyn Error>> {
    let mut file = File::options().create(true).append(true).open(home.join("plain"))?;
    let bytes = BODY.repeat(batch);
    rate(seconds, batch, || {
        file.write_all(&bytes)?;
        Ok(file.sync_data()?)
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let place = arguments.next().unwrap_or_else(|| ".".to_string());
    let seconds = arguments.next().map_or(Ok(3.0), |text| text.parse())?;
    let home = tempfile::tempdir_in(place)?;
    println!("{:>6} {:>16} {:>16} {:>7}", "batch", "store, events/s", "plain, events/s", "ratio");
    for batch in [1, 64, 512] {
        let (mut stored, mut plain) = (0.0, 0.0);
        for _ in 0..3 {
            stored += store_rate(home.path(), seconds / 3.0, batch)? / 3.0;
            plain += plain_rate(home.path(), seconds / 3.0, batch)? / 3.0;
        }
        println!("{batch:>6} {stored:>16.0} {plain:>16.0} {:>7.2}", stored / plain);
    }
    let start = Instant::now();
    let store = Store::open(&home.path().join("store"), Open::Existing)?;
    let bytes = std::fs::metadata(home.path().join("store/events.db"))?.len() as f64 / 1e6;
    println!("opened {} events, {bytes:.0} MB, in {:.2} s", store.next_seq(), start.elapsed().as_secs_f64());
    Ok(())
}
