//! OpenCSD's frame deformatter against what was put into the frames; the differences of
//! `docs/findings/arm-opencsd.md`.

use std::collections::BTreeMap;

use traceproof_conformance::generate::seeded;
use traceproof_conformance::peers::opencsd::{self, Answer, Framing, Host, HostCommand, Limits, Outcome};
use traceproof_encoder_model::arm::Formatter;
use traceproof_vectors::arm::{self, FULL_SYNC, FormatterPolicy, HALF_SYNC, TraceId};

type Streams = BTreeMap<u8, Vec<u8>>;

const FULL_ONLY: Framing = Framing::Tpiu { half_syncs: false };
const FULL_AND_HALF: Framing = Framing::Tpiu { half_syncs: true };

/// Two sources in one frame: 0x10 with `84 a5 42 01 03`, 0x11 with `c9 d8 45`, then the null source.
const FRAME: [u8; 16] = [0x21, 0x84, 0xa4, 0x42, 0, 3, 0x23, 0xc9, 0xd8, 0x45, 1, 0, 0, 0, 0, 6];

fn of_frame() -> Streams {
    Streams::from([(0x10, vec![0x84, 0xa5, 0x42, 0x01, 0x03]), (0x11, vec![0xc9, 0xd8, 0x45])])
}

fn host() -> Host {
    let program = env!("CARGO_BIN_EXE_traceproof-opencsd").into();
    Host::new(HostCommand { program, arguments: Vec::new() }, Limits::default())
}

/// The bytes of each source but the null source.
fn streams(outcome: &Outcome) -> Streams {
    let mut streams = Streams::new();
    for data in outcome.data() {
        if let Some(source) = data.source.filter(|&source| source > 0) {
            streams.entry(source).or_default().extend(&data.bytes);
        }
    }
    streams
}

fn is_stopped(outcome: &Outcome) -> bool {
    outcome.records.iter().any(|record| matches!(record, Answer::Fault { response: 6.., .. }))
}

/// What comes out without a fault; `None` if the process died or the library complained.
fn heard(framing: Framing, trace: &[u8], chunk: Option<u32>) -> Option<Streams> {
    let outcome = opencsd::frames(&mut host(), framing, trace, chunk).ok()?;
    let complains = outcome.records.iter().any(|record| matches!(record, Answer::Fault { .. }));
    (!complains).then(|| streams(&outcome))
}

/// Random bytes of random sources, and the frames around them.
fn sent(seed: u64) -> (arm::Framing, Streams, Vec<u8>) {
    let mut entropy = seeded(seed, 600).into_iter();
    let mut next = || entropy.next().unwrap_or(0);
    let framings = [arm::Framing::Memory, arm::Framing::Normal, arm::Framing::Continuous];
    let policy = FormatterPolicy {
        framing: framings[usize::from(next() % 3)],
        full_sync_frames: u32::from(next() % 5),
        half_sync_pairs: u32::from(next() % 9),
        id_repeat_frames: u32::from(next() % 8),
        id_repeat_pairs: u32::from(next() % 9),
        repeat_delayed: next() & 1 == 1,
    };
    let (mut formatter, mut streams, mut wire) = (Formatter::new(policy), Streams::new(), Vec::new());
    for _ in 0..24 {
        match next() % 8 {
            0 => formatter.idle(u32::from(next() % 4), &mut wire),
            1 => formatter.flush(&mut wire),
            2 => {
                formatter.trigger(&mut wire);
                streams.entry(TraceId::TRIGGER.value()).or_default().push(0);
            }
            _ => {
                let id = [0x10, 0x11, 1 + next() % 0x6f][usize::from(next() % 3)];
                let byte = |_| [0xff, 0x7f, 0, 1, next()][usize::from(next() % 5)];
                let bytes: Vec<u8> = (0..1 + seed % 20).map(byte).collect();
                let source = TraceId::new(id).expect("seven bits");
                formatter.push(source, &bytes, &mut wire).expect("the ID of a source");
                streams.entry(id).or_default().extend(bytes);
            }
        }
    }
    formatter.flush(&mut wire);
    (policy.framing, streams, wire)
}

/// Whether a full synchronisation packet directly follows a half-word one, after the first full one, which is found
/// wherever it is. Nothing else has 0xFF in an even place.
fn is_mixed(wire: &[u8]) -> bool {
    let first_half = [FULL_SYNC[0], FULL_SYNC[1]];
    let pairs = wire.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
    let pairs: Vec<[u8; 2]> = pairs.skip_while(|pair| *pair != first_half).collect();
    pairs.windows(3).any(|pairs| pairs[0] != first_half && pairs[1] == HALF_SYNC && pairs[2] == first_half)
}

