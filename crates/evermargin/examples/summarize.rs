//! Chooses ten exemplars that represent 2,000 rows.
//!
//! `cargo run --release -p evermargin --example summarize`

use evermargin::Result;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::summary::{ExemplarParams, Pool, choose};

fn main() -> Result<()> {
    let (x, labels) = generate("waveform", &GenerateParams { rows: 2000, ..Default::default() })?;
    let picks = choose(&ExemplarParams::default(), &Pool::of(x.view()), 10, &())?;
    for row in picks.order {
        println!("row {row}, class {:?}", labels.of[row]);
    }
    Ok(())
}
