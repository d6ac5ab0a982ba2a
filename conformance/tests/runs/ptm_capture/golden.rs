//! What OpenCSD's packet lister printed of a capture: packets, and after each packet the elements that it
//! caused.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use traceproof_decoder::arm::{Deformatter, FrameListener, Run};
use traceproof_vectors::Fault;
use traceproof_vectors::arm::{Framing, TraceId};

/// A packet, and the elements that it caused.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    /// Where the lister says that it begins.
    pub idx: u64,
    pub bytes: Vec<u8>,
    /// Name and fields.
    pub text: String,
    pub elements: Vec<Element>,
}

/// An element: what it says, and its cycle count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub text: String,
    pub cycles: Option<u32>,
}

/// The packets that are listed for a source. Packets have the number `packet_id`, elements `id`: they differ
/// in a buffer without frames, where the lister prints 0 for packets.
pub(super) fn read(all: &Path, name: &str, (packet_id, id): (u8, u8)) -> Vec<Listed> {
    let mut text = String::new();
    let file = File::open(all.join(format!("{name}.ppl.gz"))).expect("the listing");
    GzDecoder::new(file).read_to_string(&mut text).expect("text");
    let mut packets: Vec<Listed> = Vec::new();
    for line in text.lines() {
        let Some((idx, rest)) = line.strip_prefix("Idx:").and_then(|rest| rest.split_once("; ID:")) else {
            continue;
        };
        let (source, rest) = rest.split_once("; ").expect("a source");
        let source = u8::from_str_radix(source, 16).expect("hexadecimal");
        if let Some(element) = rest.strip_prefix("OCSD_GEN_TRC_ELEM_") {
            if source == id {
                packets.last_mut().expect("a packet").elements.push(self::element(element));
            }
        } else if source == packet_id {
            let (bytes, text) =
                rest.strip_prefix('[').and_then(|rest| rest.split_once("];\t")).expect("bytes");
            let byte = |byte: &str| u8::from_str_radix(byte.trim_start_matches("0x"), 16).expect("a byte");
            packets.push(Listed {
                idx: idx.parse().expect("a number"),
                bytes: bytes.split_whitespace().map(byte).collect(),
                text: text.to_owned(),
                elements: Vec::new(),
            });
        }
    }
    packets
}

/// Of instructions the kind of the last one is left out, which follows from its opcode: `BR  b+link  <cond>`.
/// `---` stays: it is none that branches.
fn element(text: &str) -> Element {
    let (mut text, mut cycles) = (text.to_owned(), None);
    if let Some((before, rest)) = text.split_once(" [CC=") {
        let (count, after) = rest.split_once("]; ").expect("an end");
        cycles = Some(count.parse().expect("a number"));
        text = format!("{before}{after}");
    }
    if text.starts_with("INSTR_RANGE") {
        let (range, last) = text.split_once("(ISA=A32) ").expect("A32 only");
        let words: Vec<&str> = last.split_whitespace().take(2).collect();
        let kind = if words[1] == "---" { " ---" } else { "" };
        text = format!("{range}(ISA=A32) {}{kind}", words[0]);
    }
    Element { text, cycles }
}

/// Where the lister places each byte of a source in a formatted buffer.
///
/// It counts the data bytes from the beginning of a block, which is the beginning of the frame or the ID byte
/// that starts the block. ID bytes are not counted, so its numbers are up to two too low after one.
pub(super) fn indexes(buffer: &[u8], id: TraceId) -> (Vec<u8>, Vec<u64>) {
    let mut counter = Counter { id, block: None, bytes: Vec::new(), indexes: Vec::new(), off: 0 };
    let mut deformatter = Deformatter::new(Framing::Memory);
    deformatter.push(buffer, &mut counter);
    deformatter.finish(&mut counter);
    assert!(counter.off > 0, "the places that are too low");
    (counter.bytes, counter.indexes)
}

struct Counter {
    id: TraceId,
    block: Option<Block>,
    bytes: Vec<u8>,
    indexes: Vec<u64>,
    /// Bytes whose place is not their index.
    off: usize,
}

/// Bytes of a source in a frame up to the next byte of another one.
#[derive(Clone, Copy)]
struct Block {
    id: TraceId,
    frame: u64,
    next: u64,
}

impl FrameListener for Counter {
    fn data(&mut self, run: Run<'_>) {
        for (at, &byte) in run.bytes.iter().enumerate() {
            let place = run.place(at).byte;
            let frame = place - place % 16;
            let same = self.block.filter(|block| block.frame == frame && block.id == run.id);
            // An ID byte is at an even place, and a byte of the source before may come after it.
            let start = place - if place == frame { 0 } else { 2 - place % 2 };
            let mut block = same.unwrap_or(Block { id: run.id, frame, next: start });
            if run.id == self.id {
                self.bytes.push(byte);
                self.indexes.push(block.next);
                self.off += usize::from(block.next != place);
            }
            block.next += 1;
            self.block = Some(block);
        }
    }

    fn fault(&mut self, fault: &Fault) {
        panic!("{fault}");
    }
}
