//! Questions about the batch that is open, a round at a time.

use super::asking::Scene;
use super::body::Body;
use super::inductive::Inductive;
use super::{Asking, Effects, Engine, draw};
use crate::error::Result;
use crate::query::Stopped;

/// Batches in a row without a sample worth asking about after which asking is advised against.
const MISSES: u32 = 3;

impl Engine {
    /// The next round of questions about the batch, if the last one is over.
    pub(super) fn ask(&mut self, effects: &mut Effects) -> Result<()> {
        let Some(mut body) = self.body.take() else { return Ok(()) };
        let asked = self.ask_about(&mut body, effects);
        self.body = Some(body);
        asked
    }

    pub(super) fn ask_about(&mut self, body: &mut Body, effects: &mut Effects) -> Result<()> {
        let current = &body.current;
        if current.closed || body.open.of.iter().any(|q| q.round) || self.params.asking == Asking::None {
            return Ok(());
        }
        let count = self.spent.left(&self.params.budget, self.now);
        let free: Vec<usize> =
            (0..current.x.rows()).filter(|&i| current.truth[i].is_none() && !current.asked[i]).collect();
        if count == 0 || free.is_empty() {
            return Ok(());
        }
        let signs: Vec<f64> =
            body.memory.told().iter().map(|t| if t.class == 0 { -1.0 } else { 1.0 }).collect();
        let mut scene = Scene {
            x: &current.x,
            free,
            labelled: (body.memory.rows(), &signs),
            kernel: body.frame.kernel,
            pool: self.params.pool,
            explore: self.params.explore,
            worth: self.params.worth + body.inductive.as_ref().map_or(0.0, Inductive::slack),
        };
        self.draws += 1;
        let mut rng = draw(self.params.seed, self.draws);
        let chosen = match &mut body.inductive {
            None if self.params.asking == Asking::Random => {
                scene.choose(Asking::Random, count, &mut rng, &mut |_| Ok(Vec::new()))?
            }
            None => scene.typical(count)?,
            Some(machine) => {
                let x = current.x.view();
                scene
                    .choose(self.params.asking, count, &mut rng, &mut |rows| machine.decisions_now(x, rows))?
            }
        };
        if chosen.is_empty() && self.spent.batch == 0 {
            self.misses += 1;
            if self.misses == MISSES {
                effects.advice = Some(Stopped::Margin);
            }
        } else if !chosen.is_empty() {
            self.misses = 0;
        }
        self.spent.note(chosen.len());
        for c in chosen {
            effects.questions.push(body.question(c, &self.classes));
        }
        body.open.cap(self.params.most_open);
        Ok(())
    }
}
