//! Worked examples, synchronisation, faults, flow and arbitrary streams.
//!
//! Expected values are those of the worked examples, or worked out by hand.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use traceproof_vectors::arm_etm::{Architecture, Packet, Parameters};
use traceproof_vectors::{Fault, Place};

use super::{Listener, PacketReader};

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

/// What a packet reader tells: packets, faults, triggers (`TR`) and the end (`cut` inside a packet).
#[derive(Default)]
struct Told {
    packets: Vec<(Place, Packet)>,
    words: Vec<String>,
}

impl Listener for Told {
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

fn read(parameters: &Parameters, wire: &[u8], chunk: usize) -> Told {
    let mut reader = PacketReader::new(parameters).expect("parameters are possible");
    let mut told = Told::default();
    wire.chunks(chunk).for_each(|chunk| reader.push(chunk, &mut told));
    reader.finish(&mut told);
    told
}

/// The packets behind an A-sync, whole and byte by byte.
fn packets(parameters: &Parameters, text: &str) -> Vec<Packet> {
    let wire = bytes(&format!("{ALIGN} {text}"));
    let whole = read(parameters, &wire, wire.len());
    let pieces = read(parameters, &wire, 1);
    assert_eq!(whole.packets, pieces.packets, "{text}");
    assert!(whole.words.is_empty(), "{text}: {:?}", whole.words);
    assert_eq!(whole.words, pieces.words, "{text}");
    whole.packets.iter().skip(1).map(|(_, packet)| *packet).collect()
}

/// What is wrong with bytes behind an A-sync (byte 6, packet 1 on).
fn wrong(parameters: &Parameters, text: &str) -> String {
    let wire = bytes(&format!("{ALIGN} {text}"));
    let whole = read(parameters, &wire, wire.len());
    let pieces = read(parameters, &wire, 1);
    assert_eq!((&whole.packets, &whole.words), (&pieces.packets, &pieces.words), "{text}");
    whole.words.join(" ")
}
