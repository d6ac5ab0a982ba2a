//! `traceproof explain`: one case, one trace file, or some packets of a real program, bit by bit.

use std::borrow::Cow;
use std::env;
use std::io::{IsTerminal as _, stdout};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use traceproof_conformance::Subject;
use traceproof_conformance::family::{self, FamilyRules, RecordedProgram, Visitor};
use traceproof_conformance::report::explain::{self, Explaining, Form};
use traceproof_conformance::suite::Suite;
use traceproof_conformance::visible;
use traceproof_vectors::arm_ete_unit::ArmEteUnit;
use traceproof_vectors::case::CaseFile;
use traceproof_vectors::{Program, ProtocolId};

use crate::exit::{Exit, Failure, Outcome};
use crate::files::{EXPLAINED, IN_PART, Target, check_apart, check_length, print, read_trace, write};
use crate::import::Import;
use crate::limits::Limiting;
use crate::select::{WithCase, with_case};
use crate::subjects::{Starting, files_of, named};
use crate::suite::SuiteArgument;

/// Dissect the bytes of one case, trace file or real program: every field with its bits, every packet with its events.
///
/// `=` marks the packet, `>` an event and `!` a fault that the reference decoder reports for it, `:` the reason. With
/// --subject, each packet where the subject reports something else has the lines of both; the last line gives the
/// first difference.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof explain etr-0042
  traceproof explain etr-0042 --subject acme.toml
  traceproof explain etr-seed-17 --subject acme.toml
  traceproof explain etr-0042 --bits --state
  traceproof explain etr-0042 --svg etr-0042.svg
  traceproof explain mix.rv64gc/delta --packets 1000..1040
  traceproof explain --family riscv-etrace --elf program.elf --trace trace.bin
  traceproof explain --family itanium-pmu --text --trace registers.txt
  traceproof explain --family arm-ete-unit --import csv --trace registers.csv")]
pub(crate) struct Arguments {
    /// Id of the case, or a text that occurs in the id, title or path of only one; or a real program and its parameter
    /// set, PROGRAM/SET.
    #[arg(required_unless_present = "trace", conflicts_with = "trace")]
    case: Option<String>,
    /// A trace file instead of a case; it should be short. `-` is the standard input.
    #[arg(long, value_name = "FILE", requires = "family")]
    trace: Option<PathBuf>,
    /// The protocol of the trace file, e.g. riscv-etrace.
    #[arg(long, value_name = "FAMILY", requires = "trace")]
    family: Option<ProtocolId>,
    #[command(flatten)]
    suite: SuiteArgument,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    limiting: Limiting,
    /// Also show the output of this subject; names as for `conformance`.
    #[arg(long, value_name = "NAME|FILE.toml")]
    subject: Option<String>,
    #[command(flatten)]
    starting: Starting,
    /// Only these packets, e.g. 100..120. Default for a real program: the first 32, or with --subject those around the
    /// first difference.
    #[arg(long, value_name = "FIRST..END", value_parser = parse_packets)]
    packets: Option<Range<u64>>,
    /// Time limit in seconds for a stream of a subject in this process; programs have the deadlines of their file.
    #[arg(long, value_name = "SECONDS", default_value = "10", requires = "subject")]
    deadline: u64,
    /// The trace file is text: a transport unit per line, as in the `wire` of a case.
    #[arg(long, requires = "trace")]
    text: bool,
    /// Also show the bits of each field, in the order in which they travel.
    #[arg(long)]
    bits: bool,
    /// Also name the clauses that packets and fields follow, and show what each packet changes in the state of the
    /// decoder. A picture has both.
    #[arg(long)]
    state: bool,
    /// Write a picture instead of text: a timeline of packets over instructions, and the bits of each packet.
    #[arg(long, value_name = "FILE", conflicts_with = "bits")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    import: Import,
}