/// FR-02 where full and half-word synchronisation packets mix; no difference anywhere else.
#[test]
fn generated_frames() {
    let mut host = host();
    let (mut equal, mut mixed) = ([0; 3], 0);
    for seed in 0..600 {
        let (framing, expected, wire) = sent(seed);
        let theirs = match framing {
            arm::Framing::Memory => Framing::Frames,
            arm::Framing::Normal => FULL_ONLY,
            arm::Framing::Continuous => FULL_AND_HALF,
        };
        let outcome = opencsd::frames(&mut host, theirs, &wire, None).expect("an answer");
        if framing == arm::Framing::Continuous && is_mixed(&wire) {
            mixed += 1;
            assert!(is_stopped(&outcome), "seed {seed}: {wire:02x?}");
            continue;
        }
        assert_eq!(streams(&outcome), expected, "seed {seed}: {wire:02x?}");
        assert!(!is_stopped(&outcome), "seed {seed}: {wire:02x?}");
        equal[framing as usize] += 1;
    }
    assert!(equal.iter().all(|&streams| streams > 20) && mixed > 20, "{equal:?} equal, {mixed} mixed");
}

fn port(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}

/// FR-01
#[test]
fn a_full_synchronisation_packet_at_an_odd_offset() {
    for (before, after) in [(0, 0), (2, 2)] {
        let trace = port(&[&[0; 4][..before], &FULL_SYNC, &FRAME, &[0; 4][..after]]);
        assert_eq!(heard(FULL_ONLY, &trace, None), Some(of_frame()), "{before} bytes before it");
    }
    for (before, after) in [(1, 3), (3, 1)] {
        let trace = port(&[&[0; 4][..before], &FULL_SYNC, &FRAME, &[0; 4][..after]]);
        for framing in [FULL_ONLY, FULL_AND_HALF] {
            assert_ne!(heard(framing, &trace, None), Some(of_frame()), "{before} bytes before it");
        }
    }
    // At an even offset, but three bytes of the first block are left over for the second.
    let trace = port(&[&[0; 16], &FULL_SYNC, &FRAME]);
    assert_eq!(heard(FULL_ONLY, &trace, None), Some(of_frame()));
    assert_ne!(heard(FULL_ONLY, &trace, Some(16)), Some(of_frame()));
}

/// FR-02
#[test]
fn full_and_half_word_synchronisation_packets_mixed() {
    let twice = of_frame().into_iter().map(|(source, bytes)| (source, bytes.repeat(2)));
    let twice: Streams = twice.collect();
    for between in [&[][..], &FULL_SYNC, &HALF_SYNC, &[0xff, 0xff, 0xff, 0x7f, 0xff, 0x7f]] {
        let trace = port(&[&FULL_SYNC, &FRAME, between, &FRAME]);
        assert_eq!(heard(FULL_AND_HALF, &trace, None).as_ref(), Some(&twice), "{between:02x?}");
    }
    let trace = port(&[&FULL_SYNC, &FRAME, &HALF_SYNC, &FULL_SYNC, &FRAME]);
    let outcome = opencsd::frames(&mut host(), FULL_AND_HALF, &trace, None).expect("an answer");
    assert_eq!(streams(&outcome), of_frame());
    assert!(is_stopped(&outcome));
}

/// FR-03
#[test]
fn blocks_of_two_bytes() {
    let trace = port(&[&[0; 6], &FULL_SYNC, &FRAME]);
    assert_eq!(heard(FULL_AND_HALF, &trace, None), Some(of_frame()));
    assert_ne!(heard(FULL_AND_HALF, &trace, Some(2)), Some(of_frame()));
}

/// FR-04
#[test]
fn lengths_that_are_refused() {
    let trace = port(&[&FULL_SYNC, &FRAME]);
    for (framing, chunk) in [(FULL_ONLY, 6), (FULL_AND_HALF, 5)] {
        let outcome = opencsd::frames(&mut host(), framing, &trace, Some(chunk)).expect("an answer");
        assert!(is_stopped(&outcome) && outcome.data().next().is_none(), "{chunk}");
    }
    let outcome = opencsd::frames(&mut host(), Framing::Frames, &FRAME[..15], None).expect("an answer");
    assert!(is_stopped(&outcome));
}
