//! Formatted streams: the bytes are those of the worked examples, or put together by hand.

use crate::arm::{Formatter, NotASource};
use traceproof_vectors::arm::{FULL_SYNC, FormatterPolicy, Framing, HALF_SYNC, TraceId};

const A: u8 = 0x10;
const B: u8 = 0x11;

fn id(value: u8) -> TraceId {
    TraceId::new(value).expect("seven bits")
}

fn format(policy: FormatterPolicy, pieces: &[(u8, &[u8])]) -> Vec<u8> {
    let mut formatter = Formatter::new(policy);
    let mut wire = Vec::new();
    for &(source, bytes) in pieces {
        formatter.push(id(source), bytes, &mut wire).expect("a source");
    }
    formatter.flush(&mut wire);
    wire
}

fn memory(pieces: &[(u8, &[u8])]) -> Vec<u8> {
    format(FormatterPolicy::default(), pieces)
}

#[test]
fn worked_examples() {
    assert_eq!(
        memory(&[(A, &[0x84, 0xa5, 0x42, 0x01, 0x03]), (B, &[0xc9, 0xd8, 0x45])]),
        [0x21, 0x84, 0xa4, 0x42, 0x00, 0x03, 0x23, 0xc9, 0xd8, 0x45, 0x01, 0, 0, 0, 0, 0x06]
    );
    assert_eq!(
        memory(&[(A, &[0x84, 0xa5, 0x42, 0x01]), (B, &[0xc9, 0xd8, 0x45])]),
        [0x21, 0x84, 0xa4, 0x42, 0x23, 0x01, 0xc8, 0xd8, 0x01, 0x45, 0, 0, 0, 0, 0, 0x1e]
    );
}

#[test]
fn a_full_frame_needs_no_filling() {
    let wire = memory(&[(A, &[0xff; 14])]);
    assert_eq!(
        wire,
        [0x21, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe, 0xfe]
    );
    // One byte more waits for an even place, and leaves after the null ID.
    assert_eq!(memory(&[(A, &[0xff; 15])])[16..], [0x01, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01]);
    // One byte less leaves byte 14 to the null ID.
    assert_eq!(memory(&[(A, &[0xff; 13])])[14..], [0x01, 0x7e]);
}

#[test]
fn byte_14_takes_an_id_for_the_next_frame() {
    let wire = memory(&[(A, &[0x20; 13]), (B, &[0x33, 0x44])]);
    // ID 0x11 in byte 14, and no auxiliary bit.
    assert_eq!(wire[14..16], [0x23, 0x00]);
    // 0x33 with its bit 0 in auxiliary bit 0, then filling.
    assert_eq!(wire[16..], [0x32, 0x44, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01]);
}

#[test]
fn an_unchanged_id_is_repeated_every_eighth_frame() {
    let wire = memory(&[(A, &[0x42; 15 * 40])]);
    let named: Vec<usize> = wire
        .chunks(16)
        .enumerate()
        .filter(|(_, frame)| frame.iter().step_by(2).any(|byte| *byte == 0x21))
        .map(|(index, _)| index)
        .collect();
    assert_eq!(named, [0, 8, 16, 24, 32, 40]);
    let never = FormatterPolicy { id_repeat_frames: 0, ..FormatterPolicy::default() };
    let wire = format(never, &[(A, &[0x42; 15 * 40])]);
    assert_eq!(wire.iter().filter(|byte| **byte == 0x21).count(), 1);
}

#[test]
fn a_repeated_id_has_either_auxiliary_bit() {
    for (repeat_delayed, auxiliary) in [(false, 0x00), (true, 0b0101_0100)] {
        let policy = FormatterPolicy { id_repeat_pairs: 1, repeat_delayed, ..FormatterPolicy::default() };
        let wire = format(policy, &[(A, &[2, 4, 6, 8, 10, 12, 14, 16, 18, 20])]);
        // An ID, a pair of data, an ID with one byte, and so on.
        let expected = [0x21, 2, 4, 6, 0x21, 8, 10, 12, 0x21, 14, 16, 18, 0x21, 20, 0x01, auxiliary];
        assert_eq!(wire, expected);
    }
}

#[test]
fn full_synchronisation_stands_before_frames() {
    let policy = FormatterPolicy {
        framing: Framing::Normal,
        full_sync_frames: 2,
        half_sync_pairs: 1,
        ..FormatterPolicy::default()
    };
    let wire = format(policy, &[(A, &[0x42; 14 + 15 * 3])]);
    assert_eq!(wire.len(), 4 * 16 + 2 * 4);
    assert_eq!((&wire[..4], &wire[36..40]), (&FULL_SYNC[..], &FULL_SYNC[..]));
    let once = FormatterPolicy { full_sync_frames: 0, ..policy };
    assert_eq!(format(once, &[(A, &[0x42; 14 + 15 * 3])]).len(), 4 * 16 + 4);
    assert!(format(policy, &[]).is_empty());
}

#[test]
fn half_word_synchronisation_stands_between_pairs() {
    let policy =
        FormatterPolicy { framing: Framing::Continuous, half_sync_pairs: 3, ..FormatterPolicy::default() };
    let wire = format(policy, &[(A, &[0x42; 14])]);
    let expected = [
        &FULL_SYNC[..],
        &[0x21, 0x42, 0x42, 0x42, 0x42, 0x42],
        &HALF_SYNC,
        &[0x42, 0x42, 0x42, 0x42, 0x42, 0x42],
        &HALF_SYNC,
        &[0x42, 0x42, 0x42, 0x00],
    ];
    assert_eq!(wire, expected.concat());
}

#[test]
fn idle_time_is_filled_in_continuous_mode_only() {
    for framing in [Framing::Memory, Framing::Normal, Framing::Continuous] {
        let mut formatter = Formatter::new(FormatterPolicy { framing, ..FormatterPolicy::default() });
        let mut wire = Vec::new();
        formatter.push(id(A), &[1, 2], &mut wire).expect("a source");
        formatter.idle(2, &mut wire);
        formatter.push(id(A), &[3], &mut wire).expect("a source");
        let expected = match framing {
            Framing::Memory => vec![0x21, 1, 2, 3],
            Framing::Normal => [&FULL_SYNC[..], &[0x21, 1, 2, 3]].concat(),
            Framing::Continuous => [&FULL_SYNC[..], &[0x21, 1], &HALF_SYNC, &HALF_SYNC, &[2, 3]].concat(),
        };
        assert_eq!(wire, expected);
    }
}

#[test]
fn triggers_and_wrong_ids() {
    let mut formatter = Formatter::new(FormatterPolicy::default());
    let mut wire = Vec::new();
    formatter.push(id(A), &[0xaa], &mut wire).expect("a source");
    formatter.trigger(&mut wire);
    formatter.push(id(A), &[0xbb], &mut wire).expect("a source");
    assert_eq!(wire, [0x21, 0xaa, 0xfb, 0x00, 0x21, 0xbb]);
    for value in [0x00, 0x70, 0x7d, 0x7f] {
        assert_eq!(formatter.push(id(value), &[1], &mut wire), Err(NotASource(id(value))));
    }
    assert_eq!(wire.len(), 6);
}
