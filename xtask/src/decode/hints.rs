//! Which parameter would have accepted a trace that has errors.

use std::io::Read as _;

use traceproof_conformance::family::FamilyRules;
use traceproof_conformance::hints::{PREFIX, hints};
use traceproof_vectors::Program;

use super::arguments::Arguments;
use crate::exit::Failure;
use crate::files::open_trace;

/// Hints for a trace that is read once more; none if it is no plain file.
pub(super) fn of_file<P: FamilyRules>(
    arguments: &Arguments,
    parameters: &P::Parameters,
    program: &Program,
) -> Result<(), Failure> {
    let Arguments { input, text, .. } = arguments;
    if !arguments.has_hints() || !input.is_file() {
        return Ok(());
    }
    let mut trace = Vec::new();
    // One byte more shows whether there are more.
    let beginning =
        open_trace::<P>(input, *text, parameters)?.take(PREFIX as u64 + 1).read_to_end(&mut trace);
    beginning.map_err(|error| Failure::file(input, error))?;
    of_bytes::<P>(arguments, parameters, program, &trace);
    Ok(())
}

/// Hints for the first bytes of a trace.
pub(super) fn of_bytes<P: FamilyRules>(
    arguments: &Arguments,
    parameters: &P::Parameters,
    program: &Program,
    trace: &[u8],
) {
    if !arguments.has_hints() {
        return;
    }
    let found = hints::<P>(parameters, program, trace);
    for hint in &found.hints {
        eprintln!("hint: {hint}");
    }
    if found.untried > 0 {
        eprintln!("note: {} changes of a parameter were not tried (SECURITY.md)", found.untried);
    }
}
