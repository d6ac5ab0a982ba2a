//! CoreSight formatter: the bytes of all sources pass the round trip, in any order and under any policy (ARM-FMT-012).

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
use traceproof_decoder::arm::{Deformatter, Discontinuity, FrameListener, Run};
use traceproof_encoder_model::arm::Formatter;
use traceproof_vectors::arm::{FRAME_BYTES, FULL_SYNC, FormatterPolicy, Framing, TraceId};
use traceproof_vectors::{Fault, FaultClass, Place};

type Streams = BTreeMap<TraceId, Vec<u8>>;

#[derive(Debug, Default, PartialEq)]
struct Heard {
    streams: Streams,
    faults: Vec<Fault>,
    discontinuities: Vec<Discontinuity>,
}

impl FrameListener for Heard {
    fn data(&mut self, run: Run<'_>) {
        self.streams.entry(run.id).or_default().extend(run.bytes);
    }

    fn discontinuity(&mut self, _: Place, cause: Discontinuity) {
        self.discontinuities.push(cause);
    }

    fn fault(&mut self, fault: &Fault) {
        self.faults.push(*fault);
    }
}

fn hear(framing: Framing, wire: &[u8]) -> Heard {
    let mut heard = Heard::default();
    let mut deformatter = Deformatter::new(framing);
    deformatter.push(wire, &mut heard);
    deformatter.finish(&mut heard);
    heard
}

/// What happens at the formatter's inputs.
#[derive(Clone, Debug)]
enum Input {
    Data(TraceId, Vec<u8>),
    Trigger,
    Idle(u32),
    Flush,
}

fn input() -> impl Strategy<Value = Input> {
    let source = prop_oneof![3 => Just(0x10), 3 => Just(0x11), 1 => 1..0x70_u8]
        .prop_map(|id| TraceId::new(id).expect("seven bits"));
    // Bytes that look like synchronisation packets, IDs and filling matter most.
    let byte = prop_oneof![Just(0xff), Just(0x7f), Just(0x00), Just(0x01), any::<u8>()];
    let bytes = prop_oneof![
        prop::collection::vec(byte.clone(), 1..4),
        prop::collection::vec(byte.clone(), 1..40),
        prop::collection::vec(byte, 200..300),
    ];
    prop_oneof![
        12 => (source, bytes).prop_map(|(id, bytes)| Input::Data(id, bytes)),
        1 => Just(Input::Trigger),
        1 => (0..4_u32).prop_map(Input::Idle),
        1 => Just(Input::Flush),
    ]
}

fn policy() -> impl Strategy<Value = FormatterPolicy> {
    let framing = prop::sample::select(&[Framing::Memory, Framing::Normal, Framing::Continuous][..]);
    (framing, 0..5_u32, 0..9_u32, 0..8_u32, 0..9_u32, any::<bool>()).prop_map(
        |(framing, full_sync_frames, half_sync_pairs, id_repeat_frames, id_repeat_pairs, repeat_delayed)| {
            FormatterPolicy {
                framing,
                full_sync_frames,
                half_sync_pairs,
                id_repeat_frames,
                id_repeat_pairs,
                repeat_delayed,
            }
        },
    )
}

