//! A log taken apart, record by record and column by column.

use alloc::vec::Vec;

use traceproof_vectors::{Decoder, Dissection, Fault, Field, Place, Protocol, Sink};

use super::RECORD;

/// The dissection of a log with its decoder, and the columns of a record that begins at this bit of the stream.
///
/// A record that is dropped has the fields before its fault, and a record that is cut off has none.
pub(crate) fn units<P: Protocol>(
    wire: &[u8],
    decoder: &mut dyn Decoder<P>,
    columns: fn(&[u8; RECORD], u64) -> Vec<Field>,
) -> Vec<Dissection<P>> {
    let mut units = Vec::new();
    for (index, bytes) in wire.chunks(RECORD).enumerate() {
        let mut reported = Reported::<P> { first: None };
        decoder.push(bytes, &mut reported);
        let first = (index * RECORD) as u64;
        let place = Place { packet: index as u64, byte: first, bit: 0 };
        let mut fields = match bytes.try_into() {
            Ok(record) => columns(record, first * 8),
            Err(_) => {
                decoder.finish(&mut reported);
                Vec::new()
            }
        };
        if let Some(Err(fault)) = &reported.first {
            let at = fault.place.byte * 8 + u64::from(fault.place.bit);
            fields.retain(|field| field.bit + u64::from(field.width) <= at);
        }
        let bytes = first..first + bytes.len() as u64;
        units.push(Dissection { place, bytes, fields, packet: reported.first });
    }
    units
}

/// What the decoder reported first about a record: its packet, or the fault that dropped it.
struct Reported<P: Protocol> {
    first: Option<Result<P::Packet, Fault>>,
}

impl<P: Protocol> Sink<P> for Reported<P> {
    fn packet(&mut self, _: Place, packet: &P::Packet) {
        self.first.get_or_insert_with(|| Ok(packet.clone()));
    }

    fn event(&mut self, _: Place, _: &P::Event) {}

    fn fault(&mut self, fault: &Fault) {
        self.first.get_or_insert(Err(*fault));
    }
}

/// The fields of a record, lowest bit first.
pub(crate) struct Columns {
    record: u128,
    first: u64,
    next: u8,
    fields: Vec<Field>,
}

impl Columns {
    pub(crate) const fn new(record: &[u8; RECORD], first: u64) -> Self {
        Self { record: u128::from_le_bytes(*record), first, next: 0, fields: Vec::new() }
    }

    pub(crate) fn add(&mut self, name: &'static str, width: u8) {
        let value = (self.record >> self.next) as u64 & (u64::MAX >> (64 - width));
        let width = u32::from(width);
        let bit = self.first + u64::from(self.next);
        self.fields.push(Field { name, bit, width, received: width, value });
        self.next += width as u8;
    }

    pub(crate) fn all(&mut self, fields: &[(&'static str, u8)]) {
        for (name, width) in fields {
            self.add(name, *width);
        }
    }

    /// The bits up to `end` under one name, those of the two halves of a record apart.
    pub(crate) fn up_to(&mut self, end: u8, name: &'static str) {
        for border in [64, 128] {
            let end = end.min(border);
            if end > self.next {
                self.add(name, end - self.next);
            }
        }
    }

    pub(crate) fn fields(self) -> Vec<Field> {
        self.fields
    }
}
