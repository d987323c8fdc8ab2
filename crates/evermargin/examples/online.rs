//! Updates a LASVM with one part of the data at a time and saves its state in between.
//!
//! `cargo run --release -p evermargin --example online`

use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::Targets;
use evermargin::estimators::online::lasvm::{Lasvm, LasvmParams};
use evermargin::{Kernel, Label, Result};

fn main() -> Result<()> {
    let params = LasvmParams { kernel: Kernel::Rbf { gamma: 2.0 }, ..LasvmParams::default() };
    let mut machine = None;
    for part in 0..4 {
        let (x, labels) =
            generate("two-moons", &GenerateParams { rows: 500, seed: part, ..Default::default() })?;
        let y =
            labels.of.iter().map(|class| if *class == Some(1) { Label::Pos } else { Label::Neg }).collect();
        let targets = [Targets { y, cost: vec![1.0; 500] }];
        let mut lasvm = match &machine {
            None => Lasvm::new(&params, x.view(), 1)?,
            Some(saved) => Lasvm::resume(saved)?, // identical to a machine that was never saved
        };
        let rows: Vec<usize> = (0..500).collect();
        lasvm.learn(x.view(), &rows, 500 * part, &targets, &())?;
        println!("{} rows seen, {} support vectors", 500 * (part + 1), lasvm.support_count());
        machine = Some(lasvm.save());
    }
    Ok(())
}
