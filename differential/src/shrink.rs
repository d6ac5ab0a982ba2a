//! A smaller stream that still shows the same.

use std::ops::Range;

use crate::{JudgedProtocol, Stream};

/// The most streams that are tried.
const TRIES: usize = 2000;

/// Leaves out transport units of a stream, many at first and then single ones, and then bytes from its end, as long as
/// `shows` confirms that the rest shows the same disagreement. Units are those of the reference reader.
pub fn shrink<P: JudgedProtocol>(stream: Stream<P>, shows: impl Fn(&Stream<P>) -> bool) -> Stream<P> {
    let mut shrinking = Shrinking { best: stream, shows, tries: 0 };
    let mut size = shrinking.units().len().div_ceil(2);
    while size > 0 {
        let mut from = 0;
        let mut removed = false;
        loop {
            let units = shrinking.units();
            if from >= units.len() {
                break;
            }
            let to = (from + size).min(units.len());
            let without = [&units[..from], &units[to..]].concat().concat();
            if shrinking.accepts(without) {
                removed = true;
            } else {
                from = to;
            }
        }
        if size > 1 || !removed {
            size /= 2;
        }
    }
    while let Some((_, shorter)) = shrinking.best.wire.split_last() {
        let shorter = shorter.to_vec();
        if !shrinking.accepts(shorter) {
            break;
        }
    }
    shrinking.best
}

struct Shrinking<P: JudgedProtocol, F> {
    best: Stream<P>,
    shows: F,
    tries: usize,
}

impl<P: JudgedProtocol, F: Fn(&Stream<P>) -> bool> Shrinking<P, F> {
    /// The bytes of every unit; bytes that belong to none are one each.
    fn units(&self) -> Vec<Vec<u8>> {
        let wire = &self.best.wire;
        let bytes = |unit: Range<usize>| wire.get(unit).unwrap_or_default().to_vec();
        self.best.units().into_iter().map(bytes).collect()
    }

    fn accepts(&mut self, wire: Vec<u8>) -> bool {
        self.tries += 1;
        if self.tries > TRIES || wire.len() >= self.best.wire.len() {
            return false;
        }
        let smaller = Stream { wire, ..self.best.clone() };
        if (self.shows)(&smaller) {
            self.best = smaller;
            return true;
        }
        false
    }
}
