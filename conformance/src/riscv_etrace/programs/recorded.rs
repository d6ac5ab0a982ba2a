//! A shipped program with a parameter set, for any encoder.

use std::cell::{Cell, RefCell};

use traceproof_encoder_model::riscv_etrace::Hart;
use traceproof_vectors::case::SuiteError;
use traceproof_vectors::riscv_etrace::RiscvEtrace;

use super::feed::Feed;
use super::{FlowMap, ParameterSet, Shipped, ShippedError, ShippedProgram};
use crate::family::{DriveRecording, RecordedProgram, Wanted};

/// The program of this name under the parameter set of this name.
///
/// # Errors
///
/// When the shipped programs cannot be read, or there is no such set for the program.
pub(super) fn recorded(program: &str, set: &str) -> Result<Option<RecordedProgram<RiscvEtrace>>, SuiteError> {
    let unreadable = |error: ShippedError| SuiteError {
        path: error.path.clone(),
        place: None,
        message: error.to_string(),
    };
    let shipped = Shipped::riscv_etrace().map_err(unreadable)?;
    let Some(shown) = shipped.programs.iter().find(|known| known.name == program).cloned() else {
        return Ok(None);
    };
    let found = ParameterSet::named(set);
    let Some((found, setup)) = found.and_then(|found| Some((found, found.setup(&shown)?))) else {
        let sets = ParameterSet::ALL.iter().filter(|set| set.setup(&shown).is_some());
        let known: Vec<&str> = sets.map(|set| set.name).collect();
        let message = format!("{program} has no parameter set `{set}`; it has {}", known.join(", "));
        return Err(SuiteError { path: shipped.files.locate("programs.toml"), place: None, message });
    };
    let code = shipped.image(&shown).map_err(unreadable)?.program;
    let ShippedProgram { about, instructions, traps, .. } = shown.clone();
    let (parameters, policy) = (setup.parameters.clone(), setup.policy.clone());
    let drive: DriveRecording<RiscvEtrace> = {
        let code = code.clone();
        Box::new(move |each| {
            let steps = shipped.execution(&shown).map_err(|error| error.to_string())?;
            let (wrong, ended) = (RefCell::new(None), Cell::new(false));
            let readable =
                steps.map_while(|step| step.map_err(|error| *wrong.borrow_mut() = Some(error)).ok());
            let map = FlowMap::new(&code, setup.parameters.xlen);
            let feed = Feed::new(readable, &map, setup.environment).take_while(|_| !ended.get());
            Hart::new(&code, &setup.parameters, setup.retirement)
                .run(feed, &mut |stimulus| ended.set(ended.get() || each(stimulus) == Wanted::NoMore))
                .map_err(|error| error.to_string())?;
            wrong.into_inner().map_or(Ok(()), |error| Err(error.to_string()))
        })
    };
    Ok(Some(RecordedProgram {
        program: program.to_owned(),
        about,
        set: set.to_owned(),
        about_set: found.about.to_owned(),
        parameters,
        policy,
        code,
        instructions,
        traps,
        drive,
    }))
}
