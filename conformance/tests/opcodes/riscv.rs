//! RISC-V: the classes of ET 4.1.1 from the text that GNU objdump prints; Zcmp and Zcmt from LLVM and its tests.

use traceproof_decoder::riscv_etrace as decoder;
use traceproof_encoder_model::riscv_etrace as encoder;
use traceproof_vectors::riscv_etrace::Xlen;

const RV32: &str = include_str!("../../src/riscv_etrace/opcodes/rv32.tsv");
const RV64: &str = include_str!("../../src/riscv_etrace/opcodes/rv64.tsv");
const ZCM: &str = include_str!("../../src/riscv_etrace/opcodes/zcm.tsv");
const ZCMP_ZCMT: &str = include_str!("../../../vectors/tests/data/riscv_zcmp_zcmt.lst");

/// One line of a table.
struct Row<'a> {
    code: u32,
    length: u8,
    text: &'a str,
    class: &'a str,
    distance: i32,
    absolute: bool,
}

fn parse(line: &str) -> Row<'_> {
    let [code, text, class, distance] = line.split('\t').collect::<Vec<_>>()[..] else {
        panic!("four columns: {line}")
    };
    let (distance, absolute) = match distance.strip_suffix(" absolute") {
        Some(distance) => (distance, true),
        None => (distance, false),
    };
    Row {
        code: u32::from_str_radix(code, 16).expect("hexadecimal"),
        length: u8::try_from(code.len() / 2).expect("2 or 4"),
        text,
        class,
        distance: distance.parse().expect("a number"),
        absolute,
    }
}

fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    table.lines().filter(|line| !line.starts_with('#')).map(parse)
}

/// The decoder's class in the words of the tables.
fn decoded_class(class: decoder::Class) -> &'static str {
    use decoder::Class;
    match class {
        Class::Straight => "straight",
        Class::LoadUpper => "load-upper",
        Class::LoadUpperPc => "load-upper-pc",
        Class::EnvironmentCall => "environment-call",
        Class::Branch => "branch",
        Class::InferableCall => "inferable-call",
        Class::InferableJump => "inferable-jump",
        Class::OtherInferableJump => "other-inferable-jump",
        Class::UninferableCall => "uninferable-call",
        Class::UninferableJump => "uninferable-jump",
        Class::Return => "return",
        Class::CoroutineSwap => "coroutine-swap",
        Class::OtherUninferableJump => "other-uninferable-jump",
        Class::TrapReturn => "trap-return",
        Class::Missing => "missing",
    }
}

/// The encoder model's class in the words of the tables, as far as it tells them apart.
fn encoded_class(class: encoder::Class) -> &'static str {
    use encoder::Class;
    match class {
        Class::Other => "straight",
        Class::UpperImmediate { .. } => "load-upper",
        Class::Branch => "branch",
        Class::InferableCall => "inferable-call",
        Class::InferableJump => "inferable-jump",
        Class::OtherInferableJump => "other-inferable-jump",
        Class::UninferableCall { .. } => "uninferable-call",
        Class::UninferableJump { .. } => "uninferable-jump",
        Class::CoroutineSwap { .. } => "coroutine-swap",
        Class::Return { .. } => "return",
        Class::OtherUninferableJump { .. } => "other-uninferable-jump",
        Class::TrapReturn => "trap-return",
    }
}

/// What the encoder model makes of a class: it has no use for environment calls nor for upper immediates to `x0`.
fn expected_of_encoder<'a>(row: &Row<'a>) -> &'a str {
    let to_zero =
        row.text.split_ascii_whitespace().nth(1).is_some_and(|operands| operands.starts_with("x0,"));
    match row.class {
        "environment-call" => "straight",
        "load-upper" | "load-upper-pc" if to_zero => "straight",
        "load-upper-pc" => "load-upper",
        class => class,
    }
}

