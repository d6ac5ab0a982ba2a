//! Executions that other tools wrote down, one record for each instruction or trap, as stimulus.

use std::iter;

use traceproof_encoder_model::riscv_etrace::Hart;
use traceproof_vectors::Program;
use traceproof_vectors::riscv_etrace::{Parameters, Policy, RiscvEtrace, Step, Stimulus};

use super::programs::foreign;
use super::retirement;
use super::rows::{AddressWords, CsvRow, CsvRows};
use crate::family::{ExecutionError, ExecutionFormat, FileSummary};

/// The formats.
pub(super) const FORMATS: &[ExecutionFormat<RiscvEtrace>] = &[
    ExecutionFormat {
        name: "csv",
        drive: |input, program, parameters, policy, each| {
            let mut rows = CsvRows::new(input)?;
            run(&mut || rows.next_row(), program, parameters, policy, each)
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
            run(&mut next, program, parameters, policy, each)
        },
    },
];

/// Machine level, for executions without levels.
const MACHINE: u8 = 3;

type NextRow<'a> = &'a mut dyn FnMut() -> Result<Option<CsvRow>, ExecutionError>;

/// Traces the rows from the first to the last, with tracing switched on before and off after them.
fn run(
    next_row: NextRow<'_>,
    program: &Program,
    parameters: &Parameters,
    policy: &Policy,
    each: &mut dyn FnMut(&Stimulus),
) -> Result<FileSummary, ExecutionError> {
    let mut rows = Rows { next_row, program, ahead: None, summary: FileSummary::default() };
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
    ahead: Option<CsvRow>,
    summary: FileSummary,
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
        if let Step::Retire(retire) = &mut step {
            if self.program.bytes_at(row.address).is_none() {
                let message = format!("the program has no code at {:#x}", row.address);
                return Err(ExecutionError::Record { number: row.number, message });
            }
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
    use traceproof_vectors::riscv_etrace::{Retire, Trap};
    use traceproof_vectors::{Address, Section};

    /// 0x1000: nop; 0x1004: c.nop; 0x1006: ecall; 0x100a: beq x0, x0, -4 (to 0x1006).
    fn program() -> Program {
        let mut program = Program::new();
        let bytes = vec![0x13, 0, 0, 0, 1, 0, 0x73, 0, 0, 0, 0xe3, 0x0e, 0x00, 0xfe];
        program.insert(Section::new(0x1000, bytes, "")).expect("free");
        program
    }

    fn steps(text: &str) -> Result<(Vec<Step>, FileSummary), String> {
        let program = program();
        let mut csv = CsvRows::new(text.as_bytes()).map_err(|error| error.to_string())?;
        let mut next_row = || csv.next_row();
        let mut rows =
            Rows { next_row: &mut next_row, program: &program, ahead: None, summary: FileSummary::default() };
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

    fn trap(epc: u64, interrupt: bool, cause: u16) -> Step {
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
        assert_eq!(error, "record 3: the program has no code at 0x2000");
    }
}
