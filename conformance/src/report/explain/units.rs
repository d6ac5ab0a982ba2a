//! The dissection of a stream, bit by bit, with the output for each packet.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use traceproof_vectors::notation::show_bytes;
use traceproof_vectors::{DecoderLimits, Dissection, Entry, Field, Log, Place, Program};

use super::super::table::{render, table};
use super::beside::{Beside, entry_line};
use super::states::States;
use super::{Explaining, Form};
use crate::family::{FamilyRules, clauses_of};
use crate::line::line;

/// A stream with the output for it.
pub(super) struct View<'a, P: FamilyRules> {
    pub(super) wire: &'a [u8],
    pub(super) parameters: &'a P::Parameters,
    pub(super) program: &'a Program,
    /// The output of the reference.
    pub(super) log: &'a Log<P>,
    /// The packets that are shown.
    pub(super) packets: &'a Range<u64>,
    /// The output of a subject, where it differs.
    pub(super) beside: Option<&'a Beside>,
    /// Whether the bits of fields are wanted.
    pub(super) draws: bool,
    /// Limits of the decoder whose state is shown, beside the clauses of fields; `None` = neither.
    pub(super) limits: Option<DecoderLimits>,
}

impl<P: FamilyRules> View<'_, P> {
    /// With what is wanted: the bits of fields, their clauses, the state of the decoder.
    pub(super) fn explained(self, explaining: &Explaining<'_>) -> Self {
        let limits = explaining.teaches.then_some(explaining.limits);
        Self { draws: explaining.form != Form::Text, limits, ..self }
    }
}

/// A packet, or bytes that are none, with the output for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unit {
    /// Packet, place and bytes; empty for output after the last unit.
    pub heading: String,
    /// The table of its fields.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fields: String,
    /// The packet, its events and faults, as the reference reports them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<String>,
    /// The output of the subject, where it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<Vec<String>>,
    /// What the packet changes in the state of the reference decoder. Of the first packet of a part, also what stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<String>,
    /// Why the reference reports this.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Index of the packet; `None` for bytes that are none.
    #[serde(skip)]
    pub(super) packet: Option<u64>,
    /// Its fields with their bits.
    #[serde(skip)]
    pub(super) drawn: Vec<DrawnField>,
    /// How many instructions the reference reports for it.
    #[serde(skip)]
    pub(super) instructions: u64,
}

/// A field, as it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DrawnField {
    pub(super) name: &'static str,
    /// Its first bit, counted from bit 0 of byte 0 of the stream.
    pub(super) bit: u64,
    /// With bits that did not travel.
    pub(super) width: u32,
    /// `0` and `1` for each bit that travelled, in the order in which they do; of a long field the first ones.
    pub(super) bits: String,
    pub(super) value: u64,
    pub(super) meaning: String,
    /// Those that it follows.
    pub(super) clauses: String,
}

/// For each packet its fields, itself, the events and faults that the reference decoder reports for it, and the
/// reasons; where a subject differs, also the lines of the subject.
pub(super) fn units<P: FamilyRules>(view: &View<'_, P>) -> Vec<Unit> {
    let View { wire, parameters, program, log, packets, beside, draws, limits } = *view;
    let mut states = limits.and_then(|limits| States::<P>::new(wire, parameters, program, &limits));
    let mut writer =
        Writer { units: Vec::new(), log, listed: 0, instructions: 0, beside, shown: BTreeSet::new() };
    let reasons = P::REASONS.map(|reasons| reasons(wire, parameters, program)).unwrap_or_default();
    let mut reasons = reasons.iter().filter(|(packet, _)| *packet >= packets.start).peekable();
    P::dissect_each(wire, parameters, program, &mut |unit| {
        if !packets.contains(&unit.place.packet) {
            return;
        }
        let mut shown = writer.unit(&unit);
        shown.heading = heading(&unit, wire);
        if !unit.fields.is_empty() {
            shown.fields = fields(&unit, limits.is_some());
        }
        if draws {
            shown.drawn = drawn(&unit, wire);
        }
        if let Some(states) = &mut states {
            shown.state = states.lines(&unit.bytes);
        }
        shown.packet = unit.packet.as_ref().map(|_| unit.place.packet);
        while let Some((_, reason)) = reasons.next_if(|(packet, _)| *packet <= unit.place.packet) {
            shown.reasons.push(reason.to_string());
        }
        writer.units.push(shown);
    });
    writer.rest(packets);
    writer.units
}

