//! `traceproof decode`: a trace file as text, a source in formatter frames, or every source of a snapshot.

mod arguments;
mod frames;
mod hints;
mod piece;
mod snapshot;
mod subject;

use std::io::{IsTerminal as _, Read, stdout};

use traceproof_conformance::family::{self, FamilyRules, Visitor};
use traceproof_conformance::listing::Counts;
use traceproof_vectors::arm_ete_unit::ArmEteUnit;
use traceproof_vectors::{Program, ProtocolId};

pub(crate) use arguments::Arguments;
use arguments::exit_for;
use piece::{Broken, Pieces};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::{Output, open_trace};
use crate::snapshot::is_snapshot;

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    arguments.check_files()?;
    if arguments.is_binary() && arguments.output.as_os_str() == "-" && stdout().is_terminal() {
        return Err(Failure::usage("addresses are binary: name a file with -o, or pipe the output"));
    }
    if is_snapshot(&arguments.input) {
        if arguments.subject.is_some() {
            return Err(Failure::usage("--subject takes a trace; for a snapshot: conformance --snapshot"));
        }
        return snapshot::decode(arguments);
    }
    if !arguments.source.is_empty() {
        return Err(Failure::usage(
            "--source selects sources of a snapshot, a directory with a snapshot.ini",
        ));
    }
    let Some(family) = arguments.family else {
        let known: Vec<String> = family::IMPLEMENTED.iter().map(ToString::to_string).collect();
        return Err(Failure::usage(format!(
            "--family is missing; only a snapshot declares its protocols. One of {}",
            known.join(", ")
        )));
    };
    if let Some(id) = arguments.frames.trace_id {
        let decode = frames::Decode { arguments, id };
        return family::visit(family, decode).unwrap_or_else(|| Err(Failure::no_such_family(family)));
    }
    if let Some(name) = &arguments.subject {
        let compare = subject::Compare { arguments, name };
        return family::visit(family, compare).unwrap_or_else(|| Err(Failure::no_such_family(family)));
    }
    if arguments.import.is_given() {
        return imported(arguments, family);
    }
    family::visit(family, Decode(arguments)).unwrap_or_else(|| Err(Failure::no_such_family(family)))
}

/// A log of a trace unit in another form than its notation.
fn imported(arguments: &Arguments, family: ProtocolId) -> Outcome {
    let parameters = arguments.target.load::<ArmEteUnit>()?.1;
    let log = arguments.import.read(&arguments.input, family, &parameters)?;
    decode::<ArmEteUnit>(arguments, &Program::new(), &parameters, &mut log.wire.as_slice(), log.lines)
}

struct Decode<'a>(&'a Arguments);

impl Visitor for Decode<'_> {
    type Output = Outcome;

    fn visit<P: FamilyRules>(self) -> Outcome {
        let (program, parameters) = self.0.target.load::<P>()?;
        let mut trace = open_trace::<P>(&self.0.input, self.0.text, &parameters)?;
        let exit = decode::<P>(self.0, &program, &parameters, trace.as_mut(), Vec::new())?;
        if exit == Exit::Failed {
            hints::of_file::<P>(self.0, &parameters, &program)?;
        }
        Ok(exit)
    }
}

/// Lists a trace; `lines` are those of an imported log.
fn decode<P: FamilyRules>(
    arguments: &Arguments,
    program: &Program,
    parameters: &P::Parameters,
    trace: &mut dyn Read,
    lines: Vec<u32>,
) -> Outcome {
    let Arguments { input, output, .. } = arguments;
    let mut pieces = Pieces::<P>::new(arguments, parameters, program)?.with_lines(lines);
    let mut written = Output::create(output)?;
    let mut counts = Counts::default();
    pieces.decode(trace, &mut written, &mut counts).map_err(|broken| match broken {
        Broken::Input(error) => Failure::file(input, error),
        Broken::Other(failure) => failure,
    })?;
    pieces.finish(&mut written, &mut counts)?;
    written.publish()?;
    Ok(exit_for(counts))
}
