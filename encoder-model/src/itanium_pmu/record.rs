//! The bytes of a record.

use traceproof_vectors::itanium_pmu::wire::{Kind, RECORD};
use traceproof_vectors::itanium_pmu::{Instruction, Miss, Packet, Register};

use super::UnencodablePacket;
use super::contents::value_of;

/// Bytes of one record.
pub type Record = [u8; RECORD];

/// The record of a packet. What a record can hold is written even where no processor would send it; undefined fields
/// are 0.
///
/// # Errors
///
/// A slot above 3, or a syllable of more than 48 bits.
pub fn record_of(packet: &Packet) -> Result<Record, UnencodablePacket> {
    Ok(match *packet {
        Packet::Reset => record(Kind::Reset, [0; 7], 0),
        Packet::Write(contents) => access(Kind::Write, contents.register(), value_of(&contents)),
        Packet::Read(contents) => access(Kind::Read, contents.register(), value_of(&contents)),
        Packet::ReadUndefined(register) => access(Kind::ReadUndefined, register, 0),
        Packet::Instruction(instruction) => return instruction_record(&instruction),
        Packet::Access(access) => record(Kind::Access, small(access.kind as u8, 0), access.address.0),
        Packet::Miss(miss) => miss_record(&miss),
        Packet::Occurrence(occurrence) => {
            record(Kind::Occurrence, [occurrence.es, occurrence.umask, occurrence.count, 0, 0, 0, 0], 0)
        }
        Packet::Cycle => record(Kind::Cycle, [0; 7], 0),
        Packet::Tags(tags) => {
            let bits = u8::from(tags.range) | u8::from(tags.pmc8) << 1 | u8::from(tags.pmc9) << 2;
            record(Kind::Tags, small(bits, 0), 0)
        }
        Packet::DataTag(tag) => record(Kind::DataTag, small(u8::from(tag), 0), 0),
        Packet::Interrupt => record(Kind::Interrupt, [0; 7], 0),
    })
}

/// The record of a write or read of all 64 bits of a register.
pub(super) fn access(kind: Kind, register: Register, value: u64) -> Record {
    record(kind, small(register.class as u8, register.index), value)
}

fn instruction_record(instruction: &Instruction) -> Result<Record, UnencodablePacket> {
    let Instruction { ip, slot, itype, enco, retired, squashed } = *instruction;
    if slot > 3 {
        return Err(UnencodablePacket { field: "slot" });
    }
    if enco >> 48 != 0 {
        return Err(UnencodablePacket { field: "enco" });
    }
    let flags = slot | u8::from(retired) << 2 | u8::from(squashed) << 3 | (itype as u8) << 4;
    let [e0, e1, e2, e3, e4, e5, ..] = enco.to_le_bytes();
    Ok(record(Kind::Instruction, [flags, e0, e1, e2, e3, e4, e5], ip.0))
}

fn miss_record(miss: &Miss) -> Record {
    match *miss {
        Miss::InstructionCache { ip, latency } => {
            record(Kind::InstructionCacheMiss, with_latency(latency), ip.0)
        }
        Miss::InstructionTlb { ip, resolution } => {
            record(Kind::InstructionTlbMiss, small(resolution as u8, 0), ip.0)
        }
        Miss::DataCache { latency } => record(Kind::DataCacheMiss, with_latency(latency), 0),
        Miss::DataTlb { level } => record(Kind::DataTlbMiss, small(level as u8, 0), 0),
    }
}

/// Bytes 1 to 7 with these before them.
const fn small(first: u8, second: u8) -> [u8; 7] {
    [first, second, 0, 0, 0, 0, 0]
}

/// Bytes 1 to 7 with clocks in bytes 4 to 7.
const fn with_latency(latency: u32) -> [u8; 7] {
    let [l0, l1, l2, l3] = latency.to_le_bytes();
    [0, 0, 0, l0, l1, l2, l3]
}

