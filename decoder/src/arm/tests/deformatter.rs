//! Formatted streams, written by hand byte by byte.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::{ProptestConfig, any, prop, prop_assert, prop_assert_eq, proptest};
use traceproof_vectors::arm::Framing;
use traceproof_vectors::{Fault, FaultClass, Place};

use super::super::{Deformatter, Discontinuity, FrameListener, Run};

/// Everything that was delivered, in an order that does not depend on how runs are cut.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    /// ID, byte, and where it stood.
    bytes: Vec<(u8, u8, Place)>,
    /// Faults and discontinuities, with the number of bytes delivered before them.
    faults: Vec<(usize, FaultClass, Place)>,
    gaps: Vec<(usize, Discontinuity, Place)>,
}

impl FrameListener for Heard {
    fn data(&mut self, run: Run<'_>) {
        assert!(!run.bytes.is_empty());
        let places = run.bytes.iter().enumerate();
        self.bytes.extend(places.map(|(index, &byte)| (run.id.value(), byte, run.place(index))));
    }

    fn discontinuity(&mut self, place: Place, cause: Discontinuity) {
        self.gaps.push((self.bytes.len(), cause, place));
    }

    fn fault(&mut self, fault: &Fault) {
        self.faults.push((self.bytes.len(), fault.class, fault.place));
    }
}

impl Heard {
    fn streams(&self) -> BTreeMap<u8, Vec<u8>> {
        let mut streams = BTreeMap::<u8, Vec<u8>>::new();
        for &(id, byte, _) in &self.bytes {
            streams.entry(id).or_default().push(byte);
        }
        streams
    }

    fn offsets(&self) -> Vec<u64> {
        self.bytes.iter().map(|(.., place)| place.byte).collect()
    }
}

fn hear<'a>(framing: Framing, chunks: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut heard = Heard::default();
    let mut deformatter = Deformatter::new(framing);
    for chunk in chunks {
        deformatter.push(chunk, &mut heard);
    }
    deformatter.finish(&mut heard);
    heard
}

/// The results, which must be the same whole, byte by byte and in pieces of three.
fn read(framing: Framing, stream: &[u8]) -> Heard {
    let whole = hear(framing, [stream]);
    assert_eq!(whole, hear(framing, stream.chunks(1)), "byte by byte");
    assert_eq!(whole, hear(framing, stream.chunks(3)), "in pieces of three");
    whole
}

const fn place(packet: u64, byte: u64, bit: u8) -> Place {
    Place { packet, byte, bit }
}

/// Worked example F-01: a new ID that takes effect at once.
const IMMEDIATE: [u8; 16] =
    [0x21, 0x84, 0xa4, 0x42, 0x00, 0x03, 0x23, 0xc9, 0xd8, 0x45, 0x01, 0, 0, 0, 0, 0x06];
/// Worked example F-02: a new ID that takes effect after the next byte.
const DELAYED: [u8; 16] = [0x21, 0x84, 0xa4, 0x42, 0x23, 0x01, 0xc8, 0xd8, 0x01, 0x45, 0, 0, 0, 0, 0, 0x1e];
const FULL: [u8; 4] = [0xff, 0xff, 0xff, 0x7f];
const HALF: [u8; 2] = [0xff, 0x7f];
/// ID 0x10, then the bytes 0x11, 0x22, ..., 0xee; those at even places are even, so no auxiliary bit is set.
const FOURTEEN: [u8; 16] =
    [0x21, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0x00];
/// No ID; 15 bytes, all 0xff but the even ones at 0, 4, 8 and 12, which are 0xfe.
const PLAIN: [u8; 16] =
    [0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe, 0b1010_1010];

#[test]
fn worked_example_of_an_immediate_change() {
    let heard = read(Framing::Memory, &IMMEDIATE);
    assert_eq!(
        heard.streams(),
        BTreeMap::from([(0x10, vec![0x84, 0xa5, 0x42, 0x01, 0x03]), (0x11, vec![0xc9, 0xd8, 0x45])])
    );
    assert_eq!(heard.offsets(), [1, 2, 3, 4, 5, 7, 8, 9]);
    assert_eq!((heard.faults, heard.gaps), (vec![], vec![]));
}

#[test]
fn worked_example_of_a_delayed_change() {
    let heard = read(Framing::Memory, &DELAYED);
    assert_eq!(
        heard.streams(),
        BTreeMap::from([(0x10, vec![0x84, 0xa5, 0x42, 0x01]), (0x11, vec![0xc9, 0xd8, 0x45])])
    );
    assert_eq!(heard.offsets(), [1, 2, 3, 5, 6, 7, 9]);
}

