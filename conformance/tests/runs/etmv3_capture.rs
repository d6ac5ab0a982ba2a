//! A capture of a real ETMv3.5 (Cortex-A7) is decoded to what another debugger made of it, instruction by instruction.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use traceproof_conformance::snapshot::Snapshot;
use traceproof_decoder::arm_etm::Decoder;
use traceproof_vectors::arm_etm::{Architecture, ArmEtm, Event, Parameters};
use traceproof_vectors::{Decoder as _, Log, Program};

/// Captures, if they are at hand.
fn captures() -> Option<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/opencsd-snapshots");
    if all.is_dir() {
        return Some(all);
    }
    eprintln!("SKIPPED: no real ETMv3 capture is decoded, because {} is not there", all.display());
    None
}

/// Its registers: ETMCR 0x10001860, ETMIDR 0x410CF250, ETMCCER 0x344008F2.
fn cortex_a7() -> Parameters {
    Parameters {
        architecture: Architecture::V3,
        minor: 5,
        data_value: false,
        data_address: false,
        cycle_accurate: true,
        thumb32_single: true,
        timestamps: true,
        timestamp_bits: 64,
        timestamp_gray: false,
        virtualization: true,
        ..Parameters::default()
    }
}

fn snapshot(all: &Path) -> (Vec<u8>, Program) {
    let snapshot = Snapshot::read(&all.join("tc2-etmv3-id10")).unwrap_or_else(|error| panic!("{error}"));
    let buffer = snapshot.buffers.first().expect("one buffer");
    let core = snapshot.core_of("ETM_0").expect("the core");
    let program = snapshot.program(core).unwrap_or_else(|error| panic!("{error}"));
    (snapshot.trace(buffer).unwrap_or_else(|error| panic!("{error}")), program)
}

/// The lines of the reference about instructions, cycles without trace and timestamps, in the words of [`words`].
fn reference(all: &Path) -> Vec<String> {
    let file = File::open(all.join("reference/tc2-etmv3-id10.ds5.tsv.gz")).expect("the reference");
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("text");
    let line = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let &[kind, _, address, _, cycles, detail, _, failed] = columns.as_slice() else { return None };
        match kind {
            "Instruction" => {
                let address = address.strip_prefix("S:0x").expect("an address");
                let address = u32::from_str_radix(address, 16).expect("hexadecimal");
                assert!(matches!(failed.trim_end(), "" | "fail"), "{line}");
                let executed = failed.trim_end().is_empty();
                Some(format!("{address:#x} {cycles} {executed}"))
            }
            "Cycle Count" => Some(format!("gap {cycles}")),
            "Timestamp" => Some(format!("time {}", detail.strip_prefix("Timestamp: ").expect("a timestamp"))),
            _ => None,
        }
    };
    text.lines().filter_map(line).collect()
}

fn decode(wire: &[u8], program: &Program, chunk: usize) -> Log<ArmEtm> {
    let mut decoder = Decoder::default();
    decoder.begin(&cortex_a7(), program).expect("supported");
    let mut log = Log::default();
    wire.chunks(chunk).for_each(|chunk| decoder.push(chunk, &mut log));
    decoder.finish(&mut log);
    log
}

fn words(event: &Event) -> Option<String> {
    match *event {
        Event::Atom { address, executed, cycles, .. } => {
            let (address, cycles) = (address.expect("an address"), cycles.expect("cycles"));
            Some(format!("{address:#x} {cycles} {executed}"))
        }
        Event::Gap { cycles } => Some(format!("gap {}", cycles.expect("cycles"))),
        Event::Timestamp { value, .. } => value.map(|value| format!("time {value}")),
        _ => None,
    }
}

#[test]
fn every_instruction_is_where_the_debugger_saw_it() {
    let Some(all) = captures() else { return };
    let (wire, program) = snapshot(&all);
    let log = decode(&wire, &program, wire.len());
    assert_eq!(log.faults().collect::<Vec<_>>(), Vec::<&_>::new());
    // The debugger does not show timestamps before the first I-sync.
    let events = log.events().skip_while(|event| !matches!(event, Event::InstructionSync { .. }));
    let listed: Vec<String> = events.filter_map(words).collect();
    let expected = reference(&all);
    let first = listed.iter().zip(&expected).position(|(listed, expected)| listed != expected);
    if let Some(first) = first {
        panic!("record {first}: reported {}, expected {}", listed[first], expected[first]);
    }
    assert_eq!(listed.len(), expected.len());
    let instructions = log.events().filter(|event| matches!(event, Event::Atom { .. })).count();
    assert_eq!(instructions, 7205);
}

#[test]
fn chunks_of_the_capture_change_nothing() {
    let Some(all) = captures() else { return };
    let (wire, program) = snapshot(&all);
    let whole = decode(&wire, &program, wire.len());
    for chunk in [1, 7, 4096] {
        assert_eq!(decode(&wire, &program, chunk).entries, whole.entries, "{chunk}");
    }
}
