//! Decoder and encoder model classify A32 and T32 instructions as LLVM's disassembler does.
//!
//! The tables in `tests/data/arm_llvm` hold LLVM's classes, so that this needs no LLVM. With `llvm-mc` installed (Debian
//! package `llvm`), `cargo test --release -p traceproof-conformance --test properties arm_llvm -- --ignored --nocapture`
//! compares a million words of each instruction set, targets of branches included, and lists every group of
//! differences; with `TRACEPROOF_BLESS=1` it rewrites the tables. `docs/findings/arm-llvm.md` has the results.

mod llvm;
mod samples;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs};

use traceproof_decoder::arm::InstructionSet as Encodings;
use traceproof_encoder_model::arm::classify;
use traceproof_vectors::arm::{
    Barrier, CodeAddress, FlowInstruction, InstructionClass, InstructionSet, Profile,
};

/// What PFT distinguishes (2.2, 4.5.10, 4.13), and what LLVM makes no statement about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Other,
    Direct,
    DirectLink,
    Indirect,
    IndirectLink,
    /// Indirect, and an exception return.
    Return,
    Isb,
    /// DMB, DSB.
    Barrier,
    /// ENTERX, LEAVEX.
    StateChange,
    /// UNDEFINED or UNPREDICTABLE.
    Unclear,
}

impl Class {
    const ALL: [Self; 10] = [
        Self::Other,
        Self::Direct,
        Self::DirectLink,
        Self::Indirect,
        Self::IndirectLink,
        Self::Return,
        Self::Isb,
        Self::Barrier,
        Self::StateChange,
        Self::Unclear,
    ];

    const fn letter(self) -> char {
        match self {
            Self::Other => '.',
            Self::Direct => 'd',
            Self::DirectLink => 'D',
            Self::Indirect => 'i',
            Self::IndirectLink => 'I',
            Self::Return => 'r',
            Self::Isb => 's',
            Self::Barrier => 'b',
            Self::StateChange => 'x',
            Self::Unclear => '-',
        }
    }

    fn of_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.letter() == letter)
    }

    /// The class of an instruction of ours. Low-overhead loops are no branches in `ARMv7` (PFT-WPT-027).
    const fn of(class: InstructionClass) -> Self {
        match class {
            InstructionClass::DirectBranch { link: false } => Self::Direct,
            InstructionClass::DirectBranch { link: true } => Self::DirectLink,
            InstructionClass::IndirectBranch { link: false, .. } => Self::Indirect,
            InstructionClass::IndirectBranch { link: true, .. } => Self::IndirectLink,
            InstructionClass::ExceptionReturn(_) => Self::Return,
            InstructionClass::Barrier(Barrier::Isb) => Self::Isb,
            InstructionClass::Barrier(_) => Self::Barrier,
            InstructionClass::StateChange => Self::StateChange,
            _ => Self::Other,
        }
    }
}

/// Where the opcodes lie: targets of BLX depend on the alignment.
const AT: u64 = 0x8001_0000;

/// What the decoder and the encoder model read in an opcode.
fn ours(set: InstructionSet, opcode: u32) -> [FlowInstruction; 2] {
    let [first, second] = [(opcode >> 16) as u16, opcode as u16].map(u16::to_le_bytes);
    let code = match set {
        InstructionSet::A32 => opcode.to_le_bytes().to_vec(),
        _ if opcode >> 16 == 0 => second.to_vec(),
        _ => [first, second].concat(),
    };
    let encodings = Encodings::of(set).expect("a state with code");
    let decoded = encodings.decode(&code, None).in_words(AT).expect("an instruction");
    [decoded, classify(CodeAddress::new(set, AT), opcode, Profile::Application)]
}

/// A table of LLVM's classes.
struct Table {
    name: &'static str,
    set: InstructionSet,
    opcodes: fn() -> Vec<u32>,
    /// How many of them at least are waypoints: a table of nothing else would show nothing.
    waypoints: usize,
}

const TABLES: [Table; 3] = [
    Table { name: "t32-16-bit", set: InstructionSet::T32, opcodes: samples::half_words, waypoints: 6000 },
    Table {
        name: "t32-32-bit",
        set: InstructionSet::T32,
        opcodes: || samples::words(InstructionSet::T32, IN_TABLE),
        waypoints: 4000,
    },
    Table {
        name: "a32",
        set: InstructionSet::A32,
        opcodes: || samples::words(InstructionSet::A32, IN_TABLE),
        waypoints: 4000,
    },
];

/// Words in a table.
const IN_TABLE: usize = 16_000;

fn path(table: &Table) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/arm_llvm");
    folder.join(table.name).with_extension("txt")
}

