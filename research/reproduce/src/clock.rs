//! Processor time of the thread that asks: what a method costs on a machine that does other things too. Every method runs
//! on one thread (see [`crate::work`]).

use std::time::Instant;

/// Processor seconds where the system tells them (Linux), else seconds on the wall.
pub struct Clock {
    begin: Instant,
    before: Option<u64>,
}

impl Clock {
    /// Begins to count.
    pub fn start() -> Self {
        Self { begin: Instant::now(), before: on_processor() }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        match (self.before, on_processor()) {
            (Some(before), Some(now)) => now.saturating_sub(before) as f64 * 1e-9,
            _ => self.begin.elapsed().as_secs_f64(),
        }
    }
}

fn on_processor() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time_and_sleep_does_not() {
        let busy = Clock::start();
        let mut sum = 0.0f64;
        while busy.begin.elapsed().as_millis() < 60 {
            sum += (sum + 1.0).sqrt();
        }
        let spent = busy.seconds();
        assert!(sum > 0.0 && spent > 0.0);
        let idle = Clock::start();
        std::thread::sleep(std::time::Duration::from_millis(60));
        assert!(idle.before.is_none() || idle.seconds() < 0.05, "{}", idle.seconds());
    }
}
