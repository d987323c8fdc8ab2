//! Trains a support vector machine of several classes and evaluates it on new rows.
//!
//! `cargo run --release -p evermargin --example classify`

use evermargin::datasets::{GenerateParams, generate};
use evermargin::estimators::supervised::svc::SvcParams;
use evermargin::{Classifier, Dataset, Result};

fn main() -> Result<()> {
    let sample = |rows, seed| {
        let (x, labels) = generate("waveform", &GenerateParams { rows, seed, ..Default::default() })?;
        Dataset::new(x, labels)
    };
    let (train, test) = (sample(1000, 1)?, sample(2000, 2)?);
    let classifier = Classifier::fit(SvcParams { c: 1.0, ..SvcParams::default() }, &train)?;
    println!("{} classes, {:?} correct on new rows", classifier.classes.len(), classifier.accuracy(&test)?);
    Ok(())
}
