//! Executions that other tools wrote down, one record for each instruction or trap, as stimulus.

use std::borrow::Cow;

use traceproof_encoder_model::riscv_etrace::{Hart, HartError};
use traceproof_vectors::Program;
use traceproof_vectors::riscv_etrace::{Parameters, Policy, Retire, RiscvEtrace, Step, Stimulus, Trap, Xlen};

use super::known_pairs::KnownPairs;
use super::programs::{FlowCheck, FlowMap, foreign};
use super::retirement;
use super::rows::{AddressWords, CsvRow, CsvRows};
use super::starts::Starts;
use crate::family::{ExecutionError, ExecutionFormat, FileSummary};

/// The formats.
pub(super) const FORMATS: &[ExecutionFormat<RiscvEtrace>] = &[
    ExecutionFormat {
        name: "csv",
        drive: |input, program, parameters, policy, each| {
            let mut rows = CsvRows::new(input)?;
            run(|row| rows.read(row), "", program, parameters, policy, each)
        },
    },
    ExecutionFormat {
        name: "pc",
        drive: |input, program, parameters, policy, each| {
            let mut words = AddressWords::new(input);
            let mut number = 0;
            let next = |row: &mut CsvRow| {
                number += 1;
                let address = words.next_address()?;
                *row = CsvRow {
                    number,
                    address: address.unwrap_or_default(),
                    privilege: MACHINE,
                    ..CsvRow::default()
                };
                Ok(address.is_some())
            };
            run(next, "; this format has no traps", program, parameters, policy, each)
        },
    },
    ExecutionFormat {
        name: "ingress",
        drive: |input, _, parameters, _, each| super::ingress::drive(input, parameters, each),
    },
];

/// Machine level, for executions without levels.
const MACHINE: u8 = 3;

/// Traces the rows from the first to the last, with tracing switched on before and off after them. `next_row` reads a
/// row, or is `false` at the end; `hint` is added to the error of an address that cannot be reached.
fn run(
    next_row: impl FnMut(&mut CsvRow) -> Result<bool, ExecutionError>,
    hint: &'static str,
    program: &Program,
    parameters: &Parameters,
    policy: &Policy,
    each: &mut dyn FnMut(&Stimulus),
) -> Result<FileSummary, ExecutionError> {
    let map = FlowMap::with_zcm(program, parameters.xlen, parameters.zcmp_zcmt);
    let mut rows = Rows::new(next_row, program, Check::new(&map, program, parameters, hint));
    rows.skip_untraceable()?;
    let mut hart = Hart::new(program, parameters, retirement(parameters)).with_filters(&policy.filters);
    let impossible = |error: HartError| ExecutionError::Impossible(error.to_string());
    hart.begin();
    hart.step(&Step::Stimulus(Stimulus::Enable(true)), each).map_err(impossible)?;
    let mut step = Step::Retire(Retire::default());
    while rows.next_step(&mut step)? {
        hart.step(&step, each).map_err(impossible)?;
    }
    hart.step(&Step::Stimulus(Stimulus::Enable(false)), each).map_err(impossible)?;
    hart.finish(each);
    Ok(rows.summary)
}

/// Turns rows into steps; sees one row ahead.
struct Rows<'a, R> {
    next_row: R,
    program: &'a Program,
    check: Check<'a>,
    /// The latest two rows that were read.
    read: [CsvRow; 2],
    /// Which of them is the latest, the row ahead.
    latest: usize,
    /// There is a row ahead.
    has_ahead: bool,
    summary: FileSummary,
}

/// Refuses rows that no hart can have executed after the ones before them.
struct Check<'a> {
    flow: FlowCheck<'a>,
    program: &'a Program,
    parameters: &'a Parameters,
    hint: &'static str,
    /// Of executed instructions.
    starts: Starts,
    /// The row before.
    trap: Option<Trap>,
    known: KnownPairs,
}

/// The error of a row, with its column.
fn wrong(row: &CsvRow, column: &str, message: String) -> Result<(), ExecutionError> {
    Err(ExecutionError::Record { number: row.number, message: format!("column {column}: {message}") })
}

