//! CoreSight formatter: any stream gives the same bounded results however it is cut, and sent bytes survive a round
//! trip.
//!
//! Input: byte 0 = framing (bits 1:0) and policy (the rest); what follows is read twice: as a formatted stream, and as
//! pieces to send, each a trace ID (0 = a trigger, 1 = idle time, 2 = flush), a length modulo 32 and so many bytes.

use std::collections::BTreeMap;

use traceproof_decoder::arm::{Deformatter, Discontinuity, FrameListener, Run};
use traceproof_encoder_model::arm::Formatter;
use traceproof_vectors::arm::{FormatterPolicy, Framing, TraceId};
use traceproof_vectors::{Fault, Place};

/// What was delivered, in a form that does not depend on how runs are cut.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    bytes: Vec<(TraceId, u8, Place)>,
    faults: Vec<(usize, Fault)>,
    discontinuities: Vec<(usize, Discontinuity, Place)>,
}

impl FrameListener for Heard {
    fn data(&mut self, run: Run<'_>) {
        self.bytes.extend(run.bytes.iter().enumerate().map(|(at, &byte)| (run.id, byte, run.place(at))));
    }

    fn discontinuity(&mut self, place: Place, cause: Discontinuity) {
        self.discontinuities.push((self.bytes.len(), cause, place));
    }

    fn fault(&mut self, fault: &Fault) {
        self.faults.push((self.bytes.len(), *fault));
    }
}

/// The policy that a number chooses.
fn policy(number: u8) -> FormatterPolicy {
    FormatterPolicy {
        framing: match number & 3 {
            0 => Framing::Memory,
            1 => Framing::Normal,
            _ => Framing::Continuous,
        },
        full_sync_frames: u32::from(number >> 2 & 3),
        half_sync_pairs: u32::from(number >> 4 & 1) * 3,
        id_repeat_frames: u32::from(number >> 5 & 1) * 7,
        id_repeat_pairs: u32::from(number >> 6 & 1) * 2,
        repeat_delayed: number >> 7 != 0,
    }
}

/// Deformats the stream whole, byte by byte and in uneven pieces; sends the pieces and gets them back.
///
/// # Panics
///
/// When results differ, are out of order or too many.
pub fn run(data: &[u8]) {
    let Some((&number, stream)) = data.split_first() else { return };
    let policy = policy(number);
    let whole = hear(policy.framing, std::iter::once(stream));
    assert_eq!(whole, hear(policy.framing, stream.chunks(1)), "cutting the stream changes the results");
    assert_eq!(whole, hear(policy.framing, stream.chunks(19)), "cutting the stream changes the results");
    assert!(whole.bytes.len() <= stream.len(), "more data than bytes");
    let mut latest = Place::default();
    for (.., place) in &whole.bytes {
        assert!(place.byte >= latest.byte && place.packet >= latest.packet, "{place} is out of order");
        assert!(place.byte < stream.len() as u64, "{place} is beyond the end");
        latest = *place;
    }
    for (_, fault) in &whole.faults {
        assert!(fault.place.byte <= stream.len() as u64, "{fault} is beyond the end");
    }
    send(policy, stream);
}

fn hear<'a>(framing: Framing, chunks: impl Iterator<Item = &'a [u8]>) -> Heard {
    let mut heard = Heard::default();
    let mut deformatter = Deformatter::new(framing);
    for chunk in chunks {
        deformatter.push(chunk, &mut heard);
    }
    deformatter.finish(&mut heard);
    heard
}

/// Spec: ARM-FMT-012.
fn send(policy: FormatterPolicy, mut script: &[u8]) {
    let mut formatter = Formatter::new(policy);
    let mut wire = Vec::new();
    let mut sent = BTreeMap::<TraceId, Vec<u8>>::new();
    while let Some((&[id, length], rest)) = script.split_first_chunk::<2>() {
        let (bytes, rest) = rest.split_at(usize::from(length % 32).min(rest.len()));
        script = rest;
        match id & 0x7f {
            0 => {
                formatter.trigger(&mut wire);
                sent.entry(TraceId::TRIGGER).or_default().push(0);
            }
            1 => formatter.idle(length.into(), &mut wire),
            2 => formatter.flush(&mut wire),
            value => {
                let Some(id) = TraceId::new(value) else { continue };
                if formatter.push(id, bytes, &mut wire).is_ok() && !bytes.is_empty() {
                    sent.entry(id).or_default().extend(bytes);
                }
            }
        }
    }
    formatter.flush(&mut wire);
    let mut back = BTreeMap::<TraceId, Vec<u8>>::new();
    let heard = hear(policy.framing, std::iter::once(&wire[..]));
    for (id, byte, _) in heard.bytes {
        back.entry(id).or_default().push(byte);
    }
    // A stream of idle time only has nothing to join.
    assert!(heard.faults.is_empty() || sent.is_empty(), "{:?}", heard.faults);
    assert_eq!(sent, back, "what was sent does not come back");
}

/// Seeds: worked examples, and streams of the formatter model under every policy.
#[must_use]
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    let frames = [
        [0x21, 0x84, 0xa4, 0x42, 0x00, 0x03, 0x23, 0xc9, 0xd8, 0x45, 0x01, 0, 0, 0, 0, 0x06],
        [0x21, 0x84, 0xa4, 0x42, 0x23, 0x01, 0xc8, 0xd8, 0x01, 0x45, 0, 0, 0, 0, 0, 0x1e],
    ];
    let mut seeds = vec![("worked-examples".to_owned(), [&[0x20][..], &frames.concat()].concat())];
    for number in (0..=0xff).step_by(13) {
        let policy = policy(number);
        let mut formatter = Formatter::new(policy);
        let mut wire = vec![number];
        for round in 0..6_u8 {
            for source in [0x10, 0x11, 0x12] {
                let bytes = vec![
                    source + round;
                    (usize::from(source) + usize::from(number) + usize::from(round) * 5) % 23
                ];
                if let Some(id) = TraceId::new(source) {
                    let _ = formatter.push(id, &bytes, &mut wire);
                }
            }
            formatter.idle(2, &mut wire);
        }
        formatter.trigger(&mut wire);
        formatter.flush(&mut wire);
        seeds.push((format!("policy-{number:02x}"), wire));
    }
    seeds
}
