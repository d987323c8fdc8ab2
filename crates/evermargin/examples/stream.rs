//! Learns from a stream: every batch is labeled on arrival, and four queries per batch are answered.
//!
//! `cargo run --release -p evermargin --example stream`

use evermargin::datasets::{GenerateParams, generate};
use evermargin::engine::{Budget, Engine, EngineParams, Event};
use evermargin::{Error, Result};

fn main() -> Result<()> {
    let params = EngineParams { budget: Budget { per_batch: 4, ..Default::default() }, ..Default::default() };
    let mut engine = Engine::new(&params)?;
    for batch in 0..20 {
        let (x, truth) =
            generate("two-moons", &GenerateParams { rows: 200, seed: batch, ..Default::default() })?;
        let name = |row: usize| truth.of[row].map(|class| truth.classes[class as usize].clone());
        let mut effects = engine.apply(Event::Batch { x, labels: vec![None; 200] })?;
        let correct = effects
            .labels
            .iter()
            .enumerate()
            .filter(|(row, label)| {
                label.class.map(|c| engine.classes().names()[c as usize].clone()) == name(*row)
            })
            .count();
        println!("batch {batch}: {:.1} % correct on arrival", correct as f64 / 2.0);
        while let Some(query) = effects.questions.pop() {
            let label = name(query.row).ok_or_else(|| Error::Data("a row without a label".into()))?;
            let answered = engine.apply(Event::Answer { sample: query.sample, label })?;
            effects.questions.extend(answered.questions);
        }
        engine.apply(Event::Tick { now: batch })?;
    }
    Ok(())
}
