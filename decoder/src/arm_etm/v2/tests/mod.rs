//! Worked examples, synchronisation, faults and arbitrary captures.
//!
//! Expected values are those of the worked examples, or worked out by hand.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::arm_etm::v2::{Cycle, Pipestat};
use traceproof_vectors::arm_etm::{ArmEtm, Event, MissingReason, Packet, Parameters, Reason, Value};
use traceproof_vectors::{Decoder as _, Entry, Log, Program};

use super::Decoder;

mod arbitrary;
mod examples;
mod exceptions;
mod faults;
mod pins;
mod synchronisation;

/// Bytes written as pairs of digits; `|` only separates packets.
fn bytes(text: &str) -> Vec<u8> {
    text.split_ascii_whitespace()
        .filter(|word| *word != "|")
        .map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal"))
        .collect()
}

fn port(port_width: u8) -> Parameters {
    Parameters { port_width, ..Parameters::default() }
}

/// A record with this status and TRACEPKT.
fn cycle(parameters: &Parameters, pipestat: Pipestat, tracepkt: u16) -> Vec<u8> {
    let bytes = Cycle { pipestat, tracepkt }.to_bytes(parameters);
    bytes[..Cycle::size(parameters)].to_vec()
}

/// Plays cycles, separated by `;`, through a FIFO without latency:
///
/// * a status and the bytes that the cycle places in the FIFO: `DE 26 04 12`;
/// * `TR` before that: the trigger occurs;
/// * `TFO` and a TFO packet;
/// * `drain`: WT until the FIFO is empty; `drain 3`: three times.
fn play(parameters: &Parameters, script: &str) -> Vec<u8> {
    let mut pins =
        Pins { parameters, fifo: VecDeque::new(), half: None, value: VecDeque::new(), wire: Vec::new() };
    for step in script.split(';') {
        let mut words = step.trim().splitn(2, ' ');
        let (word, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match word {
            "drain" if rest.is_empty() => {
                while !pins.fifo.is_empty() || pins.half.is_some() {
                    pins.cycle("WT", "", false);
                }
            }
            "drain" => (0..rest.parse().expect("a number")).for_each(|_: u32| pins.cycle("WT", "", false)),
            "TR" => {
                let (status, packets) = rest.split_once(' ').unwrap_or((rest, ""));
                pins.cycle(status, packets, true);
            }
            status => pins.cycle(status, rest, false),
        }
    }
    pins.wire
}

/// The pins of a macrocell, as simple as can be.
struct Pins<'a> {
    parameters: &'a Parameters,
    fifo: VecDeque<u8>,
    /// High half of a byte whose low half has left.
    half: Option<u8>,
    /// What TRACEPKT carries in the next cycles, instead of the FIFO.
    value: VecDeque<u8>,
    wire: Vec<u8>,
}

impl Pins<'_> {
    fn cycle(&mut self, status: &str, packets: &str, trigger: bool) {
        let is_tfo = status == "TFO";
        let status: Pipestat = if is_tfo { Pipestat::Td } else { status.parse().expect("a status") };
        if is_tfo {
            assert_eq!(self.half, None, "no TFO between two halves of a byte");
            let fill = self.fifo.len() as u8;
            match self.parameters.port_width {
                4 => self.value.extend([fill >> 4 << 1 | 1, 0, fill & 0xf]),
                _ => self.value.push_back(fill << 4 | fill >> 4 << 1 | 1),
            }
        }
        self.fifo.extend(bytes(packets));
        let (pipestat, tracepkt) = if trigger {
            (Pipestat::Tr, u16::from(status.code()))
        } else if let Some(part) = self.value.pop_front() {
            (status, u16::from(part))
        } else if status == Pipestat::Td {
            (status, 0)
        } else {
            (status, self.lanes())
        };
        self.wire.extend(cycle(self.parameters, pipestat, tracepkt));
    }

    fn lanes(&mut self) -> u16 {
        let mut next = || u16::from(self.fifo.pop_front().unwrap_or(0));
        match self.parameters.port_width {
            16 => next() | next() << 8,
            8 => next(),
            _ => match self.half.take() {
                Some(high) => u16::from(high),
                None => self.fifo.pop_front().map_or(0, |byte| {
                    self.half = Some(byte >> 4);
                    u16::from(byte & 0xf)
                }),
            },
        }
    }
}

fn decode(parameters: &Parameters, wire: &[u8]) -> Log<ArmEtm> {
    let mut decoder = Decoder::default();
    decoder.begin(parameters, &Program::new()).expect("parameters are supported");
    let mut log = Log::default();
    decoder.push(wire, &mut log);
    decoder.finish(&mut log);
    log
}