#[test]
fn the_id_persists_and_the_places_pass_over_the_auxiliary_bytes() {
    let heard = read(Framing::Memory, &[FOURTEEN, PLAIN, PLAIN].concat());
    let sent: Vec<u8> = (1..=14).map(|n| n * 0x11).collect();
    let plain = [0xfe, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff];
    assert_eq!(heard.streams(), BTreeMap::from([(0x10, [&sent[..], &plain, &plain].concat())]));
    let expected: Vec<u64> = (1..48).filter(|offset| offset % 16 != 15).collect();
    assert_eq!(heard.offsets(), expected);
    assert_eq!(heard.bytes[14].2, place(1, 16, 0));
    assert_eq!(heard.bytes[43].2, place(2, 46, 0));
}

#[test]
fn an_id_in_byte_14_is_that_of_the_next_frame() {
    let mut frame = FOURTEEN;
    frame[14] = 0x25;
    let heard = read(Framing::Memory, &[frame, PLAIN].concat());
    assert_eq!(
        heard.streams().into_iter().map(|(id, bytes)| (id, bytes.len())).collect::<Vec<_>>(),
        [(0x10, 13), (0x12, 15)]
    );
    assert_eq!(heard.faults, []);
    // Its auxiliary bit means nothing.
    frame[15] = 0x80;
    let heard = read(Framing::Memory, &[frame, PLAIN].concat());
    assert_eq!(heard.streams()[&0x12].len(), 15);
    assert_eq!(heard.faults, [(13, FaultClass::Suspicious, place(0, 15, 7))]);
}

#[test]
fn a_repeated_id_changes_nothing_whatever_its_auxiliary_bit() {
    for auxiliary in [0x00, 0x08] {
        let mut frame = FOURTEEN;
        (frame[6], frame[15]) = (0x21, auxiliary);
        let heard = read(Framing::Memory, &frame);
        let sent: Vec<u8> = (1..=14).filter(|&n| n != 6).map(|n| n * 0x11).collect();
        assert_eq!(heard.streams(), BTreeMap::from([(0x10, sent)]));
    }
}

#[test]
fn data_of_no_source_are_dropped() {
    // Nothing is known before the first ID, not even with a delayed change.
    let heard =
        read(Framing::Memory, &[0x10, 0x20, 0x21, 0x30, 0x40, 0, 0x01, 0x50, 0, 0, 0, 0, 0, 0, 0, 0x0a]);
    assert_eq!(
        heard.bytes,
        [(0x10, 0x40, place(0, 4, 0)), (0x10, 0x00, place(0, 5, 0)), (0x10, 0x50, place(0, 7, 0))]
    );
    assert_eq!(heard.faults, []);
}

