//! Worked examples, synchronisation, faults, flow and arbitrary streams.
//!
//! Expected values are those of the worked examples, or worked out by hand.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::arm_etm::{
    Architecture, ArmEtm, Event, MissingReason, Packet, Parameters, Reason, Value,
};
use traceproof_vectors::{Decoder as _, Entry, Fault, Log, Place, Program, Section};

use super::{Decoder, Listener, PacketReader};

mod additions;
mod arbitrary;
mod data;
mod flow;
mod packets;

/// An A-sync.
const ALIGN: &str = "00 00 00 00 00 80";

/// Bytes written as pairs of digits; `|` only separates packets.
fn bytes(text: &str) -> Vec<u8> {
    text.split_ascii_whitespace()
        .filter(|word| *word != "|")
        .map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal"))
        .collect()
}

/// ETMv3.0, no data.
fn plain() -> Parameters {
    Parameters {
        architecture: Architecture::V3,
        data_value: false,
        data_address: false,
        ..Parameters::default()
    }
}

/// ETMv3.0 with data addresses and values.
fn data() -> Parameters {
    Parameters { architecture: Architecture::V3, ..Parameters::default() }
}

/// What a packet reader reports: packets, faults, triggers (`TR`) and the end (`cut` inside a packet).
#[derive(Default)]
struct Reported {
    packets: Vec<(Place, Packet)>,
    words: Vec<String>,
}

impl Listener for Reported {
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.packets.push((place, *packet));
    }

    fn lost(&mut self, fault: &Fault) {
        let Place { packet, byte, bit } = fault.place;
        self.words.push(format!("{}@{packet}:{byte}.{bit}", fault.class));
    }

    fn trigger(&mut self, place: Place) {
        self.words.push(format!("TR@{}", place.byte));
    }

    fn end(&mut self, place: Place, cut_record: Option<&Fault>, cut_packet: bool) {
        if let Some(fault) = cut_record {
            self.words.push(format!("{}@{}", fault.class, fault.place.byte));
        }
        if cut_packet {
            self.words.push(format!("cut@{}", place.byte));
        }
    }
}

fn read(parameters: &Parameters, wire: &[u8], chunk: usize) -> Reported {
    let mut reader = PacketReader::new(parameters).expect("parameters are possible");
    let mut reported = Reported::default();
    wire.chunks(chunk).for_each(|chunk| reader.push(chunk, &mut reported));
    reader.finish(&mut reported);
    reported
}

/// The packets after an A-sync, whole and byte by byte.
fn packets(parameters: &Parameters, text: &str) -> Vec<Packet> {
    let wire = bytes(&format!("{ALIGN} {text}"));
    let whole = read(parameters, &wire, wire.len());
    let pieces = read(parameters, &wire, 1);
    assert_eq!(whole.packets, pieces.packets, "{text}");
    assert!(whole.words.is_empty(), "{text}: {:?}", whole.words);
    assert_eq!(whole.words, pieces.words, "{text}");
    whole.packets.iter().skip(1).map(|(_, packet)| *packet).collect()
}

/// What is wrong with bytes after an A-sync (byte 6, packet 1 on).
fn wrong(parameters: &Parameters, text: &str) -> String {
    let wire = bytes(&format!("{ALIGN} {text}"));
    let whole = read(parameters, &wire, wire.len());
    let pieces = read(parameters, &wire, 1);
    assert_eq!((&whole.packets, &whole.words), (&pieces.packets, &pieces.words), "{text}");
    whole.words.join(" ")
}

/// A program of one section.
fn code(address: u64, bytes: &[u8]) -> Program {
    let mut program = Program::new();
    program.insert(Section::new(address, bytes.to_vec(), "")).expect("one section");
    program
}

/// Words of ARM code at 0x8000.
fn arm(words: &[u32]) -> Program {
    code(0x8000, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())
}

/// Half-words of Thumb code at 0x8000.
fn thumb(halves: &[u16]) -> Program {
    code(0x8000, &halves.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<u8>>())
}

fn decode(parameters: &Parameters, program: &Program, wire: &[u8]) -> Log<ArmEtm> {
    let mut decoder = Decoder::default();
    decoder.begin(parameters, program).expect("parameters are supported");
    let mut log = Log::default();
    decoder.push(wire, &mut log);
    decoder.finish(&mut log);
    log
}

