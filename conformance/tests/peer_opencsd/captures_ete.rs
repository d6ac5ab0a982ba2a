//! OpenCSD and the reference decoder on captures of ETMv4 and ETE: every packet, and every event but those of five
//! streams.

use std::path::Path;

use traceproof_conformance::captures::Captured;
use traceproof_conformance::peers::opencsd::arm_ete;
use traceproof_conformance::snapshot::Snapshot;
use traceproof_decoder::arm_ete::Decoder as Reference;
use traceproof_vectors::arm_ete::{ArmEte, Packet};
use traceproof_vectors::{Decoder, Log, Protocol as _};

fn decoded(mut decoder: impl Decoder<ArmEte>, captured: &Captured<ArmEte>, wire: &[u8]) -> Log<ArmEte> {
    decoder.begin(&captured.parameters, &captured.program).expect("supported");
    let mut log = Log::default();
    decoder.push(wire, &mut log);
    decoder.finish(&mut log);
    log
}

/// Where events differ: what follows an exception without a new address (ET-53, ET-63), transactions (ET-16), and which
/// element a timestamp belongs to (ET-19).
const DIFFERING: [&str; 5] = ["ete_ip", "ete_spec_2", "tme_tcancel", "ts_bit64_set", "ts_marker"];

#[test]
fn both_decode_captures_alike() {
    super::use_host();
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/opencsd-snapshots");
    if !all.is_dir() {
        eprintln!("SKIPPED: no ETE capture is compared, because {} is not there", all.display());
        return;
    }
    let (mut packets, mut streams, mut differing) = (0, 0, Vec::new());
    let mut directories: Vec<_> =
        std::fs::read_dir(&all).expect("a directory").flatten().map(|entry| entry.path()).collect();
    directories.sort();
    for directory in directories {
        let Ok(snapshot) = Snapshot::read(&directory) else { continue };
        for stream in snapshot.streams() {
            let Ok(captured) = Captured::<ArmEte>::of(&snapshot, &stream) else { continue };
            for wire in &captured.bytes.pieces {
                let reference = decoded(Reference::default(), &captured, wire);
                let peer = decoded(arm_ete::Decoder::packets_only(), &captured, wire);
                let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let (expected, got): (Vec<&Packet>, Vec<&Packet>) =
                    (reference.packets().collect(), peer.packets().collect());
                assert_eq!(got, expected, "{name}, {}", stream.source.name);
                let followed = decoded(arm_ete::Decoder::new(), &captured, wire);
                let events = |log: &Log<ArmEte>| ArmEte::canonical(log.events().copied().collect());
                if events(&followed) != events(&reference) {
                    differing.push(name);
                }
                packets += expected.len();
                streams += 1;
            }
        }
    }
    assert_eq!((packets, streams), (109_067, 28));
    assert_eq!(differing, DIFFERING);
}
