//! Packets with fields at their limits and beyond: what is written is read back, and what would be read as another
//! packet is refused.

use traceproof_decoder::arm_pft::{Listener, PacketReader};
use traceproof_encoder_model::arm_pft::write_packet;
use traceproof_vectors::arm_pft::{
    Atoms, CompressedAddress, CycleCount, ExceptionInformation, Packet, Parameters, Reason, VariableField,
};
use traceproof_vectors::{Address32, Fault, Place};

use super::dissected;

/// An A-sync, after which a packet can be read.
const ALIGNMENT: [u8; 6] = [0, 0, 0, 0, 0, 0x80];

/// Writes packets with every limit of their fields, and reads what was written.
///
/// Spec: PFT-PKT-067.
///
/// # Errors
///
/// The first packet that is read as another one, or as none or several.
pub(super) fn read_back(parameters: &Parameters) -> Result<(), String> {
    let mut packets: Vec<Packet> = counts(parameters).into_iter().flat_map(counted).collect();
    let count = parameters.cycle_accurate.then_some(CycleCount { value: 5, bytes: 1, reserved: 0 });
    packets.extend(addressed(count));
    packets.extend(valued(count));
    packets.iter().try_for_each(|packet| match write_packet(packet, parameters) {
        Ok(bytes) => judge(packet, &bytes, parameters),
        Err(_) => Ok(()),
    })
}

fn judge(packet: &Packet, bytes: &[u8], parameters: &Parameters) -> Result<(), String> {
    let mut reader = PacketReader::new(parameters).map_err(|refusal| refusal.to_string())?;
    let mut heard = Heard::default();
    reader.push(&ALIGNMENT, &mut heard);
    reader.push(bytes, &mut heard);
    reader.finish(&mut heard);
    let Heard { packets, faults } = heard;
    match packets.as_slice() {
        [Packet::AlignmentSync { zeros: 5 }, read] if read == packet && faults == 0 => {
            dissected::judge(packet, bytes, parameters)
        }
        _ => {
            Err(format!("{packet:x?} is written as {bytes:02x?}, and read as {packets:x?}, {faults} faults"))
        }
    }
}

#[derive(Default)]
struct Heard {
    packets: Vec<Packet>,
    faults: usize,
}

impl Listener for Heard {
    fn packet(&mut self, _: Place, packet: &Packet) {
        self.packets.push(*packet);
    }

    fn lost(&mut self, _: &Fault) {
        self.faults += 1;
    }

    fn cut(&mut self, _: &Fault) {
        self.faults += 1;
    }
}

/// The largest value of so many bits, and the next one.
const fn limits(width: u32) -> [u64; 2] {
    let most = u64::MAX >> (64 - width);
    [most, most.wrapping_add(1)]
}

/// Cycle counts with each number of bytes, and none at all.
fn counts(parameters: &Parameters) -> Vec<Option<CycleCount>> {
    let mut counts = vec![None];
    for bytes in 0..=6 {
        let widths = [4, 11, 18, 25, 32].into_iter().flat_map(limits);
        let values = widths.filter_map(|value| u32::try_from(value).ok()).chain([0]);
        counts.extend(values.map(|value| Some(CycleCount { value, bytes, reserved: 0 })));
        counts.extend((0..8).map(|bit| Some(CycleCount { value: 1, bytes, reserved: 1 << bit })));
    }
    counts.retain(|count| count.is_some() || parameters.cycle_accurate);
    counts.push(None);
    counts
}

/// Each packet that can have a cycle count, with this one.
fn counted(cycle_count: Option<CycleCount>) -> [Packet; 5] {
    let address = CompressedAddress { bits: 2, bytes: 1 };
    let value = VariableField { bits: 1, bytes: 1 };
    [
        Packet::Atoms { atoms: Atoms::one(true), cycle_count },
        Packet::BranchAddress { address, exception: None, cycle_count },
        Packet::Timestamp { clock_change: false, value, cycle_count },
        sync(Reason::TraceEnabled, 0, cycle_count, None),
        sync(Reason::Periodic, 0, cycle_count, None),
    ]
}

const fn sync(
    reason: Reason,
    reserved: u8,
    cycle_count: Option<CycleCount>,
    context_id: Option<u32>,
) -> Packet {
    Packet::InstructionSync {
        address: Address32(0x8000),
        reason,
        non_secure: false,
        alt_isa: false,
        hyp: false,
        reserved,
        cycle_count,
        context_id,
    }
}

/// Branch addresses and waypoint updates: each number of bytes with the values that fit, and those that do not.
fn addressed(cycle_count: Option<CycleCount>) -> Vec<Packet> {
    let mut packets = Vec::new();
    for bytes in 0..=6 {
        let widths = [6, 7, 12, 13, 19, 20, 26, 27, 30, 31, 32, 33, 34, 35].into_iter().flat_map(limits);
        for address in widths.chain([0]).map(|bits| CompressedAddress { bits, bytes }) {
            packets.push(Packet::BranchAddress { address, exception: None, cycle_count });
            for information in [None, Some(0x40)] {
                packets.push(Packet::WaypointUpdate { address, information, even: false });
            }
        }
        let address = CompressedAddress { bits: 1, bytes };
        packets.extend(exceptions().into_iter().map(|information| Packet::BranchAddress {
            address,
            exception: Some(information),
            cycle_count,
        }));
    }
    packets
}

fn exceptions() -> Vec<ExceptionInformation> {
    let plain = ExceptionInformation { number: 0, alt_isa: false, non_secure: false, hyp: None, reserved: 0 };
    let mut all = Vec::new();
    for hyp in [None, Some(false), Some(true)] {
        let of_number = |number| ExceptionInformation { number, hyp, ..plain };
        all.extend([0, 0xf, 0x10, 0x1ff, 0x200, u16::MAX].map(of_number));
        all.extend((0..8).map(|bit| ExceptionInformation { hyp, reserved: 1 << bit, ..plain }));
    }
    all
}

/// The other fields: Context IDs, timestamps, atoms, reserved bits of I-syncs.
fn valued(cycle_count: Option<CycleCount>) -> Vec<Packet> {
    let contexts = [8, 16, 24, 32].into_iter().flat_map(limits);
    let contexts = contexts.filter_map(|value| u32::try_from(value).ok()).map(Some).chain([None]);
    let mut packets: Vec<Packet> =
        contexts.clone().map(|context_id| sync(Reason::Periodic, 0, None, context_id)).collect();
    packets.extend(contexts.map(|value| Packet::ContextId { value }));
    packets.extend((0..8).map(|bit| sync(Reason::Periodic, 1 << bit, None, None)));
    for bytes in 0..=10_u8 {
        let widths = (1..=9).map(|bytes| 7 * bytes).chain([48, 50, 64]).flat_map(limits);
        packets.extend(widths.map(|bits| Packet::Timestamp {
            clock_change: false,
            value: VariableField { bits, bytes },
            cycle_count,
        }));
    }
    for count in 1..=usize::from(Atoms::MOST) {
        let atoms = Atoms::new(&[true, false, true, false, false][..count]);
        packets.extend(atoms.map(|atoms| Packet::Atoms { atoms, cycle_count }));
    }
    packets
}
