//! One transport unit and what it carries.

use core::ops::Range;

use traceproof_vectors::{Fault, FaultClass, Place};

use crate::riscv_etrace::Payload;
use crate::riscv_etrace::bits::at_bit;

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
    pub(super) length: u8,
    /// The first bit of `type`, counted from the first bit of the header.
    pub(super) type_bit: u8,
    /// The first bit of the payload, counted likewise.
    pub(super) payload_bit: u8,
    pub(super) source_id: u16,
    pub(super) timestamp: Option<u64>,
    pub(super) route: Route,
    pub(super) payload: Payload,
}

/// The content of a unit that is no null packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Route {
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

impl Unit {
    /// A unit with nothing between header and payload.
    #[inline]
    pub(in crate::riscv_etrace) const fn new(place: Place, header: Header, payload: Payload) -> Self {
        let route = if header.extend() { Route::Untimed } else { Route::Instruction };
        let length = 1 + header.length();
        let (type_bit, payload_bit) = (8, 8);
        Self { place, header, length, type_bit, payload_bit, source_id: 0, timestamp: None, route, payload }
    }

    /// What the unit carries.
    ///
    /// # Errors
    ///
    /// * `Framing` at the header, which announces a timestamp where timestamps have no bytes (RVET-ENCAP-008), or more
    ///   bytes than there are in its block of memory (ET 7);
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
