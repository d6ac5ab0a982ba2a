//! Bytes -> packets.

use traceproof_vectors::arm_pft::{Packet, Parameters};
use traceproof_vectors::{Fault, FaultClass, Place, Refusal};

use super::frequent;
use super::layout::Layout;
use super::listener::Listener;
use super::parse::{self, LONGEST, Start};
use crate::arm::alignment::{END, Search, ZEROS};

/// Reads the packets of one stream, chunk by chunk.
///
/// Its state is small and of fixed size; nothing is allocated (PFT-DEC-068).
#[derive(Clone, Debug)]
pub struct PacketReader {
    layout: Layout,
    /// Stream offset of the next byte.
    offset: u64,
    /// Index of the packet that is being read or comes next.
    index: u64,
    state: State,
    fast_path: bool,
}

/// What the next byte is.
#[derive(Clone, Copy, Debug)]
enum State {
    /// One of those up to the next A-sync (B.3.1 stage 1).
    Search(Search),
    /// A header, or another byte of a packet that an earlier chunk began.
    Packet(Held),
    /// Another zero of an A-sync, of which there are so many, or its end.
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

impl PacketReader {
    /// At the start of a stream.
    ///
    /// # Errors
    ///
    /// When no PTM has these parameters.
    pub fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
        let state = State::Search(Search::from(0));
        Ok(Self { layout: Layout::new(parameters), offset: 0, index: 0, state, fast_path: true })
    }

    /// The same reader, but it reads every packet byte by byte, which takes longer.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        Self { fast_path: false, ..self }
    }

    /// Back to the start of a stream.
    pub fn reset(&mut self) {
        (self.offset, self.index) = (0, 0);
        self.state = State::Search(Search::from(0));
    }

    /// Consumes the next bytes of the stream.
    pub fn push<L: Listener + ?Sized>(&mut self, mut chunk: &[u8], listener: &mut L) {
        while !chunk.is_empty() {
            chunk = match self.state {
                State::Packet(Held { count: 0, .. }) if self.fast_path => self.packets(chunk, listener),
                State::Packet(held) => self.one_byte(held, chunk, listener),
                State::Search(search) => self.search(search, chunk, listener),
                State::Zeros(zeros) => self.zeros(zeros, chunk, listener),
            };
        }
    }

    /// The stream ends here. Spec: PFT-DEC-018, PFT-ERR-005, PFT-ERR-023.
    pub fn finish<L: Listener + ?Sized>(&mut self, listener: &mut L) {
        let read = match self.state {
            State::Search(_) | State::Packet(Held { count: 0, .. }) => return,
            State::Packet(held) => held.count as u64,
            State::Zeros(zeros) => zeros,
        };
        let place = Place { packet: self.index, byte: self.offset.saturating_sub(read), bit: 0 };
        self.state = State::Search(Search::from(self.offset));
        listener.cut(&Fault::new(FaultClass::Truncated, place));
    }

    /// Packets that lie whole in the chunk, from a header on. Gives the rest.
    ///
    /// This only saves time: [`one_byte`](Self::one_byte) reads the same.
    fn packets<'a, L: Listener + ?Sized>(&mut self, chunk: &'a [u8], listener: &mut L) -> &'a [u8] {
        let mut rest = chunk;
        let mut place = Place { packet: self.index, byte: self.offset, bit: 0 };
        self.state = loop {
            rest = frequent::packets(&self.layout, rest, &mut place, listener);
            let here = place;
            match parse::start(&self.layout, rest, &mut ()) {
                Start::Packet(packet, length) => {
                    listener.packet(here, &packet);
                    place.byte += length as u64;
                    place.packet += 1;
                    rest = rest.get(length..).unwrap_or_default();
                }
                Start::Part => {
                    let mut held = Held::NONE;
                    rest.iter().for_each(|byte| held.push(*byte));
                    place.byte += rest.len() as u64;
                    rest = &[];
                    break State::Packet(held);
                }
                Start::Zero => {
                    place.byte += 1;
                    rest = rest.get(1..).unwrap_or_default();
                    break State::Zeros(1);
                }
                Start::Reserved => {
                    place.byte += 1;
                    place.packet += 1;
                    rest = rest.get(1..).unwrap_or_default();
                    listener.lost(&Fault::new(FaultClass::ReservedEncoding, here));
                    break State::Search(Search::from(here.byte));
                }
            }
        };
        (self.offset, self.index) = (place.byte, place.packet);
        rest
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
        let place = Place { packet: self.index, byte: self.offset.saturating_sub(held.count as u64), bit: 0 };
        match parse::start(&self.layout, held.bytes(), &mut ()) {
            Start::Packet(packet, _) => self.complete(place, &packet, listener),
            Start::Part => self.state = State::Packet(held),
            Start::Zero => self.state = State::Zeros(1),
            Start::Reserved => self.lose(place, place.byte, listener),
        }
        rest
    }

    fn complete<L: Listener + ?Sized>(&mut self, place: Place, packet: &Packet, listener: &mut L) {
        self.index += 1;
        self.state = State::Packet(Held::NONE);
        listener.packet(place, packet);
    }

    /// Spec: PFT-ERR-001 to PFT-ERR-003 (B.3.1 stage 1).
    #[cold]
    fn lose<L: Listener + ?Sized>(&mut self, place: Place, search_from: u64, listener: &mut L) {
        self.index += 1;
        self.state = State::Search(Search::from(search_from));
        listener.lost(&Fault::new(FaultClass::ReservedEncoding, place));
    }

    /// Looks for an A-sync. Spec: PFT-DEC-001, PFT-PKT-004, PFT-PKT-006, PFT-PKT-008 (4.5.1).
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
            let place = Place { packet: self.index, byte: search.first_zero, bit: 0 };
            self.complete(place, &Packet::AlignmentSync { zeros: search.zeros }, listener);
        } else {
            self.state = State::Search(search);
        }
        chunk.get(passed..).unwrap_or_default()
    }

    /// The bytes after so many zeros. Spec: PFT-PKT-004 to PFT-PKT-008, PFT-ERR-001, PFT-ERR-021, PFT-ERR-022
    /// (4.5.1).
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
        match after.split_first() {
            None => {
                self.state = State::Zeros(zeros);
                after
            }
            Some((&END, rest)) => {
                self.offset += 1;
                if zeros >= ZEROS {
                    self.complete(place, &Packet::AlignmentSync { zeros }, listener);
                } else {
                    self.lose(place, self.offset, listener);
                }
                rest
            }
            Some(_) => {
                self.lose(place, self.offset, listener);
                after
            }
        }
    }
}
