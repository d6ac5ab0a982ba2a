//! The parts of packets: bytes, fields of variable length, addresses, contexts.

use traceproof_vectors::arm::{ExceptionLevel, SecurityState};
use traceproof_vectors::arm_ete::{AddressField, ContextField, SubIsa, VariableField};
use traceproof_vectors::{Address, Address32};

use crate::arm::notes::Notes;
use crate::arm_ete::headers::{AddressForm, Carrier};
use crate::arm_ete::layout::Layout;

/// Why no packet is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// More bytes are needed.
    Part,
    /// The byte with this index makes it none.
    Reserved(usize),
}

/// The bytes of a packet.
pub(super) struct Cursor<'a, N> {
    bytes: &'a [u8],
    /// The next byte.
    at: usize,
    notes: &'a mut N,
}

impl<'a, N: Notes> Cursor<'a, N> {
    pub(super) const fn new(bytes: &'a [u8], notes: &'a mut N) -> Self {
        Self { bytes, at: 0, notes }
    }

    /// Index of the next byte.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    #[inline]
    pub(super) fn peek(&self) -> Result<u8, Stop> {
        self.bytes.get(self.at).copied().ok_or(Stop::Part)
    }

    #[inline]
    pub(super) fn next(&mut self) -> Result<u8, Stop> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }

    /// Names the fields of the latest byte.
    #[inline]
    pub(super) fn note(&mut self, byte: u8, fields: &[(&'static str, u8)]) {
        self.notes.byte(self.at.wrapping_sub(1), byte, fields);
    }

    /// The next byte, which has these fields.
    #[inline]
    pub(super) fn header(&mut self, fields: &[(&'static str, u8)]) -> Result<u8, Stop> {
        let byte = self.next()?;
        self.note(byte, fields);
        Ok(byte)
    }

    /// A field that ends after the first byte whose bit 7 is 0, or after so many bytes, of which the last one gives
    /// all its bits.
    ///
    /// Spec: ETE-PKT-ENC-001, ETE-PKT-ENC-002 (sheet 5.0).
    pub(super) fn variable(&mut self, name: &'static str, most: u8) -> Result<VariableField, Stop> {
        let mut field = VariableField { bits: 0, bytes: 0 };
        loop {
            let byte = self.next()?;
            let shift = 7 * u32::from(field.bytes);
            field.bytes += 1;
            if field.bytes == most {
                self.note(byte, last_byte(name, most));
                field.bits |= u64::from(byte) << shift;
                return Ok(field);
            }
            self.note(byte, &[(name, 7), ("C", 1)]);
            field.bits |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(field);
            }
        }
    }

    pub(super) fn little_endian(&mut self, name: &'static str, bytes: u8) -> Result<u64, Stop> {
        let mut value = 0;
        for at in 0..u32::from(bytes) {
            value |= u64::from(self.header(&[(name, 8)])?) << (8 * at);
        }
        Ok(value)
    }

    /// The header of a target address, its address bytes, its context bytes.
    ///
    /// Spec: ETE-PKT-ADR-005.
    #[inline]
    pub(super) fn address_and_context(
        &mut self,
        layout: &Layout,
    ) -> Result<(AddressField, Option<ContextField>), Stop> {
        let header = self.header(&[("header", 8)])?;
        let (carrier, form) = AddressForm::of(header).ok_or(Stop::Reserved(self.at.wrapping_sub(1)))?;
        let address = self.address(form)?;
        let context = match carrier {
            Carrier::TargetWithContext => Some(self.context(layout)?),
            _ => None,
        };
        Ok((address, context))
    }

    /// The address bytes.
    ///
    /// Spec: ETE-PKT-ADR-001 to ETE-PKT-ADR-004, ETE-PKT-ADR-006 (sheet 5.4).
    #[inline]
    pub(super) fn address(&mut self, form: AddressForm) -> Result<AddressField, Stop> {
        Ok(match form {
            AddressForm::ExactMatch(entry) => AddressField::ExactMatch(entry),
            AddressForm::Short(sub_isa) => {
                let low = self.header(&[("A", 7), ("C", 1)])?;
                let aligned = alignment(sub_isa);
                let mut bits = u32::from(low & 0x7f) << aligned;
                let bytes = 1 + (low >> 7);
                if bytes == 2 {
                    bits |= u32::from(self.header(&[("A", 8)])?) << (7 + aligned);
                }
                AddressField::Short { sub_isa, bits: Address32(bits), bytes }
            }
            AddressForm::Bits32(sub_isa) => {
                let (bits, reserved) = self.long_address(sub_isa, 4)?;
                AddressField::Bits32 { sub_isa, bits: Address32(bits as u32), reserved }
            }
            AddressForm::Bits64(sub_isa) => {
                let (bits, reserved) = self.long_address(sub_isa, 8)?;
                AddressField::Bits64 { sub_isa, bits: Address(bits), reserved }
            }
        })
    }

    /// Address bits at their places, and the bits 7 that must be 0.
    fn long_address(&mut self, sub_isa: SubIsa, bytes: u32) -> Result<(u64, u8), Stop> {
        let (mut bits, mut reserved) = (0, 0);
        let short = match sub_isa {
            SubIsa::Is0 => 2,
            SubIsa::Is1 => 1,
        };
        for at in 0..bytes {
            let byte = self.next()?;
            if at < short {
                self.note(byte, &[("A", 7), ("0", 1)]);
                bits |= u64::from(byte & 0x7f) << (alignment(sub_isa) + 7 * at);
                reserved |= byte >> 7 << at;
            } else {
                self.note(byte, &[("A", 8)]);
                bits |= u64::from(byte) << (8 * at);
            }
        }
        Ok((bits, reserved))
    }

    /// The information byte, the VMID, the Context ID.
    ///
    /// Spec: ETE-PKT-CTX-001 to ETE-PKT-CTX-003 (sheet 5.5); reading `ete-flags-without-bytes`.
    pub(super) fn context(&mut self, layout: &Layout) -> Result<ContextField, Stop> {
        let fields = [("EL", 2), ("0", 1), ("NSE", 1), ("SF", 1), ("NS", 1), ("V", 1), ("C", 1)];
        let information = self.header(&fields)?;
        let mut value = |present: u8, name, bytes| -> Result<Option<u32>, Stop> {
            if information & present == 0 {
                return Ok(None);
            }
            self.little_endian(name, bytes).map(|value| Some(value as u32))
        };
        let vmid = value(0x40, "VMID", layout.vmid_bytes)?;
        let context_id = value(0x80, "CONTEXTID", layout.context_id_bytes)?;
        Ok(ContextField { vmid, context_id, ..without_values(information) })
    }
}

/// The context of an information byte.
#[inline]
pub(in crate::arm_ete) const fn without_values(information: u8) -> ContextField {
    let security = match information & 0x28 {
        0x00 => SecurityState::Secure,
        0x20 => SecurityState::NonSecure,
        0x08 => SecurityState::Root,
        _ => SecurityState::Realm,
    };
    let exception_level = match information & 3 {
        0 => ExceptionLevel::El0,
        1 => ExceptionLevel::El1,
        2 => ExceptionLevel::El2,
        _ => ExceptionLevel::El3,
    };
    ContextField {
        vmid: None,
        context_id: None,
        exception_level,
        security,
        is_64_bit: information & 0x10 != 0,
        reserved: information & 4 != 0,
    }
}

/// Bits of an address that do not travel.
const fn alignment(sub_isa: SubIsa) -> u32 {
    match sub_isa {
        SubIsa::Is0 => 2,
        SubIsa::Is1 => 1,
    }
}

/// The fields of the last possible byte of a field.
fn last_byte(name: &'static str, most: u8) -> &'static [(&'static str, u8)] {
    match (name, most) {
        ("TS", _) => &[("TS", 8)],
        ("INFO", _) => &[("INFO", 8)],
        ("CYCT", _) => &[("CYCT", 5), ("0", 3)],
        ("COUNT", 3) => &[("COUNT", 6), ("0", 2)],
        ("COUNT", _) => &[("COUNT", 4), ("0", 4)],
        ("SPEC", _) => &[("SPEC", 4), ("0", 4)],
        ("COMMIT", _) => &[("COMMIT", 4), ("0", 4)],
        ("CANCEL", _) => &[("CANCEL", 4), ("0", 4)],
        _ => &[("KEY", 4), ("0", 4)],
    }
}
