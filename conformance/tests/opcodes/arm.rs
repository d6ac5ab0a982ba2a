//! A64, A32 and T32: class, condition, target and data from the text that LLVM prints.

use std::collections::BTreeSet;

use traceproof_decoder::arm::{Access, InstructionSet as Encodings, Transfers};
use traceproof_encoder_model::arm::classify;
use traceproof_vectors::arm::{
    Barrier, CodeAddress, ExceptionCall, FlowInstruction, InstructionClass, InstructionSet, Profile,
    ReturnSource, TargetSource, WaitFor,
};

const A64: &str = include_str!("../../src/arm/opcodes/a64.tsv");
const A32: &str = include_str!("../../src/arm/opcodes/a32.tsv");
const T32: &str = include_str!("../../src/arm/opcodes/t32.tsv");

/// One line of a table.
struct Row<'a> {
    code: u32,
    length: u8,
    text: &'a str,
    class: &'a str,
    conditional: bool,
    distance: Option<i64>,
    data: &'a str,
}

fn parse(line: &str) -> Row<'_> {
    let mut columns = line.split('\t');
    let mut column = || columns.next().unwrap_or_default();
    let (code, text, class) = (column(), column(), column());
    let (conditional, distance, data) = (column() == "conditional", column(), column());
    Row {
        code: u32::from_str_radix(code, 16).expect("hexadecimal"),
        length: u8::try_from(code.len() / 2).expect("2 or 4"),
        text,
        class,
        conditional,
        distance: (!distance.is_empty()).then(|| distance.parse().expect("a number")),
        data,
    }
}

fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    table.lines().filter(|line| !line.starts_with('#')).map(parse)
}

/// A class in the words of the tables.
fn word(class: InstructionClass) -> &'static str {
    use InstructionClass as Class;
    match class {
        Class::Other => "other",
        Class::DirectBranch { link: false } => "direct",
        Class::DirectBranch { link: true } => "direct-link",
        Class::IndirectBranch { link: false, source } => match source {
            TargetSource::Register => "register",
            TargetSource::Return => "return",
            TargetSource::JazelleRegister => "jazelle",
            TargetSource::Load => "load",
            TargetSource::DataProcessing => "data-processing",
            TargetSource::Table => "table",
            _ => "another source",
        },
        Class::IndirectBranch { link: true, source: TargetSource::Register } => "register-link",
        Class::ExceptionReturn(source) => match source {
            ReturnSource::Eret => "exception-return",
            ReturnSource::DataProcessing => "return-data-processing",
            ReturnSource::LoadMultiple => "return-load-multiple",
            ReturnSource::Rfe => "return-rfe",
            ReturnSource::TierExit => "tier-exit",
            _ => "another return",
        },
        Class::Barrier(Barrier::Isb) => "isb",
        Class::Barrier(Barrier::Dsb) => "dsb",
        Class::Barrier(Barrier::Dmb) => "dmb",
        Class::Wait(WaitFor::Event) => "wait-event",
        Class::Wait(WaitFor::Interrupt) => "wait-interrupt",
        Class::TransactionStart => "transaction-start",
        Class::ExceptionCall(call) => match call {
            ExceptionCall::Supervisor => "supervisor-call",
            ExceptionCall::Hypervisor => "hypervisor-call",
            ExceptionCall::SecureMonitor => "monitor-call",
            ExceptionCall::Breakpoint => "breakpoint",
            ExceptionCall::Halt => "halt",
            ExceptionCall::Undefined => "undefined",
            _ => "another call",
        },
        Class::IfThen => "if-then",
        _ => "another class",
    }
}

/// Data in the words of the tables.
fn moved(transfers: Transfers) -> String {
    let way = match transfers.access {
        Access::None => return String::new(),
        Access::Load => "load",
        Access::Store => "store",
        Access::Swap => "swap",
        Access::ToCoprocessor => "to",
        Access::FromCoprocessor => "from",
    };
    format!("{way} {}x{}", transfers.count, transfers.size)
}

