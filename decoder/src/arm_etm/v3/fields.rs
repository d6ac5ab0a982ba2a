//! The names of the bits of each byte, for display.

use super::address_bytes::{AddressBytes, StatePattern};
use super::exception_bytes::ExceptionBytes;
use super::headers::Header;
use super::listener::Listener;
use super::value_bytes::SevenBits;

/// One byte, and the observer of its fields.
pub(super) struct Fields<'a, L: ?Sized> {
    pub(super) listener: &'a mut L,
    pub(super) offset: u64,
}

impl<L: Listener + ?Sized> Fields<'_, L> {
    /// The fields of `byte`, bit 0 first; the widths make 8.
    fn split(&mut self, byte: u8, fields: &[(&'static str, u8)]) {
        let mut first = 0;
        for &(name, width) in fields {
            let value = u64::from(byte) >> first & ((1 << width) - 1);
            self.listener.field(name, self.offset, first, width.into(), value);
            first += width;
        }
    }

    pub(super) fn all(&mut self, name: &'static str, byte: u8) {
        self.split(byte, &[(name, 8)]);
    }
}

/// A header byte; that of a branch packet is all address.
pub(super) fn header<L: Listener + ?Sized>(mut fields: Fields<'_, L>, byte: u8, header: Header) {
    match header {
        Header::WholeBranch | Header::Branch | Header::AlignmentSync => {}
        Header::Atoms => fields.all("P-header", byte),
        Header::NormalData => fields.split(byte, &[("header", 2), ("SS", 2), ("0", 1), ("A", 1), ("0", 2)]),
        Header::Placeholder => fields.split(byte, &[("header", 2), ("TT", 2), ("1", 1), ("A", 1), ("1", 2)]),
        Header::OutOfOrderData => {
            fields.split(byte, &[("header", 2), ("SS", 2), ("0", 1), ("TT", 2), ("0", 1)]);
        }
        Header::ValueNotTraced => fields.split(byte, &[("header", 4), ("A", 1), ("header", 3)]),
        Header::Timestamp => fields.split(byte, &[("header", 2), ("R", 1), ("header", 5)]),
        _ => fields.all("header", byte),
    }
}

/// A byte of a branch address, of which `before` is here already.
pub(super) fn address<L: Listener + ?Sized>(
    mut fields: Fields<'_, L>,
    before: AddressBytes,
    byte: u8,
    alternative: bool,
    in_byte: bool,
) {
    let is_last = byte & 0x80 == 0;
    match before.bytes() {
        0 => fields.split(byte, &[("1", 1), ("address", 6), ("c", 1)]),
        1..=3 if alternative && is_last => fields.split(byte, &[("address", 6), ("E", 1), ("c", 1)]),
        1..=3 => fields.split(byte, &[("address", 7), ("c", 1)]),
        _ if !is_last && in_byte => {
            fields.split(byte, &[("address", 3), ("exception", 3), ("Cancel", 1), ("in-byte", 1)]);
        }
        _ => match StatePattern::of(byte) {
            Some(pattern) => {
                let width = pattern.width() as u8;
                fields.split(byte, &[("address", width), ("state", 6 - width), ("E", 1), ("c", 1)]);
            }
            None => fields.all("address", byte),
        },
    }
}

/// A byte of exception information after `before`.
pub(super) fn exception<L: Listener + ?Sized>(mut fields: Fields<'_, L>, before: ExceptionBytes, byte: u8) {
    match before.which(byte) {
        0 => {
            let names = [("NS", 1), ("Exception[3:0]", 4), ("Cancel", 1), ("AltISA", 1), ("c", 1)];
            fields.split(byte, &names);
        }
        1 => fields.split(byte, &[("Exception[8:4]", 5), ("Hyp", 1), ("0", 1), ("c", 1)]),
        _ => fields.split(byte, &[("Resume", 4), ("0", 2), ("1", 1), ("c", 1)]),
    }
}

/// A byte of a cycle count or timestamp of at most `longest` bytes, of which the last has `last` bits.
pub(super) fn seven_bits<L: Listener + ?Sized>(
    mut fields: Fields<'_, L>,
    name: &'static str,
    before: SevenBits,
    byte: u8,
    longest: u8,
    last: u8,
) {
    if before.bytes() + 1 < longest {
        fields.split(byte, &[(name, 7), ("c", 1)]);
    } else if last == 8 {
        fields.all(name, byte);
    } else {
        fields.split(byte, &[(name, last), ("0", 8 - last)]);
    }
}

/// A byte of a data address after `before`.
pub(super) fn data_address<L: Listener + ?Sized>(mut fields: Fields<'_, L>, before: SevenBits, byte: u8) {
    if before.bytes() < 4 {
        fields.split(byte, &[("address", 7), ("c", 1)]);
    } else {
        fields.split(byte, &[("address", 4), ("BE", 1), ("0", 3)]);
    }
}

/// The information byte of an I-sync.
pub(super) fn information<L: Listener + ?Sized>(mut fields: Fields<'_, L>, byte: u8) {
    let names = [("1", 1), ("Hyp", 1), ("AltISA", 1), ("NS", 1), ("J", 1), ("reason", 2), ("LSiP", 1)];
    fields.split(byte, &names);
}