fn parse_packets(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str| text.parse::<u64>().ok();
    match text.split_once("..").map(|(first, end)| (number(first), number(end))) {
        Some((Some(first), Some(end))) if first < end => Ok(first..end),
        _ => Err(String::from("expected FIRST..END, such as 100..120")),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let Arguments { case, family, suite, limiting, packets, deadline, .. } = arguments;
    check_files(arguments)?;
    let limits = limiting.collected();
    let subject = arguments.subject.as_deref().map(|name| named(name, &arguments.starting));
    let subject: Option<Subject> = subject.transpose()?.map(|subject| subject.with_limits(limits));
    let explaining = Explaining {
        limits,
        packets: packets.clone(),
        subject: subject.as_ref(),
        deadline: Duration::from_secs(*deadline),
        form: match &arguments.svg {
            Some(_) => Form::Svg,
            None if arguments.bits => Form::Bits,
            None => Form::Text,
        },
        only_difference: false,
        teaches: arguments.state || arguments.svg.is_some(),
    };
    let text = match (case, *family) {
        (Some(case), _) => with_case(case, suite, &Explanation(&explaining))?,
        (None, Some(family)) if arguments.import.is_given() => imported(arguments, family, &explaining)?,
        (None, Some(family)) => family::visit(family, Stream { arguments, explaining: &explaining })
            .unwrap_or_else(|| Err(Failure::no_such_family(family)))?,
        (None, None) => return Err(Failure::usage("name a case, or a trace file and its family")),
    };
    match &arguments.svg {
        Some(picture) => write(picture, text.as_bytes())?,
        None => print(&coloured(&visible::lines(&text)))?,
    }
    Ok(Exit::Ok)
}

/// The outputs are none of the inputs.
fn check_files(arguments: &Arguments) -> Result<(), Failure> {
    let subject = arguments.subject.as_deref().map(files_of).unwrap_or_default();
    let mut inputs = arguments.target.files();
    inputs.push(("--trace", arguments.trace.as_deref()));
    inputs.extend(subject.iter().map(|file| ("--subject", Some(file.as_path()))));
    let outputs = [("--svg", arguments.svg.as_deref()), arguments.starting.output()];
    check_apart(&inputs, &outputs)?;
    arguments.suite.check_outputs(&outputs)
}

/// With colours where the reader can see them: headings bold, events green, faults red, state violet, reasons faint.
fn coloured(text: &str) -> Cow<'_, str> {
    if !stdout().is_terminal() || env::var_os("NO_COLOR").is_some() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(painted(text))
}

fn painted(text: &str) -> String {
    let paint = |line: &str| {
        let code = match line.trim_start().get(..2) {
            _ if line.starts_with("packet ") || line.starts_with("no packet") => "1",
            Some("= ") => "36",
            Some("> ") => "32",
            Some("! ") => "31;1",
            Some("~ ") => "35",
            Some(": ") => "2",
            _ => return format!("{line}\n"),
        };
        format!("\x1b[{code}m{line}\x1b[0m\n")
    };
    text.lines().map(paint).collect()
}

/// A log of a trace unit in another form than its notation.
fn imported(
    arguments: &Arguments,
    family: ProtocolId,
    explaining: &Explaining<'_>,
) -> Result<String, Failure> {
    let (program, parameters) = arguments.target.load::<ArmEteUnit>()?;
    let path = arguments.trace.as_deref().unwrap_or_else(|| "-".as_ref());
    let log = arguments.import.read(path, family, &parameters)?;
    explained::<ArmEteUnit>(path, &log.wire, &parameters, &program, explaining)
}

/// Most packets that are a part of a stream.
const PART: u64 = 4096;

/// Bytes of a stream that is short enough.
fn longest(explaining: &Explaining<'_>) -> u64 {
    // A subject is compared over the whole stream.
    let packets = explaining.packets.as_ref().filter(|_| explaining.subject.is_none());
    if packets.is_some_and(|packets| packets.end - packets.start <= PART) { IN_PART } else { EXPLAINED }
}

/// Explains a stream that is short enough.
fn explained<P: FamilyRules>(
    path: &Path,
    wire: &[u8],
    parameters: &P::Parameters,
    program: &Program,
    explaining: &Explaining<'_>,
) -> Result<String, Failure> {
    check_length(path, wire, longest(explaining))?;
    explain::stream::<P>(wire, parameters, program, explaining)
        .map_err(|refusal| Failure::usage(refusal.to_string()))
}

struct Stream<'a> {
    arguments: &'a Arguments,
    explaining: &'a Explaining<'a>,
}

impl Visitor for Stream<'_> {
    type Output = Result<String, Failure>;

    fn visit<P: FamilyRules>(self) -> Self::Output {
        let Arguments { target, trace, text, .. } = self.arguments;
        let (program, parameters) = target.load::<P>()?;
        let path = trace.as_deref().unwrap_or_else(|| "-".as_ref());
        let wire = read_trace::<P>(path, *text, &parameters, longest(self.explaining))?;
        explained::<P>(path, &wire, &parameters, &program, self.explaining)
    }
}

struct Explanation<'a>(&'a Explaining<'a>);

impl WithCase for Explanation<'_> {
    fn text<P: FamilyRules>(&self, file: &CaseFile<P>, suite: &Suite<P>) -> String {
        explain::case(file, self.0, |clause| suite.describe(clause))
    }

    fn program_text<P: FamilyRules>(&self, program: RecordedProgram<P>) -> Result<String, String> {
        explain::program(program, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::painted;
    use crate::files::visible;

    /// What is printed is made visible, but for colours that are known there.
    #[test]
    fn colours_reach_the_terminal() {
        for beginning in ["packet 0", "no packet", "= branch", "  > retire", "! limit", "~ state", ": why"] {
            let line = painted(beginning);
            assert!(line.starts_with("\x1b[") && line.ends_with("\x1b[0m\n"), "{line:?}");
            assert_eq!(visible(&line), line);
        }
    }
}
