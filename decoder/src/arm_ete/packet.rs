//! Bytes -> packets.

use traceproof_vectors::arm_ete::{Packet, Parameters};
use traceproof_vectors::{Fault, FaultClass, Place, Refusal};

use super::frequent::Frequent;
use super::layout::Layout;
use super::listener::Listener;
use super::parse::{self, LONGEST, Start};
use crate::arm::alignment::{END, Search};

/// Zeros before the 80 of an A-sync, at least (ETE-PKT-SYNC-001).
const ZEROS: u64 = 11;

/// Reads the packets of one stream, chunk by chunk.
///
/// Its state is of fixed size; nothing is allocated after [`new`](Self::new) (ETE-DEC-ERR-002).
#[derive(Clone, Debug)]
pub struct PacketReader {
    layout: Layout,
    /// Stream offset of the next byte.
    offset: u64,
    /// Index of the packet that is being read or comes next.
    index: u64,
    state: State,
    /// For the fast path, if it is taken.
    frequent: Option<Frequent>,
}

/// What the next byte is.
#[derive(Clone, Copy, Debug)]
enum State {
    /// One of those up to the next A-sync (sheet 8.1).
    Search(Search),
    /// A header, or another byte of a packet that an earlier chunk began.
    Packet(Held),
    /// The byte after so many zeros: another zero or the end of an A-sync, or after one zero the byte that tells
    /// Discard and Overflow apart.
    Zeros(u64),
}

/// The bytes of a packet that is not complete.
#[derive(Clone, Copy, Debug)]
struct Held {
    bytes: [u8; LONGEST],
    count: usize,
}

impl Held {
    const NONE: Self = Self { bytes: [0; LONGEST], count: 0 };

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.count) {
            *place = byte;
            self.count += 1;
        }
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.count).unwrap_or_default()
    }
}

const fn search_from(offset: u64) -> State {
    State::Search(Search::for_zeros(ZEROS, offset))
}

