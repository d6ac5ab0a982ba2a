//! Formatted stream -> the bytes of each trace source.

use core::fmt;

use traceproof_vectors::arm::{FRAME_BYTES, FRAME_DATA_BYTES, Framing, HALF_SYNC, TraceId, TraceIdKind};
use traceproof_vectors::{DecoderState, Fault, FaultClass, Place};

use super::frame::Frame;
use super::run::{Discontinuity, FrameListener, Origin, Run};

/// Splits a formatted stream into the streams of its sources.
///
/// Chunk borders never matter, except for how the bytes of a source are cut into [`Run`]s. Memory is constant.
///
/// A capture in memory starts with a frame; in a trace port's stream everything before the first full synchronisation
/// packet is skipped. Data before the first ID, and of the null ID, are dropped.
///
/// | fault | place | what happens |
/// |---|---|---|
/// | `reserved-encoding` | bit 1 of the ID byte | a reserved ID: its data are delivered under it; 0x7F: no data until the next ID |
/// | `suspicious` | byte 15 bit 7 | auxiliary bit of an ID in byte 14: ignored |
/// | `illegal-in-state` | the packet | half-word synchronisation in normal mode: skipped |
/// | `framing`, capture in memory | the byte pair | what looks like a synchronisation packet stands in a frame: no data until the next ID |
/// | `framing`, trace port | the byte pair | neither ID nor synchronisation packet: nothing until the next full synchronisation packet, then no data until the next ID |
/// | `truncated` | byte 0 of the frame, or of the synchronisation packet | the frame ends too early, at a full synchronisation packet or with the stream: none of it is delivered |
/// | `not-synchronised` | byte 0 of the stream | the stream of a trace port ended without any full synchronisation packet |
///
/// [`Place::packet`] counts frames, broken ones included.
///
/// ```
/// use traceproof_decoder::arm::{Deformatter, FrameListener, Run};
/// use traceproof_vectors::Fault;
/// use traceproof_vectors::arm::Framing;
///
/// #[derive(Default)]
/// struct Streams(std::collections::BTreeMap<u8, Vec<u8>>);
/// impl FrameListener for Streams {
///     fn data(&mut self, run: Run<'_>) {
///         self.0.entry(run.id.value()).or_default().extend(run.bytes);
///     }
///     fn fault(&mut self, fault: &Fault) {
///         panic!("{fault}");
///     }
/// }
///
/// let mut deformatter = Deformatter::new(Framing::Memory);
/// let mut streams = Streams::default();
/// let frame = [0x21, 0x84, 0xa4, 0x42, 0x00, 0x03, 0x23, 0xc9, 0xd8, 0x45, 0x01, 0, 0, 0, 0, 0x06];
/// deformatter.push(&frame, &mut streams);
/// deformatter.finish(&mut streams);
/// assert_eq!(streams.0[&0x10], [0x84, 0xa5, 0x42, 0x01, 0x03]);
/// assert_eq!(streams.0[&0x11], [0xc9, 0xd8, 0x45]);
/// ```
///
/// Spec: ARM-FMT-001 to ARM-FMT-010 (DDI 0314 8.12.1, 9.6.1).
#[derive(Clone, Debug)]
pub struct Deformatter {
    framing: Framing,
    alignment: Alignment,
    /// Bytes consumed.
    offset: u64,
    /// Index of the frame that begins or has begun.
    frame: u64,
    /// The source of the current data; `None` before the first ID and after data were lost.
    id: Option<TraceId>,
    part: Part,
    batch: Batch,
}

/// Whether this decoder knows where frames begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alignment {
    Known,
    /// Waits for a full synchronisation packet, of which the latest bytes may be `ones` times 0xFF (counted to 3).
    Sought {
        ones: u8,
        first: bool,
    },
}

/// A frame of which some bytes are still to come, and what may be a synchronisation packet before them.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    bytes: [u8; FRAME_BYTES],
    length: usize,
    /// Byte offset of each pair.
    offsets: [u64; FRAME_BYTES / 2],
    /// How many bytes of what may be a synchronisation packet have come; they are not in `bytes`.
    mark: u8,
    /// Byte offset of the first of those.
    marked: u64,
}

/// Where the bytes of a frame stood in the stream.
#[derive(Clone, Copy)]
enum Offsets<'a> {
    /// One after the other, from here on.
    From(u64),
    /// With synchronisation packets between some pairs.
    Pairs(&'a [u64; FRAME_BYTES / 2]),
}

