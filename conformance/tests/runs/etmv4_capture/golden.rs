//! What OpenCSD's packet lister printed of a capture of an ETMv4 or ETE, in the words of [`super::words`].

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

/// What is listed for a source.
#[derive(Clone, Debug, Default)]
pub(super) struct Golden {
    /// From the first A-sync on: bytes, empty where none are listed, and name and fields.
    pub packets: Vec<(Vec<u8>, String)>,
    /// Packets without synchronisation: OpenCSD shows no more than their bytes.
    pub unsynchronised: usize,
    pub elements: Vec<String>,
}

/// What is listed for a source. Packets have the number `packet_id`, elements `id`: they differ in a buffer without
/// frames, where the lister prints 0 for packets.
pub(super) fn read(all: &Path, name: &str, (packet_id, id): (u8, u8)) -> Golden {
    let mut text = String::new();
    let file = File::open(all.join(format!("{name}.ppl.gz"))).expect("the listing");
    GzDecoder::new(file).read_to_string(&mut text).expect("text");
    let mut golden = Golden::default();
    for line in text.lines() {
        let Some((_, rest)) = line.strip_prefix("Idx:").and_then(|rest| rest.split_once("; ID:")) else {
            continue;
        };
        let (source, rest) = rest.split_once(';').expect("a source");
        let source = u8::from_str_radix(source, 16).expect("hexadecimal");
        if let Some(text) = rest.trim_start().strip_prefix("OCSD_GEN_TRC_ELEM_") {
            if source == id {
                golden.elements.extend(element(text));
            }
        } else if source == packet_id {
            golden.packet(rest);
        }
    }
    golden
}

impl Golden {
    fn packet(&mut self, rest: &str) {
        let (bytes, text) = rest.split_once('\t').expect("a name");
        if text.starts_with("I_NOT_SYNC") {
            self.unsynchronised += 1;
            return;
        }
        let byte = |byte: &str| u8::from_str_radix(byte.trim_start_matches("0x"), 16).expect("a byte");
        let bytes = bytes.trim().trim_end_matches(';').trim_matches(['[', ']']);
        let bytes: Vec<u8> = bytes.split_whitespace().map(byte).collect();
        let text = text.replace("; Decoder Sync point TINFO", "");
        let text = text.trim_end_matches([' ', ';']).to_owned();
        self.packets.push((bytes, text));
    }
}

/// The words for an element; none for the borders of the stream.
fn element(text: &str) -> Option<String> {
    let (name, rest) = text.split_once('(').expect("a name");
    let after = |key: &str| rest.split_once(key).map(|(_, rest)| rest);
    let until = |text: &str, end: &[char]| text.split(end).next().expect("the first part").to_owned();
    let number =
        |text: &str| u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).expect("hexadecimal");
    let hex = |key: &str| after(key).map(|rest| number(&until(rest, &[';', ':', ']', ')', ' '])));
    let decimal = |key: &str| after(key).map(|rest| until(rest, &[']', ')']));
    Some(match name {
        "INSTR_RANGE" => {
            let end = number(&until(after("[").expect("an end"), &[']']));
            let isa = until(after("ISA=").expect("a set"), &[')']);
            let last = after(&format!("(ISA={isa}) ")).expect("an outcome");
            let (first, count) = (hex("range=").expect("a start"), decimal("num_i(").expect("a number"));
            format!("range {first:#x}..{end:#x} {count} {isa} {}", &last[..1])
        }
        "EXCEPTION" => {
            let (address, number) =
                (hex("addr:").expect("an address"), hex("excep num (").expect("a number"));
            format!("exception {number:#x} {address:#x}")
        }
        "PE_CONTEXT" => {
            let state = until(rest.split_once(") ").expect("a state").1, &[';']);
            let width = if rest.contains("64-bit") { 64 } else { 32 };
            let id = |key: &str| hex(key).unwrap_or_default();
            format!("context {state} {width} vmid={:#x} context={:#x}", id("VMID="), id("CTXTID="))
        }
        "TIMESTAMP" => match decimal("[CC=") {
            Some(cycles) => format!("timestamp {:#x} after {cycles}", hex("TS=").expect("a value")),
            None => format!("timestamp {:#x}", hex("TS=").expect("a value")),
        },
        "CYCLE_COUNT" => format!("cycles {}", decimal("[CC=").expect("a count")),
        "ADDR_NACC" => format!("no code {:#x}", number(&until(rest, &[';']))),
        "MEMTRANS" => format!("transaction {}", decimal("").map(|word| word.to_lowercase())?),
        "EVENT" => format!("event {}", until(after("Numbered:").expect("a number"), &[';'])),
        "NO_SYNC" if rest.contains("init-decoder") || rest.contains("reset-decoder") => return None,
        "NO_SYNC" => format!("lost {}", decimal("[")?),
        "EO_TRACE" => return None,
        "TRACE_ON" => "trace on".into(),
        "SYNC_MARKER" => "marker".into(),
        "EXCEPTION_RET" => "exception return".into(),
        other => panic!("in none of the captures: {other}"),
    })
}
