//! What `explain` shows of a capture: its units are those that the decoder reads, and their fields say what the packets
//! say.

mod bytes;
mod layout;
mod pins;
mod statuses;

use traceproof_vectors::arm_etm::v2::Cycle;
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Packet, Parameters};
use traceproof_vectors::{Dissection, Field, Program};

use crate::generate::case::damaged;
use layout::layout;

/// How many damaged captures are made of each.
const DAMAGED: u64 = 3;

/// How a capture came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Capture {
    /// An encoder made it, perhaps all but its end.
    Whole,
    /// The end of what an encoder made.
    Joined,
    Damaged,
}

/// Takes a capture apart: whole, cut off, from a record in the middle on, and with a byte changed. `seed` says where.
///
/// # Errors
///
/// A unit that the decoder does not read, a bit that another field has, or a field that contradicts the packet.
pub(super) fn judge(
    wire: &[u8],
    parameters: &Parameters,
    program: &Program,
    seed: u64,
) -> Result<(), String> {
    let of = |wire: &[u8], capture: Capture| match parameters.architecture {
        Architecture::V3 => bytes::judge(wire, parameters, program),
        Architecture::V1 | Architecture::V2 => pins::judge(wire, parameters, program, capture),
    };
    of(wire, Capture::Whole)?;
    let record = match parameters.architecture {
        Architecture::V3 => 1 + usize::from(parameters.bare_port),
        Architecture::V1 | Architecture::V2 => Cycle::size(parameters),
    };
    let place = (seed % 1009) as usize * wire.len() / 1009;
    let (before, _) = wire.split_at(place);
    of(before, Capture::Whole)?;
    let (_, after) = wire.split_at(place - place % record);
    of(after, Capture::Joined)?;
    (seed..seed.saturating_add(DAMAGED)).try_for_each(|seed| of(&damaged(wire, seed), Capture::Damaged))
}

/// The fields of a packet whose bytes are at these offsets; a pair has the low half of a byte, then the high half.
fn expected(packet: &Packet, parameters: &Parameters, places: &[(u64, Option<u64>)]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    let mut places = places.iter();
    for byte in layout(packet, parameters) {
        let width: u32 = byte.iter().map(|(_, width, _)| width).sum();
        let &(low, high) = places.next()?;
        // The zeros of an A-sync are one field.
        for _ in 1..width / 8 {
            places.next()?;
        }
        let mut first = 0;
        for (name, width, value) in byte {
            let value = if width < 64 { value & ((1 << width) - 1) } else { value };
            if !name.is_empty() && width > 0 {
                place(name, first, width, value, low, high, &mut fields);
            }
            first += width;
        }
    }
    places.next().is_none().then_some(fields)
}

fn place(
    name: &'static str,
    first: u32,
    width: u32,
    value: u64,
    low: u64,
    high: Option<u64>,
    to: &mut Vec<Field>,
) {
    let mut part = |byte: u64, first: u32, width: u32, value: u64| {
        let bit = 8 * byte + u64::from(first);
        to.push(Field { name, bit, width, received: width, value });
    };
    let Some(high) = high else { return part(low, first, width, value) };
    let in_low = width.min(4_u32.saturating_sub(first));
    if in_low > 0 {
        part(low, first, in_low, value & ((1 << in_low) - 1));
    }
    if in_low < width {
        part(high, first.max(4) - 4, width - in_low, value >> in_low);
    }
}

/// Whether these are the same fields. Reserved bits have whatever travelled, and so has LSiP where no address follows.
fn same(found: &[Field], expected: &[Field]) -> bool {
    let has_address = expected.iter().any(|field| field.name == "address");
    let matches = |(found, expected): (&Field, &Field)| {
        let is_any = matches!(expected.name, "0" | "1") || (expected.name == "LSiP" && !has_address);
        let value = if is_any { found.value } else { expected.value };
        *found == Field { value, ..expected.clone() }
    };
    found.len() == expected.len() && found.iter().zip(expected).all(matches)
}

/// A field has the value of its bits, and none has more bits than a byte.
fn carries(field: &Field, wire: &[u8]) -> bool {
    let first = (field.bit % 8) as u32;
    let byte = usize::try_from(field.bit / 8).ok().and_then(|at| wire.get(at));
    let value = byte.map(|&byte| u64::from(byte) >> first & ((1 << field.width.min(8)) - 1));
    (1..=8 - first).contains(&field.width) && field.received == field.width && value == Some(field.value)
}

fn unexpected(unit: &Dissection<ArmEtm>, wire: &[u8]) -> String {
    format!("{unit:x?} of {wire:02x?}")
}
