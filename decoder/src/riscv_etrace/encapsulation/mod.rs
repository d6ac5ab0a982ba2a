//! Byte stream -> transport units: the ratified packet encapsulation (EN 2).

use core::ops::Range;

use traceproof_vectors::riscv_etrace::Parameters;
use traceproof_vectors::{Fault, FaultClass, Place, Refusal};

use super::Payload;
use super::bits::{at_bit, short_word};
use cut::Cutter;

mod cut;
mod demultiplexer;
mod layout;

pub use demultiplexer::{Demultiplexer, Routed};
pub(super) use layout::Layout;

/// The first byte of a transport unit. Spec: RVET-ENCAP-001 (EN 2.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header(pub u8);

impl Header {
    /// Bytes of payload; 0 = null packet.
    #[must_use]
    pub const fn length(self) -> u8 {
        self.0 & 0x1f
    }

    /// Routing.
    #[must_use]
    pub const fn flow(self) -> u8 {
        self.0 >> 5 & 3
    }

    /// A timestamp is present; of a null packet: alignment, not idle.
    #[must_use]
    pub const fn extend(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// Idle or alignment, one byte without payload. Spec: RVET-ENCAP-011 (EN 2.2).
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.length() == 0
    }
}

/// One transport unit.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Index of the packet (of a null packet: of the next packet that is none) and the first bit of the header.
    pub place: Place,
    /// The header.
    pub header: Header,
    /// In bytes.
    length: u8,
    /// The first bit of `type`, counted from the first bit of the header.
    type_bit: u8,
    /// The first bit of the payload, counted likewise.
    payload_bit: u8,
    source_id: u16,
    timestamp: Option<u64>,
    route: Route,
    payload: Payload,
}

/// What there is to do with a unit that is no null packet.
#[derive(Clone, Copy, Debug)]
enum Route {
    Instruction,
    Data,
    OtherSource,
    /// Neither instruction nor data trace.
    UnknownType,
    /// No bit is left for a payload.
    Short,
    /// There should be no timestamp.
    Untimed,
    /// It does not end in its block of memory.
    Cut,
}

