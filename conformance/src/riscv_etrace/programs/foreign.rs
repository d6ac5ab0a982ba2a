//! How do other people's recordings become steps?

use std::io::BufRead;
use std::iter;

use traceproof_vectors::riscv_etrace::{Retire, Step, Trap};

use crate::family::ExecutionError;
use crate::riscv_etrace::rows::{AddressWords, CsvRow, CsvRows};
use traceproof_vectors::Address;

/// Reads the rows of a CSV recording (see [`CsvRows`]) as steps.
///
/// A row with `EXCEPTION` or `INTERRUPT` is a trap: its address is the EPC, its privilege level the one
/// before, and **no** instruction retires with it. That holds for `ecall` and `ebreak` too: under the
/// ratified rules they do not retire (RVET-DEC-050, ET 4.2), although older models report them.
///
/// # Errors
///
/// When the header cannot be read. The iterator gives the errors of the rows, and is empty after one.
pub fn csv_steps<R: BufRead>(
    input: R,
) -> Result<impl Iterator<Item = Result<Step, ExecutionError>>, ExecutionError> {
    let mut rows = CsvRows::new(input)?;
    Ok(until_error(move || rows.next_row().map(|row| row.map(|row| step(&row)))))
}

/// Reads a recording of bare addresses (see [`AddressWords`]): instructions at one privilege level, and no
/// traps.
///
/// The iterator is empty after an error.
pub fn address_steps<R: BufRead>(
    input: R,
    privilege: u8,
) -> impl Iterator<Item = Result<Step, ExecutionError>> {
    let mut words = AddressWords::new(input);
    let retire =
        move |address| Step::Retire(Retire { address: Address(address), privilege, ..Retire::default() });
    until_error(move || words.next_address().map(|address| address.map(retire)))
}

fn until_error(
    mut next: impl FnMut() -> Result<Option<Step>, ExecutionError>,
) -> impl Iterator<Item = Result<Step, ExecutionError>> {
    let mut failed = false;
    iter::from_fn(move || {
        if failed {
            return None;
        }
        let step = next().transpose();
        failed = matches!(step, Some(Err(_)));
        step
    })
}

/// The step that a row stands for.
fn step(row: &CsvRow) -> Step {
    let mut step = Step::Retire(Retire::default());
    set_step(&mut step, row);
    step
}

/// Makes `step` the one that a row stands for. One that becomes another of its kind is changed in place.
#[inline]
pub(crate) fn set_step(step: &mut Step, row: &CsvRow) {
    let CsvRow { address, privilege, cause, tval, interrupt, .. } = *row;
    let address = Address(address);
    if row.is_trap() {
        let tval = if interrupt { 0 } else { tval };
        *step = Step::Trap(Trap { interrupt, cause, tval, epc: address, privilege, ..Trap::default() });
    } else if let Step::Retire(retire) = step {
        *retire = Retire { address, privilege, ..Retire::default() };
    } else {
        *step = Step::Retire(Retire { address, privilege, ..Retire::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_retirements_or_traps_never_both() {
        let rows = "VALID,ADDRESS,INSN,PRIVILEGE,EXCEPTION,ECAUSE,TVAL,INTERRUPT\n\
                    1,80000020,4401,3,0,0,0,0\n1,80000022,73,0,1,8,0,0\n1,80000056,13,3,1,3,7,1\n1,x,0,0,0,0,0,0\n1,0,0,0,0,0,0,0\n";
        let read: Vec<_> = csv_steps(rows.as_bytes()).expect("header").map(|step| step.ok()).collect();
        let retire = Retire { address: Address(0x8000_0020), privilege: 3, ..Retire::default() };
        let call = Trap { cause: 8, epc: Address(0x8000_0022), ..Trap::default() };
        let interrupt = Trap { interrupt: true, cause: 3, epc: Address(0x8000_0056), privilege: 3, ..call };
        let expected = [Step::Retire(retire), Step::Trap(call), Step::Trap(interrupt)];
        assert_eq!(read, [expected.map(Some).as_slice(), &[None]].concat());
    }

    #[test]
    fn words_retire_at_one_level() {
        let words = [0x8000_0000_u64.to_le_bytes().as_slice(), &[1, 2]].concat();
        let read: Vec<_> = address_steps(words.as_slice(), 1).map(|step| step.ok()).collect();
        let retire = Retire { address: Address(0x8000_0000), privilege: 1, ..Retire::default() };
        assert_eq!(read, [Some(Step::Retire(retire)), None]);
    }
}
