//! How many packets, bytes, events and instructions a trace has.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use traceproof_vectors::{Address, Fault, Place, Sink};

use super::Counts;
use crate::family::{Clock, FamilyRules};
use crate::line::write_line;
use crate::report::table::{render, table};
use crate::stream::StreamSink;

/// A sink that counts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Statistics {
    /// Bytes of the trace.
    pub bytes: u64,
    /// Those that belong to no packet: before the first sync point, idle, headers of an encapsulation, or in packets
    /// that could not be read.
    pub bytes_without_packet: u64,
    /// Packets by kind.
    pub packets: BTreeMap<String, Packets>,
    /// Events by kind.
    pub events: BTreeMap<String, u64>,
    /// Faults by class.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub faults: BTreeMap<String, u64>,
    /// Executed instructions; `None` where no event reports one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
    /// Bits of the trace for each instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits_per_instruction: Option<f64>,
    /// Cycles, where the trace has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// The first and the latest timestamp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<[Address; 2]>,
    #[serde(skip)]
    state: State,
}

/// Packets of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Packets {
    /// How many.
    pub count: u64,
    /// Their bytes, each packet from its first to its last one.
    pub bytes: u64,
    /// Bytes of the longest one.
    pub longest: u64,
}

#[derive(Clone, Debug, Default)]
struct State {
    counts: Counts,
    line: String,
    /// Bytes of the stream so far; streams follow each other.
    end: u64,
    /// The end of the latest packet.
    covered: u64,
    /// The number of the latest cycle.
    cycle: Option<u64>,
}

impl Statistics {
    /// Another stream begins, for instance after a gap.
    pub fn begin_stream(&mut self) {
        (self.state.end, self.state.covered, self.state.cycle) = (0, 0, None);
    }

    /// Ends the statistics and returns what was counted of it as in a listing.
    pub fn finish(&mut self) -> Counts {
        let ratio = |instructions: u64| (self.bytes * 8) as f64 / instructions as f64;
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        self.bits_per_instruction = self.instructions.map(|count| rounded(ratio(count)));
        self.state.counts
    }

    /// As a table for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = self.totals();
        let mut packets: Vec<_> = self.packets.iter().collect();
        packets.sort_by_key(|(name, packets)| (std::cmp::Reverse(packets.bytes), *name));
        let mut lines = table(&["packets", ">count", ">bytes", ">share", ">average", ">longest"]);
        for (kind, Packets { count, bytes, longest }) in packets {
            let share = 100.0 * *bytes as f64 / self.bytes.max(1) as f64;
            let average = *bytes as f64 / *count as f64;
            lines.add_row([
                kind.clone(),
                count.to_string(),
                bytes.to_string(),
                format!("{share:.1}%"),
                format!("{average:.1}"),
                longest.to_string(),
            ]);
        }
        let _ = write!(out, "\n{}", render(&lines, ""));
        for (title, kinds) in [("events", &self.events), ("faults", &self.faults)] {
            if !kinds.is_empty() {
                let mut lines = table(&[title, ">count"]);
                for (kind, count) in kinds {
                    lines.add_row([kind.clone(), count.to_string()]);
                }
                let _ = write!(out, "\n{}", render(&lines, ""));
            }
        }
        out
    }

    fn totals(&self) -> String {
        let packets: u64 = self.packets.values().map(|packets| packets.count).sum();
        // What is malformed is no packet, and must not be missed above a long table.
        let faults = match self.faults.values().sum::<u64>() {
            0 => String::new(),
            1 => String::from(", 1 fault"),
            faults => format!(", {faults} faults"),
        };
        let mut out = format!(
            "{} bytes, {packets} packets{faults}; {} bytes belong to no packet\n",
            self.bytes, self.bytes_without_packet
        );
        if let (Some(count), Some(bits)) = (self.instructions, self.bits_per_instruction) {
            let _ = writeln!(out, "{count} instructions, {bits:.3} bits of trace for each");
        }
        if let Some(cycles) = self.cycles {
            let _ = write!(out, "{cycles} cycles");
            if let Some(count) = self.instructions {
                let _ = write!(out, ", {:.2} for each instruction", cycles as f64 / count as f64);
            }
            out.push('\n');
        }
        if let Some([first, latest]) = self.time {
            let _ = writeln!(out, "timestamps {first} to {latest}");
        }
        out
    }

    fn clock(&mut self, clock: Clock) {
        match clock {
            Clock::Cycles(more) => {
                let cycles = self.cycles.get_or_insert(0);
                *cycles = cycles.saturating_add(more);
            }
            Clock::Cycle(number) => {
                let before = self.state.cycle.replace(number);
                let more = before.map_or(1, |before| number.saturating_sub(before));
                self.clock(Clock::Cycles(more));
            }
            Clock::Time(time) => {
                let first = self.time.map_or(Address(time), |[first, _]| first);
                self.time = Some([first, Address(time)]);
            }
        }
    }

    fn kind<T: Serialize + ?Sized>(&mut self, value: &T) -> String {
        self.state.line.clear();
        write_line(&mut self.state.line, value);
        let line = &self.state.line;
        let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(line.len());
        line.get(..end).unwrap_or_default().to_owned()
    }
}

