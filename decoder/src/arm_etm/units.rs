//! Records and packets of a capture of pins, field by field, for display.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::{ArmEtm, Packet};
use traceproof_vectors::{Dissection, Fault, Field, Place};

use super::v2::FifoByte;

/// Collects the units of a capture: every record, then every packet whose last byte it carries.
#[derive(Default)]
pub(super) struct Units {
    units: Vec<Dissection<ArmEtm>>,
    record: Option<Dissection<ArmEtm>>,
    /// Packets that end in the record.
    packets: Vec<Dissection<ArmEtm>>,
    open: Option<Open>,
    /// Index of the packet that is open or comes next.
    index: u64,
}

/// The packet that is being read.
#[derive(Default)]
struct Open {
    first: u64,
    /// Of its latest byte.
    last: u64,
    fields: Vec<Field>,
}

impl Units {
    /// Everything, when the capture has ended; a packet that it cuts off is a unit without packet.
    pub(super) fn finish(mut self) -> Vec<Dissection<ArmEtm>> {
        self.flush();
        self.units
    }

    fn flush(&mut self) {
        self.units.extend(self.record.take());
        self.units.append(&mut self.packets);
    }

    /// Ends the packet that is being read; returns whether there is one.
    pub(super) fn close(&mut self, packet: Option<Result<Packet, Fault>>) -> bool {
        let Some(Open { first, last, fields }) = self.open.take() else { return false };
        let place = Place { packet: self.index, byte: first, bit: 0 };
        self.index += 1;
        self.packets.push(Dissection { place, bytes: first..last + 1, fields, packet });
        true
    }

    /// A fault, of the packet that is being read if that ends with it, otherwise of the record.
    pub(super) fn fault(&mut self, fault: &Fault, ends_packet: bool) {
        let closes = ends_packet && self.close(Some(Err(*fault)));
        if !closes && let Some(record) = &mut self.record {
            record.packet = Some(Err(*fault));
        }
    }

    /// A record of `size` bytes begins.
    pub(super) fn record(&mut self, place: Place, size: u64) {
        self.flush();
        let bytes = place.byte..place.byte + size;
        self.record = Some(Dissection { place, bytes, fields: Vec::new(), packet: None });
    }

    /// Bits of the record.
    pub(super) fn pins(&mut self, name: &'static str, offset: u64, first: u8, width: u8, value: u8) {
        if let Some(record) = &mut self.record {
            let (bit, width) = (8 * offset + u64::from(first), u32::from(width));
            record.fields.push(Field { name, bit, width, received: width, value: u64::from(value) });
        }
    }

    /// Bits of the packet that is being read.
    pub(super) fn field(&mut self, name: &'static str, byte: FifoByte, first: u8, width: u8) {
        let open = self.open.get_or_insert_with(|| Open { first: byte.low, ..Open::default() });
        open.last = byte.high.unwrap_or(byte.low);
        let Some(high) = byte.high else {
            open.fields.push(field(name, byte.low, first, width, byte.value));
            return;
        };
        // Two halves of a byte that travelled apart.
        let end = first + width;
        if first < 4 {
            open.fields.push(field(name, byte.low, first, end.min(4) - first, byte.value & 0xf));
        }
        if end > 4 {
            let first = first.max(4) - 4;
            open.fields.push(field(name, high, first, end - 4 - first, byte.value >> 4));
        }
    }
}

/// The field in the bits `first` and up of `carrier`, which is at `offset`.
fn field(name: &'static str, offset: u64, first: u8, width: u8, carrier: u8) -> Field {
    let value = u64::from(carrier >> first) & ((1 << width) - 1);
    let width = u32::from(width);
    Field { name, bit: 8 * offset + u64::from(first), width, received: width, value }
}
