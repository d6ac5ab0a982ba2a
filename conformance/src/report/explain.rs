//! The dissection of a case or a stream, bit by bit, with the results of the reference decoder.

use std::fmt::Write as _;

use serde_json::Value;
use traceproof_vectors::case::CaseFile;
use traceproof_vectors::notation::show_bytes;
use traceproof_vectors::{DecoderLimits, Dissection, Entry, Field, Log, Place, Program, Refusal};

use super::table::{render, table};
use super::text::{level, polarity};
use crate::family::FamilyRules;
use crate::line::line;

/// Explains a case, as the reference decoder with these limits decodes it. `describe` turns a clause id into a line.
#[must_use]
pub fn case<P: FamilyRules>(
    file: &CaseFile<P>,
    limits: &DecoderLimits,
    describe: impl Fn(&str) -> String,
) -> String {
    let case = &file.case;
    let mut out = format!("{}  {}\n", case.id, case.title);
    let _ = writeln!(out, "  {}, {}; catches: {}", level(case.level), polarity(case.polarity), case.catches);
    for clause in &case.clauses {
        let _ = writeln!(out, "  clause {}", describe(clause));
    }
    match stream::<P>(&file.resolved.wire, &case.parameters, &file.resolved.program, limits) {
        Ok(text) => out.push_str(&text),
        Err(refusal) => {
            let _ = writeln!(out, "\nThe reference decoder refuses the parameters: {refusal}");
        }
    }
    out
}

/// Explains a stream: for each packet its fields, itself, the events and faults that the reference decoder
/// reports for it, and why.
///
/// # Errors
///
/// When the reference decoder refuses the parameters.
pub fn stream<P: FamilyRules>(
    wire: &[u8],
    parameters: &P::Parameters,
    program: &Program,
    limits: &DecoderLimits,
) -> Result<String, Refusal> {
    let mut decoder = P::reference_decoder();
    decoder.set_limits(limits);
    decoder.begin(parameters, program)?;
    let mut log = Log::default();
    decoder.push(wire, &mut log);
    decoder.finish(&mut log);

    let mut out = String::new();
    let mut shown = 0;
    let reasons = P::REASONS.map(|reasons| reasons(wire, parameters, program)).unwrap_or_default();
    let mut reasons = reasons.iter().peekable();
    for unit in P::dissect(wire, parameters, program) {
        out.push('\n');
        out.push_str(&heading(&unit, wire));
        if !unit.fields.is_empty() {
            out.push_str(&fields(&unit));
        }
        match &unit.packet {
            Some(Ok(packet)) => {
                let _ = writeln!(out, "  = {}", line(packet));
                shown = list(&mut out, &log, shown, unit.place);
            }
            Some(Err(fault)) => {
                let before = shown;
                shown = list(&mut out, &log, shown, unit.place);
                // Normally the decoder reports the same.
                if !log.entries.get(before..shown).unwrap_or_default().iter().any(
                    |(_, entry)| matches!(entry, Entry::Fault(reported) if reported.class == fault.class),
                ) {
                    let _ = writeln!(out, "  ! {fault}");
                }
            }
            None => {}
        }
        while let Some((_, reason)) = reasons.next_if(|(packet, _)| *packet <= unit.place.packet) {
            let _ = writeln!(out, "  : {reason}");
        }
    }
    list(&mut out, &log, shown, Place { packet: u64::MAX, ..Place::default() });
    Ok(out)
}

/// Writes what the decoder reported up to the packet at `place`; returns how many entries have been written in all.
fn list<P: FamilyRules>(out: &mut String, log: &Log<P>, shown: usize, place: Place) -> usize {
    let rest = log.entries.get(shown..).unwrap_or_default();
    let count = rest.iter().take_while(|(at, _)| at.packet <= place.packet).count();
    for (_, entry) in rest.iter().take(count) {
        let _ = match entry {
            Entry::Packet(_) => Ok(()),
            Entry::Event(event) => writeln!(out, "  > {}", line(event)),
            Entry::Fault(fault) => writeln!(out, "  ! {fault}"),
        };
    }
    shown + count
}

fn heading<P: FamilyRules>(unit: &Dissection<P>, wire: &[u8]) -> String {
    let range = usize::try_from(unit.bytes.start).unwrap_or(usize::MAX)
        ..usize::try_from(unit.bytes.end).unwrap_or(usize::MAX);
    let bytes = show_bytes(wire.get(range).unwrap_or_default());
    let what = if unit.packet.is_some() {
        format!("packet {}", unit.place.packet)
    } else {
        String::from("no packet")
    };
    format!("{what}, byte {}: {bytes}\n", unit.bytes.start)
}

fn fields<P: FamilyRules>(unit: &Dissection<P>) -> String {
    let decoded = match &unit.packet {
        Some(Ok(packet)) => serde_json::to_value(packet).unwrap_or_default(),
        _ => Value::Null,
    };
    // A packet is its variant's name with the fields inside.
    let inner = decoded.as_object().and_then(|object| object.values().next());
    let mut lines = table(&[">bit", ">width", "field", ">raw", "meaning"]);
    for field in &unit.fields {
        lines.add_row([
            if field.received == 0 && field.width > 0 {
                String::from("-")
            } else {
                format!("{}.{}", field.bit / 8, field.bit % 8)
            },
            field.width.to_string(),
            field.name.to_owned(),
            format!("{:#x}", field.value),
            meaning(field, inner.and_then(|inner| inner.get(field.name))),
        ]);
    }
    render(&lines, "  ")
}

/// What the field says in the packet, where that is another text than the raw value, and how much of it travelled.
fn meaning(field: &Field, decoded: Option<&Value>) -> String {
    let mut parts = Vec::new();
    let text = match decoded {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Bool(flag)) if field.width == 1 && u64::from(*flag) != field.value => {
            Some(flag.to_string())
        }
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    if let Some(text) = text
        && text != format!("{:#x}", field.value)
        && text != field.value.to_string()
    {
        parts.push(text);
    }
    match field.received {
        received if received >= field.width => {}
        0 => parts.push(String::from("did not travel")),
        received => parts.push(format!("{received} bits travelled")),
    }
    parts.join(", ")
}
