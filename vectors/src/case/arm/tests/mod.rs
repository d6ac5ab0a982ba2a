//! Compares lines of assembly with the bytes from another assembler.
//!
//! `*.txt`: a line `= options` says how llvm-mc made the lines after it, `= by hand` that they are put together from
//! the encoding diagrams of the architecture, because llvm-mc 14 does not know the instruction or wants a symbol for
//! its target. Then `bytes | text`, or `bytes | text | text for llvm-mc` where the two notations differ; `;` parts
//! lines.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

use super::*;
use crate::case::assembly::assemble;

const A32: &str = include_str!("a32.txt");
const T32: &str = include_str!("t32.txt");
const T32EE: &str = include_str!("t32ee.txt");
const A64: &str = include_str!("a64.txt");

/// One line of a file.
struct Sample {
    bytes: &'static str,
    text: &'static str,
    /// For llvm-mc, with its options; `None` for lines made by hand.
    other: Option<(&'static str, &'static str)>,
}

fn samples(file: &'static str) -> Vec<Sample> {
    let mut options = None;
    let mut samples = Vec::new();
    for line in file.lines() {
        if let Some(made) = line.strip_prefix("= ") {
            options = (made != "by hand").then_some(made);
            continue;
        }
        let mut parts = line.split(" | ");
        let mut part = || parts.next();
        let (bytes, text) = (part().expect("bytes"), part().expect("a text"));
        let other = part().unwrap_or(text);
        samples.push(Sample { bytes, text, other: options.map(|options| (options, other)) });
    }
    samples
}

