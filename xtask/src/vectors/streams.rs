//! `traceproof vectors streams`: the cases of a protocol as files of numbers.

use std::path::PathBuf;

use clap::Args;
use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::suite::{Selection, Suite};
use traceproof_rtl::streams::{self, StreamCase, StreamManifest};
use traceproof_vectors::case::CaseFile;
use traceproof_vectors::{Log, ProtocolId};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::{print, read_parameters};
use crate::suite::SuiteArgument;

/// Write the shipped cases of a protocol as a pack of numbers: streams for decoders in hardware, stimulus for hardware
/// that is no E-Trace encoder.
///
/// A case has its bytes, what a decoder must report (JSON Lines), the code, and, if it has stimulus, a row of columns
/// for each step, with a header of their places for Verilog. `vectors check` checks the pack, `vectors answers` judges what
/// came out. The same cases give the same bytes. docs/pack.md describes the files.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof vectors streams --family arm-pft -o pack
  traceproof vectors streams --family arm-etm --filter 'arm_etm/v3_*' -o pack
  traceproof vectors streams --family itanium-pmu -o pack")]
pub(crate) struct Arguments {
    /// The protocol, e.g. arm-pft.
    #[arg(long, value_name = "FAMILY")]
    family: ProtocolId,
    /// Directory for the pack; it must be empty or not exist.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    #[command(flatten)]
    suite: SuiteArgument,
    /// Only cases whose id, title or path contains this text; with * or ? a pattern of the whole. May be repeated.
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Only cases with the parameters of this file, for hardware whose parameters are fixed.
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let manifest = family::visit(arguments.family, Write(arguments))
        .unwrap_or_else(|| Err(Failure::no_such_family(arguments.family)))?;
    let StreamManifest { cases, bytes, stimulus, left_out, .. } = &manifest;
    let driven = cases.iter().filter(|entry| entry.steps.is_some()).count();
    let steps = stimulus.as_ref().map_or(0, |sheet| sheet.rows);
    print(&format!(
        "{} cases, {} rows of bytes; {driven} of them with stimulus, {steps} rows of {} columns; {} left out\n",
        cases.len(),
        bytes.rows,
        manifest.columns.len(),
        left_out.len(),
    ))?;
    Ok(Exit::Ok)
}

struct Write<'a>(&'a Arguments);

impl Visitor for Write<'_> {
    type Output = Result<StreamManifest, Failure>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let Arguments { output, suite, filter, parameters, .. } = self.0;
        let suite = Suite::<P>::load(&suite.directories()?).map_err(|errors| Failure::suite(&errors))?;
        let parameters = parameters.as_deref().map(read_parameters::<P>).transpose()?;
        let selection = Selection { filters: filter.clone(), ..Selection::default() };
        let cases: Vec<StreamCase<P>> = suite
            .files
            .into_iter()
            .map(|file| {
                let (driven, failed) = match driven(&file) {
                    Ok(driven) => (driven, None),
                    Err(message) => (None, Some(message)),
                };
                let other = parameters.as_ref().is_some_and(|(_, known)| file.case.parameters != *known);
                let left_out = if !selection.takes(&file) {
                    Some(String::from("not selected"))
                } else if other {
                    Some(String::from("it has other parameters"))
                } else {
                    failed
                };
                let (stimulus, sent) = driven.map_or((None, Vec::new()), |it| (Some(it.stimulus), it.sent));
                StreamCase { file, stimulus, sent, left_out }
            })
            .collect();
        streams::write(output, &cases).map_err(|problem| Failure::usage(problem.to_string()))
    }
}

/// What drives the hardware of a case, step by step, and what the encoder model sends.
pub(super) struct Driven<P: FamilyRules> {
    pub(super) stimulus: Vec<P::Stimulus>,
    sent: Vec<Vec<u8>>,
}

/// `None` of a case that is about decoding only.
pub(super) fn driven<P: FamilyRules>(file: &CaseFile<P>) -> Result<Option<Driven<P>>, String> {
    let Some(execution) = &file.resolved.execution else { return Ok(None) };
    let (program, case) = (&file.resolved.program, &file.case);
    let mut encoder = P::reference_encoder();
    encoder.begin(&case.parameters, &case.policy).map_err(|refusal| refusal.to_string())?;
    let mut driven = Driven { stimulus: Vec::new(), sent: Vec::new() };
    P::drive(execution, program, &case.parameters, &case.policy, &mut |step| {
        let mut log = Log::default();
        encoder.step(step, &mut log);
        driven.stimulus.push(step.clone());
        driven.sent.push(log.wire);
    })?;
    let mut log = Log::default();
    encoder.finish(&mut log);
    driven.sent.push(log.wire);
    Ok(Some(driven))
}
