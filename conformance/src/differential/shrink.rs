//! A smaller stream that still shows the same.

use super::Stream;
use crate::family::FamilyRules;

/// The most streams that are tried.
const TRIES: usize = 2000;

/// Leaves out transport units of a stream, many at first and then single ones, and then bytes from its end, as long as
/// `shows` confirms that the rest shows the same disagreement. Units are those of the reference reader.
pub fn shrink<P: FamilyRules>(stream: Stream<P>, shows: impl Fn(&Stream<P>) -> bool) -> Stream<P> {
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

struct Shrinking<P: FamilyRules, F> {
    best: Stream<P>,
    shows: F,
    tries: usize,
}

impl<P: FamilyRules, F: Fn(&Stream<P>) -> bool> Shrinking<P, F> {
    /// The bytes of every unit; bytes that belong to none are one each.
    fn units(&self) -> Vec<Vec<u8>> {
        let Stream { wire, parameters, program, .. } = &self.best;
        let mut units = Vec::new();
        let mut at = 0;
        for unit in P::dissect(wire, parameters, program) {
            let end = usize::try_from(unit.bytes.end).unwrap_or(usize::MAX).min(wire.len());
            let start = usize::try_from(unit.bytes.start).unwrap_or(usize::MAX).clamp(at, end.max(at));
            units.extend(wire[at..start].iter().map(|&byte| vec![byte]));
            if start < end {
                units.push(wire[start..end].to_vec());
            }
            at = at.max(end);
        }
        units.extend(wire[at..].iter().map(|&byte| vec![byte]));
        units
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