fn set_of(first: InstructionSet) -> Arm {
    let address_mask = if first.is_64_bit() { u64::MAX } else { u32::MAX.into() };
    Arm { first, address_mask }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const FILES: [(InstructionSet, &str); 4] = [
    (InstructionSet::A32, A32),
    (InstructionSet::T32, T32),
    (InstructionSet::T32Ee, T32EE),
    (InstructionSet::A64, A64),
];

/// Assembles one sample, far from both ends of the address space.
fn bytes_of<M: Mnemonics>(text: &str, set: &M) -> Result<String, String> {
    let lines = format!(".org 0x20000000\n{}", text.replace("; ", "\n"));
    let assembly = assemble(&lines, set).map_err(|problem| problem.message)?;
    Ok(assembly.program.sections().iter().map(|section| hex(&section.bytes)).collect())
}

#[test]
fn lines_become_the_bytes_of_another_assembler() {
    let mut wrong = Vec::new();
    for (set, file) in FILES {
        for sample in samples(file) {
            let bytes = bytes_of(sample.text, &set_of(set));
            if bytes.as_deref() != Ok(sample.bytes) {
                wrong.push(format!("{set} {}: {bytes:?}, not {}", sample.text, sample.bytes));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Says which row encodes each line.
struct Recorder {
    arm: Arm,
    /// The lines that each row encodes.
    rows: RefCell<BTreeMap<String, BTreeSet<u128>>>,
}

impl Mnemonics for Recorder {
    type Instruction = Instruction;
    type State = State;

    fn directive(&self, word: &str, state: &mut State) -> Option<Result<(), String>> {
        self.arm.directive(word, state)
    }

    fn comment(&self, line: &str) -> usize {
        self.arm.comment(line)
    }

    fn find(&self, mnemonic: &str, operands: &[&str], state: &mut State) -> Result<Instruction, String> {
        self.arm.find(mnemonic, operands, state)
    }

    fn size(&self, instruction: Instruction) -> u8 {
        self.arm.size(instruction)
    }

    fn encode(&self, instruction: Instruction, operands: &Operands<'_>) -> Result<u128, String> {
        let line = Line::new(operands);
        let row = match instruction.kind {
            Kind::A32(row, suffix) => {
                row_of(a32::ROWS, |other| other.name == row.name && other.encode(suffix, &line).is_ok())
            }
            Kind::A64(row, condition) => {
                row_of(a64::ROWS, |other| other.name == row.name && other.encode(condition, &line).is_ok())
            }
            Kind::Thumb(row, suffix, group) => row_of(group.rows(), |other| {
                let same = other.name == row.name && other.needs_w == row.needs_w && other.takes(suffix);
                same && other.encode(suffix, &line).is_ok()
            })
            .map(|at| at + 1000 * group as usize),
            Kind::IfThen(_) | Kind::Opcode(_) => None,
        };
        let bits = self.arm.encode(instruction, operands)?;
        if let Some(row) = row {
            self.rows.borrow_mut().entry(format!("{row}")).or_default().insert(bits);
        }
        Ok(bits)
    }

    fn alignment(&self, instruction: Instruction) -> u64 {
        self.arm.alignment(instruction)
    }

    fn address_mask(&self) -> u64 {
        self.arm.address_mask()
    }
}

fn row_of<T>(rows: &[T], is_it: impl Fn(&T) -> bool) -> Option<usize> {
    rows.iter().position(is_it)
}

/// Every row of every table is tested with at least two encodings, if it has operands or suffixes.
#[test]
fn every_row_has_samples() {
    let names = |group: Group| {
        let name = move |(at, row): (usize, &thumb::Row)| (at + 1000 * group as usize, row.name);
        group.rows().iter().enumerate().map(name).collect::<Vec<_>>()
    };
    type Table = (InstructionSet, &'static str, Vec<(usize, &'static str)>);
    let tables: [Table; 4] = [
        (InstructionSet::A32, A32, a32::ROWS.iter().map(|row| row.name).enumerate().collect()),
        (InstructionSet::T32, T32, [names(Group::Narrow), names(Group::Wide)].concat()),
        (InstructionSet::T32Ee, T32EE, names(Group::Handler)),
        (InstructionSet::A64, A64, a64::ROWS.iter().map(|row| row.name).enumerate().collect()),
    ];
    let mut rare = Vec::new();
    for (set, file, rows) in tables {
        let recorder = Recorder { arm: set_of(set), rows: RefCell::default() };
        let samples = samples(file);
        for sample in &samples {
            bytes_of(sample.text, &recorder).expect(sample.text);
        }
        let used = recorder.rows.into_inner();
        for (at, name) in rows {
            let encodings = used.get(&format!("{at}")).map_or(0, BTreeSet::len);
            let alone = samples.iter().any(|sample| {
                sample.text.split("; ").any(|text| text == name || text == "tsb csync" && name == "tsb")
            });
            if encodings < 2 && !(alone && encodings == 1) {
                rare.push(format!("{set}: row {at} `{name}` has {encodings}"));
            }
        }
    }
    assert!(rare.is_empty(), "{}", rare.join("\n"));
}

/// What llvm-mc makes of lines with these options, without blanks.
fn llvm(program: &str, options: &str, lines: &[&str]) -> Vec<String> {
    let mut process = Command::new(program)
        .args(["-show-encoding"])
        .args(options.split(' '))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("llvm-mc starts");
    let input = lines.join("\n").replace("; ", "\n") + "\n";
    process.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    let output = process.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let encodings = text.lines().filter_map(|line| line.split_once("encoding: [")?.1.strip_suffix(']'));
    encodings.map(|bytes| bytes.replace("0x", "").replace(',', "")).collect()
}

/// The files agree with llvm-mc.
#[test]
fn the_files_are_what_llvm_says() {
    let names = ["llvm-mc", "llvm-mc-14"];
    let starts = |name: &&str| Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
    let Some(program) = names.into_iter().find(starts) else {
        println!("not tested: llvm-mc is not installed");
        return;
    };
    for (_, file) in FILES {
        let mut groups: BTreeMap<&str, Vec<Sample>> = BTreeMap::new();
        for sample in samples(file) {
            if let Some((options, _)) = sample.other {
                groups.entry(options).or_default().push(sample);
            }
        }
        for (options, samples) in groups {
            let lines: Vec<&str> = samples.iter().filter_map(|sample| Some(sample.other?.1)).collect();
            let expected: String = samples.iter().map(|sample| sample.bytes).collect();
            assert_eq!(llvm(program, options, &lines).concat(), expected, "{options}");
        }
    }
}

#[test]
fn directives_change_the_instruction_set() {
    let text = "b .; .thumb; b .; nop; .arm; b .; .a64; b .; .thumbee; hb #1";
    assert_eq!(bytes_of(text, &Arm::AARCH32).as_deref(), Ok("feffffeafee700bffeffffea0000001401c2"));
}

#[test]
fn instructions_are_given_by_their_opcodes() {
    let text = ".inst 0xe320f000; .a64; L: .inst 0xd503201f; .thumb; ittt eq; .inst.n 0xbf00; .inst.w 0xf3bf8f6f; beq L";
    let expected = ["00f020e3", "1f2003d5", "02bf00bfbff36f8ff8e7"].concat();
    assert_eq!(bytes_of(text, &Arm::AARCH32), Ok(expected));
    let assembly = assemble(".a64\nA: .inst 0\n.word 0", &Arm::AARCH32).expect("assembles");
    assert_eq!((assembly.labels.size_at(0), assembly.labels.size_at(4)), (Some(4), None));
}

#[test]
fn a_digit_after_the_hash_is_an_immediate() {
    for text in ["mov r0, #1 # 8000", "mov r0, #1 #x", "mov r0, #0x1", "mov r0, #1 #"] {
        assert_eq!(bytes_of(text, &Arm::AARCH32).as_deref(), Ok("0100a0e3"), "{text}");
    }
    assert_eq!(bytes_of("# 1\nnop #", &Arm::AARCH32).as_deref(), Ok("00f020e3"));
}

#[test]
fn labels_are_targets_and_literals() {
    let text =
        "A: ldr r0, D; blx T; b A; D: .word A; .thumb; T: ldr r0, E; blx A; cbz r0, E; nop; nop; E: .word T";
    let expected = ["04009fe5010000fafcffffea00000020", "0248fff7f6ef08b100bf00bf10000020"].concat();
    assert_eq!(bytes_of(text, &Arm::AARCH32), Ok(expected));
}

#[test]
fn wrong_lines_are_refused_with_a_reason() {
    use InstructionSet::{A32, A64, T32};
    for (set, text, message) in [
        (A32, "mov r0", "`mov` does not have these operands"),
        (A32, "moves r0, r1", "unknown mnemonic `moves`"),
        (A32, "mov r16, r0", "`mov` does not have these operands"),
        (A32, "mov r0, #257", "0x101 is no rotated byte"),
        (A32, "b .+2", "-6 is no multiple of 4"),
        (A32, "b .+33554440", "33554432 is out of reach"),
        (A32, "ldr r0, [r1, #4096]", "4096 does not fit into 12 bits"),
        (A32, "ldm r0, {r3-r1}", "`r3-r1` names no registers"),
        (A32, "lsl r0, r1, #32", "a shift by 32 does not exist"),
        (A32, "bx Z", "`bx` does not have these operands"),
        (A32, "b Z", "unknown label `Z`"),
        (A32, "svc #0x1000000", "16777216 does not fit into 24 bits"),
        (A32, "mov r0, #x", "an operand is missing in `r0,`"),
        (A32, "nop.w", "unknown mnemonic `nop.w`"),
        (A32, ".thumb r0", "`.thumb` has no operands"),
        (A32, ".jazelle", "unknown directive `.jazelle`"),
        (A32, ".inst", "one opcode"),
        (A32, ".inst 1, 2", "one opcode"),
        (A32, ".inst -1", "-1 does not fit into 32 bits"),
        (A64, ".inst.w 0", "`.inst.w` is no directive of a64"),
        (T32, ".inst 0xbf00", "`.inst` is no directive of t32"),
        (T32, ".inst.n 0x1bf00", "114432 does not fit into 16 bits"),
        (T32, "mov r0, #1", "`mov` does not have these operands"),
        (T32, "beq r0", "unknown label `r0`"),
        (T32, "cbz r0, .+2", "-1 does not fit into 6 bits"),
        (T32, "cbz r8, .+4", "`cbz` does not have these operands"),
        (T32, "moveq r0, #1", "unknown mnemonic `moveq`"),
        (T32, "it eq; movne r0, #1", "`movne` is no mnemonic with the condition `eq` of the IT block"),
        (T32, "it eq; cbz r0, .", "`cbz` is no mnemonic with the condition `eq` of the IT block"),
        (T32, "it eq; .arm", "`.arm` in an IT block"),
        (T32, "ldm r1, {r0, r2}", "the base register is written back, with `!`, unless it is in the list"),
        (T32, "blx .+7", "3 is no multiple of 4"),
        (T32, "hb #1", "unknown mnemonic `hb`"),
        (A64, "cbz sp, .", "`cbz` does not have these operands"),
        (A64, "b.xx .", "unknown mnemonic `b.xx`"),
        (A64, "tbz w0, #32, .", "32 does not fit into 5 bits"),
        (A64, "ldr x0, [x1, #4]", "4 is no multiple of 8"),
        (A64, "movz w0, #1, lsl #32", "a register of 32 bits has two half-words"),
        (A64, "mov x0, w1", "`mov` does not have these operands"),
    ] {
        assert_eq!(bytes_of(text, &set_of(set)), Err(message.to_owned()), "{set} {text}");
    }
    let at = |text| assemble(text, &Arm::AARCH32).map(|_| ()).map_err(|problem| problem.message);
    assert_eq!(at(".org 2\nnop"), Err("an instruction cannot lie at 0x2".to_owned()));
    assert_eq!(at(".org 2\n.thumb\nnop"), Ok(()));
}