impl Offsets<'_> {
    fn of(self, position: usize) -> u64 {
        match self {
            Self::From(base) => base + position as u64,
            Self::Pairs(pairs) => {
                pairs.get(position / 2).copied().unwrap_or_default() + (position % 2) as u64
            }
        }
    }
}

/// Frames whose data are delivered in one call.
const BATCH_FRAMES: usize = 64;

/// Data of one ID that stood together and are not yet delivered.
#[derive(Clone)]
struct Batch {
    /// One byte longer than its content can be, so that whole frames can be put in.
    bytes: [u8; BATCH_FRAMES * FRAME_DATA_BYTES + 1],
    length: usize,
    id: TraceId,
    origin: Origin,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes.get(..self.length);
        f.debug_struct("Batch").field("id", &self.id).field("bytes", &bytes).finish_non_exhaustive()
    }
}

impl Batch {
    const EMPTY: Self = Self {
        bytes: [0; BATCH_FRAMES * FRAME_DATA_BYTES + 1],
        length: 0,
        id: TraceId::NULL,
        origin: Origin { frame: 0, base: 0, position: 0 },
    };

    fn flush(&mut self, listener: &mut impl FrameListener) {
        if self.length > 0 {
            let bytes = self.bytes.get(..self.length).unwrap_or_default();
            listener.data(Run { id: self.id, bytes, origin: self.origin });
            self.length = 0;
        }
    }

    /// Adds the first `length` bytes of `data`, at most 15.
    #[inline]
    fn add(
        &mut self,
        id: TraceId,
        data: [u8; FRAME_BYTES],
        length: usize,
        origin: Origin,
        listener: &mut impl FrameListener,
    ) {
        if self.length > 0 && (self.id != id || !self.origin.reaches(self.length, &origin)) {
            self.flush(listener);
        }
        if self.bytes.len() < self.length + FRAME_BYTES {
            self.flush(listener);
        }
        if self.length == 0 {
            (self.id, self.origin) = (id, origin);
        }
        if let Some(place) = self.bytes.get_mut(self.length..self.length + FRAME_BYTES) {
            place.copy_from_slice(&data);
            self.length += length;
        }
    }
}

impl Deformatter {
    /// What the next bytes are read with, for people.
    #[must_use]
    pub fn shown(&self) -> DecoderState {
        let alignment = match self.alignment {
            Alignment::Known => "known",
            Alignment::Sought { .. } => "sought: waits for a full synchronisation packet",
        };
        let state = DecoderState::default().with("frame boundaries", alignment);
        match self.id {
            Some(id) => state.with("current trace ID", id),
            None => state.with("current trace ID", "unknown"),
        }
    }

    /// A demultiplexer at the start of a stream.
    #[must_use]
    pub const fn new(framing: Framing) -> Self {
        Self {
            framing,
            alignment: match framing {
                Framing::Memory => Alignment::Known,
                Framing::Normal | Framing::Continuous => Alignment::Sought { ones: 0, first: true },
            },
            offset: 0,
            frame: 0,
            id: None,
            part: Part {
                bytes: [0; FRAME_BYTES],
                length: 0,
                offsets: [0; FRAME_BYTES / 2],
                mark: 0,
                marked: 0,
            },
            batch: Batch::EMPTY,
        }
    }

    /// Resets to the start of a stream.
    pub const fn reset(&mut self) {
        *self = Self::new(self.framing);
    }

    /// Consumes the next bytes of the stream. Everything that is complete is delivered before this returns.
    pub fn push(&mut self, mut chunk: &[u8], listener: &mut impl FrameListener) {
        while !chunk.is_empty() {
            chunk = match self.alignment {
                Alignment::Sought { ones, first } => self.seek(chunk, ones, first, listener),
                Alignment::Known if self.part.length == 0 && self.part.mark == 0 => {
                    self.whole_frames(chunk, listener)
                }
                Alignment::Known => self.piece(chunk, listener),
            };
        }
        self.batch.flush(listener);
    }

    /// The stream ends here.
    pub fn finish(&mut self, listener: &mut impl FrameListener) {
        let place = |byte| Place { packet: self.frame, byte, bit: 0 };
        let fault = match self.alignment {
            Alignment::Sought { first: true, .. } if self.offset > 0 => {
                Some((FaultClass::NotSynchronised, place(0)))
            }
            Alignment::Sought { .. } => None,
            Alignment::Known if self.part.length > 0 => {
                Some((FaultClass::Truncated, place(self.part.offsets[0])))
            }
            Alignment::Known if self.part.mark > 0 => Some((FaultClass::Truncated, place(self.part.marked))),
            Alignment::Known => None,
        };
        if let Some((class, place)) = fault {
            listener.fault(&Fault::new(class, place));
        }
        self.part = Part::default();
    }

