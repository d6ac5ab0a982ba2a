//! Bits of a payload: LSB first, virtually sign-extended, read field by field.

use traceproof_vectors::{Fault, FaultClass, Place};

/// Words that hold the longest payload and at least one copy of its top bit.
const WORDS: usize = 4;

/// The payload of one packet: 1 to 248 bits, followed by endless copies of its top bit.
///
/// It is whole bytes unless the encapsulation puts other bits before it. Bit 0 is the least significant bit of the
/// first byte. Spec: RVET-PKT-001, RVET-PKT-007 (ET 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Sign-extended.
    words: [u64; WORDS],
    /// How many bits travelled.
    received: u8,
}

impl Payload {
    /// Most bytes that the normal encapsulation can hold (RVET-ENCAP-001).
    pub const MAX_LENGTH: usize = 31;

    /// Most bits that the normal encapsulation can hold (RVET-ENCAP-006).
    pub const MAX_BITS: u32 = 8 * Self::MAX_LENGTH as u32;

    /// Takes the bytes of a payload; `None` unless there are 1 to [`MAX_LENGTH`](Self::MAX_LENGTH) of them.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (1..=Self::MAX_LENGTH).contains(&bytes.len()).then(|| Self::load(bytes, bytes.len()))
    }

    /// Takes `count` bits, the first of which is bit `first` of `bytes`; `None` unless there are that many and
    /// `count` is 1 to [`MAX_BITS`](Self::MAX_BITS).
    #[must_use]
    pub fn from_bits(bytes: &[u8], first: u32, count: u32) -> Option<Self> {
        let shift = first % 8;
        let bytes = bytes.get(first as usize / 8..)?;
        if !(1..=Self::MAX_BITS).contains(&count) || bytes.len() < (shift + count).div_ceil(8) as usize {
            return None;
        }
        let mut words = [0; WORDS];
        fill(&mut words, bytes);
        let shifted: [u64; WORDS] =
            core::array::from_fn(|index| word_at(&words, 0, 64 * index as u32 + shift));
        let top = word_at(&shifted, 0, count - 1) & 1;
        let copies = top.wrapping_neg();
        let mut low = 0;
        let words = shifted.map(|word| {
            // The bits of this word that travelled.
            let kept = u64::MAX.checked_shr(64_u32.saturating_sub(count.saturating_sub(low))).unwrap_or(0);
            low += 64;
            word & kept | copies & !kept
        });
        Some(Self { words, received: count as u8 })
    }

    /// Takes the first `length` (1 to 31, clamped) of `rest`; reading on after them is faster where allowed.
    #[inline]
    pub(super) fn load(rest: &[u8], length: usize) -> Self {
        Self::load_short(rest, length).unwrap_or_else(|| {
            let length = length.clamp(1, Self::MAX_LENGTH);
            Self::load_bytewise(rest.get(..length).unwrap_or(rest))
        })
    }

    /// As [`load`](Self::load), if it is fast.
    #[inline(always)]
    pub(super) fn load_short(rest: &[u8], length: usize) -> Option<Self> {
        let length = length.max(1);
        let word = short_word(rest, length)?;
        let fill = (word >> 63) as u64;
        Some(Self { words: [word as u64, fill, fill, fill], received: 8 * length as u8 })
    }

    /// The slow path, which never reads past the payload.
    fn load_bytewise(bytes: &[u8]) -> Self {
        let top = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut words = [if top { u64::MAX } else { 0 }; WORDS];
        fill(&mut words, bytes);
        Self { words, received: 8 * bytes.len() as u8 }
    }

    /// Whether everything that travelled fits a word.
    #[inline(always)]
    pub(super) const fn is_short(&self) -> bool {
        self.received <= 64
    }

    /// The bits of a payload that [fits a word](Self::is_short), with copies of the top bit above them.
    #[inline(always)]
    pub(super) const fn short(&self) -> Option<i64> {
        let [word, ..] = self.words;
        if self.is_short() { Some(word as i64) } else { None }
    }

    /// How many bits travelled.
    #[inline]
    #[must_use]
    pub const fn received_bits(&self) -> u32 {
        self.received as u32
    }

    /// The `width` (0 to 64) bits from `first` on, zero-extended. Bits that did not travel are copies of the
    /// top bit that did.
    #[inline(always)]
    #[must_use]
    pub fn bits(&self, first: u32, width: u32) -> u64 {
        let mask = u64::MAX.checked_shr(64 - width.min(64)).unwrap_or(0);
        let [word, ..] = self.words;
        if self.received <= 64 {
            // An arithmetic shift makes as many copies as needed.
            return ((word as i64) >> first.min(63)) as u64 & mask;
        }
        self.bits_across(first) & mask
    }

    /// The 64 bits from `first` on.
    fn bits_across(&self, first: u32) -> u64 {
        let fill = self.words.last().map_or(0, |&top| ((top as i64) >> 63) as u64);
        word_at(&self.words, fill, first)
    }
}