impl<'a> Check<'a> {
    fn new(map: &'a FlowMap, program: &'a Program, parameters: &'a Parameters, hint: &'static str) -> Self {
        let (flow, starts, known) = (FlowCheck::new(map), Starts::default(), KnownPairs::default());
        Self { flow, program, parameters, hint, starts, trap: None, known }
    }

    /// Checks the row that `step` was made of. The error names its column.
    #[inline]
    fn row(&mut self, row: &CsvRow, step: &Step) -> Result<(), ExecutionError> {
        if self.known.goes_on(row) { Ok(()) } else { self.new_row(row, step) }
    }

    /// Checks a row that is not known.
    #[inline(never)]
    fn new_row(&mut self, row: &CsvRow, step: &Step) -> Result<(), ExecutionError> {
        if let Some(before) = self.known.latest {
            self.flow.resume(before.address, self.level(before.privilege));
        }
        self.anything(row, step)?;
        self.known.add(row);
        Ok(())
    }

    /// Checks any row.
    fn anything(&mut self, row: &CsvRow, step: &Step) -> Result<(), ExecutionError> {
        self.values(row, step)?;
        match step {
            Step::Retire(_) => {
                self.code(row)?;
                self.handler(row)?;
                self.trap = None;
            }
            Step::Trap(trap) => self.trap = Some(*trap),
            Step::Stimulus(_) => {}
        }
        self.flow.step(&self.for_flow(step)).or_else(|illegal| {
            let reason = illegal.reason;
            let column = match reason {
                reason if reason.contains("level") || reason.contains("privileged") => "PRIVILEGE",
                reason if reason.contains("trapped") => "ECAUSE",
                _ => "ADDRESS",
            };
            let hint = if column == "ADDRESS" { self.hint } else { "" };
            wrong(row, column, format!("{:#x}: {reason}{hint}", row.address))
        })
    }

    /// Values that no hart with these parameters has.
    fn values(&self, row: &CsvRow, step: &Step) -> Result<(), ExecutionError> {
        let fits = |value: u64, width: u8| width >= 64 || value >> width == 0;
        let Parameters { privilege_width_p, ecause_width_p, iaddress_lsb_p, xlen, .. } = *self.parameters;
        let xlen = match xlen {
            Xlen::Rv32 => 32,
            Xlen::Rv64 => 64,
        };
        if !fits(row.privilege.into(), privilege_width_p) {
            return wrong(
                row,
                "PRIVILEGE",
                format!("{} does not fit {privilege_width_p} bits", row.privilege),
            );
        }
        if !matches!(row.privilege, 0 | 1 | 3..=6) {
            return wrong(row, "PRIVILEGE", format!("{} is no level", row.privilege));
        }
        if !fits(row.address, xlen) {
            return wrong(row, "ADDRESS", format!("{:#x} does not fit {xlen} bits", row.address));
        }
        if row.address & ((1 << iaddress_lsb_p) - 1) != 0 {
            return wrong(row, "ADDRESS", format!("{:#x} is no address of an instruction", row.address));
        }
        match step {
            Step::Trap(_) if !fits(row.cause, ecause_width_p) => {
                wrong(row, "ECAUSE", format!("{:#x} does not fit {ecause_width_p} bits", row.cause))
            }
            Step::Trap(trap) if !fits(trap.tval, xlen) => {
                wrong(row, "TVAL", format!("{:#x} does not fit {xlen} bits", trap.tval))
            }
            _ => Ok(()),
        }
    }

    /// An instruction that the program does not have, or not there.
    fn code(&mut self, row: &CsvRow) -> Result<(), ExecutionError> {
        let Some(word) = self.word(row.address) else {
            return wrong(row, "ADDRESS", format!("the program has no code at {:#x}", row.address));
        };
        if row.instruction != 0 && row.instruction != word {
            let (stated, address) = (row.instruction, row.address);
            return wrong(row, "INSN", format!("{stated:#x}, but the program has {word:#x} at {address:#x}"));
        }
        if !self.starts.add(row.address, word & 0b11 == 0b11) {
            let message =
                format!("{:#x} is inside another executed instruction, or contains one", row.address);
            return wrong(row, "ADDRESS", message);
        }
        Ok(())
    }

