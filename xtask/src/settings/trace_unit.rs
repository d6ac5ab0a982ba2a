//! From what is to be traced to the log of a driver or a debugger that enables and disables the trace unit.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use traceproof_encoder_model::arm_ete_unit::settings::{
    AddressRange, Levels, Output, Procedure, Setting, Stall, TraceRequest,
};
use traceproof_vectors::arm_ete_unit::{Access, ArmEteUnit, Operation, Packet, Parameters, Poll, Stimulus};
use traceproof_vectors::case::arm_ete_unit::show_packet;
use traceproof_vectors::notation::parse_u64;

use super::read_back;
use crate::exit::{Exit, Failure, Outcome};
use crate::files::{print, read_parameters};

/// What only a trace unit has.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct TraceUnit {
    /// The trace unit: a TOML file of its parameters; an omitted one has its default.
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,
    /// An exception level that is traced: 0 to 3 in every security state that has it, or of one: secure:1,
    /// non-secure:2, realm:0. May be repeated. Default: 0.
    #[arg(long, value_name = "[STATE:]LEVEL", value_parser = level)]
    el: Vec<Level>,
    /// The code is T32: ranges are multiples of 2 bytes, otherwise of 4.
    #[arg(long)]
    thumb: bool,
    /// Cycle counts, with this threshold.
    #[arg(long, value_name = "THRESHOLD", value_parser = short)]
    cycle_counts: Option<u16>,
    /// TRCIDR3.CCITMIN: the least threshold. Default: 4.
    #[arg(long, value_name = "THRESHOLD", value_parser = short)]
    least_threshold: Option<u16>,
    /// Context identifiers.
    #[arg(long)]
    context_id: bool,
    /// Virtual context identifiers.
    #[arg(long)]
    virtual_context_id: bool,
    /// Timestamps.
    #[arg(long)]
    timestamps: bool,
    /// No return stack: every return gives its target.
    #[arg(long)]
    no_return_stack: bool,
    /// Every branch gives its target.
    #[arg(long)]
    branch_broadcast: bool,
    /// System Error exceptions, wherever they occur.
    #[arg(long)]
    system_errors: bool,
    /// Resets of the processor, wherever they occur.
    #[arg(long)]
    resets: bool,
    /// 2 to the power of so many bytes between synchronisation requests: 8 to 20, or 0 for none. Default: 12.
    #[arg(long, value_name = "N")]
    sync_period: Option<u8>,
    /// The trace ID on the interface: 0x01 to 0x6f. Default: 0x10.
    #[arg(long, value_name = "ID", value_parser = byte)]
    trace_id: Option<u8>,
    /// The processor may be stalled: 0 to 15, where 15 stalls most.
    #[arg(long, value_name = "LEVEL")]
    stall: Option<u8>,
    /// It is stalled as often as overflow needs it.
    #[arg(long, requires = "stall")]
    no_overflow: bool,
    /// Where the trace goes. Default: interfaces.
    #[arg(long, value_name = "OUTPUT")]
    output: Option<OutputName>,
    /// A driver on the processor, by System instructions, or a debugger, by the external interface. Default: driver.
    #[arg(long, value_name = "PROGRAMMER")]
    by: Option<Programmer>,
    /// Read values of registers instead: `NAME = VALUE` on a line, or a log. Prints the options that they stand for.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["code", "el", "cycle_counts", "least_threshold",
        "context_id", "virtual_context_id", "timestamps", "no_return_stack", "branch_broadcast", "system_errors",
        "resets", "sync_period", "trace_id", "stall", "no_overflow", "by"])]
    read: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum OutputName {
    Interfaces,
    TraceBuffer,
}

impl OutputName {
    pub(super) const fn output(self) -> Output {
        match self {
            Self::Interfaces => Output::Interfaces,
            Self::TraceBuffer => Output::TraceBuffer,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Programmer {
    Driver,
    Debugger,
}

/// An exception level, in one security state or in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    state: Option<State>,
    level: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Secure,
    NonSecure,
    Realm,
}

fn level(text: &str) -> Result<Level, String> {
    let (state, level) = match text.split_once(':') {
        Some((state, level)) => (Some(state), level),
        None => (None, text),
    };
    let state = match state {
        None => None,
        Some("secure") => Some(State::Secure),
        Some("non-secure") => Some(State::NonSecure),
        Some("realm") => Some(State::Realm),
        Some(state) => return Err(format!("`{state}` is none of secure, non-secure, realm")),
    };
    let highest = if matches!(state, None | Some(State::Secure)) { 3 } else { 2 };
    let level = level.parse().ok().filter(|level| *level <= highest);
    let level = level.ok_or_else(|| format!("the exception levels are 0 to {highest}"))?;
    Ok(Level { state, level })
}

fn short(text: &str) -> Result<u16, String> {
    let value = parse_u64(text).and_then(|value| u16::try_from(value).ok());
    value.ok_or_else(|| format!("`{text}` is no number of 16 bits"))
}

fn byte(text: &str) -> Result<u8, String> {
    let value = parse_u64(text).and_then(|value| u8::try_from(value).ok());
    value.ok_or_else(|| format!("`{text}` is no number of 8 bits"))
}

impl TraceUnit {
    /// The first of these options that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--parameters", self.parameters.is_some()),
            ("--el", !self.el.is_empty()),
            ("--thumb", self.thumb),
            ("--cycle-counts", self.cycle_counts.is_some()),
            ("--least-threshold", self.least_threshold.is_some()),
            ("--context-id", self.context_id),
            ("--virtual-context-id", self.virtual_context_id),
            ("--timestamps", self.timestamps),
            ("--no-return-stack", self.no_return_stack),
            ("--branch-broadcast", self.branch_broadcast),
            ("--system-errors", self.system_errors),
            ("--resets", self.resets),
            ("--sync-period", self.sync_period.is_some()),
            ("--trace-id", self.trace_id.is_some()),
            ("--stall", self.stall.is_some()),
            ("--output", self.output.is_some()),
            ("--by", self.by.is_some()),
            ("--read", self.read.is_some()),
        ];
        given.into_iter().find_map(|(name, given)| given.then_some(name))
    }

