//! Which families exist, and what the runner must know about each beyond its vocabulary.
//!
//! Everything else in this crate is generic. To add a family: one file beside this one that implements
//! [`FamilyRules`], one row in [`IMPLEMENTED`] and one in [`visit`].

use std::io::BufRead;

use traceproof_vectors::arm_etm::ArmEtm;
use traceproof_vectors::case::{CaseProtocol, SuiteError};
use traceproof_vectors::itanium_pmu::ItaniumPmu;
use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::{Decoder, Dissection, Encoder, Family, Program, Protocol};

use crate::Subject;
use crate::elf::Machine;
use crate::execution::ExecutionError;
use crate::generate::Generated;
use crate::relations::{Attempts, Broken, Stream};
use crate::run::ProgramRun;
use crate::saboteurs::Saboteur;

/// What the runner and the command line must know about a family.
pub trait FamilyRules: CaseProtocol {
    /// A new reference decoder.
    fn reference_decoder() -> Box<dyn Decoder<Self>>;

    /// A new reference encoder model.
    fn reference_encoder() -> Box<dyn Encoder<Self>>;

    /// Names of the optional features that a subject may claim.
    const FEATURES: &'static [&'static str];

    /// Makes the wire of packets; `None` where the wire also says when things happen, so that packets do not
    /// determine it.
    const WRITE_PACKETS: Option<WritePackets<Self>> = None;

    /// Decoders and encoders that are wrong on purpose, see [`saboteurs`](crate::saboteurs).
    const SABOTEURS: &'static [Saboteur<Self>] = &[];

    /// Takes a stream apart, unit by unit and bit by bit, with the reference reader.
    fn dissect(wire: &[u8], parameters: &Self::Parameters, program: &Program) -> Vec<Dissection<Self>>;

    /// Why the reference decoder works out what it does: sentences for people, each with the index of its packet, in order of packets.
    ///
    /// For families whose results are not written in the packets.
    fn reasons(_wire: &[u8], _parameters: &Self::Parameters, _program: &Program) -> Vec<(u64, String)> {
        Vec::new()
    }

    /// Whether events say anything without the code that was running.
    const EVENTS_NEED_CODE: bool = true;

    /// The scenario that these bytes stand for, and what the reference encoder model makes of it. `None` if the family generates no
    /// scenarios.
    fn generate(_entropy: &[u8]) -> Option<Generated<Self>> {
        None
    }

    /// When stimulus is, where it says so: the parts that change while everything else of it comes again and again.
    fn moment(_stimulus: &Self::Stimulus) -> Option<Timing> {
        None
    }

    /// Puts stimulus that has a [moment](Self::moment) elsewhere in time.
    fn set_moment(_stimulus: &mut Self::Stimulus, _moment: Timing) {}

    /// Sends the scenario of [`generate`](Self::generate) through both reference models and holds what comes back against an oracle that
    /// knows the scenario and nothing of packets.
    ///
    /// # Errors
    ///
    /// What does not come back.
    fn confirm(_entropy: &[u8]) -> Result<(), String> {
        Ok(())
    }

    /// Tries [`Stream::joins`]; on nothing where the family has no synchronisation points.
    ///
    /// # Errors
    ///
    /// The first difference.
    fn joins(_stream: &Stream<'_, Self>, _most: usize) -> Result<Attempts, Broken> {
        Ok(Attempts::default())
    }

    /// Tries [`Stream::recovers`]; on nothing where the family has no synchronisation points, or no garbage.
    ///
    /// # Errors
    ///
    /// The first difference.
    fn recovers(_stream: &Stream<'_, Self>, _most: usize) -> Result<Attempts, Broken> {
        Ok(Attempts::default())
    }

    /// Turns the execution of a case into stimulus, in order.
    ///
    /// # Errors
    ///
    /// When the program cannot execute like that.
    fn drive(
        execution: &Self::Execution,
        program: &Program,
        parameters: &Self::Parameters,
        each: &mut dyn FnMut(&Self::Stimulus),
    ) -> Result<(), String>;

    /// Whether `event` directly before a `limit` fault is not judged, because how far a decoder walks before
    /// its work budget is spent is its own choice.
    fn is_open_at_limit(_event: &Self::Event) -> bool {
        false
    }

    /// The event that is still in force behind `events`, so that repeating it says nothing new even where a fault lies
    /// in between.
    fn in_force(_events: &[Self::Event]) -> Option<Self::Event> {
        None
    }

    /// The parameters that the machine of an ELF file suggests, where the user states none.
    ///
    /// # Errors
    ///
    /// When the file is for a machine that this family does not trace.
    fn parameters_for(machine: Machine) -> Result<Self::Parameters, String>;

    /// Reads parameters from the text of a file, a TOML file of parameters by the specification's names unless the family
    /// has other descriptions.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, each as `line:column: message`.
    fn read_parameters(text: &str) -> Result<Self::Parameters, Vec<String>> {
        toml::from_str(text).map_err(|error| vec![toml_error(text, &error)])
    }

    /// Sends the executions of the shipped programs through the subject; what it lacks, an encoder or a decoder, is
    /// the reference. `wanted` is asked for every program and parameter set; `progress` is called as each ends.
    ///
    /// With `parameters`, under these and no others.
    ///
    /// # Errors
    ///
    /// When the shipped programs cannot be read.
    fn run_programs(
        _subject: &Subject,
        _parameters: Option<&Self::Parameters>,
        _wanted: &(dyn Fn(&str, &str) -> bool + Sync),
        _progress: &(dyn Fn() + Sync),
    ) -> Result<Vec<ProgramRun>, SuiteError> {
        Ok(Vec::new())
    }

    /// Names of the execution file formats that [`drive_file`](Self::drive_file) reads.
    const EXECUTION_FORMATS: &'static [&'static str] = &[];

    /// Reads an execution from a file and turns it into stimulus while reading; memory does not grow with it.
    ///
    /// # Errors
    ///
    /// Names the record that cannot be read, or that the program cannot execute.
    fn drive_file(
        format: &str,
        _input: &mut dyn BufRead,
        _program: &Program,
        _parameters: &Self::Parameters,
        _each: &mut dyn FnMut(&Self::Stimulus),
    ) -> Result<FileSummary, ExecutionError> {
        Err(ExecutionError::UnknownFormat { format: format.to_owned(), known: Self::EXECUTION_FORMATS })
    }
}

