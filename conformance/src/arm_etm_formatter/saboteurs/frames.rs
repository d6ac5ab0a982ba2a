//! Changes bytes by their place in the frame.

use traceproof_vectors::arm::{FRAME_BYTES, FULL_SYNC, Framing};

use crate::saboteurs::decoders::Bytes;

/// What is read in place of a byte: its place in the frame, the byte, and the bytes before it.
type Change = fn(usize, u8, &Seen) -> u8;

/// The frame as it was sent, up to the present byte.
#[derive(Debug, Default)]
pub(super) struct Seen {
    bytes: [u8; FRAME_BYTES],
    /// The latest ID but 0, in the form of its byte.
    source: Option<u8>,
}

impl Seen {
    /// The auxiliary bits that belong to IDs.
    pub(super) fn ids(&self) -> u8 {
        let even = self.bytes.iter().step_by(2).enumerate();
        even.fold(0, |bits, (pair, byte)| bits | (byte & 1) << pair)
    }
}

/// A deformatter that reads other bytes. It knows frames of a capture, and those of a port up to the first half-word
/// synchronisation packet after a full one.
pub(super) fn frames_with(change: Change, framing: Framing) -> Bytes {
    let (mut at, mut latest, mut seen) = (0, [0; FULL_SYNC.len()], Seen::default());
    let mut is_aligned = framing == Framing::Memory;
    Box::new(move |byte| {
        latest.rotate_left(1);
        latest[FULL_SYNC.len() - 1] = byte;
        if framing != Framing::Memory && latest == FULL_SYNC {
            (at, is_aligned) = (0, true);
            return byte;
        }
        // What may be the beginning of a synchronisation packet is none of the bytes that are changed.
        if !is_aligned || (framing != Framing::Memory && at % 2 == 0 && byte == 0xff) {
            is_aligned = is_aligned && byte != 0xff;
            return byte;
        }
        let place = at;
        at = (at + 1) % FRAME_BYTES;
        if let Some(kept) = seen.bytes.get_mut(place) {
            *kept = byte;
        }
        let changed = change(place, byte, &seen);
        if place % 2 == 0 && byte & 1 == 1 && byte != 1 {
            seen.source = Some(byte);
        }
        changed
    })
}

/// See [`frames_with`]; a macro, because a hook is a plain function of the parameters.
macro_rules! frames {
    ($change:expr) => {
        $crate::saboteurs::decoders::bytes(|parameters: &$crate::arm_etm_formatter::Parameters| {
            $crate::arm_etm_formatter::saboteurs::frames::frames_with($change, parameters.framing)
        })
    };
}
pub(super) use frames;

/// Drops what is before the first ID of a frame: byte 0 becomes ID 0.
pub(super) fn forgets_the_id(at: usize, byte: u8, seen: &Seen) -> u8 {
    match at {
        0 if byte & 1 == 0 => 1,
        15 if seen.bytes[0] & 1 == 0 => byte & !1,
        _ => byte,
    }
}

/// ID 0 becomes the ID before it.
pub(super) fn ignores_null(at: usize, byte: u8, seen: &Seen) -> u8 {
    match seen.source {
        Some(source) if at < 15 && at.is_multiple_of(2) && byte == 1 => source,
        _ => byte,
    }
}