impl<P: FamilyRules> Sink<P> for Statistics {
    fn packet(&mut self, place: Place, packet: &P::Packet) {
        self.state.counts.packets += 1;
        let bytes = self.state.end.saturating_sub(place.byte);
        // Packets of a trace port may overlap.
        let new = self.state.end.saturating_sub(place.byte.max(self.state.covered));
        self.bytes_without_packet = self.bytes_without_packet.saturating_sub(new);
        self.state.covered = self.state.end;
        let kind = self.kind(packet);
        let packets = self.packets.entry(kind).or_default();
        packets.count += 1;
        packets.bytes += bytes;
        packets.longest = packets.longest.max(bytes);
    }

    fn event(&mut self, _: Place, event: &P::Event) {
        self.state.counts.events += 1;
        let kind = self.kind(event);
        *self.events.entry(kind).or_default() += 1;
        let Some(instructions) = P::INSTRUCTIONS else { return };
        if let Some(run) = (instructions.run)(event) {
            *self.instructions.get_or_insert(0) += run.count;
        }
        if let Some(clock) = (instructions.clock)(event) {
            self.clock(clock);
        }
    }

    fn fault(&mut self, fault: &Fault) {
        let counts = &mut self.state.counts;
        *if fault.class.is_warning() { &mut counts.warnings } else { &mut counts.errors } += 1;
        *self.faults.entry(fault.class.to_string()).or_default() += 1;
    }
}

impl<P: FamilyRules> StreamSink<P> for Statistics {
    fn follows_bytes(&self) -> bool {
        true
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let length = bytes.len() as u64;
        self.bytes += length;
        self.bytes_without_packet += length;
        self.state.end += length;
    }

    fn is_done(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceproof_vectors::FaultClass;
    use traceproof_vectors::arm_pft::{ArmPft, Event, Packet};

    fn place(packet: u64, byte: u64) -> Place {
        Place { packet, byte, bit: 0 }
    }

    fn counted() -> Statistics {
        let mut statistics = Statistics::default();
        let read = |statistics: &mut Statistics, bytes: &[u8]| {
            StreamSink::<ArmPft>::bytes(statistics, bytes);
        };
        read(&mut statistics, &[0; 3]);
        read(&mut statistics, &[0; 6]);
        let sink = &mut statistics as &mut dyn Sink<ArmPft>;
        sink.packet(place(0, 3), &Packet::AlignmentSync { zeros: 5 });
        read(&mut statistics, &[0; 1]);
        let sink = &mut statistics as &mut dyn Sink<ArmPft>;
        sink.packet(place(1, 9), &Packet::Trigger);
        sink.event(place(1, 9), &Event::Trigger);
        for count in [3, 4] {
            sink.event(place(1, 9), &Event::Cycles { count, total: 9 });
            sink.event(place(1, 9), &Event::Timestamp { value: Some(count.into()), clock_change: false });
        }
        sink.fault(&Fault::new(FaultClass::Truncated, place(2, 10)));
        statistics
    }

    #[test]
    fn bytes_are_those_of_packets_or_of_none() {
        let mut statistics = counted();
        let counts = statistics.finish();
        assert_eq!(counts, Counts { packets: 2, events: 5, errors: 1, warnings: 0 });
        assert_eq!((statistics.bytes, statistics.bytes_without_packet), (10, 3));
        assert_eq!(statistics.packets["alignment_sync"], Packets { count: 1, bytes: 6, longest: 6 });
        assert_eq!(statistics.packets["trigger"], Packets { count: 1, bytes: 1, longest: 1 });
        assert_eq!(statistics.cycles, Some(7));
        assert_eq!(statistics.time, Some([Address(3), Address(4)]));
        assert_eq!(statistics.bits_per_instruction, None);
    }

    #[test]
    fn statistics_are_a_table_or_json() {
        let mut statistics = counted();
        statistics.finish();
        insta::assert_snapshot!("statistics", statistics.text());
        insta::assert_snapshot!("statistics_json", serde_json::to_string(&statistics).expect("JSON"));
    }

    #[test]
    fn numbered_cycles_are_counted_by_their_distance() {
        let mut statistics = Statistics::default();
        for cycle in [10, 10, 14] {
            statistics.clock(Clock::Cycle(cycle));
        }
        statistics.begin_stream();
        statistics.clock(Clock::Cycle(0));
        assert_eq!(statistics.cycles, Some(6), "one for the first of each stream, and 4");
    }
}
