//! Time of the linear learner on text-like data; optionally writes the data as LIBSVM text for comparisons.
//!
//! `cargo run --release --manifest-path research/Cargo.toml --bin linear_speed -- [rows] [cols] [c] [tolerance] [file]`

use evermargin::data::Label;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::supervised::linear::LinearParams;
use evermargin::estimators::{Fit, Targets};
use std::error::Error;
use std::io::Write;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let argument = |k: usize, default: f64| -> Result<f64, Box<dyn Error>> {
        Ok(std::env::args().nth(k).map_or(Ok(default), |a| a.parse())?)
    };
    let (rows, cols) = (argument(1, 2e4)? as usize, argument(2, 5e4)? as usize);
    let params =
        LinearParams { c: argument(3, 10.0)?, tolerance: argument(4, 1e-3)?, ..LinearParams::default() };
    let (x, labels) =
        generate("text", &GenerateParams { rows, cols: Some(cols), seed: 1, ..GenerateParams::default() })?;
    if let Some(path) = std::env::args().nth(5) {
        let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
        for (i, class) in labels.of.iter().enumerate() {
            let mut line = vec![if *class == Some(1) { "1".to_string() } else { "-1".to_string() }];
            x.view().row(i).for_each(|c, v| line.push(format!("{}:{v:?}", c + 1)));
            writeln!(out, "{}", line.join(" "))?;
        }
    }
    let y = labels.of.iter().map(|c| if *c == Some(1) { Label::Pos } else { Label::Neg }).collect();
    let problem = Targets { y, cost: vec![1.0; rows] };
    println!("{rows} x {cols}, {} values, {params:?}", x.view().nonzeros());
    let (runs, cpu_before) = (5, cpu_seconds());
    for _ in 0..runs {
        let start = Instant::now();
        let fitted = params.fit(x.view(), std::slice::from_ref(&problem), &())?;
        println!("{:.4} s  {:?}", start.elapsed().as_secs_f64(), fitted.reports[0]);
    }
    if let (Some(before), Some(after)) = (cpu_before, cpu_seconds()) {
        println!("{:.3} CPU s per run", (after - before) / f64::from(runs));
    }
    Ok(())
}

/// User and system time of this process, if available (Linux, in hundredths of a second).
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}