/// The 64 bits from bit `first` of `words` on; after the last word come words `fill`.
fn word_at(words: &[u64; WORDS], fill: u64, first: u32) -> u64 {
    let word = |index: u32| words.get(index as usize).copied().unwrap_or(fill);
    let shift = first % 64;
    // Two shifts, because one by 64 is not defined.
    word(first / 64) >> shift | (word(first / 64 + 1) << 1) << (63 - shift)
}

/// Puts `bytes` before what the words hold already; what does not fit is left out.
fn fill(words: &mut [u64; WORDS], bytes: &[u8]) {
    for (word, chunk) in words.iter_mut().zip(bytes.chunks(8)) {
        let mut all = word.to_le_bytes();
        for (to, from) in all.iter_mut().zip(chunk) {
            *to = *from;
        }
        *word = u64::from_le_bytes(all);
    }
}

/// The first `length` bytes of `rest`, sign-extended, if they are 1 to 8 and can be read fast.
#[inline(always)]
pub(super) fn short_word(rest: &[u8], length: usize) -> Option<i64> {
    let bytes = rest.first_chunk::<8>().filter(|_| (1..=8).contains(&length))?;
    let shift = 64 - 8 * length as u32;
    Some((i64::from_le_bytes(*bytes) << shift) >> shift)
}

/// Receives every field as it is read.
pub(super) trait Observer {
    /// A field of `width` bits, the first of which is bit `bit` of the payload, has the raw value `value`.
    fn field(&mut self, name: &'static str, bit: u32, width: u32, value: u64);
}

/// Discards every field; costs nothing.
impl Observer for () {
    #[inline(always)]
    fn field(&mut self, _: &'static str, _: u32, _: u32, _: u64) {}
}

/// Reads the fields of a payload one after the other. `SHORT` promises a payload that
/// [fits a word](Payload::is_short).
///
/// Inlining is forced because values on this hot path must stay in registers.
pub(super) struct Fields<'a, O, const SHORT: bool = false> {
    payload: &'a Payload,
    /// If `SHORT`: the bits from `position` on, as an arithmetic shift leaves them.
    rest: i64,
    /// The bit before `position` is 1.
    latest: bool,
    /// Of the payload.
    place: Place,
    position: u32,
    observer: &'a mut O,
}

impl<'a, O: Observer, const SHORT: bool> Fields<'a, O, SHORT> {
    #[inline(always)]
    pub(super) fn new(payload: &'a Payload, place: Place, observer: &'a mut O) -> Self {
        let [word, ..] = payload.words;
        Self { payload, rest: word as i64, latest: false, place, position: 0, observer }
    }

    /// The bit at which the next field starts.
    #[inline(always)]
    pub(super) const fn position(&self) -> u32 {
        self.position
    }

    /// A fault at this bit of the payload.
    #[cold]
    pub(super) const fn fault(&self, class: FaultClass, bit: u32) -> Fault {
        Fault::new(class, at_bit(self.place, bit))
    }

    /// Reads the next `width` (0 to 64) bits. A field without bits is no field.
    #[inline(always)]
    pub(super) fn take(&mut self, name: &'static str, width: u32) -> u64 {
        if width == 0 {
            return 0;
        }
        let value = if SHORT {
            let unused = 64 - width.min(64);
            let value = (self.rest as u64) << unused >> unused;
            // An arithmetic shift makes as many copies of the top bit as needed.
            self.rest >>= width.min(63);
            value
        } else {
            self.payload.bits(self.position, width)
        };
        self.latest = value >> (width - 1) & 1 != 0;
        self.observer.field(name, self.position, width, value);
        self.position += width;
        value
    }

    /// Reads the next `width` (0 to 128) bits. The observer receives a field beyond 64 bits in two pieces, low first.
    pub(super) fn take_wide(&mut self, name: &'static str, width: u32) -> u128 {
        let low = self.take(name, width.min(64));
        let high = self.take(name, width.saturating_sub(64));
        u128::from(high) << 64 | u128::from(low)
    }

    /// Reads one bit.
    #[inline(always)]
    pub(super) fn flag(&mut self, name: &'static str) -> bool {
        self.take(name, 1) != 0
    }

    /// Reads one bit: whether it differs from the one before it.
    #[inline(always)]
    pub(super) fn change(&mut self, name: &'static str) -> bool {
        let before = self.latest;
        self.flag(name) != before
    }