/// The units as text; where a subject differs, the lines of both under their names.
pub(super) fn text(units: &[Unit], subject: &str, bits: bool) -> String {
    let mut out = String::new();
    for Unit { heading, fields, reference, subject: theirs, state, reasons, drawn, .. } in units {
        if !heading.is_empty() {
            let _ = writeln!(out, "\n{heading}");
        }
        if bits && !drawn.is_empty() {
            let fields: Vec<String> = drawn
                .iter()
                .map(|field| format!("{} {}", field.name, field.bits).trim_end().to_owned())
                .collect();
            let _ = writeln!(out, "  bits as they travel: {}", fields.join(" | "));
        }
        out.push_str(fields);
        match theirs {
            None => out.extend(reference.iter().map(|line| format!("  {line}\n"))),
            Some(theirs) => {
                for (name, lines) in [("the reference", reference), (subject, theirs)] {
                    let _ = writeln!(out, "  {name} reports:");
                    out.extend(lines.iter().map(|line| format!("    {line}\n")));
                    if lines.is_empty() {
                        out.push_str("    nothing\n");
                    }
                }
            }
        }
        out.extend(state.iter().map(|line| format!("  ~ {line}\n")));
        out.extend(reasons.iter().map(|reason| format!("  : {reason}\n")));
    }
    out
}

struct Writer<'a, P: FamilyRules> {
    units: Vec<Unit>,
    log: &'a Log<P>,
    /// Number of log entries that are in units.
    listed: usize,
    /// Instructions that were reported for the latest one.
    instructions: u64,
    beside: Option<&'a Beside>,
    /// The packets that had a unit.
    shown: BTreeSet<u64>,
}

impl<P: FamilyRules> Writer<'_, P> {
    /// The lines for a unit.
    fn unit(&mut self, unit: &Dissection<P>) -> Unit {
        let Some(packet) = &unit.packet else { return Unit::default() };
        let mut lines = Vec::new();
        match packet {
            Ok(packet) => {
                lines.push(format!("= {}", line(packet)));
                self.list(&mut lines, unit.place);
            }
            Err(fault) => {
                let before = self.listed;
                self.list(&mut lines, unit.place);
                let reported = self.log.entries.get(before..self.listed).unwrap_or_default();
                // Normally the decoder reports the same.
                if !reported.iter().any(
                    |(_, entry)| matches!(entry, Entry::Fault(reported) if reported.class == fault.class),
                ) {
                    lines.push(format!("! {fault}"));
                }
            }
        }
        self.sides(unit.place.packet, lines)
    }

    /// Adds the lines of what the decoder reported up to the packet at `place`.
    fn list(&mut self, lines: &mut Vec<String>, place: Place) {
        let rest = self.log.entries.get(self.listed..).unwrap_or_default();
        let count = rest.iter().take_while(|(at, _)| at.packet <= place.packet).count();
        let reported = rest.iter().take(count).map(|(_, entry)| entry);
        let run = |entry: &Entry<P>| match entry {
            Entry::Event(event) => P::INSTRUCTIONS.and_then(|instructions| (instructions.run)(event)),
            _ => None,
        };
        let instructions = rest.iter().take(count).filter_map(|(_, entry)| run(entry)).map(|run| run.count);
        self.instructions = instructions.sum();
        // The packet comes from the dissection.
        lines.extend(reported.filter(|entry| !matches!(entry, Entry::Packet(_))).map(entry_line::<P>));
        self.listed += count;
    }

    /// The lines for a packet, of both sides if they differ.
    fn sides(&mut self, packet: u64, reference: Vec<String>) -> Unit {
        let first = self.shown.insert(packet);
        let theirs = self.beside.filter(|_| first).and_then(|beside| beside.differing.get(&packet));
        let instructions = std::mem::take(&mut self.instructions);
        // Of two sides that differ, what is left out might be the difference.
        let reference = if theirs.is_none() { capped(reference) } else { reference };
        Unit { reference, subject: theirs.cloned(), instructions, ..Unit::default() }
    }

    /// Adds what is reported after the last unit, or for packets without a unit.
    fn rest(&mut self, packets: &Range<u64>) {
        let mut lines = Vec::new();
        self.list(&mut lines, Place { packet: u64::MAX, ..Place::default() });
        if !lines.is_empty() {
            self.units.push(Unit { reference: capped(lines), ..Unit::default() });
        }
        let Some(beside) = self.beside else { return };
        let others = beside.differing.keys().filter(|packet| packets.contains(packet));
        for packet in others.copied().collect::<Vec<_>>() {
            if !self.shown.contains(&packet) {
                let unit = self.sides(packet, Vec::new());
                let heading = format!("packet {packet}, which the reference does not have");
                self.units.push(Unit { heading, ..unit });
            }
        }
    }
}

/// Events of one packet that are shown at most, and how many of them are its last ones: a count in a packet may stand for
/// thousands.
const MOST_EVENTS: usize = 128;
const LAST_EVENTS: usize = 16;