/// Events and faults as text (see [`word`]) of the bytes after an A-sync, which is packet 0 and six bytes.
fn summary(parameters: &Parameters, program: &Program, text: &str) -> String {
    let log = decode(parameters, program, &bytes(&format!("{ALIGN} {text}")));
    let words: Vec<String> = log
        .entries
        .iter()
        .filter_map(|(_, entry)| match entry {
            Entry::Packet(_) => None,
            Entry::Event(event) => Some(word(event)),
            Entry::Fault(Fault { class, place, address, .. }) => {
                let address = address.map_or(String::new(), |address| format!("[{address:x}]"));
                Some(format!("{class}@{}:{}.{}{address}", place.packet, place.byte, place.bit))
            }
        })
        .collect();
    words.join(" ")
}

/// Atoms `E` and `N` with address (`?`: unknown) and `+cycles`; `#transfer@when[address]=value`,
/// `#transfer<-value@when`, `#transfer!reason`; the others by name.
fn word(event: &Event) -> String {
    match *event {
        Event::Atom { address, executed, cycles, .. } => {
            let address = address.map_or("?".into(), |address| format!("{address:x}"));
            let cycles = cycles.map_or(String::new(), |cycles| format!("+{cycles}"));
            format!("{}{address}{cycles}", if executed { 'E' } else { 'N' })
        }
        Event::InstructionSync { reason, address, isa, non_secure, hyp, context_id, in_progress } => {
            let reason = match reason {
                Reason::Periodic => "periodic",
                Reason::TraceEnabled => "enabled",
                Reason::Overflow => "overflow",
                Reason::DebugExit => "debug",
            };
            let address = address.map_or("?".into(), |address| format!("{address:x}"));
            let flags = format!("{}{}", if non_secure { ":NS" } else { "" }, if hyp { ":Hyp" } else { "" });
            let context = context_id.map_or(String::new(), |id| format!(":context={id:x}"));
            let lsm = in_progress.map_or(String::new(), |address| format!(":under={address:x}"));
            format!("{reason}:{isa:?}:{address}{flags}{context}{lsm}")
        }
        Event::Gap { cycles } => cycles.map_or("gap?".into(), |cycles| format!("gap{cycles}")),
        Event::BranchTo { address, isa, exception } => {
            let exception = exception.map_or(String::new(), |information| {
                format!(":exception={}{}", information.number, if information.cancel { "!" } else { "" })
            });
            format!("->{isa:?}:{address:x}{exception}")
        }
        Event::Trigger { when } => format!("trigger@{when}"),
        Event::ContextId { when, value } => format!("context@{when}={value:x}"),
        Event::Vmid { when, value } => format!("vmid@{when}={value:x}"),
        Event::Timestamp { value, clock_change } => {
            let value = value.map_or("?".into(), |value| format!("{value:x}"));
            format!("time={value}{}", if clock_change { "!" } else { "" })
        }
        Event::Transfer { transfer, when, address, value, big_endian } => {
            let address = address.map_or(String::new(), |address| format!("[{address}]"));
            let value = match value {
                Value::Known(value) => format!("{value:x}"),
                Value::Pending(tag) => format!("miss{tag}"),
                Value::PendingHigh(tag) => format!("high{tag}"),
                Value::NotTraced => "vnt".into(),
                Value::Off => "off".into(),
            };
            format!("#{transfer}@{when}{address}={value}{}", if big_endian { ":BE" } else { "" })
        }
        Event::MissData { transfer, when, value } => format!("#{transfer}<-{value:x}@{when}"),
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
        Event::IgnoredData { when, tag } => format!("ignored{tag}@{when}"),
        Event::Incomplete { when } => format!("open@{when}"),
        Event::ExceptionReturn { when } => format!("return@{when}"),
        Event::ExceptionEntry { when } => format!("entry@{when}"),
        Event::StoreFailed { transfer } => format!("#{transfer}:failed"),
        Event::DataSuppressed { when } => format!("suppressed@{when}"),
        ref other => panic!("{other:?} is no event of this architecture"),
    }
}
