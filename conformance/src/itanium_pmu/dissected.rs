//! What `explain` shows of a log: the fields of a record cover every bit once, and together say what the packet says.

use traceproof_decoder::itanium_pmu::{Decoder, dissect};
use traceproof_vectors::itanium_pmu::{
    Contents, DataTlbLevel, Instruction, InstructionTlbResolution, ItaniumPmu, Miss, Occurrence, Packet,
    Parameters, Register, RegisterClass, Tags,
};
use traceproof_vectors::{Decoder as _, Log, Program};

use super::generate::{Scenario, log, scenario};
use crate::generate::{Columns, Entropy, Records};

/// Takes the log of a scenario apart, and one that writes and reads every register.
///
/// # Errors
///
/// A bit that no field or a second one has, or a field that contradicts the packet.
pub(super) fn examine(bytes: &[u8]) -> Result<(), String> {
    let scenario = scenario(bytes);
    let mut entropy = Entropy::new(bytes);
    let made = log(&scenario).map_err(|refusal| refusal.to_string())?;
    records(&scenario.parameters, &made.wire, &made.packets, &mut entropy)?;
    every_register(&scenario, &mut entropy)
}

fn records(
    parameters: &Parameters,
    wire: &[u8],
    packets: &[Packet],
    entropy: &mut Entropy<'_>,
) -> Result<(), String> {
    let records = Records { dissect: &|wire| dissect(wire, parameters, &Program::new()), columns };
    records.judge(wire, packets, entropy)
}

fn every_register(scenario: &Scenario, entropy: &mut Entropy<'_>) -> Result<(), String> {
    let word = entropy.word();
    let mut wire = Vec::new();
    for class in RegisterClass::ALL {
        for index in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 0xFF] {
            let value = word.rotate_left(u32::from(index)).to_le_bytes();
            wire.extend([1, class as u8, index, 0, 0, 0, 0, 0].into_iter().chain(value));
        }
    }
    let mut read = Log::<ItaniumPmu>::default();
    let mut decoder = Decoder::new(&scenario.parameters);
    decoder.push(&wire, &mut read);
    decoder.finish(&mut read);
    let packets: Vec<Packet> = read.packets().copied().collect();
    records(&scenario.parameters, &wire, &packets, entropy)
}

const COUNTER: &[(&str, u32)] = &[
    ("plm", 0),
    ("ev", 4),
    ("oi", 5),
    ("pm", 6),
    ("ig", 7),
    ("es", 8),
    ("ig", 15),
    ("umask", 16),
    ("threshold", 20),
    ("ig", 23),
    ("ism", 24),
    ("ig", 26),
];

/// PMC\[6\] and PMC\[7\]: a threshold of 2 bits.
const NARROW_COUNTER: &[(&str, u32)] = &[
    ("plm", 0),
    ("ev", 4),
    ("oi", 5),
    ("pm", 6),
    ("ig", 7),
    ("es", 8),
    ("ig", 15),
    ("umask", 16),
    ("threshold", 20),
    ("ig", 22),
    ("ism", 24),
    ("ig", 26),
];

/// The fields of a register, each with its first bit: sections 2.2 to 2.12 of the sheet in the order of registers.
const fn value_fields(register: Register) -> &'static [(&'static str, u32)] {
    match (register.class, register.index) {
        (RegisterClass::Pmc, 0) => &[("fr", 0), ("ig", 1), ("overflow", 4), ("ig", 8)],
        (RegisterClass::Pmc, 4 | 5) => COUNTER,
        (RegisterClass::Pmc, 6 | 7) => NARROW_COUNTER,
        (RegisterClass::Pmc, 8 | 9) => {
            &[("ig", 0), ("mask", 3), ("ig", 30), ("match", 33), ("b", 60), ("f", 61), ("i", 62), ("m", 63)]
        }
        (RegisterClass::Pmc, 10) => &[
            ("plm", 0),
            ("ig", 4),
            ("pm", 6),
            ("tlb", 7),
            ("ig", 8),
            ("umask", 16),
            ("ig", 20),
            ("ism", 24),
            ("ig", 26),
        ],
        (RegisterClass::Pmc, 11) => &[
            ("plm", 0),
            ("ig", 4),
            ("pm", 6),
            ("tlb", 7),
            ("ig", 8),
            ("umask", 16),
            ("ig", 20),
            ("ism", 24),
            ("ig", 26),
            ("pt", 28),
            ("ig", 29),
        ],
        (RegisterClass::Pmc, 12) => &[
            ("plm", 0),
            ("ig", 4),
            ("pm", 6),
            ("tar", 7),
            ("tm", 8),
            ("ptm", 10),
            ("ppm", 12),
            ("bpt", 14),
            ("bac", 15),
            ("ig", 16),
        ],
        (RegisterClass::Pmc, 13) => &[("ta", 0), ("ig", 1)],
        (RegisterClass::Pmd, 0) => &[("v", 0), ("tlb", 1), ("ig", 2), ("line", 5)],
        (RegisterClass::Pmd, 1) => &[("latency", 0), ("ig", 12)],
        (RegisterClass::Pmd, 2) => &[("address", 0)],
        (RegisterClass::Pmd, 3) => &[("latency", 0), ("ig", 12), ("level", 62)],
        (RegisterClass::Pmd, 4..=7) => &[("count", 0), ("sxt", 32)],
        (RegisterClass::Pmd, 8..=15) => &[("b", 0), ("mp", 1), ("slot", 2), ("address", 4)],
        (RegisterClass::Pmd, 16) => &[("bbi", 0), ("full", 3), ("ig", 4)],
        (RegisterClass::Pmd, 17) => &[("v", 0), ("ig", 1), ("slot", 2), ("bundle", 4)],
        (RegisterClass::Ibr | RegisterClass::Dbr, 0 | 2 | 4 | 6) => &[("addr", 0)],
        (RegisterClass::Ibr, 1 | 3 | 5 | 7) => &[("mask", 0), ("plm", 56), ("ig", 60), ("x", 63)],
        (RegisterClass::Dbr, 1 | 3 | 5 | 7) => &[("mask", 0), ("plm", 56), ("ig", 60), ("w", 62), ("r", 63)],
        (RegisterClass::Psr, 0) => &[
            ("-", 0),
            ("up", 2),
            ("-", 3),
            ("i", 14),
            ("-", 15),
            ("sp", 20),
            ("pp", 21),
            ("-", 22),
            ("db", 24),
            ("-", 25),
            ("cpl", 32),
            ("is", 34),
            ("-", 35),
        ],
        (RegisterClass::Pmv, 0) => &[("vector", 0), ("-", 8), ("m", 16), ("-", 17)],
        _ => &[("ig", 0)],
    }
}

