//! LLVM's disassembler as a classifier of A32 and T32 instructions.
//!
//! It knows nothing of our decoding tables: a class follows from the mnemonic and the operands that `llvm-mc` prints.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

use traceproof_vectors::arm::InstructionSet;

use super::Class;

/// What LLVM reads in one opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) class: Class,
    /// Of a direct branch: bytes from the PC, which is 8 (A32) or 4 (T32) ahead, to the target.
    pub(super) offset: Option<i64>,
}

/// The program, and the extensions whose instructions it is to know.
const PROGRAM: &str = "llvm-mc";
const EXTENSIONS: &str = "-mattr=+virtualization,+trustzone,+mp,+hwdiv,+hwdiv-arm,+neon,+vfp4";

/// Its version; `None` if it is not installed.
pub(super) fn version() -> Option<String> {
    let output = Command::new(PROGRAM).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().find(|line| line.contains("LLVM version")).map(|line| line.trim().to_owned())
}

/// Reads opcodes: words of A32; of T32 half-words, or two with the first one on top.
pub(super) fn read(set: InstructionSet, opcodes: &[u32]) -> Vec<Reading> {
    let lines: Vec<String> = opcodes.iter().map(|&opcode| line(set, opcode)).collect();
    let (text, warnings) = disassemble(set, lines.concat());
    // A warning has three lines, of which the first is <stdin>:LINE:COLUMN: warning: TEXT.
    let (mut invalid, mut unclear) = (BTreeSet::new(), BTreeSet::new());
    for warning in warnings.lines().filter_map(|line| line.strip_prefix("<stdin>:")) {
        let (number, message) = warning.split_once(':').expect("a line number");
        let index = number.parse::<usize>().expect("a line number") - 1;
        if message.contains("invalid instruction encoding") { &mut invalid } else { &mut unclear }
            .insert(index);
    }
    let mut text = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('.'));
    let mut results = Vec::new();
    for (index, &opcode) in opcodes.iter().enumerate() {
        let instruction = if invalid.contains(&index) { None } else { text.next() };
        results.push(match instruction {
            Some(text) if !unclear.contains(&index) => reading(text),
            _ => Reading { class: Class::Unclear, offset: None },
        });
        for _ in 0..padding(set, opcode) {
            assert!(text.next().is_some_and(|line| line.starts_with("nop")), "after {opcode:#x}");
        }
    }
    assert_eq!(text.next(), None, "every line belongs to an opcode");
    results
}

/// NOPs after an opcode: IT makes up to four instructions conditional.
fn padding(set: InstructionSet, opcode: u32) -> usize {
    if set == InstructionSet::T32 && matches!(opcode, 0xbf00..=0xbfff) { 4 } else { 0 }
}

/// The bytes of an opcode as a block, which LLVM does not read on from, and its padding.
fn line(set: InstructionSet, opcode: u32) -> String {
    let [b0, b1, b2, b3] = opcode.to_le_bytes();
    let block = match set {
        InstructionSet::A32 => format!("[{b0:#x},{b1:#x},{b2:#x},{b3:#x}]"),
        _ if opcode >> 16 == 0 => format!("[{b0:#x},{b1:#x}]"),
        _ => format!("[{b2:#x},{b3:#x},{b0:#x},{b1:#x}]"),
    };
    format!("{block}{}\n", "[0x00,0xbf]".repeat(padding(set, opcode)))
}

