//! Reads a file several times and prints megabytes per second: `read_speed FILE [TIMES]`.
//! `RAYON_NUM_THREADS` sets the number of threads.

use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("usage: read_speed FILE [TIMES]")?;
    let times: usize = args.next().map_or(Ok(5), |t| t.parse())?;
    let megabytes = std::fs::metadata(&path)?.len() as f64 / 1e6;
    let mut best = f64::INFINITY;
    for _ in 0..times {
        let start = Instant::now();
        let set = evermargin_io::read(&path, &evermargin_io::ReadOptions::default())?;
        let seconds = start.elapsed().as_secs_f64();
        best = best.min(seconds);
        println!(
            "{} rows, {} columns, {} classes: {seconds:.4} s, {:.0} MB/s",
            set.x.rows(),
            set.x.cols(),
            set.labels.classes.len(),
            megabytes / seconds
        );
    }
    println!("best: {best:.4} s, {:.0} MB/s", megabytes / best);
    Ok(())
}
