//! Limits of a subject: time, bytes, memory, restarts.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What a subject in another process may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Time from its start until it answers `hello`.
    pub hello: Duration,
    /// Time for any other answer, at least.
    pub answer: Duration,
    /// An answer may take this many times the subject's median.
    pub times_median: u32,
    /// Added to the time for an answer for each byte asked about.
    pub per_byte: Duration,
    /// All times are multiplied by this; for emulators and busy machines.
    pub scale: f64,
    /// The longest message taken, in bytes.
    pub message: u64,
    /// Address space in bytes, where the system can hold it to that (Linux); `None` = as much as there is.
    pub memory: Option<u64>,
    /// After this number of deaths every decoder gets a new process.
    pub deaths: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            hello: Duration::from_secs(10),
            answer: Duration::from_secs(1),
            times_median: 50,
            per_byte: Duration::from_micros(10),
            scale: 1.0,
            message: 64 << 20,
            memory: Some(8 << 30),
            deaths: 20,
        }
    }
}

impl Limits {
    /// How long `hello` may take.
    pub(crate) fn hello_deadline(&self) -> Duration {
        self.scaled(self.hello)
    }

    /// How long an answer about little may take, whatever the subject's pace.
    pub(crate) fn answer_deadline(&self) -> Duration {
        self.scaled(self.answer)
    }

    /// How long an answer about so many bytes may take.
    pub(super) fn deadline(&self, pace: &Pace, bytes: usize) -> Duration {
        let usual = pace.median().saturating_mul(self.times_median);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.scaled(self.answer.max(usual) + self.per_byte.saturating_mul(bytes))
    }

    fn scaled(&self, time: Duration) -> Duration {
        Duration::try_from_secs_f64(time.as_secs_f64() * self.scale).unwrap_or(Duration::MAX)
    }
}

/// How fast a subject answers: a count for each power of two of microseconds.
#[derive(Debug, Default)]
pub(super) struct Pace([AtomicU32; 32]);

impl Pace {
    /// An answer took so long.
    pub(super) fn took(&self, time: Duration) {
        let power = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1).ilog2() as usize;
        if let Some(count) = self.0.get(power.min(self.0.len() - 1)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The median, rounded up to a power of two; zero before the first answer.
    fn median(&self) -> Duration {
        let counts: Vec<u64> = self.0.iter().map(|count| u64::from(count.load(Ordering::Relaxed))).collect();
        let half = counts.iter().sum::<u64>().div_ceil(2);
        let mut seen = 0;
        for (power, count) in counts.into_iter().enumerate() {
            seen += count;
            if seen >= half && seen > 0 {
                return Duration::from_micros(2 << power);
            }
        }
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlines_follow_the_median_and_the_length() {
        let (limits, pace) = (Limits::default(), Pace::default());
        assert_eq!(limits.deadline(&pace, 0), Duration::from_secs(1));
        assert_eq!(limits.deadline(&pace, 1_000_000), Duration::from_secs(11));
        for milliseconds in [1, 30, 30, 30, 5000] {
            pace.took(Duration::from_millis(milliseconds));
        }
        // 30 ms lie below 2^15 microseconds.
        assert_eq!(limits.deadline(&pace, 0), Duration::from_micros(50 << 15));
        let slow = Limits { scale: 10.0, ..limits };
        assert_eq!(slow.deadline(&pace, 0), Duration::from_micros(500 << 15));
        assert_eq!(slow.hello_deadline(), Duration::from_secs(100));
    }
}