/// The columns of a record. The packet of an access to a register lacks ignored bits, so that its value is given.
fn columns(packet: &Packet, value: u64) -> Columns {
    let register = |code: u8, register: Register| {
        Columns::of(code).field("class", 8, register.class as u8).field("index", 8, register.index)
    };
    let of_contents = |code: u8, contents: &Contents| {
        let written = contents.register();
        register(code, written).value(value_fields(written), value)
    };
    let columns = match *packet {
        Packet::Reset => Columns::of(0),
        Packet::Write(ref contents) => of_contents(1, contents),
        Packet::Read(ref contents) => of_contents(2, contents),
        Packet::ReadUndefined(undefined) => register(3, undefined),
        Packet::Instruction(instruction) => of_instruction(instruction),
        Packet::Access(access) => {
            Columns::of(5).field("kind", 8, access.kind as u8).value(&[("address", 0)], access.address.0)
        }
        Packet::Miss(miss) => of_miss(miss),
        Packet::Occurrence(Occurrence { es, umask, count }) => Columns::of(10)
            .field("es", 7, es)
            .up_to(16)
            .field("umask", 4, umask)
            .up_to(24)
            .field("count", 8, count),
        Packet::Cycle => Columns::of(11),
        Packet::Tags(Tags { range, pmc8, pmc9 }) => Columns::of(12)
            .field("IBRRangeTag", 1, range)
            .field("Tag(PMC8)", 1, pmc8)
            .field("Tag(PMC9)", 1, pmc9),
        Packet::DataTag(tag) => Columns::of(13).field("DBRRangeTag", 1, tag),
        Packet::Interrupt => Columns::of(14),
    };
    columns.up_to(128)
}

fn of_instruction(instruction: Instruction) -> Columns {
    let Instruction { ip, slot, itype, enco, retired, squashed } = instruction;
    Columns::of(4)
        .field("slot", 2, slot)
        .field("retired", 1, retired)
        .field("squashed", 1, squashed)
        .field("itype", 3, itype as u8)
        .up_to(16)
        .field("enco", 41, enco)
        .value(&[("IP", 0)], ip.0)
}

fn of_miss(miss: Miss) -> Columns {
    match miss {
        Miss::InstructionCache { ip, latency } => {
            Columns::of(6).up_to(32).field("latency", 32, latency).value(&[("IP", 0)], ip.0)
        }
        Miss::InstructionTlb { ip, resolution } => {
            let code: u8 = match resolution {
                InstructionTlbResolution::Vhpt => 0,
                InstructionTlbResolution::Software => 1,
            };
            Columns::of(7).field("resolution", 8, code).value(&[("IP", 0)], ip.0)
        }
        Miss::DataCache { latency } => Columns::of(8).up_to(32).field("latency", 32, latency),
        Miss::DataTlb { level } => {
            let code: u8 = match level {
                DataTlbLevel::None => 0,
                DataTlbLevel::L2 => 1,
                DataTlbLevel::Vhpt => 2,
                DataTlbLevel::Software => 3,
            };
            Columns::of(9).field("level", 8, code)
        }
    }
}
