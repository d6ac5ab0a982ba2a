//! What `explain` shows of a packet: its fields cover every bit once, and together say what the packet says.

use traceproof_decoder::arm_pft::dissect;
use traceproof_vectors::arm_pft::{CompressedAddress, CycleCount, Packet, Parameters};
use traceproof_vectors::{Dissection, Field, Place};

use crate::generate::tiles;

/// Bits of an address with the marker of the instruction set, and of a timestamp without reserved bits.
const ADDRESS: u64 = (1 << 33) - 1;
const SHORT_TIMESTAMP: u64 = (1 << 48) - 1;

/// A byte that is skipped, and an A-sync; a reserved header, and a byte that is skipped after it.
const BEFORE: [u8; 7] = [0xff, 0, 0, 0, 0, 0, 0x80];
const AFTER: [u8; 2] = [0x10, 0x55];

/// Takes a stream apart that has this packet between an A-sync and a reserved header.
///
/// # Errors
///
/// A byte that no unit has, a bit that no field or a second one has, or a field that contradicts the packet.
pub(super) fn judge(packet: &Packet, bytes: &[u8], parameters: &Parameters) -> Result<(), String> {
    let wire = [&BEFORE, bytes, &AFTER].concat();
    let units = dissect(&wire, parameters);
    let mut place = Place { packet: 0, byte: 0, bit: 0 };
    for unit in &units {
        if unit.place != place || unit.bytes.start != place.byte {
            return Err(format!("{unit:x?} at {place} of {wire:02x?}"));
        }
        tiles(unit, &wire)?;
        place.packet += u64::from(unit.packet.is_some());
        place.byte = unit.bytes.end;
    }
    let [skipped, Dissection { packet: Some(Ok(alignment)), .. }, unit, reserved, rest] = units.as_slice()
    else {
        return Err(format!("{} units of {wire:02x?}", units.len()));
    };
    let whole = place.byte == wire.len() as u64
        && (&skipped.packet, &rest.packet) == (&None, &None)
        && *alignment == Packet::AlignmentSync { zeros: 5 }
        && matches!(reserved.packet, Some(Err(_)));
    let parts = Parts(&unit.fields);
    if !whole
        || unit.packet != Some(Ok(*packet))
        || parts.of(&["C"]).1 != continued(packet, parameters)
        || !parts.say(packet, parameters)
    {
        return Err(format!("{wire:02x?} is taken apart as {units:x?}"));
    }
    Ok(())
}

/// How many bytes of the packet can have another one after them in their field.
fn continued(packet: &Packet, parameters: &Parameters) -> usize {
    let limited = |bytes: u8, most: u8| usize::from(bytes.min(most - 1));
    let of_count = |count: Option<CycleCount>| count.map_or(0, |count| limited(count.bytes, 5));
    match *packet {
        Packet::InstructionSync { cycle_count, .. } | Packet::Atoms { cycle_count, .. } => {
            of_count(cycle_count)
        }
        Packet::BranchAddress { address, exception, cycle_count } => {
            limited(address.bytes, 5) + usize::from(exception.is_some()) + of_count(cycle_count)
        }
        Packet::WaypointUpdate { address, .. } => limited(address.bytes, 5),
        Packet::Timestamp { value, cycle_count, .. } => {
            limited(value.bytes, parameters.full_timestamp_bytes()) + of_count(cycle_count)
        }
        _ => 0,
    }
}

/// The fields of a packet.
struct Parts<'a>(&'a [Field]);

impl Parts<'_> {
    /// The parts of the fields of these names, low part first, and how many they are.
    fn of(&self, names: &[&str]) -> (u64, usize) {
        let mut parts = self.0.iter().filter(|field| names.contains(&field.name));
        let (value, _, count) = parts.by_ref().fold((0, 0, 0), |(value, width, count), field| {
            (value | field.value << width, width + field.width, count + 1)
        });
        (value, count)
    }

    fn is(&self, name: &str, value: impl Into<u64>) -> bool {
        let (found, count) = self.of(&[name]);
        count > 0 && found == value.into()
    }

    fn count(&self, count: Option<CycleCount>) -> bool {
        count.is_none_or(|CycleCount { value, .. }| self.is("cycles", value))
    }

    /// The bits under `mask`; the marker of the instruction set begins with a 1 after zeros.
    fn address(&self, address: CompressedAddress, mask: u64) -> bool {
        let marker = u64::from(address.bits >> 30 & 7 != 0);
        self.of(&["address", "ISA"]).0 == address.bits & mask && (address.bytes < 5 || self.is("ISA", marker))
    }

    fn say(&self, packet: &Packet, parameters: &Parameters) -> bool {
        match *packet {
            Packet::InstructionSync {
                address,
                reason,
                non_secure,
                hyp,
                alt_isa,
                cycle_count,
                context_id,
                ..
            } => {
                self.of(&["T", "address"]) == (address.0.into(), 5)
                    && self.is("T", address.0 & 1)
                    && self.is("NS", non_secure)
                    && self.is("Hyp", hyp)
                    && self.is("AltISA", alt_isa)
                    && self.is("reason", reason.code())
                    && self.count(cycle_count)
                    && context_id.is_none_or(|value| self.is("context_id", value))
            }
            Packet::Atoms { atoms, cycle_count } => self.is("F", atoms.bits()) && self.count(cycle_count),
            Packet::BranchAddress { address, exception, cycle_count } => {
                let says = exception.is_none_or(|information| {
                    self.of(&["Exc[3:0]", "Exc[8:4]"]).0 == u64::from(information.number)
                        && self.is("NS", information.non_secure)
                        && self.is("AltISA", information.alt_isa)
                        && information.hyp.is_none_or(|hyp| self.is("Hyp", hyp))
                });
                self.address(address, ADDRESS) && says && self.count(cycle_count)
            }
            Packet::WaypointUpdate { address, information, .. } => {
                let widths = self.0.iter().filter(|field| field.name == "address").map(|field| field.width);
                let mask = if address.bytes == 5 { ADDRESS } else { (1 << widths.sum::<u32>()) - 1 };
                let says = |byte: u8| self.is("AltISA", byte >> 6 & 1);
                self.address(address, mask) && information.is_none_or(says)
            }
            Packet::Timestamp { clock_change, value, cycle_count } => {
                let mask = if parameters.timestamp_bits == 48 { SHORT_TIMESTAMP } else { u64::MAX };
                self.is("timestamp", value.bits & mask)
                    && self.is("R", clock_change)
                    && self.count(cycle_count)
            }
            Packet::ContextId { value } => value.is_none_or(|value| self.is("context_id", value)),
            _ => true,
        }
    }
}
