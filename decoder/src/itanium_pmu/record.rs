//! Boundaries and contents of records: byte stream -> records of 16 bytes -> their fields.

use traceproof_vectors::itanium_pmu::wire::{Kind, RECORD};
use traceproof_vectors::itanium_pmu::{
    Access, AccessKind, DataTlbLevel, Instruction, InstructionTlbResolution, Miss, Occurrence, Packet,
    Register, RegisterClass, SyllableType, Tags,
};
use traceproof_vectors::{Address, FaultClass};

/// The contents of a record, its register values not yet split into fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Reset,
    Write(Register, u64),
    Read(Register, u64),
    ReadUndefined(Register),
    /// Anything else: the packet is the record.
    Execution(Packet),
}

/// Why a record says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Defect {
    pub(super) class: FaultClass,
    /// First bit of the field at fault, counted from bit 0 of the record's byte 0.
    pub(super) bit: u8,
}

/// First bit of bytes 8 to 15.
pub(super) const VALUE: u8 = 64;
/// First bit of a register's index.
pub(super) const INDEX: u8 = 16;
/// First bit of an event select code.
pub(super) const ES: u8 = 8;
/// First bit of the tags.
pub(super) const TAGS: u8 = 8;

const WHOLE_VALUE: u128 = (u64::MAX as u128) << VALUE;
const LATENCY: u128 = 0xffff_ffff << 32;

/// The kind with this code.
pub(super) fn kind(code: u8) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| *kind as u8 == code)
}

/// The bits of a record of this kind that are not always 0.
pub(super) const fn used(kind: Kind) -> u128 {
    let columns = match kind {
        Kind::Reset | Kind::Cycle | Kind::Interrupt => 0,
        Kind::Write | Kind::Read => 0xff_ff00 | WHOLE_VALUE,
        Kind::ReadUndefined => 0xff_ff00,
        Kind::Instruction => 0x7f00 | (((1 << 41) - 1) << 16) | WHOLE_VALUE,
        Kind::Access | Kind::InstructionTlbMiss => 0xff00 | WHOLE_VALUE,
        Kind::InstructionCacheMiss => LATENCY | WHOLE_VALUE,
        Kind::DataCacheMiss => LATENCY,
        Kind::DataTlbMiss => 0xff00,
        Kind::Occurrence => 0xff0f_7f00,
        Kind::Tags => 0x0700,
        Kind::DataTag => 0x0100,
    };
    columns | 0xff
}

/// Reads one record.
pub(super) fn parse(bytes: &[u8; RECORD]) -> Result<Body, Defect> {
    let record = u128::from_le_bytes(*bytes);
    let reserved = |bit| Defect { class: FaultClass::ReservedEncoding, bit };
    let kind = kind(bytes[0]).ok_or(reserved(0))?;
    let body = body(kind, record).map_err(reserved)?;
    let filled = record & !used(kind);
    if filled != 0 {
        return Err(Defect { class: FaultClass::Overlong, bit: filled.trailing_zeros() as u8 });
    }
    Ok(body)
}

/// The fields of a record; else the first bit of one whose value means nothing.
fn body(kind: Kind, record: u128) -> Result<Body, u8> {
    let [_, first, second, third, ..] = record.to_le_bytes();
    let value = (record >> VALUE) as u64;
    let latency = (record >> 32) as u32;
    let register = || -> Result<Register, u8> {
        let class = RegisterClass::ALL.into_iter().find(|class| *class as u8 == first).ok_or(8_u8)?;
        Ok(Register { class, index: second })
    };
    Ok(Body::Execution(match kind {
        Kind::Reset => return Ok(Body::Reset),
        Kind::Write => return Ok(Body::Write(register()?, value)),
        Kind::Read => return Ok(Body::Read(register()?, value)),
        Kind::ReadUndefined => return Ok(Body::ReadUndefined(register()?)),
        Kind::Instruction => Packet::Instruction(instruction(first, record)?),
        Kind::Access => {
            let kind = AccessKind::ALL.into_iter().find(|kind| *kind as u8 == first).ok_or(8_u8)?;
            Packet::Access(Access { kind, address: Address(value) })
        }
        Kind::InstructionCacheMiss => Packet::Miss(Miss::InstructionCache { ip: Address(value), latency }),
        Kind::InstructionTlbMiss => {
            let resolution = match first {
                0 => InstructionTlbResolution::Vhpt,
                1 => InstructionTlbResolution::Software,
                _ => return Err(8),
            };
            Packet::Miss(Miss::InstructionTlb { ip: Address(value), resolution })
        }
        Kind::DataCacheMiss => Packet::Miss(Miss::DataCache { latency }),
        Kind::DataTlbMiss => {
            let level = match first {
                1 => DataTlbLevel::L2,
                2 => DataTlbLevel::Vhpt,
                3 => DataTlbLevel::Software,
                _ => return Err(8),
            };
            Packet::Miss(Miss::DataTlb { level })
        }
        Kind::Occurrence => {
            Packet::Occurrence(Occurrence { es: first & 0x7f, umask: second & 0xf, count: third })
        }
        Kind::Cycle => Packet::Cycle,
        Kind::Tags => {
            Packet::Tags(Tags { range: first & 1 != 0, pmc8: first & 2 != 0, pmc9: first & 4 != 0 })
        }
        Kind::DataTag => Packet::DataTag(first & 1 != 0),
        Kind::Interrupt => Packet::Interrupt,
    }))
}

fn instruction(flags: u8, record: u128) -> Result<Instruction, u8> {
    let slot = flags & 3;
    if slot == 3 {
        return Err(8);
    }
    let code = flags >> 4 & 7;
    let itype = SyllableType::ALL.into_iter().find(|itype| *itype as u8 == code).ok_or(12_u8)?;
    Ok(Instruction {
        ip: Address((record >> VALUE) as u64),
        slot,
        itype,
        enco: (record >> 16) as u64 & ((1 << 41) - 1),
        retired: flags & 4 != 0,
        squashed: flags & 8 != 0,
    })
}
