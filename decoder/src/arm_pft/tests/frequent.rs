//! The fast path of reading packets reports what reading byte by byte reports.

use traceproof_vectors::arm_pft::Packet;

use super::*;
use crate::arm_pft::{Listener, PacketReader};

/// What a reader reported.
#[derive(Debug, Default, PartialEq)]
struct Reported(Vec<(Place, Option<Packet>)>);

impl Listener for Reported {
    fn packet(&mut self, place: Place, packet: &Packet) {
        self.0.push((place, Some(*packet)));
    }

    fn lost(&mut self, fault: &Fault) {
        self.0.push((fault.place, None));
    }

    fn cut(&mut self, fault: &Fault) {
        self.lost(fault);
    }
}

fn reported(reader: &mut PacketReader, wire: &[u8]) -> Reported {
    let mut reported = Reported::default();
    reader.reset();
    reader.push(wire, &mut reported);
    reader.finish(&mut reported);
    reported
}

/// Every header, then two fields: so many bytes that go on, then one that does not; then what is no part of them.
fn streams() -> impl Iterator<Item = Vec<u8>> {
    let fields = |most: usize| {
        (0..=most).flat_map(|length| {
            [(0x80, 0x00), (0xff, 0x3f), (0xd5, 0x6a), (0xaa, 0x15)].map(|(more, last)| {
                let mut field = [more].repeat(length);
                field.push(last);
                field
            })
        })
    };
    (0..=u8::MAX).flat_map(move |header| {
        fields(9).flat_map(move |first| {
            fields(5).map(move |second| {
                let mut wire = bytes(ALIGN);
                wire.push(header);
                wire.extend(&first);
                wire.extend(second);
                wire.extend([0x8d, 0x66, 0xd4, 0x21, 0x94]);
                wire.extend(bytes(ALIGN));
                wire.extend([0x09, 0x06]);
                wire.extend([0x66; 9]);
                wire
            })
        })
    })
}

#[test]
fn every_header_and_every_length() {
    for cycle_accurate in [false, true] {
        for timestamp_bits in [48, 64] {
            let parameters = Parameters { minor: 1, cycle_accurate, timestamp_bits, ..Parameters::default() };
            let mut fast = PacketReader::new(&parameters).expect("possible");
            let mut slow = fast.clone().without_fast_path();
            for wire in streams() {
                assert_eq!(reported(&mut fast, &wire), reported(&mut slow, &wire), "{wire:02x?}");
            }
        }
    }
}
