//! A small assembler: labels, directives, and the instructions that a family supplies.

use super::Problem;
use super::location::{Labels, UNKNOWN, is_name, split_offset};
use crate::notation::parse_u64;
use crate::{MemorySpace, ParseMemorySpaceError, Program, Section};

/// The code of a case: its bytes, and where its labels and instructions lie.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// The bytes.
    pub program: Program,
    /// Labels and instructions.
    pub labels: Labels,
}

/// The mnemonics of one family. Messages state what is wrong with a line.
pub trait Mnemonics {
    /// One mnemonic.
    type Instruction: Copy;

    /// What lines of a program set for the lines after them; a program begins with the default.
    type State: Default;

    /// Where the comment of a line begins; its length if it has none.
    fn comment(&self, line: &str) -> usize {
        line.find('#').unwrap_or(line.len())
    }

    /// Takes a directive of the family's own, which has no operands and no bytes; `None` if it has none of that name.
    fn directive(&self, word: &str, state: &mut Self::State) -> Option<Result<(), String>> {
        let _ = (word, state);
        None
    }

    /// Looks up a mnemonic.
    ///
    /// # Errors
    ///
    /// When there is none of that name, or not in this configuration or place.
    fn find(
        &self,
        mnemonic: &str,
        operands: &[&str],
        state: &mut Self::State,
    ) -> Result<Self::Instruction, String>;

    /// Size of the instruction in bytes, 1 to 16; it never depends on the values of operands.
    fn size(&self, instruction: Self::Instruction) -> u8;

    /// The instruction's bits; byte 0 of the instruction is the least significant one.
    ///
    /// # Errors
    ///
    /// Operands of the wrong number, kind or range.
    fn encode(&self, instruction: Self::Instruction, operands: &Operands<'_>) -> Result<u128, String>;

    /// The instruction lies at multiples of so many bytes.
    fn alignment(&self, instruction: Self::Instruction) -> u64;

    /// The greatest address, one less than a power of two.
    fn address_mask(&self) -> u64;
}

/// The operands of one line.
#[derive(Debug)]
pub struct Operands<'a> {
    list: Vec<&'a str>,
    address: u64,
    labels: &'a Labels,
}

impl<'a> Operands<'a> {
    /// The operands as text.
    #[must_use]
    pub fn list(&self) -> &[&'a str] {
        &self.list
    }

    /// Byte address of the instruction.
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// The greatest address, one less than a power of two.
    #[must_use]
    pub const fn address_mask(&self) -> u64 {
        self.labels.address_mask()
    }

    /// The value of a number (`-4`, `0x10`) or of a location in the code (`A`, `A+4`, `.-8`), which wraps
    /// within the address space.
    ///
    /// # Errors
    ///
    /// When the text is neither, or the label is unknown.
    pub fn value(&self, text: &str) -> Result<i128, String> {
        let wrong = || format!("`{text}` is neither a number nor a place in the code");
        let (base, offset) = split_offset(text).ok_or_else(wrong)?;
        let base = if base == "." {
            self.address
        } else if is_name(base) {
            self.labels.address(base).ok_or_else(|| format!("unknown label `{base}`"))?
        } else if base.is_empty() && !text.is_empty() {
            return Ok(offset);
        } else {
            return parse_u64(text).map(i128::from).ok_or_else(wrong);
        };
        Ok((i128::from(base) + offset).rem_euclid(i128::from(self.labels.address_mask()) + 1))
    }
}

/// What one line asks for.
enum Statement<'a, I> {
    Origin,
    Space,
    /// One of the family's own.
    Directive,
    Data {
        size: u8,
        values: Vec<&'a str>,
    },
    Instruction {
        instruction: I,
        operands: Vec<&'a str>,
    },
}

/// A statement with its place.
struct Placed<'a, I> {
    line: usize,
    address: u128,
    space: MemorySpace,
    statement: Statement<'a, I>,
}

type Statements<'a, S> = Vec<Placed<'a, <S as Mnemonics>::Instruction>>;