    fn levels(&self) -> Levels {
        if self.el.is_empty() {
            return Levels::at(1);
        }
        let mut levels = Levels::at(0);
        for Level { state, level } in &self.el {
            let every = Levels::at(1 << level);
            let is = |wanted| state.is_none() || *state == Some(wanted);
            levels.secure |= if is(State::Secure) { every.secure } else { 0 };
            levels.non_secure |= if is(State::NonSecure) { every.non_secure } else { 0 };
            levels.realm |= if is(State::Realm) { every.realm } else { 0 };
        }
        levels
    }

    fn request(&self, code: &[Range<u64>]) -> TraceRequest {
        let default = TraceRequest::default();
        TraceRequest {
            ranges: code.iter().map(|range| AddressRange { start: range.start, end: range.end }).collect(),
            thumb: self.thumb,
            levels: self.levels(),
            cycle_counts: self.cycle_counts,
            least_threshold: self.least_threshold.unwrap_or(default.least_threshold),
            context_id: self.context_id,
            virtual_context_id: self.virtual_context_id,
            timestamps: self.timestamps,
            return_stack: !self.no_return_stack,
            branch_broadcast: self.branch_broadcast,
            system_errors: self.system_errors,
            resets: self.resets,
            sync_period: self.sync_period.unwrap_or(default.sync_period),
            trace_id: self.trace_id.unwrap_or(default.trace_id),
            stall: self.stall.map(|level| Stall { level, no_overflow: self.no_overflow }),
            output: self.output.map_or(default.output, OutputName::output),
        }
    }
}

pub(super) fn run(arguments: &TraceUnit, code: &[Range<u64>]) -> Outcome {
    let parameters = match &arguments.parameters {
        Some(path) => read_parameters::<ArmEteUnit>(path)?.1,
        None => Parameters::default(),
    };
    if let Some(path) = &arguments.read {
        let output = arguments.output.map(OutputName::output);
        return read_back::run(path, &parameters, arguments.thumb, output);
    }
    let request = arguments.request(code);
    let settings = request
        .settings(&parameters)
        .map_err(|refusal| Failure::usage(format!("{refusal}{}", read_back::advice(refusal))))?;
    let procedure = match arguments.by {
        Some(Programmer::Debugger) => Procedure::External,
        Some(Programmer::Driver) | None => Procedure::System,
    };
    let mut text = String::from("# Enable: from any state but Enabling to Running. Polls need a time-out.\n");
    write_steps(&mut text, &procedure.enable(&parameters, &settings, request.output), &settings);
    text.push_str("# Disable: to Idle, with every byte output.\n");
    write_steps(&mut text, &procedure.disable(&parameters, request.output), &[]);
    print(&text)?;
    Ok(Exit::Ok)
}

/// One step per line; writes of settings with what they are for.
fn write_steps(text: &mut String, steps: &[Stimulus], settings: &[Setting]) {
    for step in steps {
        let packet = match *step {
            Stimulus::Access(access) => Packet::Access(access),
            Stimulus::Poll { agent, bit, value } => {
                Packet::Poll(Poll { agent, bit, value, timed_out: false })
            }
            Stimulus::Input(input) => Packet::Input(input),
            // Inner progress of a model is in no sequence.
            _ => continue,
        };
        let item = show_packet(&packet);
        let meaning = match packet {
            Packet::Access(Access { operation: Operation::Write, register, .. }) => {
                settings.iter().find(|setting| setting.register == register)
            }
            _ => None,
        };
        let _ = match meaning.map(|setting| setting.meaning.as_str()).filter(|meaning| !meaning.is_empty()) {
            Some(meaning) => writeln!(text, "{item:<30}  # {meaning}"),
            None => writeln!(text, "{item}"),
        };
    }
}