/// Where the opcodes lie: targets of BLX from T32 depend on the alignment.
const PLACES: [u64; 2] = [0x8001_0000, 0x8001_0002];

/// The differences that `docs/opcode-sweeps.md` names.
fn named(set: InstructionSet, row: &Row<'_>) -> bool {
    let is = |mask: u32, value: u32| row.code & mask == value;
    match set {
        // UNPREDICTABLE, and LLVM gives no warning: LDM with the PC as base, LDRT to the PC.
        // LDRB, LDRH, LDRSB, LDRSH to the PC with write-back.
        InstructionSet::T32 => is(0xffff_8000, 0xe89f_8000) || is(0xfed0_f900, 0xf810_f900),
        InstructionSet::A32 => is(0x0f70_f000, 0x0430_f000) || is(0x0f70_f010, 0x0630_f000),
        _ => false,
    }
}

/// What a row demands of a reading at an address.
fn is_expected(row: &Row<'_>, at: CodeAddress, read: FlowInstruction) -> bool {
    let exchange = row.class.ends_with("-exchange");
    let target = row.distance.map(|distance| {
        let set = match at.instruction_set {
            InstructionSet::A32 if exchange => InstructionSet::T32,
            InstructionSet::T32 if exchange => InstructionSet::A32,
            set => set,
        };
        let target = at.address.wrapping_add_signed(distance);
        // A32 code is aligned.
        CodeAddress::new(set, if set == InstructionSet::A32 { target & !3 } else { target })
    });
    let class = row.class.trim_end_matches("-exchange");
    read.size == row.length
        && word(read.class) == class
        && read.conditional == row.conditional
        && (row.distance.is_none() || read.target == target)
}

/// What decoder and encoder model make of an encoding that differs from its row.
fn difference(set: InstructionSet, row: &Row<'_>, place: u64) -> Option<String> {
    let at = CodeAddress::new(set, place);
    let [first, second] = [(row.code >> 16) as u16, row.code as u16].map(u16::to_le_bytes);
    let code = match set {
        InstructionSet::T32 if row.length == 2 => second.to_vec(),
        InstructionSet::T32 => [first, second].concat(),
        _ => row.code.to_le_bytes().to_vec(),
    };
    let instruction = Encodings::of(set).expect("a state with code").decode(&code, None);
    let decoded = instruction.in_words(place).expect("an instruction");
    let modelled = classify(at, row.code, Profile::Application);
    let data = moved(instruction.transfers);
    let same = is_expected(row, at, decoded)
        && is_expected(row, at, modelled)
        && (set.is_64_bit() || data == row.data);
    let expected = (row.class, row.conditional, row.distance, row.data);
    (!same && !named(set, row)).then(|| {
        format!("{:x} {}: {decoded:?} {data}, model {modelled:?}, not {expected:?}", row.code, row.text)
    })
}

fn differences(set: InstructionSet, table: &str) -> String {
    let places = if set == InstructionSet::T32 { &PLACES[..] } else { &PLACES[..1] };
    let lines: Vec<String> = rows(table)
        .flat_map(|row| places.iter().filter_map(|&place| difference(set, &row, place)).collect::<Vec<_>>())
        .collect();
    lines.join("\n")
}

#[test]
fn sweep_a64() {
    assert_eq!(differences(InstructionSet::A64, A64), "");
}

#[test]
fn sweep_a32() {
    assert_eq!(differences(InstructionSet::A32, A32), "");
}

#[test]
fn sweep_t32() {
    assert_eq!(differences(InstructionSet::T32, T32), "");
}

/// A table that lost a class would show nothing of it.
#[test]
fn the_tables_of_arm_hold_every_class() {
    for (table, count, classes) in ROWS {
        let found: BTreeSet<_> = rows(table).map(|row| row.class).collect();
        assert_eq!((rows(table).count(), found.len()), (count, classes), "{found:?}");
    }
}

/// Rows and classes of each table.
const ROWS: [(&str, usize, usize); 3] = [(A64, 5_409, 20), (A32, 5_438, 24), (T32, 6_012, 25)];