impl PacketReader {
    /// At the start of a stream.
    ///
    /// # Errors
    ///
    /// When no trace unit has these parameters (ETE-DEC-CFG-001).
    pub fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
        let layout = Layout::new(parameters);
        let frequent = Some(Frequent::new(&layout));
        Ok(Self { frequent, ..Self::byte_by_byte(layout) })
    }

    /// At the start of a stream, without the tables of the fast path: they cost more than a short stream.
    pub(super) const fn byte_by_byte(layout: Layout) -> Self {
        Self { layout, offset: 0, index: 0, state: search_from(0), frequent: None }
    }

    /// The same reader, but it reads every packet byte by byte, which takes longer.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        Self { frequent: None, ..self }
    }

    /// Back to the start of a stream.
    pub fn reset(&mut self) {
        (self.offset, self.index) = (0, 0);
        self.state = search_from(0);
    }

    /// Consumes the next bytes of the stream. Spec: ETE-DEC-ERR-003, ETE-DEC-SYNC-004.
    pub fn push<L: Listener + ?Sized>(&mut self, mut chunk: &[u8], listener: &mut L) {
        while !chunk.is_empty() {
            chunk = match self.state {
                State::Packet(Held { count: 0, .. }) if self.frequent.is_some() => {
                    self.packets(chunk, listener)
                }
                State::Packet(held) => self.one_byte(held, chunk, listener),
                State::Search(search) => self.search(search, chunk, listener),
                State::Zeros(zeros) => self.zeros(zeros, chunk, listener),
            };
        }
    }

    /// The stream ends here. Spec: ETE-DEC-ERR-004.
    pub fn finish<L: Listener + ?Sized>(&mut self, listener: &mut L) {
        let read = match self.state {
            State::Search(_) | State::Packet(Held { count: 0, .. }) => return,
            State::Packet(held) => held.count as u64,
            State::Zeros(zeros) => zeros,
        };
        let place = Place { packet: self.index, byte: self.offset.saturating_sub(read), bit: 0 };
        self.state = search_from(self.offset);
        listener.cut(&Fault::new(FaultClass::Truncated, place));
    }

    /// Packets that lie whole in the chunk, from a header on. Gives the rest.
    ///
    /// This only saves time: [`one_byte`](Self::one_byte) reads the same.
    fn packets<'a, L: Listener + ?Sized>(&mut self, chunk: &'a [u8], listener: &mut L) -> &'a [u8] {
        let (base, mut at, mut index) = (self.offset, 0, self.index);
        let Some(frequent) = &self.frequent else { return chunk };
        let state = loop {
            let mut place = Place { packet: index, byte: base + at as u64, bit: 0 };
            let bytes = chunk.get(at..).unwrap_or_default();
            let flow = frequent.packets(bytes, &mut place, listener);
            at = place.byte.saturating_sub(base) as usize;
            index = place.packet;
            if flow.is_break() {
                index += 1;
                break search_from(place.byte);
            }
            let bytes = chunk.get(at..).unwrap_or_default();
            match parse::start(&self.layout, bytes, &mut ()) {
                Start::Packet(packet, length) => {
                    index += 1;
                    if listener.packet(place, &packet).is_break() {
                        break search_from(place.byte);
                    }
                    at += length;
                }
                Start::Part => {
                    let mut held = Held::NONE;
                    bytes.iter().for_each(|byte| held.push(*byte));
                    at = chunk.len();
                    break State::Packet(held);
                }
                Start::Zero => {
                    at += 1;
                    break State::Zeros(1);
                }
                Start::Reserved(byte) => {
                    at += byte;
                    index += 1;
                    let place = Place { byte: base + at as u64, ..place };
                    listener.lost(&Fault::new(FaultClass::ReservedEncoding, place));
                    break search_from(place.byte);
                }
            }
        };
        (self.offset, self.index, self.state) = (base + at as u64, index, state);
        chunk.get(at..).unwrap_or_default()
    }

    /// A header, or a byte of a packet of which some are held.
    fn one_byte<'a, L: Listener + ?Sized>(
        &mut self,
        mut held: Held,
        chunk: &'a [u8],
        listener: &mut L,
    ) -> &'a [u8] {
        let Some((&byte, rest)) = chunk.split_first() else { return &[] };
        held.push(byte);
        self.offset += 1;
        let first = self.offset.saturating_sub(held.count as u64);
        let place = Place { packet: self.index, byte: first, bit: 0 };
        match parse::start(&self.layout, held.bytes(), &mut ()) {
            Start::Packet(packet, _) => self.complete(place, &packet, held.bytes(), listener),
            Start::Part => self.state = State::Packet(held),
            Start::Zero => self.state = State::Zeros(1),
            Start::Reserved(at) => {
                self.index += 1;
                let place = Place { byte: first + at as u64, ..place };
                listener.lost(&Fault::new(FaultClass::ReservedEncoding, place));
                self.search_in(place.byte, held.bytes().get(at..).unwrap_or_default(), listener);
            }
        }
        rest
    }

    /// The packet that these bytes are.
    fn complete<L: Listener + ?Sized>(
        &mut self,
        place: Place,
        packet: &Packet,
        bytes: &[u8],
        listener: &mut L,
    ) {
        self.index += 1;
        self.state = State::Packet(Held::NONE);
        if listener.packet(place, packet).is_break() {
            self.search_in(place.byte, bytes, listener);
        }
    }

    /// The search begins with these bytes, which were read already and start at this offset.
    #[cold]
    fn search_in<L: Listener + ?Sized>(&mut self, offset: u64, bytes: &[u8], listener: &mut L) {
        self.offset = offset;
        self.state = search_from(offset);
        // They are fewer than an A-sync has.
        self.push(bytes, listener);
    }

    /// Looks for an A-sync.
    ///
    /// Spec: ETE-DEC-SYNC-001, ETE-DEC-SYNC-004, ETE-PKT-SYNC-002, ETE-PKT-SYNC-003; reading
    /// `ete-searched-a-sync-has-11-zeros`.
    fn search<'a, L: Listener + ?Sized>(
        &mut self,
        mut search: Search,
        chunk: &'a [u8],
        listener: &mut L,
    ) -> &'a [u8] {
        let end = search.look(self.offset, chunk);
        let passed = end.unwrap_or(chunk.len());
        self.offset += passed as u64;
        if end.is_some() {
            let byte = self.offset.saturating_sub(ZEROS + 1);
            let place = Place { packet: self.index, byte, bit: 0 };
            self.complete(place, &Packet::AlignmentSync { zeros: ZEROS }, &[], listener);
        } else {
            self.state = State::Search(search);
        }
        chunk.get(passed..).unwrap_or_default()
    }

    /// The bytes after so many zeros.
    ///
    /// Spec: ETE-PKT-SYNC-001 to ETE-PKT-SYNC-003, ETE-PKT-EXT-001, ETE-DEC-SYNC-005.
    fn zeros<'a, L: Listener + ?Sized>(
        &mut self,
        before: u64,
        chunk: &'a [u8],
        listener: &mut L,
    ) -> &'a [u8] {
        let here = chunk.iter().take_while(|byte| **byte == 0).count();
        let zeros = before + here as u64;
        let after = chunk.get(here..).unwrap_or_default();
        let place = Place { packet: self.index, byte: self.offset.saturating_sub(before), bit: 0 };
        self.offset += here as u64;
        let Some((&byte, rest)) = after.split_first() else {
            self.state = State::Zeros(zeros);
            return after;
        };
        let packet = match byte {
            END if zeros >= ZEROS => Some(Packet::AlignmentSync { zeros }),
            _ if zeros == 1 => parse::extension(&self.layout, byte),
            _ => None,
        };
        if let Some(packet) = packet {
            self.offset += 1;
            self.complete(place, &packet, &[0, byte], listener);
            return rest;
        }
        self.index += 1;
        self.state = search_from(self.offset);
        let place = Place { byte: self.offset, ..place };
        listener.lost(&Fault::new(FaultClass::ReservedEncoding, place));
        after
    }
}
