//! Lines of `wire` as records of the log.

use super::line::{self, Line};
use crate::Address;
use crate::itanium_pmu::wire::{Kind, RECORD};
use crate::itanium_pmu::{
    Access, AccessKind, DataTlbLevel, Instruction, InstructionTlbResolution, Miss, Occurrence, Register,
    RegisterClass, Stimulus, SyllableType, Tags,
};

/// The most bytes that one line may stand for with `x`.
const MOST_BYTES: usize = 1 << 20;

/// Appends the records of a line.
///
/// # Errors
///
/// Says what is wrong with the line.
pub(super) fn append(text: &str, bytes: &mut Vec<u8>) -> Result<(), String> {
    let Some((line, times)) = line::read(text)? else { return Ok(()) };
    let record = pack(&line)?;
    if (times as usize).saturating_mul(record.len()) > MOST_BYTES {
        return Err(format!("{times} times is too often"));
    }
    for _ in 0..times {
        bytes.extend(&record);
    }
    Ok(())
}

/// The line that stands for a record, or for what is left of one at the end.
pub(super) fn show(bytes: &[u8]) -> String {
    let line = <[u8; RECORD]>::try_from(bytes).ok().and_then(|record| unpack(&record));
    // What the notation cannot express is lost in a round trip.
    let line = line.filter(|line| pack(line).is_ok_and(|packed| packed == bytes));
    line::show(&line.unwrap_or_else(|| Line::Hex(bytes.to_vec())))
}

/// A record with these first bytes and this value.
fn record(kind: Kind, head: [u8; 2], value: u64) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    let [code, first, second, ..] = &mut record;
    *code = kind as u8;
    [*first, *second] = head;
    put(&mut record, 8, &value.to_le_bytes());
    record
}

fn put(record: &mut [u8; RECORD], at: usize, bytes: &[u8]) {
    for (to, from) in record.iter_mut().skip(at).zip(bytes) {
        *to = *from;
    }
}

fn pack(line: &Line) -> Result<Vec<u8>, String> {
    let of = |register: &Register| [register.class as u8, register.index];
    let record = match line {
        Line::Hex(bytes) => return Ok(bytes.clone()),
        Line::Execute { .. } => {
            return Err("`execute` is for `stimulus`; here, write `instruction`".to_owned());
        }
        Line::Input(stimulus) => return pack_input(stimulus).map(Vec::from),
        Line::Read { register, value } => record(Kind::Read, of(register), *value),
        Line::ReadUndefined(register) => record(Kind::ReadUndefined, of(register), 0),
        Line::Tags(tags) => {
            let bits = u8::from(tags.range) | u8::from(tags.pmc8) << 1 | u8::from(tags.pmc9) << 2;
            record(Kind::Tags, [bits, 0], 0)
        }
        Line::DataTag(tag) => record(Kind::DataTag, [u8::from(*tag), 0], 0),
        Line::Interrupt => record(Kind::Interrupt, [0, 0], 0),
    };
    Ok(record.into())
}

fn pack_input(stimulus: &Stimulus) -> Result<[u8; RECORD], String> {
    Ok(match *stimulus {
        Stimulus::Reset => record(Kind::Reset, [0, 0], 0),
        Stimulus::Write { register, value } => {
            record(Kind::Write, [register.class as u8, register.index], value)
        }
        Stimulus::Read(register) => {
            return Err(format!("`read` is for `stimulus`; here, write what was read: `{register} = 0x0`"));
        }
        Stimulus::Instruction(Instruction { ip, slot, itype, enco, retired, squashed }) => {
            let flags = slot | u8::from(retired) << 2 | u8::from(squashed) << 3 | (itype as u8) << 4;
            let mut record = record(Kind::Instruction, [flags, 0], ip.0);
            put(&mut record, 2, enco.to_le_bytes().get(..6).unwrap_or_default());
            record
        }
        Stimulus::Access(Access { kind, address }) => record(Kind::Access, [kind as u8, 0], address.0),
        Stimulus::Miss(Miss::InstructionCache { ip, latency }) => {
            with_latency(record(Kind::InstructionCacheMiss, [0, 0], ip.0), latency)
        }
        Stimulus::Miss(Miss::InstructionTlb { ip, resolution }) => {
            record(Kind::InstructionTlbMiss, [resolution as u8, 0], ip.0)
        }
        Stimulus::Miss(Miss::DataCache { latency }) => {
            with_latency(record(Kind::DataCacheMiss, [0, 0], 0), latency)
        }
        Stimulus::Miss(Miss::DataTlb { level }) => record(Kind::DataTlbMiss, [level as u8, 0], 0),
        Stimulus::Occurrence(Occurrence { es, umask, count }) => {
            let mut record = record(Kind::Occurrence, [es, umask], 0);
            put(&mut record, 3, &[count]);
            record
        }
        Stimulus::Cycle => record(Kind::Cycle, [0, 0], 0),
    })
}

