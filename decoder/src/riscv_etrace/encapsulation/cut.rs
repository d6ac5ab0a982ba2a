//! Byte stream -> the bytes of each transport unit, and entry into a stream at an unknown place (EN 2.3).

use traceproof_vectors::Place;

use super::layout::Layout;
use super::unit::Header;

/// Bytes of the longest unit: header, whole bytes of `srcID`, timestamp, counted bytes.
const LONGEST_UNIT: usize = 1 + 2 + Layout::LONGEST_TIMESTAMP + 31;

/// Cuts a byte stream into units by their headers alone. Needs memory for one unit.
///
/// A run of as many null bytes as RVET-ENCAP-013 asks for leads it back to a boundary between units from any state,
/// because no unit goes on for longer than that run after its header.
#[derive(Clone, Debug, Default)]
pub(in crate::riscv_etrace) struct Cutter {
    /// Bytes of every unit that `length` does not count: those which `srcID` fills.
    source_bytes: u8,
    /// Bytes of a unit with `extend` that `length` does not count in addition.
    timestamp_bytes: u8,
    /// Bytes of a block of memory, of which each starts with a unit; 0 = there are none. Spec: ET 7.
    block: u64,
    /// Offset of the first border between blocks, less than `block`.
    first: u64,
    /// Where the stream is entered: known to be a boundary, or not.
    enters_anywhere: bool,
    /// As long as no boundary is known: how many of the latest bytes are null bytes.
    run: Option<u32>,
    /// Stream offset of the next unit, or of the next byte while no boundary is known.
    offset: u64,
    /// Index of the next packet.
    packet: u64,
    /// The part of an incomplete unit that is here already.
    held: Held,
}

#[derive(Clone, Debug)]
struct Held {
    bytes: [u8; LONGEST_UNIT],
    length: usize,
}

impl Default for Held {
    fn default() -> Self {
        Self { bytes: [0; LONGEST_UNIT], length: 0 }
    }
}

impl Held {
    /// The header of the unit, if there is one.
    fn header(&self) -> Option<Header> {
        let [first, ..] = self.bytes;
        (self.length > 0).then_some(Header(first))
    }

    fn append(&mut self, more: &[u8]) {
        if let Some(to) = self.bytes.get_mut(self.length..self.length + more.len()) {
            to.copy_from_slice(more);
            self.length += more.len();
        }
    }
}

impl Cutter {
    pub(super) fn new(layout: &Layout) -> Self {
        let (block, first) = layout.blocks();
        let mut cutter = Self {
            block,
            first,
            source_bytes: layout.source_bytes() as u8,
            timestamp_bytes: layout.timestamp_bytes() as u8,
            enters_anywhere: !layout.synchronised(),
            ..Self::default()
        };
        cutter.reset();
        cutter
    }

    /// Resets to the start of a stream.
    pub(super) fn reset(&mut self) {
        self.run = self.enters_anywhere.then_some(0);
        self.offset = 0;
        self.packet = 0;
        self.held.length = 0;
    }

    /// Whether a boundary between units is known.
    pub(super) const fn is_synchronised(&self) -> bool {
        self.run.is_none()
    }

    /// Most null bytes in a row inside a unit. Spec: RVET-ENCAP-013 (EN 2.3).
    fn longest_run(&self) -> u32 {
        31 + u32::from(self.timestamp_bytes) + u32::from(self.source_bytes)
    }

    /// Bytes from here to the next border between blocks, at least one.
    #[inline]
    fn room(&self) -> usize {
        if self.block == 0 {
            return usize::MAX;
        }
        let after_a_border = (self.offset + self.block - self.first) % self.block;
        (self.block - after_a_border) as usize
    }

    /// Bytes of a unit after its header. Spec: RVET-ENCAP-003 (EN 2.1.5), RVET-ENCAP-011 (EN 2.2).
    #[inline]
    fn body_length(&self, header: Header) -> usize {
        if header.is_null() {
            return 0;
        }
        let timestamp = if header.extend() { self.timestamp_bytes } else { 0 };
        usize::from(header.length()) + usize::from(self.source_bytes) + usize::from(timestamp)
    }

    /// Consumes the next bytes of the stream. `each` gets the place, the header and the length of every unit that is
    /// complete and its bytes, perhaps with more bytes of the stream after them. A unit that crosses a border between
    /// blocks ends there: the next block starts with another one.
    ///
    /// `BARE` promises that `length` counts all bytes after the header, and that there are no blocks.
    #[inline]
    pub(in crate::riscv_etrace) fn push<const BARE: bool>(
        &mut self,
        chunk: &[u8],
        mut each: impl FnMut(Place, Header, usize, &[u8]),
    ) {
        let mut rest = chunk;
        if !self.is_synchronised() {
            self.seek(&mut rest);
        }
        let held;
        let mut later = None;
        if let Some(header) = self.held.header() {
            let length = (1 + self.body_length(header)).min(self.room());
            if !self.resume(length, &mut rest) {
                return;
            }
            held = self.held.bytes;
            later = Some(rest);
            rest = held.get(..length).unwrap_or_default();
        }
        // First what was held, then the rest: one loop, so that the code of `each` exists once.
        loop {
            while let Some((&first, tail)) = rest.split_first() {
                let header = Header(first);
                let length = if BARE {
                    usize::from(header.length())
                } else {
                    self.body_length(header).min(self.room() - 1)
                };
                let Some(after) = tail.get(length..) else {
                    self.held.append(rest);
                    return;
                };
                each(self.count(header, 1 + length), header, 1 + length, rest);
                rest = after;
            }
            let Some(next) = later.take() else { return };
            rest = next;
        }
    }

    /// Looks for the end of a synchronisation sequence: after as many null bytes as fit into a unit, the next byte is a
    /// header; and so is the first byte of a block. Spec: RVET-ENCAP-016 (EN 2.3), ET 7.
    #[cold]
    fn seek(&mut self, rest: &mut &[u8]) {
        let enough = self.longest_run();
        while let (Some(run), Some((&first, tail))) = (self.run, rest.split_first()) {
            let starts_block = self.block > 0 && self.room() as u64 == self.block;
            if run >= enough || starts_block {
                self.run = None;
                return;
            }
            self.run = Some(if Header(first).is_null() { run + 1 } else { 0 });
            self.offset += 1;
            *rest = tail;
        }
    }

    /// Goes on with a unit of `length` bytes that an earlier chunk began; whether it is complete now.
    fn resume(&mut self, length: usize, rest: &mut &[u8]) -> bool {
        let missing = length.saturating_sub(self.held.length);
        let (now, later) = rest.split_at(missing.min(rest.len()));
        self.held.append(now);
        *rest = later;
        let complete = now.len() == missing;
        if complete {
            self.held.length = 0;
        }
        complete
    }

    /// The place of the next unit, which has `length` bytes.
    #[inline]
    fn count(&mut self, header: Header, length: usize) -> Place {
        let place = Place { packet: self.packet, byte: self.offset, bit: 0 };
        self.offset += length as u64;
        self.packet += u64::from(!header.is_null());
        place
    }

    /// The stream ends here. Gives the header of a unit that is cut off, and its place.
    pub(super) fn finish(&mut self) -> Option<(Header, Place)> {
        let header = self.held.header()?;
        let place = self.count(header, self.held.length);
        self.held.length = 0;
        Some((header, place))
    }
}
