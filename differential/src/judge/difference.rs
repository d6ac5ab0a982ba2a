//! The first difference of two sequences, and the elements around it.

use traceproof_vectors::{FaultClass, Place};

use crate::{Divergence, Row};

/// Number of elements that are shown before and after a difference.
const CONTEXT: (usize, usize) = (4, 3);

/// A fault in the claimed detail.
pub fn fault_line(class: FaultClass, place: Option<Place>) -> String {
    place.map_or_else(|| format!("fault {class}"), |place| format!("fault {class} at {place}"))
}

/// The first index at which the sides differ, with the rows around it.
pub fn first_difference(
    length: usize,
    same: impl Fn(usize) -> bool,
    row: impl Fn(usize) -> (Option<String>, Option<String>),
) -> Option<(usize, Vec<Row>)> {
    let index = (0..length).find(|&index| !same(index))?;
    let range = index.saturating_sub(CONTEXT.0)..(index + 1 + CONTEXT.1).min(length);
    let rows = range
        .map(|index| {
            let (expected, got) = row(index);
            Row { same: same(index), expected, got }
        })
        .collect();
    Some((index, rows))
}

/// The difference at this element.
#[must_use]
pub fn divergence(what: &str, index: usize, place: Option<Place>, rows: Vec<Row>) -> Divergence {
    Divergence { what: what.to_owned(), index, place, packet: None, rows }
}
