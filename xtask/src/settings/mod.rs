//! `traceproof settings`: register values and the sequence that writes them, from what is to be measured or traced.

mod itanium;
mod read_back;
mod trace_unit;

use std::ops::Range;

use clap::Args;
use traceproof_vectors::ProtocolId;
use traceproof_vectors::notation::parse_u64;

use crate::exit::{Failure, Outcome};

/// Compute the register values of an Itanium measurement, or of the trace unit of ARM ETE and ETMv4.
///
/// The output is in the notation of `decode --text`, in the order of the writes. Of Itanium it is one register per
/// line; ranges are covered by the fewest aligned blocks with the least excess, and addresses covered in excess are
/// reported. Of a trace unit it is the log of a driver or a debugger that enables and disables it. --read does the
/// reverse for a trace unit: which options do these values of registers stand for, and what is wrong with them?
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof settings --event CPU_CYCLES
  traceproof settings --event IA64_TAGGED_INST_RETIRED_PMC8 --opcode M:0100xxxx...
  traceproof settings --event LOADS_RETIRED --code 0x4000000000003000..0x40000000000030f0
  traceproof settings --event DATA_EAR_CACHE_LAT64 --data 0x600000000001c000..0x600000000003c000 --pairs 3
  traceproof settings --event NOPS_RETIRED --threshold 5 | traceproof decode --family itanium-pmu --text -
  traceproof settings --family arm-ete-unit --code 0x400000..0x401000 --cycle-counts 0x100 --context-id
  traceproof settings --family arm-ete-unit --by debugger --el 0 --el secure:3 --timestamps --branch-broadcast
  traceproof settings --family arm-ete-unit --read registers.txt")]
pub(crate) struct Arguments {
    /// What is programmed: itanium-pmu or arm-ete-unit.
    #[arg(long, value_name = "FAMILY", default_value = "itanium-pmu")]
    family: ProtocolId,
    /// Only instructions in this range START..END of addresses; the end is not in it. May be repeated.
    #[arg(long, value_name = "START..END", value_parser = range)]
    code: Vec<Range<u64>>,
    #[command(flatten, next_help_heading = "Itanium")]
    itanium: itanium::Itanium,
    #[command(flatten, next_help_heading = "Trace unit of ARM ETE and ETMv4")]
    trace_unit: trace_unit::TraceUnit,
}

fn number(text: &str) -> Result<u64, String> {
    parse_u64(text).ok_or_else(|| format!("`{text}` is no number"))
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let (start, end) = text.split_once("..").ok_or("expected START..END, such as 0x1000..0x1590")?;
    Ok(number(start)?..number(end)?)
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let Arguments { family, code, itanium, trace_unit } = arguments;
    let foreign = |name: Option<&'static str>, other: &str| match name {
        Some(name) => Err(Failure::usage(format!("{name} is an option of --family {other}"))),
        None => Ok(()),
    };
    match family {
        ProtocolId::ItaniumPmu => {
            foreign(trace_unit.given(), "arm-ete-unit")?;
            itanium::print_settings(itanium, code)
        }
        ProtocolId::ArmEteUnit => {
            foreign(itanium.given(), "itanium-pmu")?;
            trace_unit::run(trace_unit, code)
        }
        other => Err(Failure::usage(format!(
            "{other} has no settings; --family takes itanium-pmu and arm-ete-unit"
        ))),
    }
}