/// The wire, and what each source sent.
fn format(policy: FormatterPolicy, inputs: &[Input]) -> (Vec<u8>, Streams) {
    let mut formatter = Formatter::new(policy);
    let (mut wire, mut sent) = (Vec::new(), Streams::new());
    for input in inputs {
        match input {
            Input::Data(id, bytes) => {
                formatter.push(*id, bytes, &mut wire).expect("a source");
                sent.entry(*id).or_default().extend(bytes);
            }
            Input::Trigger => {
                formatter.trigger(&mut wire);
                sent.entry(TraceId::TRIGGER).or_default().push(0);
            }
            Input::Idle(count) => formatter.idle(*count, &mut wire),
            Input::Flush => formatter.flush(&mut wire),
        }
    }
    formatter.flush(&mut wire);
    (wire, sent)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_sources_send_comes_back(policy in policy(), inputs in prop::collection::vec(input(), 1..30)) {
        let (wire, sent) = format(policy, &inputs);
        let heard = hear(policy.framing, &wire);
        if !sent.is_empty() {
            prop_assert_eq!(&heard.faults, &[]);
        }
        prop_assert_eq!(&heard.streams, &sent);
        if policy.framing == Framing::Memory {
            prop_assert_eq!(wire.len() % FRAME_BYTES, 0);
        }
    }

    /// Joining later gives, of each source, a tail.
    #[test]
    fn joining_later_gives_tails(policy in policy(), inputs in prop::collection::vec(input(), 1..30), cut in any::<prop::sample::Index>()) {
        let (wire, sent) = format(policy, &inputs);
        if policy.framing == Framing::Memory || wire.is_empty() {
            return Ok(());
        }
        let late = &wire[cut.index(wire.len())..];
        let heard = hear(policy.framing, late);
        let joins = late.windows(4).any(|bytes| bytes == FULL_SYNC);
        prop_assert_eq!(heard.discontinuities.len(), usize::from(joins));
        for (id, bytes) in heard.streams {
            prop_assert_eq!(sent.get(&id).map(|sent| sent.ends_with(&bytes)), Some(true), "{}", id);
        }
    }

    /// A damaged bit never panics, and does not affect a source before its frame.
    #[test]
    fn damage_costs_nothing_in_front_of_it(policy in policy(), inputs in prop::collection::vec(input(), 1..30), bit in any::<prop::sample::Index>()) {
        let (wire, _) = format(policy, &inputs);
        if wire.is_empty() {
            return Ok(());
        }
        let mut damaged = wire.clone();
        let bit = bit.index(8 * wire.len());
        damaged[bit / 8] ^= 1 << (bit % 8);
        // Of the frame that the bit is in, which syncs may stretch, nothing is known.
        let intact = (bit / 8).saturating_sub(2 * FRAME_BYTES * 4);
        let (before, after) = (hear(policy.framing, &wire[..intact]), hear(policy.framing, &damaged));
        for (id, bytes) in before.streams {
            prop_assert_eq!(after.streams.get(&id).map(|after| after.starts_with(&bytes)), Some(true), "{}", id);
        }
    }
}

/// Adler-32, as zlib computes it.
fn checksum(bytes: &[u8]) -> u32 {
    let (low, high) = bytes.iter().fold((1_u32, 0_u32), |(low, high), &byte| {
        let low = (low + u32::from(byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    high << 16 | low
}

/// Deepens the checks over captures of real hardware, where they are at hand. Lengths and checksums are those of the
/// streams that an independent decoder unwrapped from the same captures.
#[test]
fn real_captures_are_taken_apart() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/opencsd-snapshots");
    if !all.is_dir() {
        eprintln!("SKIPPED: no real capture is taken apart, because {} is not there", all.display());
        return;
    }
    let read = |file: &str| std::fs::read(all.join(file)).expect("readable capture");
    let streams = |heard: &Heard| -> Vec<(u8, usize, u32)> {
        let each = heard.streams.iter();
        each.map(|(id, bytes)| (id.value(), bytes.len(), checksum(bytes))).collect()
    };

    // Captures in memory: no synchronisation packets.
    let juno = hear(Framing::Memory, &read("juno_r1_1/cstrace.bin"));
    assert_eq!(juno.faults, []);
    let expected = [
        (0x10, 55_273, 0xc089_8cd0),
        (0x11, 672, 0x8544_5079),
        (0x12, 672, 0x648b_67f9),
        (0x13, 698, 0x86f2_5764),
        (0x15, 2_783, 0x033d_7730),
    ];
    assert_eq!(streams(&juno), expected);
    let snowball = hear(Framing::Memory, &read("Snowball/cstrace.bin"));
    assert_eq!(snowball.faults, []);
    assert_eq!(streams(&snowball)[0], (0x10, 4_340, 0xa526_9862));

    // A trace port: full synchronisation packets, and blocks of 512 bytes of which the probe wrote the last eight. The
    // capture ends inside a frame.
    let port: Vec<u8> =
        read("a55-test-tpiu/DSTREAM_0.bin").chunks(512).flat_map(|block| &block[..504]).copied().collect();
    let heard = hear(Framing::Continuous, &port);
    assert_eq!(heard.faults.iter().map(|fault| fault.class).collect::<Vec<_>>(), [FaultClass::Truncated]);
    assert_eq!(streams(&heard), [(0x01, 34_371, 0xe1d0_0d70)]);
}
