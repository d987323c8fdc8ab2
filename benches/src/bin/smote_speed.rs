//! Time of SMOTE, mostly spent on the neighbors of every row: `smote_speed [ROWS] [COLS]`.

use evermargin::resampling::smote;
use evermargin::{Kernel, Matrix};
use rand::{RngExt, SeedableRng};
use std::time::Instant;

fn main() -> evermargin::Result<()> {
    let mut sizes = std::env::args().skip(1).map(|a| a.parse::<usize>().unwrap_or(0));
    let (rows, cols) = (sizes.next().unwrap_or(6000), sizes.next().unwrap_or(784));
    let mut rng = rand_pcg::Pcg64::seed_from_u64(1);
    let value = |_| if rng.random::<f64>() < 0.2 { rng.random::<f64>() } else { 0.0 };
    let x = Matrix::dense((0..rows * cols).map(value).collect(), rows, cols)?;
    let all: Vec<usize> = (0..rows).collect();
    for (layout, x) in
        [("dense", &x), ("sparse", &x.view().to_csr()), ("wide", &x.view().to_csr().with_cols(50_000))]
    {
        let started = Instant::now();
        let made = smote(x.view(), &all, Kernel::Rbf { gamma: 0.02 }, 5, 1, &mut rng)?;
        println!("{layout}: {} synthetic rows in {:.2} s", made.rows(), started.elapsed().as_secs_f64());
    }
    Ok(())
}
