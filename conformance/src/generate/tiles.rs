//! Whether the fields that a dissection names are all of its bits.

use traceproof_vectors::{Dissection, Protocol};

/// The fields of a unit have all of its bits, once, and their values; what is skipped has none.
///
/// # Errors
///
/// The field that is elsewhere or has another value, or the bit at which fields end.
pub(crate) fn tiles<P: Protocol>(unit: &Dissection<P>, wire: &[u8]) -> Result<(), String> {
    let mut next = 8 * unit.bytes.start;
    for field in &unit.fields {
        let bit =
            |bit: u64| wire.get(usize::try_from(bit / 8).ok()?).map(|byte| u64::from(byte >> (bit % 8) & 1));
        let value = (0..field.width).try_fold(0, |value, at| {
            // A field that is longer than a number is one of zeros.
            bit(field.bit + u64::from(at)).map(|one| value | one << at.min(63))
        });
        let is_right = value == Some(field.value) || field.name == "skipped";
        if field.bit != next || field.width == 0 || field.received != field.width || !is_right {
            return Err(format!("{field:x?} at bit {next} of {wire:02x?}"));
        }
        next += u64::from(field.width);
    }
    if next == 8 * unit.bytes.end { Ok(()) } else { Err(format!("fields up to bit {next} of {wire:02x?}")) }
}
