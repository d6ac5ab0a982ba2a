//! The fields of each packet, byte by byte, as the tables of the specification have them.

use traceproof_vectors::arm_etm::v3::{ExceptionInformation, VariableField};
use traceproof_vectors::arm_etm::{Architecture, CompressedAddress, Packet, Parameters};

/// Name, width and value of neighbouring bits; those without name are not shown.
pub(super) type Bits = (&'static str, u32, u64);

/// The fields of one byte, from bit 0 up.
pub(super) type Byte = Vec<Bits>;

/// The bytes of a packet.
pub(super) fn layout(packet: &Packet, parameters: &Parameters) -> Vec<Byte> {
    match parameters.architecture {
        Architecture::V1 => v1(packet, parameters),
        Architecture::V2 => v2(packet, parameters),
        Architecture::V3 => v3(packet, parameters),
    }
}

/// Spec: ETM1-PKT-004 to 007, ETM1-PKT-016 (5.5.4, 5.6.3), ETM1-DAT-001 to 005 (5.4).
fn v1(packet: &Packet, parameters: &Parameters) -> Vec<Byte> {
    match *packet {
        Packet::BranchAddress(address) => sevens("address", address.bits, address.bytes),
        Packet::DataAddress(address) => {
            let mut bytes = sevens("address", address.bits, address.bytes.min(4));
            if address.bytes == 5 {
                bytes[3][1].2 = 1;
                bytes.push(vec![("address", 4, address.bits >> 28), ("0", 4, 0)]);
            }
            bytes
        }
        Packet::FullBranchAddress { address, reason, jazelle, context_id } => {
            let bits = u64::from(address.0);
            let mut bytes = sevens("address", bits & 0x0fff_ffff, 4);
            bytes[3][1].2 = 1;
            let state = ("J", 1, jazelle.into());
            bytes.push(vec![("address", 4, bits >> 28), ("reason", 3, reason.code().into()), state]);
            bytes.extend(context(context_id, parameters));
            bytes
        }
        Packet::DataValue { bytes, value } => numbers("value", value, bytes.into()),
        _ => Vec::new(),
    }
}

/// Spec: ETM2-HDR-001 (6.4.1), ETM2-TFO-006 to 010 (6.5.3, 6.5.4), ETM2-BR-001, 002 (6.7), ETM2-DA-001 (6.4.2).
fn v2(packet: &Packet, parameters: &Parameters) -> Vec<Byte> {
    let c = |more: bool| ("C", 1, more.into());
    let a = |first: bool| ("A", 1, first.into());
    let addressed = |address: Option<CompressedAddress>| {
        address.map_or_else(Vec::new, |address| sevens("address", address.bits, address.bytes))
    };
    match *packet {
        Packet::BranchAddress(address) => branch(address, "", false, false),
        Packet::NormalData { more, first, address, ss, value } => {
            let header = vec![("", 2, 0), ("SS", 2, ss.into()), ("", 1, 0), a(first), ("", 1, 0), c(more)];
            let value = value.map_or_else(Vec::new, |value| numbers("value", value, of_ss(ss)));
            [vec![header], addressed(address), value].concat()
        }
        Packet::LoadMissOccurred { more, first, tag, address } => {
            let header = vec![("", 2, 0), ("TT", 2, tag.into()), ("", 1, 0), a(first), ("", 1, 0), c(more)];
            [vec![header], addressed(address)].concat()
        }
        Packet::LoadMissData { more, tag, ss, value } => {
            let header = vec![("", 2, 0), ("SS", 2, ss.into()), ("", 1, 0), ("TT", 2, tag.into()), c(more)];
            [vec![header], numbers("value", value, of_ss(ss))].concat()
        }
        Packet::ValueNotTraced { more, .. } => vec![vec![("", 7, 0), c(more)]],
        Packet::ContextId { more, value } => {
            [vec![vec![("", 7, 0), c(more)]], context(Some(value), parameters)].concat()
        }
        Packet::TraceFifoOffset { reason, jazelle, context_id, address, under_lsm } => {
            let lsm = ("L", 1, under_lsm.is_some().into());
            let header = vec![("", 4, 0), ("J", 1, jazelle.into()), ("RR", 2, reason.code().into()), lsm];
            let current = under_lsm.map_or_else(Vec::new, |address| branch(address, "", false, false));
            [vec![header], context(context_id, parameters), numbers("address", address.0, 4), current]
                .concat()
        }
        _ => Vec::new(),
    }
}

/// Spec: ETM3-HDR-001 (7.2), ETM3-ISY-001 to 008 (7.10.5), ETM3-EXC-001 to 003 (7.3.5), ETM3-TS-001, 002 (7.7.4).
fn v3(packet: &Packet, parameters: &Parameters) -> Vec<Byte> {
    let alternative = parameters.alternative_branches;
    let header = |value: u64| vec![vec![("header", 8, value)]];
    match *packet {
        Packet::AlignmentSync { zeros } if parameters.bare_port => {
            let mut bytes = vec![vec![("", 8, 0)]; zeros as usize];
            bytes[0] = vec![("zeros", 8, 0)];
            bytes.push(vec![("end", 8, 0x80)]);
            bytes
        }
        Packet::AlignmentSync { zeros } => {
            vec![vec![("zeros", 8 * zeros as u32, 0)], vec![("end", 8, 0x80)]]
        }
        Packet::PHeader(value) => vec![vec![("P-header", 8, value.into())]],
        Packet::Trigger => header(0x0c),
        Packet::StoreFailed => header(0x50),
        Packet::DataSuppressed => header(0x62),
        Packet::Ignore => header(0x66),
        Packet::ExceptionExit => header(0x76),
        Packet::ExceptionEntry => header(0x7e),
        Packet::Vmid(value) => [header(0x3c), vec![vec![("vmid", 8, value.into())]]].concat(),
        Packet::ContextId { value, .. } => [header(0x6e), context(Some(value), parameters)].concat(),
        Packet::CycleCount(count) => [header(0x04), counted("cycles", count, 5, 4)].concat(),
        Packet::Timestamp { clock_change, value } => {
            let (longest, last) = if parameters.timestamp_bits == 48 { (7, 6) } else { (9, 8) };
            let first = vec![("header", 2, 2), ("R", 1, clock_change.into()), ("header", 5, 8)];
            [vec![first], counted("timestamp", value, longest, last)].concat()
        }
        Packet::BranchAddress(address) => branch(address, "1", alternative, false),
        Packet::ExceptionBranch { address, information } => {
            [branch(address, "1", alternative, true), exception(&information)].concat()
        }
        Packet::InByteExceptionBranch { address, exception } => {
            let mut bytes = branch(CompressedAddress { bytes: 4, ..address }, "1", false, false);
            bytes[3][1].2 = 1;
            let (code, cancel) = (exception.code.into(), exception.cancel.into());
            let fifth = [("exception", 3, code), ("Cancel", 1, cancel), ("in-byte", 1, 1)];
            bytes.push([&[("address", 3, address.bits >> 27)], &fifth[..]].concat());
            bytes
        }
        Packet::InstructionSync { .. } => synchronisation(packet, parameters),
        _ => data(packet),
    }
}

fn synchronisation(packet: &Packet, parameters: &Parameters) -> Vec<Byte> {
    let &Packet::InstructionSync {
        cycle_count,
        context_id,
        reason,
        jazelle,
        non_secure,
        alt_isa,
        hyp,
        address,
        under_lsm,
    } = packet
    else {
        return Vec::new();
    };
    let header = if cycle_count.is_some() { 0x70 } else { 0x08 };
    let information = vec![
        ("1", 1, 1),
        ("Hyp", 1, hyp.into()),
        ("AltISA", 1, alt_isa.into()),
        ("NS", 1, non_secure.into()),
        ("J", 1, jazelle.into()),
        ("reason", 2, reason.code().into()),
        ("LSiP", 1, under_lsm.is_some().into()),
    ];
    [
        vec![vec![("header", 8, header)]],
        cycle_count.map_or_else(Vec::new, |count| counted("cycles", count, 5, 4)),
        context(context_id, parameters),
        vec![information],
        address.map_or_else(Vec::new, |address| numbers("address", address.0, 4)),
        under_lsm
            .map_or_else(Vec::new, |address| branch(address, "1", parameters.alternative_branches, false)),
    ]
    .concat()
}

/// Spec: ETM3-DAT-001 to 006 (7.4), ETM3-OOO-001 to 003 (7.4.3).
fn data(packet: &Packet) -> Vec<Byte> {
    let addressed = |address: Option<CompressedAddress>| {
        address.map_or_else(Vec::new, |CompressedAddress { bits, bytes }| {
            let mut all = sevens("address", bits, bytes.min(4));
            if bytes == 5 {
                all[3][1].2 = 1;
                all.push(vec![("address", 4, bits >> 28), ("BE", 1, bits >> 32), ("0", 3, 0)]);
            }
            all
        })
    };
    match *packet {
        Packet::NormalData { first, address, ss, value, .. } => {
            let a = ("A", 1, first.into());
            let header = vec![("header", 2, 2), ("SS", 2, ss.into()), ("0", 1, 0), a, ("0", 2, 0)];
            let value = value.map_or_else(Vec::new, |value| numbers("value", value, of_ss(ss)));
            [vec![header], addressed(address), value].concat()
        }
        Packet::LoadMissOccurred { first, tag, address, .. } => {
            let a = ("A", 1, first.into());
            let header = vec![("header", 2, 0), ("TT", 2, tag.into()), ("1", 1, 1), a, ("1", 2, 1)];
            [vec![header], addressed(address)].concat()
        }
        Packet::LoadMissData { tag, ss, value, .. } => {
            let tag = ("TT", 2, tag.into());
            let header = vec![("header", 2, 0), ("SS", 2, ss.into()), ("0", 1, 0), tag, ("0", 1, 0)];
            [vec![header], numbers("value", value, of_ss(ss))].concat()
        }
        Packet::ValueNotTraced { first, address, .. } => {
            let header = vec![("header", 4, 0xa), ("A", 1, first.into()), ("header", 3, 3)];
            [vec![header], addressed(address)].concat()
        }
        _ => Vec::new(),
    }
}

/// A branch address of ETMv2 or ETMv3, which names bit 0 and shows what `informs` and the state are.
fn branch(address: CompressedAddress, bit_0: &'static str, alternative: bool, informs: bool) -> Vec<Byte> {
    let CompressedAddress { bits, bytes } = address;
    let is_v3 = !bit_0.is_empty();
    (0..bytes)
        .map(|index| {
            let c = ("c", 1, u64::from(index + 1 < bytes));
            let rest = bits >> (7 * u32::from(index)).saturating_sub(1);
            let flag = ("E", 1, informs.into());
            match index {
                0 => vec![(bit_0, 1, 1), ("address", 6, rest), c],
                4 if is_v3 => {
                    // ARM, Thumb and Java state have 3, 4 and 5 bits below their first 1.
                    let width = 3 + (rest >> 3 & 7).checked_ilog2().unwrap_or(0);
                    vec![("address", width, rest), ("state", 6 - width, rest >> width), flag, c]
                }
                1..=3 if alternative && index + 1 == bytes => vec![("address", 6, rest), flag, c],
                _ => vec![("address", 7, rest), c],
            }
        })
        .collect()
}

fn exception(information: &ExceptionInformation) -> Vec<Byte> {
    let ExceptionInformation { number, cancel, alt_isa, non_secure, hyp, resume } = *information;
    let number = u64::from(number);
    let mut bytes = vec![vec![
        ("NS", 1, non_secure.into()),
        ("Exception[3:0]", 4, number),
        ("Cancel", 1, cancel.into()),
        ("AltISA", 1, alt_isa.into()),
    ]];
    bytes
        .extend(hyp.map(|hyp| vec![("Exception[8:4]", 5, number >> 4), ("Hyp", 1, hyp.into()), ("0", 1, 0)]));
    bytes.extend(resume.map(|count| vec![("Resume", 4, count.into()), ("0", 2, 0), ("1", 1, 1)]));
    let last = bytes.len() - 1;
    for (index, byte) in bytes.iter_mut().enumerate() {
        byte.push(("c", 1, u64::from(index < last)));
    }
    bytes
}

/// Bytes of 7 bits and a continue bit; of `longest` of them the last one has `last` bits and no continue bit.
fn counted(name: &'static str, field: VariableField, longest: u8, last: u32) -> Vec<Byte> {
    let VariableField { bits, bytes } = field;
    let mut all = sevens(name, bits, bytes.min(longest - 1));
    if bytes == longest {
        let index = all.len() - 1;
        all[index][1].2 = 1;
        all.push(vec![(name, last, bits >> (7 * (u32::from(longest) - 1))), ("0", 8 - last, 0)]);
    }
    all
}

fn sevens(name: &'static str, bits: u64, bytes: u8) -> Vec<Byte> {
    let byte = |index| vec![(name, 7, bits >> (7 * index)), ("c", 1, u64::from(index + 1 < bytes))];
    (0..bytes).map(byte).collect()
}

/// A number of so many bytes.
fn numbers(name: &'static str, value: u32, bytes: usize) -> Vec<Byte> {
    value.to_le_bytes().into_iter().take(bytes).map(|byte| vec![(name, 8, byte.into())]).collect()
}

fn context(value: Option<u32>, parameters: &Parameters) -> Vec<Byte> {
    value.map_or_else(Vec::new, |value| numbers("context_id", value, parameters.context_id_bytes.into()))
}

const fn of_ss(ss: u8) -> usize {
    [0, 1, 2, 4][ss as usize & 3]
}