/// A kind, bytes 1 to 7, and bytes 8 to 15.
const fn record(kind: Kind, [b1, b2, b3, b4, b5, b6, b7]: [u8; 7], value: u64) -> Record {
    let [v0, v1, v2, v3, v4, v5, v6, v7] = value.to_le_bytes();
    [kind as u8, b1, b2, b3, b4, b5, b6, b7, v0, v1, v2, v3, v4, v5, v6, v7]
}

#[cfg(test)]
mod tests {
    use traceproof_vectors::Address;

    use super::*;
    use traceproof_vectors::itanium_pmu::{
        Access, AccessKind, Contents, DataTlbLevel, InstructionTlbResolution, Occurrence, SyllableType, Tags,
    };

    /// Written by hand from the table in `wire`.
    #[test]
    fn records_are_those_of_the_table() {
        let instruction = Instruction {
            ip: Address(0x4000_0000_0000_3010),
            slot: 2,
            itype: SyllableType::X,
            enco: 0x123_4567_89ab,
            retired: true,
            squashed: true,
        };
        let miss = |miss| Packet::Miss(miss);
        let rows: [(Packet, Record); 17] = [
            (Packet::Reset, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (
                Packet::Write(Contents::InstructionRangeCheck { ta: true }),
                [1, 0, 13, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
            ),
            (
                Packet::Read(Contents::Counter { register: Register::pmd(6), count: 0x8000_0002 }),
                [2, 1, 6, 0, 0, 0, 0, 0, 2, 0, 0, 0x80, 0xff, 0xff, 0xff, 0xff],
            ),
            (
                Packet::Read(Contents::ProcessorStatus {
                    up: true,
                    i: false,
                    sp: false,
                    pp: false,
                    db: false,
                    cpl: 3,
                    is: false,
                }),
                [2, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0],
            ),
            (
                Packet::Write(Contents::Unimplemented(Register::dbr(200))),
                [1, 3, 200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            ),
            (Packet::ReadUndefined(Register::pmd(17)), [3, 1, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (
                Packet::Instruction(instruction),
                [4, 0x4e, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 0x10, 0x30, 0, 0, 0, 0, 0, 0x40],
            ),
            (
                Packet::Access(Access { kind: AccessKind::Vhpt, address: Address(0x0102_0304_0506_0708) }),
                [5, 5, 0, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1],
            ),
            (
                miss(Miss::InstructionCache { ip: Address(0x20), latency: 0x0102_0304 }),
                [6, 0, 0, 0, 4, 3, 2, 1, 0x20, 0, 0, 0, 0, 0, 0, 0],
            ),
            (
                miss(Miss::InstructionTlb {
                    ip: Address(0x30),
                    resolution: InstructionTlbResolution::Software,
                }),
                [7, 1, 0, 0, 0, 0, 0, 0, 0x30, 0, 0, 0, 0, 0, 0, 0],
            ),
            (miss(Miss::DataCache { latency: 20 }), [8, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (
                miss(Miss::DataTlb { level: DataTlbLevel::Vhpt }),
                [9, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            ),
            (
                Packet::Occurrence(Occurrence { es: 0x6c, umask: 3, count: 7 }),
                [10, 0x6c, 3, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            ),
            (Packet::Cycle, [11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (
                Packet::Tags(Tags { range: true, pmc8: false, pmc9: true }),
                [12, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            ),
            (Packet::DataTag(true), [13, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (Packet::Interrupt, [14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ];
        for (packet, expected) in rows {
            assert_eq!(record_of(&packet), Ok(expected), "{packet:?}");
        }
        let refused = |instruction| record_of(&Packet::Instruction(instruction)).unwrap_err().field;
        assert_eq!(refused(Instruction { slot: 4, ..instruction }), "slot");
        assert_eq!(refused(Instruction { enco: 1 << 48, ..instruction }), "enco");
        assert!(
            record_of(&Packet::Instruction(Instruction { slot: 3, enco: 1 << 47, ..instruction })).is_ok()
        );
    }
}
