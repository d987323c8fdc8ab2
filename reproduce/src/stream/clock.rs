//! Time of a batch on a machine that does other things too, and whether it grows along the stream.

use std::time::Instant;

/// Processor time where the system tells it (Linux: nanoseconds on a processor of all threads), else time on the wall.
pub(super) struct Clock {
    begin: Instant,
    before: Option<u64>,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { begin: Instant::now(), before: on_processor() }
    }

    /// Seconds since the start.
    pub(super) fn seconds(&self) -> f64 {
        match (self.before, on_processor()) {
            (Some(before), Some(now)) => now.saturating_sub(before) as f64 * 1e-9,
            _ => self.begin.elapsed().as_secs_f64(),
        }
    }
}

fn on_processor() -> Option<u64> {
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        sum += text.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    Some(sum)
}

/// Least-squares slope of values over their number, and its standard error.
pub(super) fn slope(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    if values.len() < 3 {
        return (0.0, f64::INFINITY);
    }
    let (middle, mean) = ((n - 1.0) / 2.0, values.iter().sum::<f64>() / n);
    let spread: f64 = (0..values.len()).map(|i| (i as f64 - middle).powi(2)).sum();
    let along =
        values.iter().enumerate().map(|(i, v)| (i as f64 - middle) * (v - mean)).sum::<f64>() / spread;
    let rest =
        values.iter().enumerate().map(|(i, v)| (v - mean - along * (i as f64 - middle)).powi(2)).sum::<f64>();
    (along, (rest / (n - 2.0) / spread).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against `scipy.stats.linregress([0, 1, 2, 3, 4], [1, 3, 2, 5, 4])`.
    #[test]
    fn slopes_are_those_of_least_squares() {
        let (along, error) = slope(&[1.0, 3.0, 2.0, 5.0, 4.0]);
        assert!((along - 0.8).abs() < 1e-12);
        assert!((error - 0.346_410_161_513_775_5).abs() < 1e-12);
        assert_eq!(slope(&[2.0; 9]), (0.0, 0.0));
        assert!(slope(&[1.0, 2.0]).1.is_infinite());
    }

    #[test]
    fn work_takes_time() {
        let clock = Clock::start();
        let mut sum = 0.0f64;
        while clock.begin.elapsed().as_millis() < 20 {
            sum += (sum + 1.0).sqrt();
        }
        assert!(sum > 0.0 && clock.seconds() > 0.0);
    }
}