/// Assembles a program.
///
/// ```text
/// .org 0x1000             # where what follows lies; 0 at first
/// A:  addi x0, x0, 0      # a label may stand before an instruction or alone
///     bne a0, x0, A       # names of locations: A, A+4, . (this instruction), .-8
/// table:
///     .word 0x1234, A     # .byte .half .word .dword, little end first
///     .inst 0xd503201f    # an instruction by its opcode, of a family that takes it
/// .space secure el1       # what follows is there in this space only; `any` at first
/// ```
///
/// Code of several spaces may lie at the same address where [`Program`] says that it is clear which one is meant.
/// Labels and locations know addresses only: instructions that share one must have the same size.
///
/// # Errors
///
/// The first wrong line, as a [`Problem`] of `program`.
pub fn assemble<S: Mnemonics>(text: &str, set: &S) -> Result<Assembly, Problem> {
    let (statements, labels) = place(text, set)?;
    let mut assembly = Assembly { program: Program::new(), labels };
    let mut section = OpenSection::default();
    for Placed { line, address, space, statement } in statements {
        let wrong = |message| Problem::in_line("program", line, message);
        if !section.continues_at(address) || section.space != space {
            section.close(&mut assembly.program)?;
            section = OpenSection { line, first: address, space, bytes: Vec::new() };
        }
        // `place` has checked that everything that has bytes has an address.
        let here = assembly.labels.wrap(address as u64);
        match statement {
            Statement::Origin | Statement::Space | Statement::Directive => {}
            Statement::Data { size, values } => {
                let mut operands = Operands { list: Vec::new(), address: here, labels: &assembly.labels };
                for text in values {
                    let value = operands.value(text).map_err(wrong)?;
                    section.push(data(value, size).map_err(wrong)?.into(), size);
                    operands.address += u64::from(size);
                }
            }
            Statement::Instruction { instruction, operands } => {
                let operands = Operands { list: operands, address: here, labels: &assembly.labels };
                let bits = set.encode(instruction, &operands).map_err(wrong)?;
                section.push(bits, set.size(instruction));
            }
        }
    }
    section.close(&mut assembly.program)?;
    Ok(assembly)
}

/// The bytes that are being collected.
#[derive(Default)]
struct OpenSection {
    line: usize,
    first: u128,
    space: MemorySpace,
    bytes: Vec<u8>,
}

impl OpenSection {
    fn continues_at(&self, address: u128) -> bool {
        self.first + self.bytes.len() as u128 == address
    }

    fn push(&mut self, bits: u128, size: u8) {
        self.bytes.extend(bits.to_le_bytes().into_iter().take(size.into()));
    }

    fn close(&mut self, program: &mut Program) -> Result<(), Problem> {
        let section = Section::new(
            self.first as u64,
            std::mem::take(&mut self.bytes),
            format!("program line {}", self.line),
        )
        .in_space(self.space);
        program.insert(section).map_err(|error| Problem::in_line("program", self.line, error.to_string()))
    }
}

/// First pass: gives every statement its address and every label its value.
fn place<'a, S: Mnemonics>(text: &'a str, set: &S) -> Result<(Statements<'a, S>, Labels), Problem> {
    let mut labels = Labels::new(set.address_mask());
    let mut statements = Vec::new();
    let mut state = S::State::default();
    let mut address = 0_u128;
    let (mut space, mut has_spaces) = (MemorySpace::ANY, false);
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let wrong = |message| Problem::in_line("program", line_number, message);
        let mut rest = line.get(..set.comment(line)).unwrap_or_default().trim();
        while let Some((name, tail)) = rest.split_once(':') {
            define(&mut labels, name.trim_end(), address).map_err(wrong)?;
            rest = tail.trim_start();
        }
        if rest.is_empty() {
            continue;
        }
        let (word, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let statement = statement(word, operands.trim(), set, &mut state).map_err(wrong)?;
        let size = match &statement {
            Statement::Directive => 0,
            Statement::Origin => {
                address = origin(operands.trim(), &labels).map_err(wrong)?.into();
                0
            }
            Statement::Space => {
                space = operands.parse().map_err(|error: ParseMemorySpaceError| wrong(error.to_string()))?;
                has_spaces |= !space.is_any();
                0
            }
            Statement::Data { size, values } => u128::from(*size) * values.len() as u128,
            Statement::Instruction { instruction, .. } => {
                let size = set.size(*instruction);
                if !address.is_multiple_of(set.alignment(*instruction).into()) {
                    return Err(wrong(format!("an instruction cannot lie at {address:#x}")));
                }
                // Two sizes can meet only where spaces keep the code apart.
                let known = labels.size_at(address as u64).filter(|known| *known != u64::from(size));
                if known.is_some() && has_spaces {
                    return Err(wrong(format!(
                        "an instruction of another size is at {address:#x} in another space"
                    )));
                }
                labels.record(address as u64, size.into());
                size.into()
            }
        };
        if address + size > u128::from(set.address_mask()) + 1 {
            return Err(wrong(format!("{address:#x} is too close to the end of the address space")));
        }
        statements.push(Placed { line: line_number, address, space, statement });
        address += size;
    }
    Ok((statements, labels))
}

