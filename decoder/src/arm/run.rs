//! The output of a deformatter, with places in the formatted stream.

use traceproof_vectors::arm::{FRAME_BYTES, FRAME_DATA_BYTES, TraceId};
use traceproof_vectors::{Fault, Place};

/// Where the results of a [`Deformatter`](super::Deformatter) go, in stream order.
pub trait FrameListener {
    /// The next bytes of one trace ID, filling left out. How a source's bytes are cut into runs carries no meaning.
    ///
    /// The ID is that of a source, [`TraceId::TRIGGER`] (each byte is a trigger) or a reserved one.
    fn data(&mut self, run: Run<'_>);

    /// What was delivered so far and what comes now are not contiguous: trace may be missing in between, for any
    /// source. `place` is the first frame after the gap.
    fn discontinuity(&mut self, place: Place, cause: Discontinuity) {
        let _ = (place, cause);
    }

    /// A fault. Its consequences are described at [`Deformatter`](super::Deformatter).
    fn fault(&mut self, fault: &Fault);
}

/// Why trace may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Discontinuity {
    /// Frames begin here: the first full synchronisation packet of a trace port's stream.
    Joined,
    /// Frames begin again here, after a fault.
    Resynchronised,
    /// A capture in memory marks that it was cut here.
    Barrier,
}

/// Bytes of one trace ID that stood together in the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run<'a> {
    /// Whose they are.
    pub id: TraceId,
    /// The bytes as the source sent them.
    pub bytes: &'a [u8],
    /// Where they stood.
    pub origin: Origin,
}

impl Run<'_> {
    /// Where byte `index` of this run stood: index of its frame and byte offset in the formatted stream. (Bit 0 of a
    /// byte at an even place travels in byte 15 of the frame.)
    #[must_use]
    pub const fn place(&self, index: usize) -> Place {
        self.origin.place(index)
    }
}

/// Where a run stood. A run skips the auxiliary bytes of its frames and nothing else, so one number is enough for all
/// of its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Index of the first byte's frame.
    pub(super) frame: u64,
    /// Byte offset of that frame's byte 0, as if nothing stood between it and the first byte.
    pub(super) base: u64,
    /// The first byte's place in that frame, 0 to 14.
    pub(super) position: usize,
}

impl Origin {
    /// Where the byte `index` after the first one stood.
    #[must_use]
    pub const fn place(&self, index: usize) -> Place {
        let linear = self.position + index;
        let (frames, position) = (linear / FRAME_DATA_BYTES, linear % FRAME_DATA_BYTES);
        Place {
            packet: self.frame + frames as u64,
            byte: self.base + (frames * FRAME_BYTES + position) as u64,
            bit: 0,
        }
    }

    /// Whether `next` is where the byte `length` after the first one stands.
    pub(super) const fn reaches(&self, length: usize, next: &Self) -> bool {
        let linear = self.position + length;
        let (frames, position) = (linear / FRAME_DATA_BYTES, linear % FRAME_DATA_BYTES);
        position == next.position && self.base + (frames * FRAME_BYTES) as u64 == next.base
    }
}
