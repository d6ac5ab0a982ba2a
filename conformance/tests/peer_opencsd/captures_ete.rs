//! OpenCSD and the reference decoder on captures of ETMv4 and ETE: every packet up to the first that cannot be read, and
//! where both agree on every event. The other captures differ as `docs/findings/opencsd-ete.md` says.

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

#[test]
fn both_read_the_packets_of_captures_alike() {
    super::use_host();
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/opencsd-snapshots");
    if !all.is_dir() {
        eprintln!("SKIPPED: no ETE capture is compared, because {} is not there", all.display());
        return;
    }
    let (mut packets, mut streams) = (0, 0);
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
                let name = directory.file_name().unwrap_or_default().to_string_lossy();
                let (expected, got): (Vec<&Packet>, Vec<&Packet>) =
                    (reference.packets().collect(), peer.packets().collect());
                let same = expected.iter().zip(&got).take_while(|(one, other)| one == other).count();
                let events = decoded(arm_ete::Decoder::new(), &captured, wire);
                let canonical = |log: &Log<ArmEte>| ArmEte::canonical(log.events().copied().collect());
                let (ours, theirs) = (canonical(&reference), canonical(&events));
                let equal = ours.iter().zip(&theirs).take_while(|(one, other)| one == other).count();
                println!(
                    "{name} {}: packets {same} of {} and {}, events {equal} of {} and {}, faults {}",
                    stream.source.name,
                    expected.len(),
                    got.len(),
                    ours.len(),
                    theirs.len(),
                    reference.faults().count(),
                );
                if equal < ours.len() {
                    println!("  ours {:?}\n  theirs {:?}", ours.get(equal), theirs.get(equal));
                }
                if same < expected.len() {
                    println!("  ours {:?}\n  theirs {:?}", expected.get(same), got.get(same));
                }
                packets += same;
                streams += 1;
            }
        }
    }
    println!("{packets} packets of {streams} streams");
}