/// Events and faults as text; see [`word`].
fn format_log(log: &Log<ArmEtm>) -> String {
    let words: Vec<String> = log
        .entries
        .iter()
        .filter_map(|(_, entry)| match entry {
            Entry::Packet(_) => None,
            Entry::Event(event) => Some(word(event)),
            Entry::Fault(fault) => {
                let place = fault.place;
                Some(format!("{}@{}:{}.{}", fault.class, place.packet, place.byte, place.bit))
            }
        })
        .collect();
    words.join(" ")
}

fn summary(parameters: &Parameters, script: &str) -> String {
    format_log(&decode(parameters, &play(parameters, script)))
}

/// [`summary`] without instructions and the output of the synchronisation at the start.
fn data_summary(parameters: &Parameters, script: &str) -> String {
    let script = format!("TFO {ENABLED}; drain; {script}");
    let log = decode(parameters, &play(parameters, &script));
    let entries = log.entries.into_iter().skip_while(|(_, entry)| matches!(entry, Entry::Packet(_))).skip(1);
    let entries =
        entries.filter(|(_, entry)| !matches!(entry, Entry::Event(Event::Instruction { .. }))).collect();
    format_log(&Log { entries, ..Log::default() })
}

/// Exception: its kind with cycle, `:` vector, `!` cycle of what is taken back; `maybe`: a possible one;
/// `#first..last:ignored`.
///
/// Instruction `E`, `N`, phantom `PT`, `PN`, all with the cycle; trigger `TR`; `#transfer@cycle[address]=value`,
/// `#transfer<-value@cycle`, `#transfer!reason`; `open@cycle`.
fn word(event: &Event) -> String {
    match *event {
        Event::Instruction { cycle, executed: true, phantom: false } => format!("E{cycle}"),
        Event::Instruction { cycle, executed: false, phantom: false } => format!("N{cycle}"),
        Event::Instruction { cycle, executed: true, phantom: true } => format!("PT{cycle}"),
        Event::Instruction { cycle, executed: false, phantom: true } => format!("PN{cycle}"),
        Event::Trigger { when: cycle } => format!("TR{cycle}"),
        Event::Synchronisation { cycle, reason, address, isa, context_id, lsm } => {
            let reason = match reason {
                Reason::Periodic => "periodic",
                Reason::TraceEnabled => "enabled",
                Reason::Overflow => "overflow",
                Reason::DebugExit => "debug",
            };
            let context = context_id.map_or(String::new(), |id| format!(":context={id:x}"));
            let lsm = lsm.map_or(String::new(), |address| format!(":lsm={address:x}"));
            format!("sync{cycle}:{reason}:{isa:?}:{address:x}{context}{lsm}")
        }
        Event::Exception { cycle, kind, vector, at, cancelled } => {
            let at = at.map_or(String::new(), |at| format!("@{at:x}"));
            let back = cancelled.map_or(String::new(), |cycle| format!("!{cycle}"));
            format!("{kind:?}{cycle}:{vector:x}{at}{back}")
        }
        Event::PossibleException { cycle, vector } => format!("maybe{cycle}:{vector:x}"),
        Event::IgnoredTransfers { first, last } => format!("#{first}..{last}:ignored"),
        Event::Branch { cycle, address, isa } => format!("branch{cycle}:{isa:?}:{address:x}"),
        Event::ContextId { when: cycle, value } => format!("context{cycle}:{value:x}"),
        Event::Transfer { transfer, when: cycle, address, value, .. } => {
            let address = address.map_or(String::new(), |address| format!("[{address}]"));
            let value = match value {
                Value::Known(value) => format!("{value:x}"),
                Value::Pending(tag) => format!("miss{tag}"),
                Value::PendingHigh(tag) => format!("high{tag}"),
                Value::NotTraced => "vnt".into(),
                Value::Off => "off".into(),
            };
            format!("#{transfer}@{cycle}{address}={value}")
        }
        Event::MissData { transfer, when: cycle, value } => format!("#{transfer}<-{value:x}@{cycle}"),
        Event::Missing { transfer, reason } => {
            let reason = match reason {
                MissingReason::Superseded => "superseded",
                MissingReason::Incomplete => "incomplete",
                MissingReason::SynchronisationLost => "lost",
                MissingReason::End => "end",
                other => panic!("{other:?} has no word"),
            };
            format!("#{transfer}!{reason}")
        }
        Event::IgnoredData { when: cycle, tag } => format!("ignored{tag}@{cycle}"),
        Event::Incomplete { when: cycle } => format!("open@{cycle}"),
        ref other => panic!("{other:?} is no event of this architecture"),
    }
}

/// The packets of one group, read by a decoder that was synchronised by `sync`.
fn packets(parameters: &Parameters, sync: &str, group: &str) -> Vec<Packet> {
    let script = format!("TFO {sync}; drain; DE {group}; drain");
    let log = decode(parameters, &play(parameters, &script));
    assert_eq!(log.faults().count(), 0, "{group}: {}", format_log(&log));
    log.packets().skip(1).copied().collect()
}

/// A TFO packet: tracing is enabled, ARM state, 0x8000.
const ENABLED: &str = "20 00 80 00 00";
