//! `traceproof settings`: the register writes for an Itanium measurement.

use std::str::FromStr;

use clap::Args;
use traceproof_encoder_model::itanium_pmu::settings::{
    AddressRange, CodeRanges, Covered, DataRanges, EventRequest, Measurement, OpcodeMatch, OpcodePattern,
    SyllableTypes, UnusedPairs,
};
use traceproof_vectors::notation::parse_u64;

use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;

/// Compute the register values of an Itanium measurement: events, address ranges and opcodes.
///
/// The output is in the notation of `decode --text`, one register per line in the order of the writes. Ranges are
/// covered by the fewest aligned blocks with the least excess; addresses covered in excess are reported.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  traceproof settings --event CPU_CYCLES
  traceproof settings --event IA64_TAGGED_INST_RETIRED_PMC8 --opcode M:0100xxxx...
  traceproof settings --event LOADS_RETIRED --code 0x4000000000003000..0x40000000000030f0
  traceproof settings --event DATA_EAR_CACHE_LAT64 --data 0x600000000001c000..0x600000000003c000 --pairs 3
  traceproof settings --event NOPS_RETIRED --threshold 5 | traceproof decode --family itanium-pmu --text -")]
pub(crate) struct Arguments {
    /// An event by name, or by name@n for the counter PMDn. May be repeated.
    #[arg(long, value_name = "NAME", required = true)]
    event: Vec<String>,
    /// Privilege levels that are measured: bit k for level k.
    #[arg(long, value_name = "MASK", default_value = "8", value_parser = number)]
    plm: u64,
    /// Count cycles with more occurrences than this instead of occurrences.
    #[arg(long, value_name = "T", default_value = "0")]
    threshold: u8,
    /// Instruction sets that are excluded: bit 0 IA-64, bit 1 IA-32.
    #[arg(long, value_name = "MASK", default_value = "0")]
    ism: u8,
    /// Monitor for the whole system: started by PSR.pp instead of PSR.up.
    #[arg(long)]
    privileged: bool,
    /// Overflow neither freezes nor interrupts.
    #[arg(long)]
    no_interrupt: bool,
    /// Only instructions in this range START..END of addresses; the end is not in it. May be repeated.
    #[arg(long, value_name = "START..END", value_parser = range)]
    code: Vec<AddressRange>,
    /// Only accesses to this range START..END of addresses; the end is not in it. May be repeated.
    #[arg(long, value_name = "START..END", value_parser = range)]
    data: Vec<AddressRange>,
    /// Maximum number of breakpoint register pairs, of four, for the ranges of code and of data.
    #[arg(long, value_name = "N", default_value = "4")]
    pairs: u8,
    /// Only instructions of these types and bits, e.g. `MI:1000xxx…`: types of M, I, F, B, then bits 40 to 0 as 0, 1 or
    /// x; `...` stands for x up to bit 0. The first goes into PMC8, the second into PMC9.
    #[arg(long, value_name = "TYPES:BITS", value_parser = opcode)]
    opcode: Vec<(SyllableTypes, OpcodePattern)>,
    /// Also events that the ranges and opcodes do not qualify.
    #[arg(long)]
    unqualified: bool,
}

fn number(text: &str) -> Result<u64, String> {
    parse_u64(text).ok_or_else(|| format!("`{text}` is no number"))
}

fn range(text: &str) -> Result<AddressRange, String> {
    let (start, end) = text.split_once("..").ok_or("expected START..END, such as 0x1000..0x1590")?;
    Ok(AddressRange { start: number(start)?, end: number(end)? })
}

fn opcode(text: &str) -> Result<(SyllableTypes, OpcodePattern), String> {
    let (names, bits) = text.split_once(':').ok_or("expected TYPES:BITS, such as M:0100...")?;
    let mut types = SyllableTypes { m: false, i: false, f: false, b: false };
    for name in names.chars() {
        match name.to_ascii_uppercase() {
            'M' => types.m = true,
            'I' => types.i = true,
            'F' => types.f = true,
            'B' => types.b = true,
            _ => return Err(format!("`{name}` is no type of syllable; known are M, I, F, B")),
        }
    }
    let bits = match bits.strip_suffix("...").or_else(|| bits.strip_suffix('…')) {
        Some(first) => format!("{first:x<41}"),
        None => bits.to_owned(),
    };
    let pattern = OpcodePattern::from_str(&bits).map_err(|refusal| refusal.to_string())?;
    Ok((types, pattern))
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let plm = u8::try_from(arguments.plm)
        .ok()
        .filter(|plm| *plm < 16)
        .ok_or_else(|| Failure::usage("--plm has a bit for each of four privilege levels"))?;
    if arguments.opcode.len() > 2 {
        return Err(Failure::usage("there are two opcode matches only, PMC8 and PMC9"));
    }
    let measurement = Measurement {
        events: arguments
            .event
            .iter()
            .map(|event| request(event, plm, arguments))
            .collect::<Result<_, _>>()?,
        code: (!arguments.code.is_empty()).then_some(CodeRanges {
            ranges: &arguments.code,
            plm,
            pairs: arguments.pairs,
        }),
        data: (!arguments.data.is_empty()).then_some(DataRanges {
            ranges: &arguments.data,
            plm,
            pairs: arguments.pairs,
            pmc11: 0,
            unused: UnusedPairs::Neutral,
        }),
        opcodes: arguments
            .opcode
            .iter()
            .zip([8, 9])
            .map(|(&(types, pattern), pmc)| OpcodeMatch { pmc, types, pattern })
            .collect(),
        unqualified: arguments.unqualified,
    };
    let answer = measurement.settings().map_err(|refusal| Failure::usage(refusal.to_string()))?;
    let mut text = String::new();
    for setting in &answer.settings {
        let assignment = format!("{} = {:#018x}", setting.register, setting.value);
        text.push_str(&format!("{assignment:<28}  # {}\n", setting.meaning));
    }
    print(&text)?;
    for covered in answer.code.iter().chain(&answer.data) {
        report_excess(covered);
    }
    for (opcode, not_compared) in answer.not_compared.iter().enumerate().filter(|(_, bits)| **bits != 0) {
        eprintln!("note: opcode {}: bits {not_compared:#x} of the syllable are not compared", opcode + 1);
    }
    Ok(Exit::Ok)
}

fn request(event: &str, plm: u8, arguments: &Arguments) -> Result<EventRequest, Failure> {
    let (name, counter) = match event.split_once('@') {
        Some((name, counter)) => {
            let counter = counter
                .parse()
                .map_err(|_| Failure::usage(format!("`{counter}` is no counter; they are 4 to 7")))?;
            (name, Some(counter))
        }
        None => (event, None),
    };
    Ok(EventRequest {
        counter,
        threshold: arguments.threshold,
        ism: arguments.ism,
        pm: arguments.privileged,
        oi: !arguments.no_interrupt,
        ..EventRequest::new(name, plm)
    })
}

fn report_excess(covered: &Covered) {
    let Covered { asked, before, between, after, .. } = covered;
    if before + between + after > 0 {
        eprintln!(
            "note: {:#x}..{:#x} is covered with an excess of {before:#x} bytes before it, {between:#x} inside, {after:#x} after it",
            asked.start, asked.end
        );
    }
}
