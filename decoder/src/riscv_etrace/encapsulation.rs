//! Byte stream -> transport units: the ratified packet encapsulation (EN 2).

use core::ops::Range;

use traceproof_vectors::riscv_etrace::{Encapsulation, Parameters};
use traceproof_vectors::{Fault, FaultClass, Place, Refusal};

use super::Payload;

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
    payload: Payload,
}

impl Unit {
    /// The payload; `None` for a null packet.
    ///
    /// # Errors
    ///
    /// `Framing` at the header, which announces a timestamp where timestamps have no bytes. Spec: RVET-ENCAP-008
    /// (EN 2.1.1).
    #[inline]
    pub const fn payload(&self) -> Result<Option<&Payload>, Fault> {
        if self.header.is_null() {
            Ok(None)
        } else if self.header.extend() {
            Err(Fault { class: FaultClass::Framing, place: self.place, address: None })
        } else {
            Ok(Some(&self.payload))
        }
    }

    /// Index of the packet and the first bit of its payload.
    #[must_use]
    pub const fn payload_place(&self) -> Place {
        Place { packet: self.place.packet, byte: self.place.byte + 1, bit: 0 }
    }

    /// The bytes of the stream that the unit occupies.
    #[must_use]
    pub const fn bytes(&self) -> Range<u64> {
        self.place.byte..self.place.byte + 1 + self.header.length() as u64
    }
}

/// Cuts a byte stream into transport units. Needs memory for one payload, whatever the stream and its chunks.
///
/// It starts at a boundary between units. A run of as many null bytes as RVET-ENCAP-013 asks for leads it
/// back to one from any state, because no unit is longer than that run.
#[derive(Clone, Debug, Default)]
pub struct Deframer {
    /// Stream offset of the next byte.
    offset: u64,
    /// Index of the next packet.
    packet: u64,
    /// The unit whose payload is still incomplete.
    open: Option<Header>,
    /// The part of its payload that is here already.
    held: [u8; Payload::MAX_LENGTH],
    held_length: usize,
}

impl Deframer {
    /// A deframer at the start of a stream.
    ///
    /// # Errors
    ///
    /// `source_id`, `timestamp` or `data_trace` is unsupported when the encapsulation has `srcID`, timestamps or `type`.
    pub fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        match parameters.encapsulation {
            Encapsulation::Normal(normal) if normal.src_id_bits > 0 => Err(Refusal::unsupported("source_id")),
            Encapsulation::Normal(normal) if normal.timestamp_bytes > 0 => {
                Err(Refusal::unsupported("timestamp"))
            }
            Encapsulation::Normal(normal) if normal.type_bits > 0 => Err(Refusal::unsupported("data_trace")),
            Encapsulation::Normal(_) => Ok(Self::default()),
            _ => Err(Refusal::unsupported("encapsulation")),
        }
    }

    /// Consumes the next bytes of the stream and hands every unit that is complete to `each`.
    ///
    /// By reference and not as an iterator, because a unit that is copied between packets costs more than reading it.
    #[inline]
    pub fn push(&mut self, chunk: &[u8], mut each: impl FnMut(&Unit)) {
        let mut rest = chunk;
        if let Some(header) = self.open
            && self.resume(header, &mut rest)
        {
            let held = self.held;
            each(&self.unit(header, &held));
        }
        while let Some((&first, behind)) = rest.split_first() {
            let header = Header(first);
            let Some(after) = behind.get(usize::from(header.length())..) else {
                self.open = Some(header);
                self.hold(behind);
                return;
            };
            rest = after;
            each(&self.unit(header, behind));
        }
    }

    /// Goes on with a unit that an earlier chunk began; whether it is complete now.
    #[cold]
    fn resume(&mut self, header: Header, rest: &mut &[u8]) -> bool {
        let length = usize::from(header.length());
        let (now, later) = rest.split_at(length.saturating_sub(self.held_length).min(rest.len()));
        self.hold(now);
        *rest = later;
        let complete = self.held_length >= length;
        if complete {
            self.open = None;
            self.held_length = 0;
        }
        complete
    }

    /// Keeps bytes of an incomplete payload.
    fn hold(&mut self, bytes: &[u8]) {
        for (to, from) in self.held.iter_mut().skip(self.held_length).zip(bytes) {
            *to = *from;
        }
        self.held_length += bytes.len();
    }

    /// The unit with this header, whose payload starts `bytes`.
    #[inline]
    fn unit(&mut self, header: Header, bytes: &[u8]) -> Unit {
        let place = Place { packet: self.packet, byte: self.offset, bit: 0 };
        let length = header.length();
        self.offset += 1 + u64::from(length);
        self.packet += u64::from(!header.is_null());
        Unit { place, header, payload: Payload::load(bytes, usize::from(length)) }
    }

    /// The stream ends here. Gives the header of a unit that is cut off, and the place of that header.
    pub fn finish(&mut self) -> Option<(Header, Place)> {
        let header = self.open.take()?;
        let place = Place { packet: self.packet, byte: self.offset, bit: 0 };
        self.offset += 1 + self.held_length as u64;
        self.packet += 1;
        self.held_length = 0;
        Some((header, place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn units(chunks: &[&[u8]]) -> (Vec<(u64, u64, u8)>, Option<Place>) {
        let mut deframer = Deframer::default();
        let mut units = Vec::new();
        for chunk in chunks {
            deframer.push(chunk, |unit| units.push((unit.place.packet, unit.place.byte, unit.header.0)));
        }
        (units, deframer.finish().map(|(_, place)| place))
    }

    #[test]
    fn null_packets_have_no_index_of_their_own() {
        // N01 and N10 of the worked examples, with flow bits in one of the nulls.
        let wire = [0x00, 0x80, 0x02, 0x22, 0x12, 0x60, 0x01, 0x02];
        assert_eq!(units(&[&wire]).0, [(0, 0, 0x00), (0, 1, 0x80), (0, 2, 0x02), (1, 5, 0x60), (1, 6, 0x01)]);
    }

    #[test]
    fn chunk_borders_do_not_matter_and_a_cut_unit_is_seen_at_the_end() {
        let wire = [0x02, 0x22, 0x12, 0x00, 0x03, 0x01, 0x80, 0x00, 0x05, 0x01];
        let whole = units(&[&wire]);
        assert_eq!(whole.1, Some(Place { packet: 2, byte: 8, bit: 0 }));
        for cut in 0..=wire.len() {
            let (head, tail) = wire.split_at(cut);
            assert_eq!(units(&[head, tail]), whole, "{cut}");
        }
        let bytes: Vec<&[u8]> = wire.chunks(1).collect();
        assert_eq!(units(&bytes), whole);
    }

    #[test]
    fn extend_without_timestamps_is_a_framing_fault_of_that_unit_only() {
        let mut units = Vec::new();
        Deframer::default().push(&[0x81, 0x02, 0x01, 0x02], |unit| units.push(*unit));
        let [faulty, good] = units.as_slice() else { panic!("two units") };
        let fault = faulty.payload().expect_err("a fault");
        assert_eq!((fault.class, fault.place), (FaultClass::Framing, Place::default()));
        assert_eq!((good.place.packet, good.payload()), (1, Ok(Payload::new(&[0x02]).as_ref())));
    }
}
