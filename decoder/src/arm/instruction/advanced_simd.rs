//! Advanced SIMD element and structure transfers, which A32 and T32 share below bit 24 (DDI 0406 A7.7).

use super::{Transfers, field, is};

/// The data of VLD1 to VLD4, VST1 to VST4.
pub(super) const fn element_transfers(code: u32) -> Transfers {
    let load = is(code, 0x0020_0000, 0x0020_0000);
    if is(code, 0x0080_0000, 0) {
        // Multiple structures: whole registers of two words.
        let registers = match field(code, 8, 4) {
            0b0111 => 1,
            0b1000..=0b1010 => 2,
            0b0100..=0b0110 => 3,
            0b0000..=0b0011 => 4,
            _ => return Transfers::NONE,
        };
        return Transfers::words(load, 2 * registers);
    }
    // One element of each structure, to one lane or to all.
    let elements = field(code, 8, 2) as u8 + 1;
    let size = match field(code, 10, 2) {
        3 => field(code, 6, 2),
        size => size,
    };
    Transfers::memory(
        load,
        elements,
        if size == 0 {
            1
        } else if size == 1 {
            2
        } else {
            4
        },
    )
}