/// Instructions and warnings.
fn disassemble(set: InstructionSet, input: String) -> (String, String) {
    let triple = if set == InstructionSet::A32 { "-triple=armv7a" } else { "-triple=thumbv7a" };
    let mut child = Command::new(PROGRAM)
        .args(["-disassemble", triple, EXTENSIONS])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("llvm-mc starts");
    let mut stdin = child.stdin.take().expect("piped");
    let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("llvm-mc ends");
    writer.join().expect("no panic").expect("llvm-mc reads all");
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

const CONDITIONS: [&str; 14] =
    ["eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"];

/// Mnemonics of data processing that can write the PC, and return from an exception with S.
const DATA_PROCESSING: [&str; 15] =
    ["adc", "add", "adr", "and", "asr", "bic", "eor", "lsl", "lsr", "mov", "mvn", "orr", "ror", "rrx", "rsb"];
const MORE_DATA_PROCESSING: [&str; 3] = ["rsc", "sbc", "sub"];

/// Without size qualifier, and without the condition if the rest is `base`.
fn is(mnemonic: &str, base: &str) -> bool {
    let narrow = mnemonic.trim_end_matches(".w");
    narrow.strip_prefix(base).is_some_and(|rest| rest.is_empty() || CONDITIONS.contains(&rest))
}

/// The class of an instruction as LLVM prints it.
fn reading(text: &str) -> Reading {
    let (mnemonic, operands) = text.split_once('\t').unwrap_or((text, ""));
    let plain = |class| Reading { class, offset: None };
    let target = || {
        let (_, number) = operands.rsplit_once('#').expect("a target");
        Some(number.parse().expect("a number"))
    };
    let any = |bases: &[&str]| bases.iter().any(|base| is(mnemonic, base));
    if any(&["b", "cbz", "cbnz"]) {
        return Reading { class: Class::Direct, offset: target() };
    }
    if is(mnemonic, "bl") || (is(mnemonic, "blx") && operands.starts_with('#')) {
        return Reading { class: Class::DirectLink, offset: target() };
    }
    plain(match () {
        () if is(mnemonic, "blx") => Class::IndirectLink,
        () if any(&["bx", "bxj", "tbb", "tbh"]) => Class::Indirect,
        () if any(&["eret", "rfeia", "rfeib", "rfeda", "rfedb"]) => Class::Return,
        () if is(mnemonic, "isb") => Class::Isb,
        () if any(&["dsb", "dmb", "ssbb", "pssbb"]) => Class::Barrier,
        () if any(&["mcr"]) => of_coprocessor(operands),
        () if any(&["ldm", "ldmib", "ldmda", "ldmdb", "pop"]) && loads_pc(operands) => {
            if operands.ends_with('^') { Class::Return } else { Class::Indirect }
        }
        () if operands.starts_with("pc,") => of_destination(mnemonic),
        () => Class::Other,
    })
}

fn loads_pc(operands: &str) -> bool {
    operands.trim_end_matches(" ^").ends_with("pc}")
}

/// What writes the PC.
fn of_destination(mnemonic: &str) -> Class {
    let bases = || DATA_PROCESSING.iter().chain(&MORE_DATA_PROCESSING);
    if is(mnemonic, "ldr") || bases().any(|base| is(mnemonic, base)) {
        Class::Indirect
    } else if bases().any(|base| is(mnemonic, &format!("{base}s"))) {
        Class::Return
    } else {
        Class::Other
    }
}

/// The barriers of `ARMv6` are writes to c7 of p15 with opc1 0.
fn of_coprocessor(operands: &str) -> Class {
    let fields: Vec<&str> = operands.split(", ").collect();
    match fields[..] {
        ["p15", "#0", _, "c7", "c5", "#4"] => Class::Isb,
        ["p15", "#0", _, "c7", "c10", "#4" | "#5"] => Class::Barrier,
        _ => Class::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_classes_of_the_manual() {
        let branch = |class, offset| Reading { class, offset: Some(offset) };
        let plain = |class| Reading { class, offset: None };
        for (text, expected) in [
            ("bls\t#-8", branch(Class::Direct, -8)),
            ("blt\t#8", branch(Class::Direct, 8)),
            ("blls\t#8", branch(Class::DirectLink, 8)),
            ("blx\t#562", branch(Class::DirectLink, 562)),
            ("cbnz\tr0, #126", branch(Class::Direct, 126)),
            ("beq.w\t#-10", branch(Class::Direct, -10)),
            ("blxlo\tr3", plain(Class::IndirectLink)),
            ("bxls\tlr", plain(Class::Indirect)),
            ("bics\tr1, r2, r3", plain(Class::Other)),
            ("bicsls\tpc, r2, r3", plain(Class::Return)),
            ("subseq\tpc, lr, #4", plain(Class::Return)),
            ("sub\tpc, lr, #4", plain(Class::Indirect)),
            ("movls\tpc, lr", plain(Class::Indirect)),
            ("movs\tpc, lr", plain(Class::Return)),
            ("ldm\tsp!, {r0, pc} ^", plain(Class::Return)),
            ("ldm\tpc, {r0, lr}", plain(Class::Other)),
            ("popne\t{r0, pc}", plain(Class::Indirect)),
            ("ldr\tpc, [sp], #4", plain(Class::Indirect)),
            ("ldrhs\tr1, [sp], #4", plain(Class::Other)),
            ("mcr\tp15, #0, r0, c7, c10, #5", plain(Class::Barrier)),
            ("mcr\tp15, #0, r0, c7, c10, #1", plain(Class::Other)),
            ("isb\tsy", plain(Class::Isb)),
            ("cmp\tpc, r0", plain(Class::Other)),
            ("nop", plain(Class::Other)),
        ] {
            assert_eq!(reading(text), expected, "{text}");
        }
    }
}