fn define(labels: &mut Labels, name: &str, address: u128) -> Result<(), String> {
    if !is_name(name) || name == UNKNOWN {
        return Err(format!("`{name}` cannot name a label"));
    }
    // After the last byte of the address space lies the first one.
    let address = labels.wrap(address as u64);
    if labels.define(name, address) { Ok(()) } else { Err(format!("label `{name}` is defined twice")) }
}

fn origin(text: &str, labels: &Labels) -> Result<u64, String> {
    let address = parse_u64(text).ok_or_else(|| format!("`{text}` is no address"))?;
    if labels.wrap(address) == address {
        Ok(address)
    } else {
        Err(format!("{address:#x} is outside the address space"))
    }
}

fn statement<'a, S: Mnemonics>(
    word: &str,
    operands: &'a str,
    set: &S,
    state: &mut S::State,
) -> Result<Statement<'a, S::Instruction>, String> {
    let size = match word {
        ".org" => return Ok(Statement::Origin),
        ".space" => return Ok(Statement::Space),
        ".byte" => 1,
        ".half" => 2,
        ".word" => 4,
        ".dword" => 8,
        _ if word.starts_with('.') && word.split('.').nth(1) != Some("inst") => {
            let unknown = || Err(format!("unknown directive `{word}`"));
            set.directive(word, state).unwrap_or_else(unknown)?;
            return if operands.is_empty() {
                Ok(Statement::Directive)
            } else {
                Err(format!("`{word}` has no operands"))
            };
        }
        _ => {
            let operands = split_operands(operands)?;
            return Ok(Statement::Instruction { instruction: set.find(word, &operands, state)?, operands });
        }
    };
    let values = split_operands(operands)?;
    if values.is_empty() {
        Err(format!("`{word}` needs a value"))
    } else {
        Ok(Statement::Data { size, values })
    }
}

/// Cuts at the commas that are in no brackets.
fn split_operands(text: &str) -> Result<Vec<&str>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut depth = 0_usize;
    let operands: Vec<&str> = text
        .split(|c| {
            match c {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        })
        .map(str::trim)
        .collect();
    if operands.contains(&"") { Err(format!("an operand is missing in `{text}`")) } else { Ok(operands) }
}