/// What a unit carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Nothing: null packet. Spec: RVET-ENCAP-011 (EN 2.2).
    Null,
    /// A packet of instruction trace of the source that is followed.
    Instruction(&'a Payload),
    /// A packet of data trace of the source that is followed. Spec: RVET-ENCAP-017 (EN 3.3).
    Data(&'a Payload),
    /// Something of another source.
    OtherSource,
}

/// Takes what the units of a stream carry.
///
/// A trait and not a closure, because only a method can be told to be inlined.
pub trait Receiver {
    /// A unit carries this. `place` has the index of the packet and the first bit of the payload; faults are those of
    /// [`Unit::content`].
    fn content(&mut self, place: Place, content: Result<Content<'_>, Fault>);

    /// A unit without anything else in it carries a packet of instruction trace of `received` bits, which fit a word;
    /// `word` has copies of its top bit above them. `place` is as above. Whether it was taken: if not,
    /// [`content`](Self::content) is given it.
    #[inline(always)]
    fn word(&mut self, place: Place, word: i64, received: u32) -> bool {
        let _ = (place, word, received);
        false
    }
}

impl Unit {
    /// A unit with nothing between header and payload.
    #[inline]
    const fn new(place: Place, header: Header, payload: Payload) -> Self {
        let route = if header.extend() { Route::Untimed } else { Route::Instruction };
        let length = 1 + header.length();
        let (type_bit, payload_bit) = (8, 8);
        Self { place, header, length, type_bit, payload_bit, source_id: 0, timestamp: None, route, payload }
    }

    /// What the unit carries.
    ///
    /// # Errors
    ///
    /// * `Framing` at the header, which announces a timestamp where timestamps have no bytes (RVET-ENCAP-008), or more bytes
    ///   than there are in its block of memory (ET 7);
    /// * `Truncated` at the header, whose `length` leaves no bit for a payload (RVET-ENCAP-004);
    /// * `ReservedEncoding` at a `type` that is neither instruction nor data trace (RVET-ENCAP-017).
    #[inline]
    pub const fn content(&self) -> Result<Content<'_>, Fault> {
        if self.header.is_null() {
            return Ok(Content::Null);
        }
        let (class, place) = match self.route {
            Route::Instruction => return Ok(Content::Instruction(&self.payload)),
            Route::Data => return Ok(Content::Data(&self.payload)),
            Route::OtherSource => return Ok(Content::OtherSource),
            Route::UnknownType => (FaultClass::ReservedEncoding, at_bit(self.place, self.type_bit as u32)),
            Route::Short => (FaultClass::Truncated, self.place),
            Route::Untimed | Route::Cut => (FaultClass::Framing, self.place),
        };
        Err(Fault::new(class, place))
    }

    /// `srcID`; 0 where there is none. Spec: RVET-ENCAP-007 (EN 2.1.2).
    #[must_use]
    pub const fn source_id(&self) -> u16 {
        self.source_id
    }

    /// The timestamp, if there is one. Spec: RVET-ENCAP-009 (EN 2.1.3).
    #[must_use]
    pub const fn timestamp(&self) -> Option<u64> {
        self.timestamp
    }

    /// Index of the packet and the first bit of its payload, which may be any bit of a byte.
    #[inline]
    #[must_use]
    pub const fn payload_place(&self) -> Place {
        at_bit(self.place, self.payload_bit as u32)
    }

    /// The bytes of the stream that the unit occupies.
    #[must_use]
    pub const fn bytes(&self) -> Range<u64> {
        self.place.byte..self.place.byte + self.length as u64
    }
}

/// Cuts a byte stream into transport units and reads what surrounds their payload. Needs memory for one unit,
/// whatever the stream and its chunks.
///
/// It starts at a boundary between units, or, where the parameters say that it cannot know any, behind the first
/// synchronisation sequence; what comes earlier is dropped without a word, because it may be the rest of anything.
/// Spec: RVET-ENCAP-016 (EN 2.3).
#[derive(Clone, Debug, Default)]
pub struct Deframer {
    layout: Layout,
    cutter: Cutter,
}

impl Deframer {
    /// A deframer at the start of a stream.
    ///
    /// # Errors
    ///
    /// When no hardware can have these parameters.
    pub fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        let layout = Layout::new(parameters)?;
        Ok(Self { layout, cutter: Cutter::new(&layout) })
    }

    /// Consumes the next bytes of the stream and hands every unit that is complete to `each`.
    ///
    /// By reference and not as an iterator, because a unit that is copied between packets costs more than reading it.
    #[inline]
    pub fn push(&mut self, chunk: &[u8], mut each: impl FnMut(&Unit)) {
        if self.layout.is_bare() {
            self.cutter.push::<true>(chunk, |place, header, _, bytes| {
                let (body, length) = (bytes.get(1..).unwrap_or_default(), usize::from(header.length()));
                each(&Unit::new(place, header, Payload::load(body, length)));
            });
        } else {
            self.push_dressed(chunk, &mut each);
        }
    }

    /// As [`push`](Self::push), but hands on only what the units carry.
    ///
    /// Where nothing surrounds the payload, no unit comes to be in memory, and no payload that fits a word, which is faster.
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
            self.push_dressed(chunk, &mut |unit| receiver.content(unit.payload_place(), unit.content()));
        }
    }

    /// [`push`](Self::push) where something surrounds the payload. Not generic, so that the code behind `each` is there
    /// once and the simple form stays as fast as it can be.
    fn push_dressed(&mut self, chunk: &[u8], each: &mut dyn FnMut(&Unit)) {
        let Self { layout, cutter } = self;
        cutter.push::<false>(chunk, |place, header, length, bytes| {
            each(&layout.read(place, header, bytes.get(..length).unwrap_or(bytes)));
        });
    }

    /// Whether a boundary between units is known.
    #[must_use]
    pub const fn is_synchronised(&self) -> bool {
        self.cutter.is_synchronised()
    }

    /// The stream ends here. Gives the header of a unit that is cut off, and the place of that header.
    pub fn finish(&mut self) -> Option<(Header, Place)> {
        self.cutter.finish()
    }

    /// Back to the start of a stream.
    pub fn reset(&mut self) {
        self.cutter.reset();
    }

    /// Where the fields of the units are.
    pub(super) const fn layout(&self) -> &Layout {
        &self.layout
    }
}
