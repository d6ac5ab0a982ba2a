//! OpenCSD and the reference decoder on captures of PTMs: every packet, and every event but counts and timestamps, which
//! OpenCSD loses or does not convert (OP-01 to OP-03 in `docs/findings/opencsd-ptm.md`).

use std::path::Path;

use traceproof_conformance::captures::Captured;
use traceproof_conformance::peers::opencsd::arm_pft;
use traceproof_conformance::snapshot::Snapshot;
use traceproof_decoder::arm_pft::Decoder as Reference;
use traceproof_vectors::arm_pft::{ArmPft, Event, Packet};
use traceproof_vectors::{Decoder, Fault, FaultClass, Log, Protocol as _};

fn decoded(mut decoder: impl Decoder<ArmPft>, captured: &Captured<ArmPft>, wire: &[u8]) -> Log<ArmPft> {
    decoder.begin(&captured.parameters, &captured.program).expect("supported");
    let mut log = Log::default();
    decoder.push(wire, &mut log);
    decoder.finish(&mut log);
    log
}

/// The events but for counts and timestamps, in canonical form, and where no code is.
fn flow(log: &Log<ArmPft>) -> (Vec<Event>, Vec<Fault>) {
    let events = log.events().copied();
    let events = events.filter(|event| !matches!(event, Event::Cycles { .. } | Event::Timestamp { .. }));
    (ArmPft::canonical(events.collect()), log.faults().cloned().collect())
}

#[test]
fn both_decode_captures_alike() {
    super::use_host();
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/opencsd-snapshots");
    if !all.is_dir() {
        eprintln!("SKIPPED: no PTM capture is compared, because {} is not there", all.display());
        return;
    }
    let (mut packets, mut instructions, mut faults) = (0, 0, 0);
    for name in ["Snowball", "trace_cov_a15"] {
        let snapshot = Snapshot::read(&all.join(name)).unwrap_or_else(|error| panic!("{error}"));
        for stream in snapshot.streams() {
            let Ok(captured) = Captured::<ArmPft>::of(&snapshot, &stream) else { continue };
            for wire in &captured.bytes.pieces {
                let reference = decoded(Reference::default(), &captured, wire);
                let peer = decoded(arm_pft::Decoder::new(), &captured, wire);
                let (expected, got): (Vec<&Packet>, Vec<&Packet>) =
                    (reference.packets().collect(), peer.packets().collect());
                assert_eq!(got, expected, "{name}, {}", stream.source.name);
                let (expected, got) = (flow(&reference), flow(&peer));
                assert_eq!(got.0, expected.0, "{name}, {}", stream.source.name);
                let missing =
                    |faults: &[Fault]| faults.iter().map(|it| (it.class, it.address)).collect::<Vec<_>>();
                assert_eq!(missing(&got.1), missing(&expected.1));
                assert!(expected.1.iter().all(|fault| fault.class == FaultClass::NoCode));
                packets += reference.packets().count();
                faults += expected.1.len();
                instructions += expected.0.iter().fold(0, |sum, event| match event {
                    Event::Instructions { count, .. } => sum + count,
                    _ => sum,
                });
            }
        }
    }
    assert_eq!((packets, instructions, faults), (1720, 7602, 74));
}
