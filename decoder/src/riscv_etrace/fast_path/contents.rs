//! Handing over what units carry, without the units.

use traceproof_vectors::{Fault, Place};

use crate::riscv_etrace::bits::{Payload, at_bit, short_word};
use crate::riscv_etrace::encapsulation::{Content, Deframer, Unit};

/// Takes what the units of a stream carry.
///
/// A trait and not a closure, because only a method can be marked `inline`.
pub trait Receiver {
    /// A unit carries this. `place` has the index of the packet and the first bit of the payload; faults are those of
    /// [`Unit::content`].
    fn content(&mut self, place: Place, content: Result<Content<'_>, Fault>);

    /// A unit without anything else in it carries a packet of instruction trace of `received` bits, which fit a word;
    /// `word` has copies of its top bit above them. `place` is as above. Returns whether it was taken; if not, it is
    /// passed to [`content`](Self::content).
    #[inline(always)]
    fn word(&mut self, place: Place, word: i64, received: u32) -> bool {
        let _ = (place, word, received);
        false
    }
}

impl Deframer {
    /// As [`push`](Self::push), but passes only what the units carry.
    ///
    /// Where nothing surrounds the payload, neither a unit nor a payload that fits a word is built in memory, which is
    /// faster.
    #[inline]
    pub fn push_contents(&mut self, chunk: &[u8], receiver: &mut impl Receiver) {
        if self.layout.is_bare() {
            self.cutter.push::<true>(chunk, |place, header, _, bytes| {
                let (body, length) = (bytes.get(1..).unwrap_or_default(), usize::from(header.length()));
                if !header.extend()
                    && let Some(word) = short_word(body, length)
                    && receiver.word(at_bit(place, 8), word, 8 * length as u32)
                {
                    return;
                }
                let payload =
                    Payload::load_short(body, length).unwrap_or_else(|| Payload::load(body, length));
                let unit;
                let content = if header.extend() || header.is_null() {
                    unit = Unit::new(place, header, payload);
                    unit.content()
                } else {
                    Ok(Content::Instruction(&payload))
                };
                receiver.content(at_bit(place, 8), content);
            });
        } else {
            self.push_surrounded(chunk, &mut |unit| receiver.content(unit.payload_place(), unit.content()));
        }
    }
}