fn with_latency(mut record: [u8; RECORD], latency: u32) -> [u8; RECORD] {
    put(&mut record, 4, &latency.to_le_bytes());
    record
}

/// The line whose fields a record has; bits that belong to no field are ignored.
fn unpack(record: &[u8; RECORD]) -> Option<Line> {
    let [code, first, second, third, head @ .., v0, v1, v2, v3, v4, v5, v6, v7] = *record;
    let value = u64::from_le_bytes([v0, v1, v2, v3, v4, v5, v6, v7]);
    let latency = u32::from_le_bytes(head);
    let bit = |byte: u8, bit: u8| byte >> bit & 1 == 1;
    let register = || {
        let class = RegisterClass::ALL.into_iter().find(|class| *class as u8 == first)?;
        Some(Register { class, index: second })
    };
    let kind = Kind::ALL.into_iter().find(|kind| *kind as u8 == code)?;
    Some(Line::Input(match kind {
        Kind::Read => return Some(Line::Read { register: register()?, value }),
        Kind::ReadUndefined => return Some(Line::ReadUndefined(register()?)),
        Kind::Tags => {
            let tags = Tags { range: bit(first, 0), pmc8: bit(first, 1), pmc9: bit(first, 2) };
            return Some(Line::Tags(tags));
        }
        Kind::DataTag => return Some(Line::DataTag(bit(first, 0))),
        Kind::Interrupt => return Some(Line::Interrupt),
        Kind::Reset => Stimulus::Reset,
        Kind::Cycle => Stimulus::Cycle,
        Kind::Write => Stimulus::Write { register: register()?, value },
        Kind::Instruction => {
            let [e2, e3, e4, e5] = head;
            let itype = SyllableType::ALL.into_iter().find(|itype| *itype as u8 == first >> 4)?;
            let enco = u64::from_le_bytes([second, third, e2, e3, e4, e5, 0, 0]);
            let slot = first & 3;
            if slot == 3 || enco >> 41 != 0 {
                return None;
            }
            let (retired, squashed) = (bit(first, 2), bit(first, 3));
            Stimulus::Instruction(Instruction { ip: Address(value), slot, itype, enco, retired, squashed })
        }
        Kind::Access => {
            let kind = AccessKind::ALL.into_iter().find(|kind| *kind as u8 == first)?;
            Stimulus::Access(Access { kind, address: Address(value) })
        }
        Kind::InstructionCacheMiss => Stimulus::Miss(Miss::InstructionCache { ip: Address(value), latency }),
        Kind::InstructionTlbMiss => {
            let resolutions = [InstructionTlbResolution::Vhpt, InstructionTlbResolution::Software];
            let resolution = resolutions.into_iter().find(|resolution| *resolution as u8 == first)?;
            Stimulus::Miss(Miss::InstructionTlb { ip: Address(value), resolution })
        }
        Kind::DataCacheMiss => Stimulus::Miss(Miss::DataCache { latency }),
        Kind::DataTlbMiss => {
            let levels = [DataTlbLevel::L2, DataTlbLevel::Vhpt, DataTlbLevel::Software];
            let level = levels.into_iter().find(|level| *level as u8 == first)?;
            Stimulus::Miss(Miss::DataTlb { level })
        }
        Kind::Occurrence => {
            if first >> 7 != 0 || second >> 4 != 0 {
                return None;
            }
            Stimulus::Occurrence(Occurrence { es: first, umask: second, count: third })
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::{parse_bytes, show_bytes};

    /// Bytes written by hand from the table of [`wire`](crate::itanium_pmu::wire).
    const RECORDS: [(&str, &str); 20] = [
        ("reset", "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
        ("PMC4 <- 0x2030828", "01 00 04 00 00 00 00 00 28 08 03 02 00 00 00 00"),
        ("PMD17 = 0x20000000000172c5", "02 01 11 00 00 00 00 00 c5 72 01 00 00 00 00 20"),
        ("PMV = 0x10000", "02 05 00 00 00 00 00 00 00 00 01 00 00 00 00 00"),
        ("DBR7 = X", "03 03 07 00 00 00 00 00 00 00 00 00 00 00 00 00"),
        (
            "instruction 0x4000000000003010/1 M 0x080c0f00380",
            "04 05 80 03 f0 c0 80 00 10 30 00 00 00 00 00 40",
        ),
        (
            "instruction 0x10/2 B 0x1ffffffffff wrong-path squashed",
            "04 3a ff ff ff ff ff 01 10 00 00 00 00 00 00 00",
        ),
        ("instruction 0x10/0 IA32 0x00000000000", "04 54 00 00 00 00 00 00 10 00 00 00 00 00 00 00"),
        ("semaphore 0x1008", "05 02 00 00 00 00 00 00 08 10 00 00 00 00 00 00"),
        ("icache-miss 0x2000000000174710 45", "06 00 00 00 2d 00 00 00 10 47 17 00 00 00 00 20"),
        ("itlb-miss 0x10 software", "07 01 00 00 00 00 00 00 10 00 00 00 00 00 00 00"),
        ("dcache-miss 9029", "08 00 00 00 45 23 00 00 00 00 00 00 00 00 00 00"),
        ("dtlb-miss software", "09 03 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
        ("event L3_READS_ALL_READS_ALL 255", "0a 7d 0f ff 00 00 00 00 00 00 00 00 00 00 00 00"),
        ("event 0x13/0x1 2", "0a 13 01 02 00 00 00 00 00 00 00 00 00 00 00 00"),
        ("cycle", "0b 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
        ("tags range pmc9", "0c 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
        ("tags pmc8", "0c 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
        ("data-tag 1", "0d 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
        ("interrupt", "0e 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    ];

    #[test]
    fn records_are_packed_as_the_table_says() {
        for (text, expected) in RECORDS {
            let mut bytes = Vec::new();
            assert_eq!(append(text, &mut bytes), Ok(()));
            assert_eq!(show_bytes(&bytes), expected, "{text}");
            assert_eq!(show(&bytes), text);
        }
    }

    #[test]
    fn what_is_no_record_is_shown_as_bytes() {
        for text in [
            "hex 0f 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
            "hex 0b 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00",
            "hex 02 06 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
            "hex 04 07 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
            "hex 04 04 00 00 00 00 00 02 00 00 00 00 00 00 00 00",
            "hex 09 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
            "hex 0a 80 00 01 00 00 00 00 00 00 00 00 00 00 00 00",
            "hex 02 00",
        ] {
            let mut bytes = Vec::new();
            assert_eq!(append(text, &mut bytes), Ok(()));
            assert_eq!(show(&bytes), text);
            assert_eq!(parse_bytes(&text["hex ".len()..]), Some(bytes));
        }
    }

    #[test]
    fn lines_of_a_wire_repeat_and_may_be_empty() {
        let mut bytes = Vec::new();
        assert_eq!(append("cycle x 3", &mut bytes), Ok(()));
        assert_eq!(append("# nothing", &mut bytes), Ok(()));
        assert_eq!(bytes.len(), 3 * RECORD);
        assert_eq!(append("cycle x 0x10001", &mut bytes), Err("65537 times is too often".to_owned()));
        assert_eq!(
            append("execute A/0", &mut bytes),
            Err("`execute` is for `stimulus`; here, write `instruction`".to_owned())
        );
        assert_eq!(
            append("read PMD4", &mut bytes),
            Err("`read` is for `stimulus`; here, write what was read: `PMD4 = 0x0`".to_owned())
        );
    }
}
