//! Time of facility location on the first rows of an image file (values divided by 255) with the RBF kernel.
//!
//!     cargo run --release --manifest-path research/Cargo.toml --bin facility_speed -- FILE [ROWS PICKS GAMMA CACHE_MB]
//!
//! Without a file, 10 000 × 784 random values, of which one in five is not zero.

use evermargin::data::Matrix;
use evermargin::kernel::Kernel;
use evermargin::summary::{ExemplarParams, Objective, Pool, choose};
use evermargin_io::{ReadOptions, read};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let number = |at: usize, other: f64| args.get(at).map_or(Ok(other), |text| text.parse::<f64>());
    let (rows, picks) = (number(2, 10_000.0)? as usize, number(3, 100.0)? as usize);
    let (gamma, megabytes) = (number(4, 0.02)?, number(5, 512.0)? as usize);
    let x = match args.get(1) {
        Some(file) => images(file, rows)?,
        None => noise(rows)?,
    };
    let params = ExemplarParams {
        kernel: Kernel::Rbf { gamma },
        objective: Objective::FacilityLocation,
        cache_bytes: megabytes << 20,
        ..ExemplarParams::default()
    };
    let start = Instant::now();
    let chosen = choose(&params, &Pool::of(x.view()), picks, &())?;
    println!(
        "{} of {} rows: objective {:.4}, {} gains computed, {:.2} s",
        chosen.order.len(),
        x.rows(),
        chosen.gains.iter().sum::<f64>(),
        chosen.evaluations,
        start.elapsed().as_secs_f64()
    );
    println!("first rows: {:?}", &chosen.order[..chosen.order.len().min(10)]);
    Ok(())
}

fn images(file: &str, rows: usize) -> Result<Matrix, Box<dyn std::error::Error>> {
    let all = read(file, &ReadOptions::default())?.x;
    let mut part = all.view().select(&(0..rows.min(all.rows())).collect::<Vec<_>>());
    let (Matrix::Dense { values, .. } | Matrix::Csr { values, .. }) = &mut part;
    values.iter_mut().for_each(|v| *v /= 255.0);
    Ok(part)
}

fn noise(rows: usize) -> evermargin::Result<Matrix> {
    let mut state = 1u64;
    let mut value = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (state >> 33) as f64 / f64::from(1u32 << 31);
        if share < 0.2 { 5.0 * share } else { 0.0 }
    };
    Matrix::dense((0..rows * 784).map(|_| value()).collect(), rows, 784)
}
