//! CoreSight formatter: 16-byte frames that carry the bytes of several trace sources.
//!
//! ```text
//! byte       0    1    2    3   ...  12   13   14   15
//! even byte  bit 0 = 0: data, whose own bit 0 is auxiliary bit k (byte 2k)
//!            bit 0 = 1: new trace ID in bits 7:1; auxiliary bit k says whether the odd byte after it
//!                       belongs to the new ID (0) or still to the previous one (1)
//! odd byte   data
//! byte 15    auxiliary bits 0 to 7
//! ```

use core::fmt;

/// Bytes of a frame (ARM-FMT-002).
pub const FRAME_BYTES: usize = 16;

/// Most bytes of data in a frame.
pub const FRAME_DATA_BYTES: usize = FRAME_BYTES - 1;

/// Full frame synchronisation packet, in the order in which its bytes travel (ARM-FMT-008).
pub const FULL_SYNC: [u8; 4] = [0xff, 0xff, 0xff, 0x7f];

/// Half-word synchronisation packet, in the order in which its bytes travel (ARM-FMT-008).
pub const HALF_SYNC: [u8; 2] = [0xff, 0x7f];

/// How frames lie in the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Framing {
    /// A capture in memory (ETB, TMC): frames at multiples of 16 bytes, no synchronisation packets. A whole frame of
    /// four full synchronisation packets is a barrier: what precedes it and what follows it are not contiguous (trace
    /// drivers write one where a circular buffer was cut).
    #[default]
    Memory,
    /// A trace port in normal mode: full synchronisation packets between frames.
    Normal,
    /// A trace port in continuous mode: full synchronisation packets between frames, half-word ones between byte pairs
    /// wherever there was nothing to send.
    Continuous,
}

/// The 7-bit number of a trace source (ATID).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(u8);

/// What a trace ID stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceIdKind {
    /// 0x00: no source; its bytes are filling.
    Null,
    /// 0x01 to 0x6F: a trace source.
    Source,
    /// 0x7D: each byte of data marks a trigger.
    Trigger,
    /// 0x7F: never used, for it would look like a synchronisation packet.
    Forbidden,
    /// The rest of 0x70 to 0x7F.
    Reserved,
}

impl TraceId {
    /// The ID of filling.
    pub const NULL: Self = Self(0x00);
    /// The ID of triggers.
    pub const TRIGGER: Self = Self(0x7d);
    /// The ID that would look like a synchronisation packet.
    pub const FORBIDDEN: Self = Self(0x7f);

    /// The ID in the low seven bits of `value`; `None` when it has more.
    #[must_use]
    pub const fn new(value: u8) -> Option<Self> {
        if value <= 0x7f { Some(Self(value)) } else { None }
    }

    /// The number, 0 to 0x7F.
    #[must_use]
    pub const fn value(self) -> u8 {
        self.0
    }

    /// What this ID stands for.
    ///
    /// Spec: ARM-FMT-007, ARM-FMT-013.
    #[must_use]
    pub const fn kind(self) -> TraceIdKind {
        match self.0 {
            0x00 => TraceIdKind::Null,
            0x01..=0x6f => TraceIdKind::Source,
            0x7d => TraceIdKind::Trigger,
            0x7f => TraceIdKind::Forbidden,
            _ => TraceIdKind::Reserved,
        }
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#04x}", self.0)
    }
}

/// The legal choices of a formatter. The default is a capture in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FormatterPolicy {
    /// How frames lie in the stream.
    pub framing: Framing,
    /// A full synchronisation packet precedes the first frame and, unless this is 0, again after so many frames.
    /// Without meaning in [`Framing::Memory`].
    pub full_sync_frames: u32,
    /// A half-word synchronisation packet after so many byte pairs; 0 = none but those that are asked for. Only in
    /// [`Framing::Continuous`].
    pub half_sync_pairs: u32,
    /// An unchanged ID is sent again in the frame after so many that had none; 0 = never. With 7, at least every eighth
    /// frame holds an ID (ARM-FMT-011).
    pub id_repeat_frames: u32,
    /// Besides that, an unchanged ID is sent again after so many byte pairs; 0 = never.
    pub id_repeat_pairs: u32,
    /// A repeated ID claims to take effect after the next byte instead of at once. Both mean the same.
    pub repeat_delayed: bool,
}

impl Default for FormatterPolicy {
    fn default() -> Self {
        Self {
            framing: Framing::Memory,
            full_sync_frames: 128,
            half_sync_pairs: 0,
            id_repeat_frames: 7,
            id_repeat_pairs: 0,
            repeat_delayed: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_one_kind() {
        let kinds = |kind| (0..0x80).filter(|&id| TraceId::new(id).map(TraceId::kind) == Some(kind)).count();
        assert_eq!(kinds(TraceIdKind::Null), 1);
        assert_eq!(kinds(TraceIdKind::Source), 0x6f);
        assert_eq!(kinds(TraceIdKind::Trigger), 1);
        assert_eq!(kinds(TraceIdKind::Forbidden), 1);
        assert_eq!(kinds(TraceIdKind::Reserved), 14);
        assert_eq!(TraceId::new(0x80), None);
    }
}