#[test]
fn classes_are_those_of_the_tables() {
    for table in &TABLES {
        let text = fs::read_to_string(path(table)).expect("the table is in the repository");
        let (opcodes, classes) = ((table.opcodes)(), samples::read(&text));
        assert_eq!(opcodes.len(), classes.len(), "{}", table.name);
        let mut waypoints = 0;
        for (&opcode, &class) in opcodes.iter().zip(&classes) {
            if class == Class::Unclear || named(table.set, opcode).is_some() {
                continue;
            }
            waypoints += usize::from(class != Class::Other);
            for read in ours(table.set, opcode) {
                assert_eq!(Class::of(read.class), class, "{} {opcode:#010x}", table.name);
            }
        }
        assert!(waypoints > table.waypoints, "{}: only {waypoints} waypoints", table.name);
    }
}

/// The differences that `docs/findings/arm-llvm.md` names: UNPREDICTABLE instructions (DDI 0406, A8.8)
/// that LLVM reads without a warning.
fn named(set: InstructionSet, opcode: u32) -> Option<&'static str> {
    let is = |mask: u32, value: u32| opcode & mask == value;
    match set {
        InstructionSet::T32 if is(0xffff_8000, 0xe89f_8000) => Some("LDM with the PC as base"),
        InstructionSet::A32 if is(0x0f70_f000, 0x0430_f000) || is(0x0f70_f010, 0x0630_f000) => {
            Some("LDRT to the PC")
        }
        _ => None,
    }
}

/// Groups of differences, with how often they occur and the first opcode.
type Groups = BTreeMap<String, (usize, u32)>;

/// Compares opcodes with LLVM's reading of them; the differences, and what LLVM calls unclear and is a waypoint here.
fn compare(set: InstructionSet, opcodes: &[u32]) -> (Groups, Groups) {
    let (mut different, mut unclear) = (Groups::new(), Groups::new());
    for (&opcode, theirs) in opcodes.iter().zip(llvm::read(set, opcodes)) {
        let [decoded, modelled] = ours(set, opcode);
        let [one, other] = [decoded, modelled].map(|read| Class::of(read.class));
        if theirs.class == Class::Unclear {
            if (one, other) != (Class::Other, Class::Other) {
                count(&mut unclear, format!("decoder {}, model {}", one.letter(), other.letter()), opcode);
            }
            continue;
        }
        let pc = AT + if set == InstructionSet::A32 { 8 } else { 4 };
        let target = theirs.offset.map(|offset| pc.wrapping_add_signed(offset) & 0xffff_ffff);
        for (who, read) in [("decoder", decoded), ("model", modelled)] {
            let class = Class::of(read.class);
            let same_target = target.is_none() || read.target.map(|target| target.address) == target;
            if class != theirs.class || !same_target {
                let name = named(set, opcode).unwrap_or("NOT NAMED");
                let letters = format!("LLVM {}, {who} {}", theirs.class.letter(), class.letter());
                count(&mut different, format!("{name}: {letters}, same target: {same_target}"), opcode);
            }
        }
    }
    (different, unclear)
}

fn count(groups: &mut Groups, name: String, opcode: u32) {
    groups.entry(name).or_insert((0, opcode)).0 += 1;
}

#[test]
#[ignore = "needs llvm-mc, and takes a minute"]
fn classes_are_those_of_llvm() {
    let Some(version) = llvm::version() else {
        panic!("NOTHING WAS COMPARED: llvm-mc is not installed (Debian package `llvm`)");
    };
    let words = env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1_000_000);
    let mut all_named = true;
    for (name, set, opcodes) in [
        ("T32, 16 bits", InstructionSet::T32, samples::half_words()),
        ("T32, 32 bits", InstructionSet::T32, samples::words(InstructionSet::T32, words)),
        ("A32", InstructionSet::A32, samples::words(InstructionSet::A32, words)),
    ] {
        let (different, unclear) = compare(set, &opcodes);
        println!("{name}: {} opcodes, {version}", opcodes.len());
        for (name, (count, opcode)) in &different {
            println!("  differs: {name}: {count}, first {opcode:#010x}");
            all_named &= !name.starts_with("NOT NAMED");
        }
        for (name, (count, opcode)) in &unclear {
            println!("  unclear to LLVM: {name}: {count}, first {opcode:#010x}");
        }
    }
    if env::var_os("TRACEPROOF_BLESS").is_some() {
        TABLES.iter().for_each(|table| write_table(table, &version));
    }
    assert!(all_named, "differences without a name");
}

fn write_table(table: &Table, version: &str) {
    let classes: Vec<Class> =
        llvm::read(table.set, &(table.opcodes)()).into_iter().map(|read| read.class).collect();
    let letters: Vec<String> =
        Class::ALL.iter().map(|class| format!("{} {class:?}", class.letter())).collect();
    let (name, letters, lines) = (table.name, letters.join(", "), samples::write(&classes));
    let text = format!(
        "# {name}: classes by {version}, written by `classes_are_those_of_llvm`.\n# {letters}\n{lines}"
    );
    fs::write(path(table), text).expect("writable");
}
