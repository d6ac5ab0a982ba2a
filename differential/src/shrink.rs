//! A smaller stream that still shows the same.

use std::ops::Range;

use crate::{JudgedProtocol, Stream};

/// The most streams that are tried.
const TRIES: usize = 2000;

/// Leaves out transport units of a stream, many at first and then single ones, and then bytes from its end, as long as
/// `shows` confirms that the rest shows the same disagreement. Units are those of the reference reader. At most 2000
/// streams are tried.
pub fn shrink<P: JudgedProtocol>(stream: Stream<P>, shows: impl Fn(&Stream<P>) -> bool) -> Stream<P> {
    shrink_while(stream, || true, shows)
}

/// As [`shrink`], but only as long as `goes_on` is true, which is asked before each stream that is tried.
pub fn shrink_while<P: JudgedProtocol>(
    stream: Stream<P>,
    goes_on: impl Fn() -> bool,
    shows: impl Fn(&Stream<P>) -> bool,
) -> Stream<P> {
    let mut shrinking = Shrinking { best: stream, goes_on, shows, tries: 0 };
    // Nothing is left to try, or no try is left: the best one is kept either way.
    let _ = shrinking.units_one_by_one().and_then(|()| shrinking.bytes_from_the_end());
    shrinking.best
}

struct Shrinking<P: JudgedProtocol, G, F> {
    best: Stream<P>,
    goes_on: G,
    shows: F,
    tries: usize,
}

impl<P: JudgedProtocol, G: Fn() -> bool, F: Fn(&Stream<P>) -> bool> Shrinking<P, G, F> {
    /// The bytes of every unit; bytes that belong to none are one each.
    fn units(&self) -> Vec<Vec<u8>> {
        let wire = &self.best.wire;
        let bytes = |unit: Range<usize>| wire.get(unit).unwrap_or_default().to_vec();
        self.best.units().into_iter().map(bytes).collect()
    }

    /// Leaves out units, half of them at first. `None` if no try is left.
    fn units_one_by_one(&mut self) -> Option<()> {
        let mut units = self.units();
        let mut size = units.len().div_ceil(2);
        while size > 0 {
            let mut from = 0;
            let mut removed = false;
            while from < units.len() {
                let to = (from + size).min(units.len());
                let without = [&units[..from], &units[to..]].concat().concat();
                if self.accepts(without)? {
                    removed = true;
                    units = self.units();
                } else {
                    from = to;
                }
            }
            if size > 1 || !removed {
                size /= 2;
            }
        }
        Some(())
    }

    fn bytes_from_the_end(&mut self) -> Option<()> {
        while let Some((_, shorter)) = self.best.wire.split_last() {
            let shorter = shorter.to_vec();
            if !self.accepts(shorter)? {
                break;
            }
        }
        Some(())
    }

    /// Whether this is smaller and shows the same; then it is the best one. `None` if no try is left.
    fn accepts(&mut self, wire: Vec<u8>) -> Option<bool> {
        if self.tries == TRIES || !(self.goes_on)() {
            return None;
        }
        self.tries += 1;
        if wire.len() >= self.best.wire.len() {
            return Some(false);
        }
        let smaller = Stream { wire, ..self.best.clone() };
        let shows = (self.shows)(&smaller);
        if shows {
            self.best = smaller;
        }
        Some(shows)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use traceproof_vectors::Program;
    use traceproof_vectors::riscv_etrace::{Parameters, RiscvEtrace};

    use super::*;

    /// How many streams of 3,000 units are tried while `limit` of them are, and the bytes of the smallest.
    fn tried(limit: usize, shows: impl Fn(&[u8]) -> bool) -> (usize, usize) {
        let tries = Cell::new(0);
        let stream = Stream::<RiscvEtrace> {
            name: String::new(),
            parameters: Parameters::default(),
            program: Program::new(),
            readings: Vec::new(),
            wire: [3, 0x73, 0, 0].repeat(3_000),
        };
        let smallest = shrink_while(
            stream,
            || tries.get() < limit,
            |smaller| {
                tries.set(tries.get() + 1);
                shows(&smaller.wire)
            },
        );
        (tries.get(), smallest.wire.len())
    }

    #[test]
    fn tries_are_bounded() {
        assert_eq!(tried(usize::MAX, |_| false), (TRIES, 12_000));
        assert_eq!(tried(0, |_| true), (0, 12_000));
        assert_eq!(tried(1, |_| true), (1, 6_000));
        let (tries, bytes) = tried(usize::MAX, |wire| wire.len() >= 8);
        assert!(tries < 50 && (8..12).contains(&bytes), "{tries} {bytes}");
    }
}