/// When stimulus is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Its `context`.
    pub context: u64,
    /// Its `time`.
    pub time: u64,
}

/// An error of the TOML reader as `line:column: message`.
#[must_use]
pub fn toml_error(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{line}:{column}: {}", error.message().replace('\n', " "))
}

/// Makes the wire of packets under parameters and policy; the error says which packet cannot be written and why.
pub type WritePackets<P> = fn(
    &[<P as Protocol>::Packet],
    &<P as Protocol>::Parameters,
    &<P as Protocol>::Policy,
) -> Result<Vec<u8>, String>;

/// What was read from an execution file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSummary {
    /// Steps that became stimulus.
    pub steps: u64,
    /// Steps before the first one that the program has code for; they cannot be traced.
    pub skipped: u64,
}

/// The families that exist in this build.
pub const IMPLEMENTED: [Family; 3] = [Family::RiscvEtrace, Family::ArmEtm, Family::ItaniumPmu];

/// Something to do with a family that is known only at run time.
pub trait Visitor {
    /// What comes out.
    type Output;

    /// Does it for the family with the vocabulary `P`.
    fn visit<P: FamilyRules>(self) -> Self::Output;
}

/// Lets `visitor` visit `family`; `None` if this build does not have it.
pub fn visit<V: Visitor>(family: Family, visitor: V) -> Option<V::Output> {
    match family {
        Family::RiscvEtrace => Some(visitor.visit::<RiscvEtrace>()),
        Family::ArmEtm => Some(visitor.visit::<ArmEtm>()),
        Family::ItaniumPmu => Some(visitor.visit::<ItaniumPmu>()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Name;

    impl Visitor for Name {
        type Output = Family;
        fn visit<P: FamilyRules>(self) -> Family {
            P::FAMILY
        }
    }

    #[test]
    fn rows_and_list_agree() {
        for family in Family::ALL {
            let expected = IMPLEMENTED.contains(&family).then_some(family);
            assert_eq!(visit(family, Name), expected, "{family}");
        }
    }
}
