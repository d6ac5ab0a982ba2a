//! The register writes for an Itanium measurement.

use std::ops::Range;
use std::str::FromStr;

use clap::Args;
use traceproof_encoder_model::itanium_pmu::settings::{
    AddressRange, CodeRanges, Covered, DataRanges, EventRequest, Measurement, OpcodeMatch, OpcodePattern,
    SyllableTypes, UnusedPairs,
};

use super::{number, range};
use crate::exit::{Exit, Failure, Outcome};
use crate::files::print;

/// What only Itanium has.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Itanium {
    /// An event by name, or by name@n for the counter PMDn. May be repeated.
    #[arg(long, value_name = "NAME")]
    event: Vec<String>,
    /// Privilege levels that are measured: bit k for level k. Default: 8.
    #[arg(long, value_name = "MASK", value_parser = number)]
    plm: Option<u64>,
    /// Count cycles with more occurrences than this instead of occurrences.
    #[arg(long, value_name = "T")]
    threshold: Option<u8>,
    /// Instruction sets that are excluded: bit 0 IA-64, bit 1 IA-32.
    #[arg(long, value_name = "MASK")]
    ism: Option<u8>,
    /// Monitor for the whole system: started by PSR.pp instead of PSR.up.
    #[arg(long)]
    privileged: bool,
    /// Overflow neither freezes nor interrupts.
    #[arg(long)]
    no_interrupt: bool,
    /// Only accesses to this range START..END of addresses; the end is not in it. May be repeated.
    #[arg(long, value_name = "START..END", value_parser = range)]
    data: Vec<Range<u64>>,
    /// Maximum number of breakpoint register pairs, of four, for the ranges of code and of data. Default: 4.
    #[arg(long, value_name = "N")]
    pairs: Option<u8>,
    /// Only instructions of these types and bits, e.g. `MI:1000xxx…`: types of M, I, F, B, then bits 40 to 0 as 0, 1 or
    /// x; `...` stands for x up to bit 0. The first goes into PMC8, the second into PMC9.
    #[arg(long, value_name = "TYPES:BITS", value_parser = opcode)]
    opcode: Vec<(SyllableTypes, OpcodePattern)>,
    /// Also events that the ranges and opcodes do not qualify.
    #[arg(long)]
    unqualified: bool,
}

impl Itanium {
    /// The first of these options that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--event", !self.event.is_empty()),
            ("--plm", self.plm.is_some()),
            ("--threshold", self.threshold.is_some()),
            ("--ism", self.ism.is_some()),
            ("--privileged", self.privileged),
            ("--no-interrupt", self.no_interrupt),
            ("--data", !self.data.is_empty()),
            ("--pairs", self.pairs.is_some()),
            ("--opcode", !self.opcode.is_empty()),
            ("--unqualified", self.unqualified),
        ];
        given.into_iter().find_map(|(name, given)| given.then_some(name))
    }
}

fn ranges(ranges: &[Range<u64>]) -> Vec<AddressRange> {
    ranges.iter().map(|range| AddressRange { start: range.start, end: range.end }).collect()
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

/// The register writes of a measurement.
pub(super) fn print_settings(arguments: &Itanium, code: &[Range<u64>]) -> Outcome {
    if arguments.event.is_empty() {
        return Err(Failure::usage("--event is missing: a measurement counts events, such as CPU_CYCLES"));
    }
    let plm = u8::try_from(arguments.plm.unwrap_or(8))
        .ok()
        .filter(|plm| *plm < 16)
        .ok_or_else(|| Failure::usage("--plm has a bit for each of four privilege levels"))?;
    if arguments.opcode.len() > 2 {
        return Err(Failure::usage("there are two opcode matches only, PMC8 and PMC9"));
    }
    let (code, data) = (ranges(code), ranges(&arguments.data));
    let pairs = arguments.pairs.unwrap_or(4);
    let measurement = Measurement {
        events: arguments
            .event
            .iter()
            .map(|event| request(event, plm, arguments))
            .collect::<Result<_, _>>()?,
        code: (!code.is_empty()).then_some(CodeRanges { ranges: &code, plm, pairs }),
        data: (!data.is_empty()).then_some(DataRanges {
            ranges: &data,
            plm,
            pairs,
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

fn request(event: &str, plm: u8, arguments: &Itanium) -> Result<EventRequest, Failure> {
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
        threshold: arguments.threshold.unwrap_or(0),
        ism: arguments.ism.unwrap_or(0),
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