#[test]
fn triggers_are_data_of_their_own_id() {
    // 0x10, trigger with one byte 0, back to 0x10.
    let heard = read(Framing::Memory, &[0x21, 0xaa, 0xfb, 0x00, 0x21, 0xbb, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(heard.streams(), BTreeMap::from([(0x10, vec![0xaa, 0xbb]), (0x7d, vec![0])]));
    assert_eq!(heard.faults, []);
}

#[test]
fn reserved_ids_are_reported_and_delivered() {
    for id in (0x70..=0x7e).filter(|&id| id != 0x7d) {
        let heard =
            read(Framing::Memory, &[0x21, 0xaa, id << 1 | 1, 0x42, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(heard.streams(), BTreeMap::from([(0x10, vec![0xaa]), (id, vec![0x42])]));
        assert_eq!(heard.faults, [(1, FaultClass::ReservedEncoding, place(0, 2, 1))], "{id:#x}");
    }
}

#[test]
fn the_forbidden_id_of_a_memory_capture() {
    // Data are dropped until the next ID: byte 6.
    let mut frame = FOURTEEN;
    (frame[2], frame[6]) = (0xff, 0x25);
    let heard = read(Framing::Memory, &frame);
    assert_eq!(heard.faults, [(1, FaultClass::ReservedEncoding, place(0, 2, 1))]);
    assert_eq!(
        heard.streams(),
        BTreeMap::from([(0x10, vec![0x11]), (0x12, (7..=14).map(|n| n * 0x11).collect())])
    );
    // The same with what looks like synchronisation; the auxiliary bit does not make 0x7f data.
    (frame[3], frame[15]) = (0x7f, 0x02);
    let heard = read(Framing::Memory, &frame);
    assert_eq!(heard.faults, [(1, FaultClass::Framing, place(0, 2, 0))]);
    assert_eq!(heard.bytes.len(), 9);
}

#[test]
fn a_barrier_cuts_a_memory_capture() {
    let heard = read(Framing::Memory, &[&FOURTEEN[..], &FULL.repeat(4), &PLAIN, &FOURTEEN].concat());
    assert_eq!(heard.gaps, [(14, Discontinuity::Barrier, place(2, 32, 0))]);
    // The ID from before the barrier is not that of the data after it.
    assert_eq!(heard.streams()[&0x10].len(), 28);
    assert_eq!(heard.bytes[14].2, place(3, 49, 0));
    assert_eq!(heard.faults, []);
}

#[test]
fn the_last_frame_may_be_incomplete() {
    for framing in [Framing::Memory, Framing::Continuous] {
        let sync: &[u8] = if framing == Framing::Memory { &[] } else { &FULL };
        let at = sync.len() as u64 + 16;
        for length in 1..16 {
            let heard = read(framing, &[sync, &FOURTEEN, &PLAIN[..length]].concat());
            assert_eq!(heard.bytes.len(), 14);
            assert_eq!(heard.faults, [(14, FaultClass::Truncated, place(1, at, 0))]);
        }
    }
}

#[test]
fn a_trace_port_is_joined_at_its_first_full_synchronisation() {
    // The tail of a frame with ambiguous data, then frames.
    let tail = [0xff, 0xff, 0x7f, 0x21, 0xff, 0xff, 0xff];
    let stream = [&tail[..], &FULL, &IMMEDIATE, &FULL, &FULL, &DELAYED].concat();
    for framing in [Framing::Normal, Framing::Continuous] {
        let heard = read(framing, &stream);
        assert_eq!(heard.gaps, [(0, Discontinuity::Joined, place(0, 11, 0))]);
        assert_eq!(
            heard.streams(),
            BTreeMap::from([
                (0x10, vec![0x84, 0xa5, 0x42, 0x01, 0x03, 0x84, 0xa5, 0x42, 0x01]),
                (0x11, vec![0xc9, 0xd8, 0x45, 0xc9, 0xd8, 0x45])
            ])
        );
        assert_eq!(heard.bytes[0].2, place(0, 12, 0));
        assert_eq!(heard.bytes[8].2, place(1, 36, 0));
        assert_eq!(heard.faults, []);
    }
}

#[test]
fn a_trace_port_without_synchronisation_says_nothing() {
    let heard = read(Framing::Continuous, &IMMEDIATE);
    assert_eq!(heard.faults, [(0, FaultClass::NotSynchronised, place(0, 0, 0))]);
    assert_eq!(heard.bytes, []);
    assert_eq!(read(Framing::Continuous, &[]), Heard::default());
}

#[test]
fn half_word_synchronisation_stands_between_any_pairs() {
    let expected = read(Framing::Memory, &DELAYED);
    for pair in 0..8 {
        let (front, back) = DELAYED.split_at(2 * pair);
        let heard = read(Framing::Continuous, &[&FULL[..], front, &HALF.repeat(3), back, &HALF].concat());
        assert_eq!(heard.faults, []);
        assert_eq!(heard.streams(), expected.streams());
        let moved = |&offset: &u64| offset + 4 + if offset >= 2 * pair as u64 { 6 } else { 0 };
        assert_eq!(heard.offsets(), expected.offsets().iter().map(moved).collect::<Vec<_>>());
    }
}

#[test]
fn half_word_synchronisation_in_normal_mode_is_reported_and_passed_over() {
    let (front, back) = DELAYED.split_at(6);
    let heard = read(Framing::Normal, &[&FULL[..], front, &HALF, back].concat());
    assert_eq!(heard.faults, [(0, FaultClass::IllegalInState, place(0, 10, 0))]);
    assert_eq!(heard.streams(), read(Framing::Memory, &DELAYED).streams());
}

#[test]
fn a_full_synchronisation_in_a_frame_ends_it() {
    for pair in 1..8 {
        let stream = [&FULL[..], &FOURTEEN, &PLAIN[..2 * pair], &FULL, &PLAIN, &IMMEDIATE].concat();
        let heard = read(Framing::Continuous, &stream);
        assert_eq!(heard.faults, [(14, FaultClass::Truncated, place(1, 20, 0))]);
        let at = 24 + 2 * pair as u64;
        assert_eq!(heard.gaps[1..], [(14, Discontinuity::Resynchronised, place(2, at, 0))]);
        // The frame that was lost may have held an ID, so the ID of the data of the next one is unknown.
        assert_eq!(heard.bytes.len(), 14 + 8);
        assert_eq!(heard.bytes[14].2, place(3, at + 17, 0));
    }
}

#[test]
fn what_is_neither_id_nor_synchronisation_ends_the_alignment() {
    for wrong in [&[0xff, 0x00][..], &[0xff, 0xff, 0x7f, 0x00], &[0xff, 0xff, 0xff, 0x00]] {
        let stream = [&FULL[..], &FOURTEEN, &PLAIN[..4], wrong, &FOURTEEN, &FULL, &IMMEDIATE].concat();
        let heard = read(Framing::Continuous, &stream);
        assert_eq!(heard.faults, [(14, FaultClass::Framing, place(1, 24, 0))]);
        assert_eq!(heard.gaps.len(), 2);
        assert_eq!(heard.gaps[1].1, Discontinuity::Resynchronised);
        assert_eq!(heard.bytes.len(), 14 + 8);
    }
    // A byte too many: the synchronisation packet is found where it is.
    let stream = [&FULL[..], &FOURTEEN, &[0xff], &FULL, &IMMEDIATE].concat();
    let heard = read(Framing::Continuous, &stream);
    assert_eq!(heard.faults, [(14, FaultClass::Framing, place(1, 20, 0))]);
    assert_eq!(heard.gaps[1], (14, Discontinuity::Resynchronised, place(2, 25, 0)));
    assert_eq!(heard.bytes.len(), 14 + 8);
}

#[test]
fn the_stream_may_end_in_a_synchronisation_packet() {
    let heard = read(Framing::Continuous, &[&FULL[..], &FOURTEEN, &FULL[..3]].concat());
    assert_eq!(heard.faults, [(14, FaultClass::Truncated, place(1, 20, 0))]);
}

#[test]
fn long_runs_come_whole_and_in_order() {
    let plain = PLAIN.repeat(1000);
    let heard = read(Framing::Memory, &[&FOURTEEN[..], &plain].concat());
    assert_eq!(heard.bytes.len(), 14 + 15_000);
    let expected: Vec<u64> = (1..16 * 1001).filter(|offset| offset % 16 != 15).collect();
    assert_eq!(heard.offsets(), expected);
    let mut runs = 0;
    struct Count<'a>(&'a mut usize);
    impl FrameListener for Count<'_> {
        fn data(&mut self, _: Run<'_>) {
            *self.0 += 1;
        }
        fn fault(&mut self, _: &Fault) {}
    }
    Deformatter::new(Framing::Memory).push(&[&FOURTEEN[..], &plain].concat(), &mut Count(&mut runs));
    assert!(runs < 20, "{runs} runs");
}

#[test]
fn a_reset_forgets_everything() {
    let mut deformatter = Deformatter::new(Framing::Continuous);
    deformatter.push(&[&FULL[..], &FOURTEEN, &PLAIN[..5]].concat(), &mut Heard::default());
    deformatter.reset();
    let mut heard = Heard::default();
    deformatter.push(&[&FULL[..], &PLAIN, &IMMEDIATE].concat(), &mut heard);
    deformatter.finish(&mut heard);
    assert_eq!(heard, read(Framing::Continuous, &[&FULL[..], &PLAIN, &IMMEDIATE].concat()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes, most of them such that they matter, in any chunks.
    #[test]
    fn chunk_borders_never_matter(
        stream in prop::collection::vec(prop::sample::select(&[0xff, 0xff, 0x7f, 0x21, 0x01, 0x00, 0x80, 0xfb, 0xf1][..]), 0..200),
        cuts in prop::collection::vec(1..40_usize, 1..40),
        framing in prop::sample::select(&[Framing::Memory, Framing::Normal, Framing::Continuous][..]),
        noise in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let stream = [&FULL[..], &stream, &noise].concat();
        let whole = hear(framing, [&stream[..]]);
        let mut pieces = Vec::new();
        let mut rest = &stream[..];
        for cut in cuts.into_iter().cycle().take(300) {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces.push(rest);
        prop_assert_eq!(&whole, &hear(framing, pieces));
        prop_assert!(whole.bytes.len() <= stream.len());
        prop_assert!(whole.faults.iter().all(|(.., place)| place.byte <= stream.len() as u64));
    }
}
