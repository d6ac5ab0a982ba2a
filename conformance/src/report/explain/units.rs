//! The dissection of a stream, bit by bit, with the output for each packet.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use serde_json::Value;
use traceproof_vectors::notation::show_bytes;
use traceproof_vectors::{Dissection, Entry, Field, Log, Place, Program};

use super::super::table::{render, table};
use super::beside::{Beside, entry_line};
use crate::family::FamilyRules;
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
}

/// For each packet its fields, itself, the events and faults that the reference decoder reports for it, and the
/// reasons; where a subject differs, the lines of both under their names.
pub(super) fn units<P: FamilyRules>(view: &View<'_, P>) -> String {
    let View { wire, parameters, program, log, packets, beside } = *view;
    let mut writer = Writer { out: String::new(), log, listed: 0, beside, shown: BTreeSet::new() };
    let reasons = P::REASONS.map(|reasons| reasons(wire, parameters, program)).unwrap_or_default();
    let mut reasons = reasons.iter().filter(|(packet, _)| *packet >= packets.start).peekable();
    P::dissect_each(wire, parameters, program, &mut |unit| {
        if !packets.contains(&unit.place.packet) {
            return;
        }
        writer.out.push('\n');
        writer.out.push_str(&heading(&unit, wire));
        if !unit.fields.is_empty() {
            writer.out.push_str(&fields(&unit));
        }
        writer.unit(&unit);
        while let Some((_, reason)) = reasons.next_if(|(packet, _)| *packet <= unit.place.packet) {
            let _ = writeln!(writer.out, "  : {reason}");
        }
    });
    writer.rest(packets);
    writer.out
}

struct Writer<'a, P: FamilyRules> {
    out: String,
    log: &'a Log<P>,
    /// Number of log entries that have been written.
    listed: usize,
    beside: Option<&'a Beside>,
    /// The packets that had a unit.
    shown: BTreeSet<u64>,
}

impl<P: FamilyRules> Writer<'_, P> {
    /// Writes the lines for a unit.
    fn unit(&mut self, unit: &Dissection<P>) {
        let Some(packet) = &unit.packet else { return };
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
        self.write(unit.place.packet, &lines);
    }

    /// Adds the lines of what the decoder reported up to the packet at `place`.
    fn list(&mut self, lines: &mut Vec<String>, place: Place) {
        let rest = self.log.entries.get(self.listed..).unwrap_or_default();
        let count = rest.iter().take_while(|(at, _)| at.packet <= place.packet).count();
        let reported = rest.iter().take(count).map(|(_, entry)| entry);
        // The packet comes from the dissection.
        lines.extend(reported.filter(|entry| !matches!(entry, Entry::Packet(_))).map(entry_line::<P>));
        self.listed += count;
    }

    /// Writes the lines for a packet, of both sides if they differ.
    fn write(&mut self, packet: u64, ours: &[String]) {
        let first = self.shown.insert(packet);
        let theirs = self.beside.and_then(|beside| Some((&beside.name, beside.differing.get(&packet)?)));
        let Some((name, theirs)) = theirs.filter(|_| first) else {
            self.out.extend(ours.iter().map(|line| format!("  {line}\n")));
            return;
        };
        for (name, lines) in [("the reference", ours), (name, theirs)] {
            let _ = writeln!(self.out, "  {name} reports:");
            self.out.extend(lines.iter().map(|line| format!("    {line}\n")));
            if lines.is_empty() {
                self.out.push_str("    nothing\n");
            }
        }
    }

    /// Writes what is reported after the last unit, or for packets without a unit.
    fn rest(&mut self, packets: &Range<u64>) {
        let mut lines = Vec::new();
        self.list(&mut lines, Place { packet: u64::MAX, ..Place::default() });
        self.out.extend(lines.iter().map(|line| format!("  {line}\n")));
        let Some(beside) = self.beside else { return };
        let others = beside.differing.keys().filter(|packet| packets.contains(packet));
        for packet in others.copied().collect::<Vec<_>>() {
            if !self.shown.contains(&packet) {
                let _ = writeln!(self.out, "\npacket {packet}, which the reference does not have");
                self.write(packet, &[]);
            }
        }
    }
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
