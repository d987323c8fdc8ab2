//! CPU time of the current thread, which does not depend on other load of the machine. Every method runs on one thread (see
//! [`crate::work`]).

use std::time::Instant;

/// Measures CPU seconds where the system provides them (Linux), otherwise elapsed seconds.
pub struct Clock {
    begin: Instant,
    before: Option<u64>,
}

impl Clock {
    /// Starts the clock.
    pub fn start() -> Self {
        Self { begin: Instant::now(), before: cpu_nanoseconds() }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        match (self.before, cpu_nanoseconds()) {
            (Some(before), Some(now)) => now.saturating_sub(before) as f64 * 1e-9,
            _ => self.begin.elapsed().as_secs_f64(),
        }
    }
}

fn cpu_nanoseconds() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_work_and_not_waiting() {
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