    /// Looks for a full synchronisation packet; returns what follows it. It can be nowhere but between frames, at
    /// whichever byte it starts.
    fn seek<'a>(
        &mut self,
        chunk: &'a [u8],
        mut ones: u8,
        first: bool,
        listener: &mut impl FrameListener,
    ) -> &'a [u8] {
        for (at, &byte) in chunk.iter().enumerate() {
            match byte {
                0xff => ones = (ones + 1).min(3),
                0x7f if ones == 3 => {
                    self.offset += at as u64 + 1;
                    self.alignment = Alignment::Known;
                    let cause = if first { Discontinuity::Joined } else { Discontinuity::Resynchronised };
                    listener.discontinuity(self.here(), cause);
                    return chunk.get(at + 1..).unwrap_or_default();
                }
                _ => ones = 0,
            }
        }
        self.offset += chunk.len() as u64;
        self.alignment = Alignment::Sought { ones, first };
        &[]
    }

    /// Takes whole frames as long as there are some with nothing in them; returns the rest, which is shorter if `chunk`
    /// was not empty.
    fn whole_frames<'a>(&mut self, mut chunk: &'a [u8], listener: &mut impl FrameListener) -> &'a [u8] {
        while let Some((&bytes, rest)) = chunk.split_first_chunk() {
            let frame = Frame::new(bytes);
            if frame.is_plain() {
                if let Some(id) = self.deliverable() {
                    let origin = Origin { frame: self.frame, base: self.offset, position: 0 };
                    self.batch.add(id, frame.data(), FRAME_DATA_BYTES, origin, listener);
                }
            } else if self.framing != Framing::Memory && frame.looks_like_sync() {
                return self.piece(chunk, listener);
            } else {
                self.mixed_frame(frame, Offsets::From(self.offset), listener);
            }
            self.frame += 1;
            self.offset += FRAME_BYTES as u64;
            chunk = rest;
        }
        if chunk.is_empty() { chunk } else { self.piece(chunk, listener) }
    }

    /// Takes a byte, or many half-word synchronisation packets; returns the rest.
    fn piece<'a>(&mut self, chunk: &'a [u8], listener: &mut impl FrameListener) -> &'a [u8] {
        if self.framing == Framing::Continuous && self.part.mark == 0 && self.part.length.is_multiple_of(2) {
            let idle = chunk.chunks_exact(2).take_while(|pair| *pair == HALF_SYNC).count();
            if idle > 0 {
                self.offset += 2 * idle as u64;
                return chunk.get(2 * idle..).unwrap_or_default();
            }
        }
        let Some((&byte, rest)) = chunk.split_first() else { return chunk };
        self.byte(byte, listener);
        rest
    }

    /// Spec: ARM-FMT-008, ARM-FMT-009.
    fn byte(&mut self, byte: u8, listener: &mut impl FrameListener) {
        let between_pairs = self.framing != Framing::Memory && self.part.length.is_multiple_of(2);
        match (self.part.mark, byte) {
            (0, 0xff) if between_pairs => {
                (self.part.mark, self.part.marked) = (1, self.offset);
            }
            (0, _) => {
                self.keep(byte, listener);
                return;
            }
            (1 | 2, 0xff) => self.part.mark += 1,
            (1, 0x7f) => {
                self.part.mark = 0;
                if self.framing == Framing::Normal {
                    self.report(FaultClass::IllegalInState, self.part.marked, 0, listener);
                }
            }
            (3, 0x7f) => {
                self.offset += 1;
                self.full_sync(listener);
                return;
            }
            (mark, _) => {
                self.report(FaultClass::Framing, self.part.marked, 0, listener);
                let ones = if mark == 3 && byte == 0xff { 3 } else { 0 };
                self.forget_frame();
                self.alignment = Alignment::Sought { ones, first: false };
            }
        }
        self.offset += 1;
    }

    /// A full synchronisation packet ends here; it may have cut a frame short.
    fn full_sync(&mut self, listener: &mut impl FrameListener) {
        self.part.mark = 0;
        if self.part.length > 0 {
            self.report(FaultClass::Truncated, self.part.offsets[0], 0, listener);
            self.forget_frame();
            listener.discontinuity(self.here(), Discontinuity::Resynchronised);
        }
    }

    /// Drops the frame that has begun. It may have held an ID, so the present one is unknown too.
    fn forget_frame(&mut self) {
        self.part = Part::default();
        self.frame += 1;
        self.id = None;
    }

    /// Puts a byte into the frame that has begun.
    fn keep(&mut self, byte: u8, listener: &mut impl FrameListener) {
        let length = self.part.length;
        if let (Some(place), Some(offset)) =
            (self.part.bytes.get_mut(length), self.part.offsets.get_mut(length / 2))
        {
            *place = byte;
            if length.is_multiple_of(2) {
                *offset = self.offset;
            }
        }
        self.offset += 1;
        self.part.length += 1;
        if self.part.length == FRAME_BYTES {
            let part = self.part;
            self.part = Part::default();
            self.mixed_frame(Frame::new(part.bytes), Offsets::Pairs(&part.offsets), listener);
            self.frame += 1;
        }
    }

    /// Any frame.
    ///
    /// Spec: ARM-FMT-001 to ARM-FMT-006.
    fn mixed_frame(&mut self, frame: Frame, offsets: Offsets<'_>, listener: &mut impl FrameListener) {
        if frame.is_barrier() {
            self.batch.flush(listener);
            self.id = None;
            let place = Place { packet: self.frame + 1, byte: offsets.of(FRAME_BYTES - 1) + 1, bit: 0 };
            listener.discontinuity(place, Discontinuity::Barrier);
            return;
        }
        let data = frame.data();
        let mut ids = frame.ids();
        let mut start = 0;
        while ids != 0 {
            let pair = ids.trailing_zeros() as usize;
            ids &= ids - 1;
            let position = 2 * pair;
            self.deliver(&data, start, position, offsets, listener);
            let id = self.read_id(frame, position, offsets, listener);
            let delayed = frame.auxiliary() >> pair & 1 != 0;
            start = position + 1;
            if start == FRAME_DATA_BYTES {
                if delayed {
                    self.report(FaultClass::Suspicious, offsets.of(start), 7, listener);
                }
            } else if delayed {
                if id != Some(TraceId::FORBIDDEN) {
                    self.deliver(&data, start, start + 1, offsets, listener);
                }
                start += 1;
            }
            self.id = id;
        }
        self.deliver(&data, start, FRAME_DATA_BYTES, offsets, listener);
    }

    /// The ID in the even byte at `position`.
    ///
    /// Spec: ARM-FMT-009, ARM-FMT-013.
    fn read_id(
        &mut self,
        frame: Frame,
        position: usize,
        offsets: Offsets<'_>,
        listener: &mut impl FrameListener,
    ) -> Option<TraceId> {
        let id = TraceId::new(frame.raw(position) >> 1);
        let fault = match id.map(TraceId::kind) {
            Some(TraceIdKind::Reserved) => Some((FaultClass::ReservedEncoding, 1)),
            Some(TraceIdKind::Forbidden) if matches!(frame.raw(position + 1), 0x7f | 0xff) => {
                Some((FaultClass::Framing, 0))
            }
            Some(TraceIdKind::Forbidden) => Some((FaultClass::ReservedEncoding, 1)),
            _ => None,
        };
        if let Some((class, bit)) = fault {
            self.report(class, offsets.of(position), bit, listener);
        }
        id
    }

    /// The present ID, if its data go anywhere (ARM-FMT-006, ARM-FMT-007).
    #[inline]
    fn deliverable(&self) -> Option<TraceId> {
        self.id.filter(|id| !matches!(id.kind(), TraceIdKind::Null | TraceIdKind::Forbidden))
    }

    /// Delivers the data at positions `start` to `end` of a frame, at most 15.
    fn deliver(
        &mut self,
        data: &[u8; FRAME_BYTES],
        start: usize,
        end: usize,
        offsets: Offsets<'_>,
        listener: &mut impl FrameListener,
    ) {
        let Some(id) = self.deliverable() else { return };
        let mut from = start;
        while from < end {
            let to = match offsets {
                Offsets::From(_) => end,
                Offsets::Pairs(_) => end.min((from | 1) + 1),
            };
            let bytes = (u128::from_le_bytes(*data) >> (8 * from)).to_le_bytes();
            let base = offsets.of(from) - from as u64;
            let origin = Origin { frame: self.frame, base, position: from };
            self.batch.add(id, bytes, to - from, origin, listener);
            from = to;
        }
    }

    fn here(&self) -> Place {
        Place { packet: self.frame, byte: self.offset, bit: 0 }
    }

    fn report(&mut self, class: FaultClass, byte: u64, bit: u8, listener: &mut impl FrameListener) {
        self.batch.flush(listener);
        let place = Place { packet: self.frame, byte, bit };
        listener.fault(&Fault::new(class, place));
    }
}