/// What the decoder makes of an encoding that differs from its row.
fn decoder_differs(row: &Row<'_>, set: decoder::InstructionSet) -> Option<String> {
    let second = (row.length == 4).then_some((row.code >> 16) as u16);
    let found = set.decode(row.code as u16, second);
    let class = decoded_class(found.class);
    // Upper immediates have their value in the place of the distance; the texts do not determine its shift.
    let distance = if class.starts_with("load-upper") { 0 } else { found.immediate };
    let same = class == row.class
        && found.length == row.length
        && distance == row.distance
        && found.absolute == row.absolute;
    (!same).then(|| {
        format!("decoder: {:x} {}: {found:?}, not {} {}", row.code, row.text, row.class, row.distance)
    })
}

/// What the encoder model makes of an encoding that differs from its row.
fn encoder_differs(row: &Row<'_>, isa: encoder::Isa) -> Option<String> {
    let bytes = row.code.to_le_bytes();
    let found = encoder::Instruction::read(&bytes, isa);
    let same = found.is_some_and(|found| {
        found.halfwords * 2 == row.length && encoded_class(found.class) == expected_of_encoder(row)
    });
    (!same).then(|| format!("encoder: {:x} {}: {found:?}, not {}", row.code, row.text, row.class))
}

/// The differences of all rows, one a line.
fn differences<'a>(rows: impl Iterator<Item = Row<'a>>, xlen: Xlen, zcmp_zcmt: bool) -> String {
    let set = decoder::InstructionSet { rv32: xlen == Xlen::Rv32, zcmp_zcmt };
    let isa = encoder::Isa { xlen, zcm: zcmp_zcmt };
    let lines: Vec<_> =
        rows.flat_map(|row| [decoder_differs(&row, set), encoder_differs(&row, isa)]).flatten().collect();
    lines.join("\n")
}

#[test]
fn sweep_rv32() {
    assert_eq!(differences(rows(RV32), Xlen::Rv32, false), "");
}

#[test]
fn sweep_rv64() {
    assert_eq!(differences(rows(RV64), Xlen::Rv64, false), "");
}

/// A hart with Zcmp and Zcmt differs from another one in the place of `c.fsdsp` only.
#[test]
fn sweep_rv32_with_zcmp_and_zcmt() {
    let others = rows(RV32).filter(|row| !row.text.starts_with("c.fsdsp"));
    assert_eq!(differences(others, Xlen::Rv32, true), "");
}

#[test]
fn sweep_zcmp_zcmt() {
    for xlen in [Xlen::Rv32, Xlen::Rv64] {
        let name = if xlen == Xlen::Rv32 { "rv32" } else { "rv64" };
        let lines = ZCMP_ZCMT.lines().filter_map(|line| {
            let (harts, row) = line.split_once(' ')?;
            [name, "both"].contains(&harts).then(|| row.trim().split_once(' '))?
        });
        let rows = lines.map(|(code, text)| Row {
            code: u32::from_str_radix(code, 16).expect("hexadecimal"),
            length: 2,
            text,
            class: match text.split(' ').next() {
                Some("cm.popret" | "cm.popretz") => "return",
                Some("cm.jt") => "uninferable-jump",
                Some("cm.jalt") => "uninferable-call",
                _ => "straight",
            },
            distance: 0,
            absolute: false,
        });
        assert_eq!(differences(rows, xlen, true), "", "{name}");
    }
}

#[test]
fn sweep_every_encoding_of_zcmp_and_zcmt() {
    assert_eq!(rows(ZCM).count(), ROWS_OF_ZCM);
    for xlen in [Xlen::Rv32, Xlen::Rv64] {
        assert_eq!(differences(rows(ZCM), xlen, true), "", "{xlen:?}");
    }
}

/// 256 table jumps, 4 times 48 pushes and pops, twice 64 moves.
const ROWS_OF_ZCM: usize = 576;

/// The tables hold every class, and encodings of both lengths of each that has them.
#[test]
fn the_tables_hold_every_class() {
    for table in [RV32, RV64] {
        let classes: std::collections::BTreeSet<_> = rows(table).map(|row| row.class).collect();
        assert_eq!(classes.len(), 14, "{classes:?}");
        assert_eq!(rows(table).count(), ROWS);
    }
}

/// Rows of each table.
const ROWS: usize = 5_596;