    /// The first instruction of a handler elsewhere than where implicit exception mode has it, without being reported.
    fn handler(&self, row: &CsvRow) -> Result<(), ExecutionError> {
        let (Some(trap), Some(vectors)) = (self.trap, self.parameters.trap_vectors) else { return Ok(()) };
        let offset = if trap.interrupt && vectors.vectored { trap.cause.wrapping_mul(4) } else { 0 };
        let handler = vectors.base.wrapping_add(offset).0;
        if self.parameters.modes.implicit_exception && row.address != handler {
            let message = format!("{:#x}, but `trap_vectors` has the handler at {handler:#x}", row.address);
            return wrong(row, "ADDRESS", message);
        }
        Ok(())
    }

    /// The step without what the check of the flow does not know: triggers that break at any instruction, and levels of
    /// debug mode and virtual machines, which have no order.
    fn for_flow<'s>(&self, step: &'s Step) -> Cow<'s, Step> {
        if self.has_order() && matches!(step, Step::Retire(_)) {
            return Cow::Borrowed(step);
        }
        let mut step = step.clone();
        match &mut step {
            Step::Retire(retire) => retire.privilege = self.level(retire.privilege),
            Step::Trap(trap) if !self.has_order() => {
                trap.privilege = self.level(trap.privilege);
                trap.cause = 2;
            }
            Step::Trap(trap) if !trap.interrupt && trap.cause == 3 => trap.cause = 2,
            _ => {}
        }
        Cow::Owned(step)
    }

    /// The ingress port does not have the EPC of an interrupt, but the file does: it decides whether a branch before it
    /// was taken.
    fn outcome(&self, row: &CsvRow, interrupt: &CsvRow) -> Option<bool> {
        let first = *self.program.bytes_at(row.address)?.first()?;
        let size = if first & 0b11 == 0b11 { 4 } else { 2 };
        Some(interrupt.address != row.address.wrapping_add(size))
    }

    /// Whether all levels are in an order.
    const fn has_order(&self) -> bool {
        self.parameters.privilege_width_p <= 2
    }

    /// A level for the check of the flow.
    const fn level(&self, level: u8) -> u8 {
        if self.has_order() { level } else { MACHINE }
    }

    /// The instruction at an address, 2 or 4 bytes.
    fn word(&self, address: u64) -> Option<u64> {
        let bytes = self.program.bytes_at(address)?;
        let half = |at: usize| Some(u64::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
        let low = half(0)?;
        if low & 0b11 == 0b11 { Some(low | half(2)? << 16) } else { Some(low) }
    }
}

impl<'a, R: FnMut(&mut CsvRow) -> Result<bool, ExecutionError>> Rows<'a, R> {
    fn new(next_row: R, program: &'a Program, check: Check<'a>) -> Self {
        let (read, summary) = (<[CsvRow; 2]>::default(), FileSummary::default());
        Self { next_row, program, check, read, latest: 0, has_ahead: false, summary }
    }

    /// Passes over what runs before the program, such as a boot ROM that is in no file.
    fn skip_untraceable(&mut self) -> Result<(), ExecutionError> {
        loop {
            let ahead = &mut self.read[self.latest];
            self.has_ahead = (self.next_row)(ahead)?;
            if !self.has_ahead || self.program.bytes_at(ahead.address).is_some() {
                return Ok(());
            }
            self.summary.skipped += 1;
        }
    }