    /// All fields are read: what is left over must be filling. Spec: RVET-PKT-003 (ET 7).
    ///
    /// Where the payload does not start or end with a byte of the stream, an encoder may fill the packet up to whole
    /// bytes, and the last byte of the stream after that once more. Spec: RVET-ENCAP-010 (EN 2.1.5).
    ///
    /// # Errors
    ///
    /// `Overlong` at the first bit after the last field, when whole bytes are left over after all filling or when the
    /// filling does not copy the packet's top bit.
    #[inline(always)]
    pub(super) fn finish(&self) -> Result<(), Fault> {
        let received = self.payload.received_bits();
        let most = most(self.position);
        if SHORT {
            // After what travelled there are copies too, so that one comparison is enough.
            let copies = -i64::from(self.latest);
            if self.rest == copies && received <= most {
                return Ok(());
            }
        } else if received <= self.position {
            return Ok(());
        } else if received <= most {
            let excess = received - self.position;
            let copies = if self.latest { (1 << excess) - 1 } else { 0 };
            if self.payload.bits(self.position, excess) == copies {
                return Ok(());
            }
        }
        Err(self.fault(FaultClass::Overlong, self.position))
    }
}

/// Most bits of a payload whose fields have `position` bits: whole bytes, and another one of filling
/// (RVET-ENCAP-010).
#[inline(always)]
pub(super) const fn most(position: u32) -> u32 {
    position.next_multiple_of(8) + 7
}

/// Width of the map of `branches` outcomes: as many bits as the widest number with as many digits needs.
#[inline(always)]
pub(super) const fn map_width(branches: u8) -> u32 {
    (1 << (u8::BITS - branches.leading_zeros())) - 1
}

/// The place of the bit `bit` of the payload whose first bit is at `place`.
#[inline]
pub(super) const fn at_bit(place: Place, bit: u32) -> Place {
    let bits = place.bit as u32 + bit;
    Place { packet: place.packet, byte: place.byte + (bits / 8) as u64, bit: (bits % 8) as u8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_after_the_payload_copy_its_top_bit() {
        let negative = Payload::new(&[0x02, 0x80]).expect("two bytes");
        assert_eq!(negative.bits(0, 16), 0x8002);
        assert_eq!(negative.bits(0, 64), 0xffff_ffff_ffff_8002);
        assert_eq!(negative.bits(200, 64), u64::MAX);
        let positive = Payload::new(&[0xff, 0x7f]).expect("two bytes");
        assert_eq!(positive.bits(8, 64), 0x7f);
        assert_eq!(positive.bits(16, 3), 0);
    }

    #[test]
    fn every_way_of_loading_gives_the_same_bits() {
        let bytes: [u8; 64] = core::array::from_fn(|i| (i as u8).wrapping_mul(73).wrapping_add(0x91));
        for length in 1..=Payload::MAX_LENGTH {
            let exact = Payload::new(&bytes[..length]).expect("in range");
            assert_eq!(exact, Payload::load(&bytes, length), "{length}");
            assert_eq!(Some(exact), Payload::from_bits(&bytes, 0, 8 * length as u32), "{length}");
            assert_eq!(exact.received_bits(), 8 * length as u32);
            for first in 0..exact.received_bits() {
                let expected = bytes[first as usize / 8] >> (first % 8) & 1;
                assert_eq!(exact.bits(first, 1), u64::from(expected), "{length}.{first}");
            }
        }
    }

    #[test]
    fn bits_are_taken_from_anywhere() {
        let bytes: [u8; 42] = core::array::from_fn(|i| (i as u8).wrapping_mul(151).wrapping_add(0x35));
        let bit = |index: u32| u64::from(bytes[index as usize / 8] >> (index % 8) & 1);
        for first in 0..88 {
            for count in 1..=Payload::MAX_BITS {
                let payload = Payload::from_bits(&bytes, first, count).expect("in range");
                assert_eq!(payload.received_bits(), count);
                for index in 0..count + 70 {
                    let expected = bit(first + index.min(count - 1));
                    assert_eq!(payload.bits(index, 1), expected, "{first} {count} {index}");
                }
            }
            assert_eq!(Payload::from_bits(&bytes, first, 0), None);
            assert_eq!(Payload::from_bits(&bytes, first, 249), None);
            assert_eq!(Payload::from_bits(&bytes, 336 - first, first + 1), None);
        }
        assert_eq!(Payload::from_bits(&bytes, 400, 1), None);
    }

    #[test]
    fn a_payload_has_1_to_31_bytes() {
        assert_eq!(Payload::new(&[]), None);
        assert_eq!(Payload::new(&[0; 32]), None);
    }
}