/// The bits of a value of `size` bytes, signed or not.
fn data(value: i128, size: u8) -> Result<u64, String> {
    let bits = u32::from(size) * 8;
    if (-(1_i128 << (bits - 1))..1_i128 << bits).contains(&value) {
        Ok(value as u64)
    } else {
        Err(format!("{value} does not fit into {bits} bits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `op N` is the byte N, `wide X` two bytes with the value X; addresses have 16 bits.
    struct Toy;

    impl Mnemonics for Toy {
        type Instruction = u8;
        type State = ();

        fn find(&self, mnemonic: &str, _: &[&str], (): &mut ()) -> Result<u8, String> {
            match mnemonic {
                "op" => Ok(1),
                "wide" => Ok(2),
                _ => Err(format!("unknown mnemonic `{mnemonic}`")),
            }
        }

        fn size(&self, instruction: u8) -> u8 {
            instruction
        }

        fn encode(&self, _: u8, operands: &Operands<'_>) -> Result<u128, String> {
            let [operand] = operands.list() else { return Err("one operand".to_owned()) };
            operands.value(operand).map(|value| value as u128)
        }

        fn alignment(&self, _: u8) -> u64 {
            1
        }

        fn address_mask(&self) -> u64 {
            0xffff
        }
    }

    fn sections(text: &str) -> Vec<(u64, Vec<u8>)> {
        let assembly = assemble(text, &Toy).expect("assembles");
        assembly.program.sections().iter().map(|section| (section.address.0, section.bytes.clone())).collect()
    }

    #[test]
    fn labels_work_forwards_and_backwards() {
        let text = "start: wide end # forward\nA:\nB: op 7\nwide A-2\nwide .\n wide .+0x10\nend:";
        assert_eq!(sections(text), [(0, vec![9, 0, 7, 0, 0, 5, 0, 0x17, 0])]);
        let labels = assemble(text, &Toy).expect("assembles").labels;
        let names: Vec<_> = labels.names().collect();
        assert_eq!(names, [("A", 2), ("B", 2), ("end", 9), ("start", 0)]);
        let instructions: Vec<_> = labels.instructions().collect();
        assert_eq!(instructions, [(0, 2), (2, 1), (3, 2), (5, 2), (7, 2)]);
    }

    #[test]
    fn origins_start_sections_unless_contiguous() {
        let text = ".org 0x10\nop 1\n.org 0x11\nop 2\n.org 0x8\nop 3\n.org 0x20\n";
        assert_eq!(sections(text), [(8, vec![3]), (0x10, vec![1, 2])]);
    }

    #[test]
    fn code_of_several_spaces_may_lie_at_one_address() {
        let text = ".org 0x10\nop 1\nop 2\n.space secure el1\nS: op 3\n.org 0x10\nop 4\n.space any\n.org 0x20\nop 5\n";
        let assembly = assemble(text, &Toy).expect("assembles");
        let sections: Vec<_> = assembly
            .program
            .sections()
            .iter()
            .map(|section| (section.address.0, section.space.to_string(), section.bytes.as_slice()))
            .collect();
        let (any, secure) = (String::from("any"), String::from("secure el1"));
        assert_eq!(sections.len(), 4);
        for expected in [
            (0x10, any.clone(), &[1, 2][..]),
            (0x12, secure.clone(), &[3]),
            (0x10, secure, &[4]),
            (0x20, any, &[5]),
        ] {
            assert!(sections.contains(&expected), "{expected:?} in {sections:?}");
        }
        assert_eq!(assembly.labels.address("S"), Some(0x12));
        let problem = |text| assemble(text, &Toy).expect_err(text);
        let size = "an instruction of another size is at 0x0 in another space";
        let message = |line, message: &str| Problem::in_line("program", line, message);
        assert_eq!(problem("op 1\n.space el1\n.org 0\nwide 2"), message(4, size));
        assert_eq!(problem(".space el1\nop 1\n.space el2\n.org 0\nwide 2"), message(5, size));
        assert_eq!(
            problem(".space el1\nop 1\n.space secure\n.org 0\nop 2"),
            message(4, "section at 0x0 overlaps the one at 0x0, and neither space is inside of the other")
        );
        assert_eq!(
            problem(".space el1\nop 1\n.org 0\nop 2"),
            message(3, "section at 0x0 overlaps the one at 0x0")
        );
    }

    #[test]
    fn data_is_little_endian_and_no_instruction() {
        let text =
            ".byte 1, -1, 255\n.half 0x1234\n.word -2, X\n.dword 0xffffffffffffffff\n.org 0xfff0\nX: .byte 0";
        let expected =
            [&[1, 255, 255, 0x34, 0x12, 0xfe, 0xff, 0xff, 0xff, 0xf0, 0xff, 0, 0][..], &[255; 8]].concat();
        assert_eq!(sections(text), [(0, expected), (0xfff0, vec![0])]);
        let labels = assemble(text, &Toy).expect("assembles").labels;
        assert_eq!(labels.instructions().count(), 0);
    }

    #[test]
    fn a_place_in_data_is_that_of_its_value() {
        assert_eq!(sections(".org 4\n.byte ., ., .+1"), [(4, vec![4, 5, 7])]);
    }

    #[test]
    fn the_address_space_ends_and_wraps() {
        assert_eq!(
            sections(".org 0xffff\nop 1\nend: \n.org 0\nwide end\nwide .-4"),
            [(0, vec![0, 0, 0xfe, 0xff]), (0xffff, vec![1])]
        );
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, message) in [
            ("op 1\nnope 2", 2, "unknown mnemonic `nope`"),
            ("op Z", 1, "unknown label `Z`"),
            ("\n\nop 1x", 3, "`1x` is neither a number nor a place in the code"),
            ("op ", 1, "one operand"),
            ("op +", 1, "`+` is neither a number nor a place in the code"),
            ("A: op 1\nA: op 2", 2, "label `A` is defined twice"),
            ("1a: op 1", 1, "`1a` cannot name a label"),
            ("unknown: op 1", 1, "`unknown` cannot name a label"),
            ("a.b: op 1", 1, "`a.b` cannot name a label"),
            (".org", 1, "`` is no address"),
            (".org A", 1, "`A` is no address"),
            (".org 0x10000", 1, "0x10000 is outside the address space"),
            (".org 0xffff\nwide 1", 2, "0xffff is too close to the end of the address space"),
            (".space 4", 1, "`4` is no part of a memory space, or it is there twice"),
            (".skip 4", 1, "unknown directive `.skip`"),
            (".word", 1, "`.word` needs a value"),
            (".byte 1,,2", 1, "an operand is missing in `1,,2`"),
            (".byte 256", 1, "256 does not fit into 8 bits"),
            (".half -32769", 1, "-32769 does not fit into 16 bits"),
            ("op 1\n.org 4\nop 2\nop 3\n.org 5\nop 4", 5, "section at 0x5 overlaps the one at 0x4"),
        ] {
            assert_eq!(
                assemble(text, &Toy).err(),
                Some(Problem::in_line("program", line, message)),
                "{text}"
            );
        }
    }
}