    /// Makes `step` the next one; `false` at the end.
    fn next_step(&mut self, step: &mut Step) -> Result<bool, ExecutionError> {
        if !self.has_ahead {
            return Ok(false);
        }
        let [first, second] = &mut self.read;
        let (row, ahead) = if self.latest == 0 { (first, second) } else { (second, first) };
        self.latest = 1 - self.latest;
        self.has_ahead = (self.next_row)(ahead)?;
        self.summary.steps += 1;
        foreign::set_step(step, row);
        self.check.row(row, step)?;
        if let Step::Retire(retire) = step
            && self.has_ahead
            && ahead.interrupt
        {
            retire.taken = self.check.outcome(row, ahead);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_vectors::riscv_etrace::{Modes, TrapVectors};
    use traceproof_vectors::{Address, Section};

    /// 0x1000: nop; 0x1004: c.nop; 0x1006: ecall; 0x100a: beq x0, x0, -4 (to 0x1006).
    fn program() -> Program {
        let mut program = Program::new();
        let bytes = vec![0x13, 0, 0, 0, 1, 0, 0x73, 0, 0, 0, 0xe3, 0x0e, 0x00, 0xfe];
        program.insert(Section::new(0x1000, bytes, "")).expect("free");
        program
    }

    fn steps(text: &str) -> Result<(Vec<Step>, FileSummary), String> {
        steps_of(text, &Parameters::default())
    }

    fn steps_of(text: &str, parameters: &Parameters) -> Result<(Vec<Step>, FileSummary), String> {
        let program = program();
        let map = FlowMap::new(&program, parameters.xlen);
        let check = Check::new(&map, &program, parameters, "");
        let mut csv = CsvRows::new(text.as_bytes()).map_err(|error| error.to_string())?;
        let mut rows = Rows::new(|row: &mut CsvRow| csv.read(row), &program, check);
        rows.skip_untraceable().map_err(|error| error.to_string())?;
        let (mut steps, mut step) = (Vec::new(), Step::Retire(Retire::default()));
        while rows.next_step(&mut step).map_err(|error| error.to_string())? {
            steps.push(step.clone());
        }
        Ok((steps, rows.summary))
    }

    fn retire(address: u64, taken: Option<bool>) -> Step {
        Step::Retire(Retire { address: Address(address), taken, privilege: 3, ..Retire::default() })
    }

    fn trap(epc: u64, interrupt: bool, cause: u64) -> Step {
        Step::Trap(Trap { interrupt, cause, epc: Address(epc), privilege: 3, ..Trap::default() })
    }

    #[test]
    fn rows_become_steps() {
        let text = "ADDRESS,EXCEPTION,ECAUSE,INTERRUPT\n20,0,0,0\n1000,0,0,0\n1004,1,2,0\n1006,1,b,0\n100a,0,0,0\n1006,0,3,1\n";
        let expected = vec![
            retire(0x1000, None),
            trap(0x1004, false, 2),
            trap(0x1006, false, 11),
            retire(0x100a, Some(true)),
            trap(0x1006, true, 3),
        ];
        assert_eq!(steps(text), Ok((expected, FileSummary { steps: 5, skipped: 1 })));
    }

    #[test]
    fn code_that_is_missing_in_between_is_an_error() {
        let error = steps("ADDRESS\n1000\n2000\n").expect_err("no code");
        assert_eq!(error, "record 3: column ADDRESS: the program has no code at 0x2000");
    }

    #[test]
    fn impossible_executions_are_refused() {
        for (text, message) in [
            ("ADDRESS\n1000\n1006\n", "record 3: column ADDRESS: 0x1006: ecall and ebreak do not retire"),
            (
                "ADDRESS\n1000\n100a\n",
                "record 3: column ADDRESS: 0x100a: the instruction before it does not lead here",
            ),
            ("ADDRESS\n1001\n", "record 2: column ADDRESS: 0x1001 is no address of an instruction"),
            (
                "ADDRESS,EXCEPTION\n1000,0\n1004,1\n1002,0\n",
                "record 4: column ADDRESS: 0x1002 is inside another executed instruction, or contains one",
            ),
            (
                "ADDRESS,INSN\n1000,13\n1004,4501\n",
                "record 3: column INSN: 0x4501, but the program has 0x1 at 0x1004",
            ),
            ("ADDRESS,PRIVILEGE\n1000,9\n", "record 2: column PRIVILEGE: 9 does not fit 2 bits"),
            (
                "ADDRESS,PRIVILEGE\n1000,3\n1004,0\n",
                "record 3: column PRIVILEGE: 0x1004: the privilege level changed by itself",
            ),
            (
                "ADDRESS,EXCEPTION,ECAUSE\n1000,0,0\n1004,1,b\n",
                "record 3: column ECAUSE: 0x1004: no ecall or ebreak where one trapped",
            ),
            ("ADDRESS,EXCEPTION,ECAUSE\n1000,1,10\n", "record 2: column ECAUSE: 0x10 does not fit 4 bits"),
            (
                "ADDRESS,EXCEPTION,ECAUSE\n1000,0,0\n1006,1,b\n",
                "record 3: column ADDRESS: 0x1006: the instruction before it does not lead here",
            ),
            ("ADDRESS,PRIVILEGE\n1000,2\n", "record 2: column PRIVILEGE: 2 is no level"),
            ("ADDRESS\n1000\n100001004\n", "record 3: column ADDRESS: 0x100001004 does not fit 32 bits"),
            (
                "ADDRESS,EXCEPTION,TVAL\n1000,1,100000000\n",
                "record 2: column TVAL: 0x100000000 does not fit 32 bits",
            ),
        ] {
            assert_eq!(steps(text).expect_err("impossible"), message, "{text}");
        }
    }

    /// What is right in a row that follows the same one for the second time may be wrong in the third.
    #[test]
    fn rows_that_are_known_are_refused_for_what_changed() {
        let beginning = "ADDRESS,INSN,PRIVILEGE,EXCEPTION,ECAUSE\n\
            1000,13,3,0,0\n1004,1,3,0,0\n1006,73,3,1,b\n1006,73,3,1,b\n100a,0,3,0,0\n\
            100e,0,3,1,2\n1000,13,3,0,0\n1004,1,3,0,0\n1006,73,3,1,b\n1000,13,3,0,0\n";
        let steps = |row: &str| steps(&format!("{beginning}{row}\n"));
        assert_eq!(steps("1004,1,3,0,0").expect("as before").1, FileSummary { steps: 11, skipped: 0 });
        assert!(steps("1004,0,3,0,0").is_ok(), "the word is not stated");
        for (row, message) in [
            ("1004,2,3,0,0", "column INSN: 0x2, but the program has 0x1 at 0x1004"),
            ("1004,1,1,0,0", "column PRIVILEGE: 0x1004: the privilege level changed by itself"),
            ("1004,1,3,1,b", "column ECAUSE: 0x1004: no ecall or ebreak where one trapped"),
            ("1000,13,3,0,0", "column ADDRESS: 0x1000: the instruction before it does not lead here"),
            (
                "1004,1,3,0,0\n1004,1,3,0,0",
                "column ADDRESS: 0x1004: the instruction before it does not lead here",
            ),
            (
                "1002,0,3,0,0",
                "column ADDRESS: 0x1002 is inside another executed instruction, or contains one",
            ),
        ] {
            let number = 11 + row.lines().count();
            assert_eq!(steps(row).expect_err("impossible"), format!("record {number}: {message}"), "{row}");
        }
    }

    /// In implicit exception mode no packet has the handler's address.
    #[test]
    fn handlers_are_where_the_vectors_have_them() {
        let vectors = |vectored| Parameters {
            trap_vectors: Some(TrapVectors { base: Address(0x1000), vectored }),
            modes: Modes { implicit_exception: true, ..Modes::default() },
            ..Parameters::default()
        };
        let text = "ADDRESS,ECAUSE,INTERRUPT\n1000,0,0\n1004,1,1\n1004,0,0\n";
        let elsewhere = "record 4: column ADDRESS: 0x1004, but `trap_vectors` has the handler at 0x1000";
        assert_eq!(steps_of(text, &vectors(false)).expect_err("impossible"), elsewhere);
        assert!(steps_of(text, &vectors(true)).is_ok(), "0x1000 + 4 * 1");
        let reported = Parameters { modes: Modes::default(), ..vectors(false) };
        assert!(steps_of(text, &reported).is_ok(), "packets have the address");
    }

    #[test]
    fn addresses_alone_have_no_traps() {
        let drive = FORMATS.iter().find(|format| format.name == "pc").expect("known").drive;
        let words: Vec<u8> = [0x1000_u64, 0x100a].iter().flat_map(|word| word.to_le_bytes()).collect();
        let error =
            drive(&mut words.as_slice(), &program(), &Parameters::default(), &Policy::default(), &mut |_| {});
        assert_eq!(
            error.expect_err("a trap in between").to_string(),
            "record 2: column ADDRESS: 0x100a: the instruction before it does not lead here; this format has no traps"
        );
    }
}
