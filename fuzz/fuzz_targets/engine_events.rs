//! Events from arbitrary bytes: a refused event changes nothing, an accepted one is applied, and the resulting engine can
//! be saved and loaded.
#![no_main]

use evermargin::Matrix;
use evermargin::engine::{Budget, Engine, EngineParams, Event};
use libfuzzer_sys::fuzz_target;

/// Reads values from bytes; 0 after the last byte.
struct Bytes<'b>(&'b [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn value(&mut self) -> f64 {
        if self.byte() % 4 > 0 {
            return f64::from(self.byte() as i8) / 16.0;
        }
        f64::from_bits((0..8).fold(0, |bits, _| bits << 8 | u64::from(self.byte())))
    }

    fn name(&mut self) -> String {
        ["a", "b", "c", "1", "+1", "", " ", "d"][usize::from(self.byte() % 8)].into()
    }

    fn sample(&mut self, engine: &Engine) -> u64 {
        let open = engine.pending_queries();
        match self.byte() {
            b if b % 2 == 0 && !open.is_empty() => open[usize::from(b) % open.len()],
            b => engine.rows().wrapping_sub(u64::from(b)),
        }
    }

    fn batch(&mut self) -> Event {
        let (rows, cols) = (usize::from(self.byte() % 10), 2 + usize::from(self.byte() % 32 == 31));
        let values = (0..rows * cols).map(|_| self.value()).collect();
        let labels = (0..rows).map(|_| (self.byte() % 3 == 0).then(|| self.name())).collect();
        let x = Matrix::dense_with_any_values(values, rows, cols).expect("the shape is valid");
        let x = if self.byte() % 4 == 0 { x.view().to_csr() } else { x };
        Event::Batch { x, labels }
    }

    fn event(&mut self, engine: &Engine) -> Event {
        match self.byte() % 10 {
            0..3 => self.batch(),
            3 | 4 => Event::Answer { sample: self.sample(engine), label: self.name() },
            5 => Event::Skip { sample: self.sample(engine) },
            6 => Event::Correct { sample: self.sample(engine), label: self.name() },
            7 => Event::Withdraw { sample: self.sample(engine) },
            8 => {
                let (a, b) = (self.sample(engine), self.sample(engine));
                match self.byte() % 4 {
                    0 => Event::Compare { sample: a },
                    1 => {
                        let b = engine.reference_of(a).map_or(b, |reference| reference.sample);
                        Event::Related { a, b, same: false }
                    }
                    b2 => Event::Related { a, b, same: b2 == 2 },
                }
            }
            _ if self.byte() % 2 == 0 => Event::Ask { count: usize::from(self.byte()) },
            _ => Event::Tick { now: u64::from(self.byte()) },
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes(bytes);
    let params = EngineParams {
        budget: Budget { per_batch: 3, queries_per_round: 2, ..Default::default() },
        max_labels: 12,
        max_points: 12,
        max_rows: 8,
        max_open: 3,
        max_classes: 3,
        cache_bytes: 1 << 16,
        ..Default::default()
    };
    let mut engine = Engine::new(&params).expect("the parameters are valid");
    while !bytes.0.is_empty() {
        let event = bytes.event(&engine);
        let before = engine.clone();
        if engine.apply(event).is_err() {
            assert_eq!(engine, before, "a refused event changed the state");
        }
    }
    let saved = evermargin_io::artifacts::engine::pack(&engine).expect("an engine can be saved");
    let loaded: Engine =
        evermargin_io::artifacts::engine::unpack("fuzz", &saved).expect("a saved engine can be loaded");
    assert_eq!(loaded, engine);
});
