//! Labels 1,000 rows from 20 labels with `auto`, and prints the accuracy with and without the unlabeled rows.
//!
//! `cargo run --release -p evermargin --example few_labels`

use evermargin::Result;
use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::auto::AutoParams;
use evermargin::pipeline::train::{TrainOptions, train};

fn main() -> Result<()> {
    let (x, truth) = generate("g50c", &GenerateParams { rows: 1000, ..Default::default() })?;
    let mut few = truth.clone();
    few.of.iter_mut().skip(20).for_each(|label| *label = None);

    let trained = train(x, &few, &TrainOptions::of(AutoParams::default())?, &())?;
    let correct = |class: &[u32]| {
        let correct = class.iter().zip(&truth.of).skip(20).filter(|(found, label)| Some(**found) == **label);
        correct.count() as f64 / (class.len() - 20) as f64
    };
    if let Some(found) = &trained.semi {
        println!("auto: {:.1} %", 100.0 * correct(&found.class));
        if let Some(alone) = &found.baseline {
            println!("labels alone: {:.1} %", 100.0 * correct(&alone.class));
        }
    }
    Ok(())
}
