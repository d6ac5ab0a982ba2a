//! Executions that other tools wrote down, one record for each instruction or trap, as stimulus.

use std::borrow::Cow;
use std::iter;

use traceproof_encoder_model::riscv_etrace::Hart;
use traceproof_vectors::Program;
use traceproof_vectors::riscv_etrace::{Parameters, Policy, RiscvEtrace, Step, Stimulus, Trap, Xlen};

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
            run(&mut || rows.next_row(), "", program, parameters, policy, each)
        },
    },
    ExecutionFormat {
        name: "pc",
        drive: |input, program, parameters, policy, each| {
            let mut words = AddressWords::new(input);
            let mut number = 0;
            let mut next = || {
                number += 1;
                let row = |address| CsvRow { number, address, privilege: MACHINE, ..CsvRow::default() };
                Ok(words.next_address()?.map(row))
            };
            run(&mut next, "; this format has no traps", program, parameters, policy, each)
        },
    },
    ExecutionFormat {
        name: "ingress",
        drive: |input, _, parameters, _, each| super::ingress::drive(input, parameters, each),
    },
];

/// Machine level, for executions without levels.
const MACHINE: u8 = 3;

type NextRow<'a> = &'a mut dyn FnMut() -> Result<Option<CsvRow>, ExecutionError>;

/// Traces the rows from the first to the last, with tracing switched on before and off after them. `hint` is added to
/// the error of an address that cannot be reached.
fn run(
    next_row: NextRow<'_>,
    hint: &'static str,
    program: &Program,
    parameters: &Parameters,
    policy: &Policy,
    each: &mut dyn FnMut(&Stimulus),
) -> Result<FileSummary, ExecutionError> {
    let map = FlowMap::with_zcm(program, parameters.xlen, parameters.zcmp_zcmt);
    let check = Check::new(&map, program, parameters, hint);
    let mut rows = Rows { next_row, program, check, ahead: None, summary: FileSummary::default() };
    rows.skip_untraceable()?;
    let mut failure = None;
    let middle = iter::from_fn(|| match rows.next_step() {
        Ok(step) => step,
        Err(error) => {
            failure = Some(error);
            None
        }
    });
    let enable = |on| iter::once(Step::Stimulus(Stimulus::Enable(on)));
    Hart::new(program, parameters, retirement(parameters))
        .with_filters(&policy.filters)
        .run(enable(true).chain(middle).chain(enable(false)), each)
        .map_err(|error| ExecutionError::Impossible(error.to_string()))?;
    match failure {
        Some(error) => Err(error),
        None => Ok(rows.summary),
    }
}

/// Turns rows into steps; sees one row ahead.
struct Rows<'a> {
    next_row: NextRow<'a>,
    program: &'a Program,
    check: Check<'a>,
    ahead: Option<CsvRow>,
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
}

/// The error of a row, with its column.
fn wrong(row: &CsvRow, column: &str, message: String) -> Result<(), ExecutionError> {
    Err(ExecutionError::Record { number: row.number, message: format!("column {column}: {message}") })
}

impl<'a> Check<'a> {
    fn new(map: &'a FlowMap, program: &'a Program, parameters: &'a Parameters, hint: &'static str) -> Self {
        Self { flow: FlowCheck::new(map), program, parameters, hint, starts: Starts::default(), trap: None }
    }

    /// Checks the row that `step` was made of. The error names its column.
    fn row(&mut self, row: &CsvRow, step: &Step) -> Result<(), ExecutionError> {
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
        let levels = self.parameters.privilege_width_p <= 2;
        if levels && matches!(step, Step::Retire(_)) {
            return Cow::Borrowed(step);
        }
        let mut step = step.clone();
        match &mut step {
            Step::Retire(retire) if !levels => retire.privilege = MACHINE,
            Step::Trap(trap) if !levels => {
                trap.privilege = MACHINE;
                trap.cause = 2;
            }
            Step::Trap(trap) if !trap.interrupt && trap.cause == 3 => trap.cause = 2,
            _ => {}
        }
        Cow::Owned(step)
    }

    /// The instruction at an address, 2 or 4 bytes.
    fn word(&self, address: u64) -> Option<u64> {
        let bytes = self.program.bytes_at(address)?;
        let half = |at: usize| Some(u64::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
        let low = half(0)?;
        if low & 0b11 == 0b11 { Some(low | half(2)? << 16) } else { Some(low) }
    }
}

impl Rows<'_> {
    /// Passes over what runs before the program, such as a boot ROM that is in no file.
    fn skip_untraceable(&mut self) -> Result<(), ExecutionError> {
        loop {
            self.ahead = (self.next_row)()?;
            match self.ahead {
                Some(row) if self.program.bytes_at(row.address).is_none() => self.summary.skipped += 1,
                _ => return Ok(()),
            }
        }
    }

    fn next_step(&mut self) -> Result<Option<Step>, ExecutionError> {
        let Some(row) = self.ahead else { return Ok(None) };
        self.ahead = (self.next_row)()?;
        self.summary.steps += 1;
        let mut step = foreign::step(&row);
        self.check.row(&row, &step)?;
        if let Step::Retire(retire) = &mut step {
            retire.taken = self.outcome(&row);
        }
        Ok(Some(step))
    }

    /// The ingress port does not have the EPC of an interrupt, but the file does: it decides whether a branch before it
    /// was taken.
    fn outcome(&self, row: &CsvRow) -> Option<bool> {
        let next = self.ahead.filter(|next| next.interrupt)?;
        let first = *self.program.bytes_at(row.address)?.first()?;
        let size = if first & 0b11 == 0b11 { 4 } else { 2 };
        Some(next.address != row.address.wrapping_add(size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_vectors::riscv_etrace::{Modes, Retire, TrapVectors};
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
        let mut next_row = || csv.next_row();
        let summary = FileSummary::default();
        let mut rows = Rows { next_row: &mut next_row, program: &program, check, ahead: None, summary };
        rows.skip_untraceable().map_err(|error| error.to_string())?;
        let mut steps = Vec::new();
        while let Some(step) = rows.next_step().map_err(|error| error.to_string())? {
            steps.push(step);
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
