//! What no conforming PTM sends, but can be read.

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{CycleCount, ExceptionInformation, Packet, exception_name};
use traceproof_vectors::{Fault, FaultClass, Place};

/// What decides which bits are odd.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// Hyp bits mean something (PFT-CFG-016).
    pub(super) virtualization: bool,
    /// Exceptions have other numbers (PFT-PKT-051).
    pub(super) m_profile: bool,
    /// Timestamps have 48 bits (PFT-PKT-061).
    pub(super) short_timestamps: bool,
}

/// Whether there can be nothing odd about a packet.
#[inline]
pub(super) const fn is_plain(packet: &Packet) -> bool {
    match packet {
        Packet::Atoms { cycle_count: None, .. } => true,
        Packet::Atoms { cycle_count: Some(count), .. } => count.reserved == 0,
        Packet::BranchAddress { address, exception: None, cycle_count: None } => address.bytes < 5,
        Packet::BranchAddress { address, exception: None, cycle_count: Some(count) } => {
            address.bytes < 5 && count.reserved == 0
        }
        _ => false,
    }
}

/// Reports each oddity of a packet, the lowest byte and bit first. `isa`: the instruction set that a branch
/// address states.
///
/// Spec: PFT-ERR-014, PFT-ERR-016, PFT-ERR-018, PFT-CFG-016, PFT-PKT-039, PFT-PKT-051, PFT-PKT-052 (7.1 of the
/// sheet); readings `pft-alt-isa-of-arm`, `pft-count-of-i-sync-has-bit-7`, `pft-reserved-exceptions`.
pub(super) fn report(
    packet: &Packet,
    place: Place,
    isa: Option<InstructionSet>,
    expected: Expected,
    fault: impl FnMut(&Fault),
) {
    let mut oddities = Oddities { place, expected, fault };
    match *packet {
        Packet::InstructionSync { address, alt_isa, hyp, reserved, cycle_count, .. } => {
            oddities.at(1, 1, address.0 & 3 == 2);
            oddities.at(5, 0, reserved & 1 != 0);
            oddities.at(5, 1, hyp && !expected.virtualization);
            oddities.at(5, 2, alt_isa && address.0 & 1 == 0);
            oddities.at(5, 4, reserved & 0x10 != 0);
            oddities.at(5, 7, reserved & 0x80 != 0);
            oddities.count(6, cycle_count);
        }
        Packet::Atoms { cycle_count, .. } => oddities.count(0, cycle_count),
        Packet::BranchAddress { address, exception, cycle_count } => {
            let is_marked = address.bits >> 30 & 1 != 0;
            oddities.at(4, 3, address.bytes == 5 && isa == Some(InstructionSet::A32) && !is_marked);
            oddities.at(4, 7, address.bits >> 34 & 1 != 0);
            let bytes = oddities.exception(address.bytes, exception, isa);
            oddities.count(address.bytes + bytes, cycle_count);
        }
        Packet::WaypointUpdate { address, .. } => {
            let is_marked = address.bits >> 30 & 1 != 0;
            oddities.at(5, 3, address.bytes == 5 && address.bits >> 31 & 3 == 0 && !is_marked);
            oddities.at(5, 7, address.bits >> 34 & 1 != 0);
        }
        Packet::Timestamp { value, cycle_count, .. } => {
            if expected.short_timestamps && value.bytes == 7 {
                oddities.at(7, 6, value.bits >> 48 & 1 != 0);
                oddities.at(7, 7, value.bits >> 49 & 1 != 0);
            }
            oddities.count(1 + value.bytes, cycle_count);
        }
        Packet::AlignmentSync { .. }
        | Packet::Trigger
        | Packet::ContextId { .. }
        | Packet::Vmid(_)
        | Packet::ExceptionReturn
        | Packet::Ignore => {}
    }
}

/// Those of the packet at this place.
struct Oddities<F> {
    place: Place,
    expected: Expected,
    fault: F,
}

impl<F: FnMut(&Fault)> Oddities<F> {
    /// At this byte of the packet; the bit is the first one of the field, of an exception number 0.
    fn at(&mut self, byte: u8, bit: u8, odd: bool) {
        if odd {
            let place = Place { byte: self.place.byte + u64::from(byte), bit, ..self.place };
            (self.fault)(&Fault::new(FaultClass::Suspicious, place));
        }
    }

    /// Exception information from this byte on; gives the number of its bytes.
    fn exception(
        &mut self,
        byte: u8,
        exception: Option<ExceptionInformation>,
        isa: Option<InstructionSet>,
    ) -> u8 {
        let Some(ExceptionInformation { number, alt_isa, hyp, reserved, .. }) = exception else { return 0 };
        let is_reserved = number != 0 && exception_name(number).is_none();
        self.at(byte, 0, is_reserved && !self.expected.m_profile);
        self.at(byte, 5, reserved & 0x20 != 0);
        self.at(byte, 6, alt_isa && isa == Some(InstructionSet::A32));
        let Some(hyp) = hyp else { return 1 };
        self.at(byte + 1, 5, hyp && !self.expected.virtualization);
        self.at(byte + 1, 6, reserved & 0x40 != 0);
        self.at(byte + 1, 7, reserved & 0x80 != 0);
        2
    }

    /// A cycle count from this byte on.
    fn count(&mut self, byte: u8, count: Option<CycleCount>) {
        let Some(CycleCount { reserved, .. }) = count else { return };
        for bit in [0, 1, 7] {
            self.at(byte, bit, reserved >> bit & 1 != 0);
        }
        self.at(byte + 4, 7, reserved & 4 != 0);
    }
}
