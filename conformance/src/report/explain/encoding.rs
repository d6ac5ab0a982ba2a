//! The wire of a subject's encoder, beside the expected one.

use std::ops::Range;

use traceproof_vectors::Program;

use super::super::text::{Style, sides};
use crate::family::FamilyRules;
use crate::judge::difference::divergence;
use crate::verdict::Row;

/// A stream of at most this many bytes is compared as a whole.
const SHORT: usize = 4 << 10;

/// Number of units that are shown before and after the first difference.
const CONTEXT: (usize, usize) = (8, 16);

/// A wire with its parameters and program.
pub(super) struct Wire<'a, P: FamilyRules> {
    pub(super) bytes: &'a [u8],
    pub(super) parameters: &'a P::Parameters,
    pub(super) program: &'a Program,
}

/// Both wires around the first difference, unit by unit, and the place of the difference as text; `None` if there is
/// no difference.
pub(super) fn beside<P: FamilyRules>(
    expected: &Wire<'_, P>,
    got: &[u8],
    names: [&str; 2],
) -> Option<(String, String)> {
    if expected.bytes == got {
        return None;
    }
    let byte = expected.bytes.iter().zip(got).take_while(|(expected, got)| expected == got).count();
    let Range { start, end } = shown_bytes(expected, byte);
    let show = |wire: &[u8]| {
        let slice = wire.get(start..end.min(wire.len())).unwrap_or_default();
        P::show_wire(slice, expected.parameters)
    };
    let (ours, theirs) = (show(expected.bytes), show(got));
    let length = ours.len().max(theirs.len());
    let first = (0..length).find(|&index| ours.get(index) != theirs.get(index)).unwrap_or(length);
    let rows = (first.saturating_sub(CONTEXT.0)..(first + CONTEXT.1).min(length))
        .map(|index| {
            let (expected, got) = (ours.get(index).cloned(), theirs.get(index).cloned());
            Row { same: expected == got, expected, got }
        })
        .collect();
    let text = sides(&divergence("wire", first, None, rows), names, Style::default());
    let unit = if start == 0 { format!("unit {first}, ") } else { String::new() };
    Some((text, format!("{unit}byte {byte}")))
}

/// The bytes around `byte`, from the start of a unit on; all of a short stream.
fn shown_bytes<P: FamilyRules>(wire: &Wire<'_, P>, byte: usize) -> Range<usize> {
    if wire.bytes.len() <= SHORT {
        return 0..usize::MAX;
    }
    let end = byte.saturating_add(SHORT / 4);
    let mut starts = std::collections::VecDeque::new();
    let read = wire.bytes.get(..end.min(wire.bytes.len())).unwrap_or_default();
    P::dissect_each(read, wire.parameters, wire.program, &mut |unit| {
        let start = usize::try_from(unit.bytes.start).unwrap_or(usize::MAX);
        if start <= byte {
            starts.push_back(start);
            if starts.len() > CONTEXT.0 + 1 {
                starts.pop_front();
            }
        }
    });
    starts.front().copied().unwrap_or(0)..end
}