/// The lines without the events in the middle, if there are too many; their number stands for them.
fn capped(lines: Vec<String>) -> Vec<String> {
    let is_event = |line: &String| line.starts_with("> ");
    let events = lines.iter().filter(|line| is_event(line)).count();
    if events <= MOST_EVENTS {
        return lines;
    }
    let left_out = MOST_EVENTS - LAST_EVENTS..events - LAST_EVENTS;
    let (mut number, mut kept) = (0, Vec::with_capacity(MOST_EVENTS + 2));
    for line in lines {
        if is_event(&line) {
            if number == left_out.start {
                kept.push(format!("> ... {} events left out", left_out.len()));
            }
            number += 1;
            if left_out.contains(&(number - 1)) {
                continue;
            }
        }
        kept.push(line);
    }
    kept
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
    format!("{what}, byte {}: {bytes}", unit.bytes.start)
}

/// Bits of a field that are drawn; only bytes before the first sync point have more.
const MOST_BITS: u32 = 256;

/// The fields with their bits.
fn drawn<P: FamilyRules>(unit: &Dissection<P>, wire: &[u8]) -> Vec<DrawnField> {
    let decoded = decoded(unit);
    let inner = decoded.as_object().and_then(|object| object.values().next());
    let bit_at = |bit: u64| {
        let byte = wire.get(usize::try_from(bit / 8).unwrap_or(usize::MAX)).copied().unwrap_or_default();
        if byte >> (bit % 8) & 1 == 1 { '1' } else { '0' }
    };
    let draw = |field: &Field| DrawnField {
        name: field.name,
        bit: field.bit,
        width: field.width,
        bits: (0..field.received.min(field.width).min(MOST_BITS))
            .map(|bit| bit_at(field.bit + u64::from(bit)))
            .collect(),
        value: field.value,
        meaning: meaning(field, inner.and_then(|inner| inner.get(field.name))),
        clauses: clauses_of::<P>(kind(&decoded), field.name).join(" "),
    };
    unit.fields.iter().map(draw).collect()
}

fn decoded<P: FamilyRules>(unit: &Dissection<P>) -> Value {
    match &unit.packet {
        Some(Ok(packet)) => serde_json::to_value(packet).unwrap_or_default(),
        _ => Value::Null,
    }
}

/// The name of a packet in cases; empty for what is none.
fn kind(decoded: &Value) -> &str {
    let of_fields = decoded.as_object().and_then(|object| object.keys().next()).map(String::as_str);
    of_fields.or(decoded.as_str()).unwrap_or_default()
}

/// The table of the fields, with the clauses that they follow if these are wanted.
fn fields<P: FamilyRules>(unit: &Dissection<P>, with_clauses: bool) -> String {
    let decoded = decoded(unit);
    let clauses = |field: &str| match with_clauses {
        true => clauses_of::<P>(kind(&decoded), field).join(" "),
        false => String::new(),
    };
    let has_clauses = unit.fields.iter().any(|field| !clauses(field.name).is_empty());
    // A packet is its variant's name with the fields inside.
    let inner = decoded.as_object().and_then(|object| object.values().next());
    let headings = [">bit", ">width", "field", ">raw", "meaning", "clause"];
    let mut lines = table(headings.get(..if has_clauses { 6 } else { 5 }).unwrap_or(&headings));
    for field in &unit.fields {
        let row = [
            if field.received == 0 && field.width > 0 {
                String::from("-")
            } else {
                format!("{}.{}", field.bit / 8, field.bit % 8)
            },
            field.width.to_string(),
            field.name.to_owned(),
            format!("{:#x}", field.value),
            meaning(field, inner.and_then(|inner| inner.get(field.name))),
        ];
        lines.add_row(row.into_iter().chain(has_clauses.then(|| clauses(field.name))));
    }
    let of_packet = clauses("");
    let rule = if of_packet.is_empty() { of_packet } else { format!("  the packet follows {of_packet}\n") };
    render(&lines, "  ") + &rule
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
        1 => parts.push(String::from("1 bit travelled")),
        received => parts.push(format!("{received} bits travelled")),
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_events_of_a_packet_are_counted_not_shown() {
        let lines = |events: usize| -> Vec<String> {
            let mut lines = vec![String::from("= branch_count")];
            lines.extend((0..events).map(|number| format!("> retire {number}")));
            lines.push(String::from("! limit"));
            lines
        };
        assert_eq!(capped(lines(MOST_EVENTS)), lines(MOST_EVENTS));
        let shown = capped(lines(65_536));
        assert_eq!(shown.len(), 1 + MOST_EVENTS + 1 + 1);
        assert_eq!(shown[0], "= branch_count");
        assert_eq!(shown[112], "> retire 111");
        assert_eq!(shown[113], "> ... 65408 events left out");
        assert_eq!(shown[114], "> retire 65520");
        assert_eq!(shown.last().map(String::as_str), Some("! limit"));
    }
}
