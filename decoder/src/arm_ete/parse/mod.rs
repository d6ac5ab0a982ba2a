//! The packet at the start of some bytes.

mod cursor;
mod etmv4;

use traceproof_vectors::arm_ete::{Atoms, Packet, VariableField};

use super::headers::{AddressForm, Carrier, Header};
use super::layout::Layout;
use crate::arm::notes::Notes;
use cursor::{Cursor, Stop};

pub(super) use cursor::without_values;

/// What the bytes begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// A packet of so many bytes.
    Packet(Packet, usize),
    /// A packet of which more bytes are needed.
    Part,
    /// A zero, as in an A-sync, Discard, Overflow.
    Zero,
    /// No packet, because of the byte with this index.
    Reserved(usize),
}

/// Bytes of the longest packet: Trace Info with all sections (ETE-PKT-TI-005, ETE-V4-TI-001).
pub(super) const LONGEST: usize = 1 + 4 + 4 + 5 + 5 + 2;

/// The packet at the start of `bytes`.
#[inline]
pub(super) fn start<N: Notes>(layout: &Layout, bytes: &[u8], notes: &mut N) -> Start {
    let Some(&byte) = bytes.first() else { return Start::Part };
    let header = layout.header(byte);
    match header {
        Header::Extension => return Start::Zero,
        Header::Reserved => return Start::Reserved(0),
        _ => {}
    }
    let mut cursor = Cursor::new(bytes, notes);
    match cursor.packet(layout, header, byte) {
        Ok(packet) => Start::Packet(packet, cursor.at()),
        Err(Stop::Part) => Start::Part,
        Err(Stop::Reserved(at)) => Start::Reserved(at),
    }
}

/// The packet that `00` and this byte are; `None` for those that are none.
///
/// Spec: ETE-PKT-EXT-001.
pub(super) const fn extension(layout: &Layout, second: u8) -> Option<Packet> {
    match second {
        0x03 => Some(Packet::Discard),
        0x05 => Some(Packet::Overflow),
        0x07 if layout.has_branch_future_flush => Some(Packet::BranchFutureFlush),
        _ => None,
    }
}

/// The atoms that 30 to 37 begin with (sheet 5.8).
const fn leading_atoms(header: u8) -> Option<Atoms> {
    match header & 3 {
        0 => None,
        1 => Some(Atoms::one(true)),
        2 => Atoms::from_bits(3, 2),
        _ => Some(Atoms::one(false)),
    }
}

impl<N: Notes> Cursor<'_, N> {
    #[inline]
    fn packet(&mut self, layout: &Layout, header: Header, byte: u8) -> Result<Packet, Stop> {
        if let Header::Atoms = header {
            self.header(&[("atoms", 8)])?;
            return Ok(Packet::Atoms(layout.atoms(byte)));
        }
        match header {
            Header::TargetAddress => self.target_address(layout),
            Header::TraceInfo => self.trace_info(),
            Header::Timestamp => self.timestamp(),
            Header::Exception if layout.is_ete => self.exception(layout),
            Header::Exception => self.exception_v4(),
            Header::Instrumentation => self.instrumentation(),
            Header::CycleCount1 | Header::CycleCount2 | Header::CycleCount3 => {
                self.cycle_count(layout, header)
            }
            Header::Commit | Header::Cancel1 => self.commit_or_cancel(),
            Header::Context => {
                self.header(&[("header", 8)])?;
                Ok(Packet::Context(self.context(layout)?))
            }
            Header::Q => self.q(),
            Header::SourceAddress => {
                self.header(&[("header", 8)])?;
                let form = AddressForm::of(byte).map(|(_, form)| form);
                Ok(Packet::SourceAddress(self.address(form.unwrap_or(AddressForm::ExactMatch(0)))?))
            }
            Header::ConditionalInstruction1
            | Header::ConditionalInstruction3
            | Header::ConditionalResult1
            | Header::ConditionalResult3 => self.conditional(header),
            _ => self.one_byte(header),
        }
    }

    /// Packets of one byte, most of them with fields.
    fn one_byte(&mut self, header: Header) -> Result<Packet, Stop> {
        let byte = self.peek()?;
        let low = byte & 3;
        let (packet, fields): (Packet, &[(&'static str, u8)]) = match header {
            Header::TraceOn => (Packet::TraceOn, &[("header", 8)]),
            Header::FunctionReturn => (Packet::FunctionReturn, &[("header", 8)]),
            Header::ExceptionReturn => (Packet::ExceptionReturn, &[("header", 8)]),
            Header::Resynchronization => (Packet::Resynchronization, &[("header", 8)]),
            Header::TransactionStart => (Packet::TransactionStart, &[("header", 8)]),
            Header::TransactionCommit => (Packet::TransactionCommit, &[("header", 8)]),
            Header::NumberedDataSyncMarker => {
                (Packet::NumberedDataSyncMarker(byte & 7), &[("number", 3), ("header", 5)])
            }
            Header::UnnumberedDataSyncMarker => {
                (Packet::UnnumberedDataSyncMarker(byte & 7), &[("atoms", 3), ("header", 5)])
            }
            Header::Cancel2 => {
                (Packet::Cancel2 { atoms: leading_atoms(byte) }, &[("atoms", 2), ("header", 6)])
            }
            Header::Cancel3 => {
                let (atom, count) = (byte & 1 != 0, (byte >> 1 & 3) + 2);
                (Packet::Cancel3 { atom, count }, &[("atom", 1), ("CANCEL", 2), ("header", 5)])
            }
            Header::Mispredict => {
                (Packet::Mispredict { atoms: leading_atoms(byte) }, &[("atoms", 2), ("header", 6)])
            }
            Header::ConditionalInstruction2 => {
                (Packet::ConditionalInstruction2(low), &[("CI", 2), ("header", 6)])
            }
            Header::ConditionalFlush => (Packet::ConditionalFlush, &[("header", 8)]),
            Header::ConditionalResult2 => {
                let by_two = byte & 4 != 0;
                (Packet::ConditionalResult2 { by_two, token: low }, &[("token", 2), ("K", 1), ("header", 5)])
            }
            Header::ConditionalResult4 => (Packet::ConditionalResult4(low), &[("token", 2), ("header", 6)]),
            Header::Event => (Packet::Event(byte & 0xf), &[("EVENT", 4), ("header", 4)]),
            Header::ContextSame => (Packet::ContextSame, &[("header", 8)]),
            Header::TimestampMarker => (Packet::TimestampMarker, &[("header", 8)]),
            _ => (Packet::Ignore, &[("header", 8)]),
        };
        self.header(fields)?;
        Ok(packet)
    }

    /// Spec: ETE-PKT-TI-001, ETE-PKT-TI-003, ETE-PKT-TI-005, ETE-V4-TI-001; readings `ete-reserved-control-bits`,
    /// `ete-continued-trace-info`.
    fn trace_info(&mut self) -> Result<Packet, Stop> {
        self.header(&[("header", 8)])?;
        let control = self.next()?;
        let sections = [("INFO present", 1), ("KEY present", 1), ("SPEC present", 1), ("CYCT present", 1)];
        let [info, key, spec, cyct] = sections;
        self.note(control, &[info, key, spec, cyct, ("0", 3), ("C", 1)]);
        let mut reserved = u32::from(control & 0x70);
        let mut control_bytes = 1;
        let mut more = control & 0x80 != 0;
        while more {
            let byte = self.next()?;
            let is_last = control_bytes == 3;
            self.note(byte, if is_last { &[("0", 8)] } else { &[("0", 7), ("C", 1)] });
            let mask = if is_last { 0xff } else { 0x7f };
            reserved |= u32::from(byte & mask) << (7 * control_bytes);
            control_bytes += 1;
            more = byte & 0x80 != 0 && !is_last;
        }
        let mut section = |bit: u8, name, bytes| -> Result<Option<VariableField>, Stop> {
            if control >> bit & 1 == 0 { Ok(None) } else { self.variable(name, bytes).map(Some) }
        };
        Ok(Packet::TraceInfo {
            control_bytes,
            reserved,
            info: section(0, "INFO", 4)?,
            key: section(1, "KEY", 5)?,
            speculation: section(2, "SPEC", 5)?,
            cycle_threshold: section(3, "CYCT", 2)?,
        })
    }

    /// Spec: ETE-PKT-TS-001, ETE-PKT-TS-002.
    fn timestamp(&mut self) -> Result<Packet, Stop> {
        let header = self.header(&[("N", 1), ("header", 7)])?;
        let value = self.variable("TS", 9)?;
        let count = if header & 1 == 0 { None } else { Some(self.variable("COUNT", 3)?) };
        Ok(Packet::Timestamp { value, count })
    }

    /// Spec: ETE-PKT-ITE-001.
    fn instrumentation(&mut self) -> Result<Packet, Stop> {
        self.header(&[("header", 8)])?;
        let level = self.next()?;
        self.note(level, &[("EL", 2), ("0", 6)]);
        let value = self.little_endian("VALUE", 8)?;
        Ok(Packet::Instrumentation { level: level & 3, reserved: level & 0xfc, value })
    }

    /// Spec: ETE-PKT-CMT-001, ETE-PKT-CAN-001.
    fn commit_or_cancel(&mut self) -> Result<Packet, Stop> {
        let header = self.header(&[("header", 8)])?;
        let is_commit = header == 0x2d;
        let count = self.variable(if is_commit { "COMMIT" } else { "CANCEL" }, 5)?;
        if count.bits as u32 == 0 {
            return Err(Stop::Reserved(1));
        }
        if is_commit {
            return Ok(Packet::Commit(count));
        }
        Ok(Packet::Cancel1 { count, mispredict: header & 1 != 0 })
    }

    /// Spec: ETE-PKT-CC1-001, ETE-PKT-CC2-001, ETE-PKT-CC2-002, ETE-PKT-CC3-001.
    fn cycle_count(&mut self, layout: &Layout, header: Header) -> Result<Packet, Stop> {
        let byte = self.peek()?;
        match header {
            Header::CycleCount1 => {
                self.header(&[("U", 1), ("header", 7)])?;
                let commit = if layout.commopt { None } else { Some(self.variable("COMMIT", 5)?) };
                let count = if byte & 1 != 0 { None } else { Some(self.variable("COUNT", 3)?) };
                Ok(Packet::CycleCount1 { commit, count })
            }
            Header::CycleCount2 => {
                self.header(&[("F", 1), ("header", 7)])?;
                let fields = self.next()?;
                self.note(fields, &[("BBBB", 4), ("AAAA", 4)]);
                let (large, commit) = (byte & 1 != 0, fields >> 4);
                if large && !layout.commopt && u64::from(layout.maxspec) + u64::from(commit) <= 15 {
                    return Err(Stop::Reserved(1));
                }
                Ok(Packet::CycleCount2 { large, commit, count: fields & 0xf })
            }
            _ => {
                self.header(&[("BB", 2), ("AA", 2), ("header", 4)])?;
                Ok(Packet::CycleCount3 { commit: byte >> 2 & 3, count: byte & 3 })
            }
        }
    }

    /// Spec: ETE-PKT-ADR-001 to ETE-PKT-ADR-006.
    fn target_address(&mut self, layout: &Layout) -> Result<Packet, Stop> {
        let (address, context) = self.address_and_context(layout)?;
        Ok(Packet::TargetAddress { address, context })
    }

    /// Spec: ETE-PKT-Q-001, ETE-PKT-Q-002.
    fn q(&mut self) -> Result<Packet, Stop> {
        let header = self.header(&[("header", 8)])?;
        let address = match AddressForm::of(header) {
            Some((Carrier::Q, form)) => Some(self.address(form)?),
            _ => None,
        };
        let count = if header == 0xaf { None } else { Some(self.variable("COUNT", 5)?) };
        Ok(Packet::Q { address, count })
    }

    /// Spec: ETE-PKT-EXC-001 to ETE-PKT-EXC-004, ETE-DEC-EXC-002.
    fn exception(&mut self, layout: &Layout) -> Result<Packet, Stop> {
        self.header(&[("header", 8)])?;
        let information = self.next()?;
        self.note(information, &[("E0", 1), ("TYPE", 5), ("E1", 1), ("0", 1)]);
        let with_target = match information & 0x41 {
            0x01 => false,
            0x40 => true,
            _ => return Err(Stop::Reserved(1)),
        };
        let number = information >> 1 & 0x1f;
        let at = self.at();
        let (address, context) = match self.peek()? {
            0x70 if matches!(number, 0x00 | 0x18) => {
                self.header(&[("header", 8)])?;
                (None, None)
            }
            byte => match AddressForm::of(byte) {
                Some((Carrier::Target | Carrier::TargetWithContext, _)) if number != 0x18 => {
                    let (address, context) = self.address_and_context(layout)?;
                    (Some(address), context)
                }
                _ => return Err(Stop::Reserved(at)),
            },
        };
        Ok(Packet::Exception { number, with_target, reserved: information & 0x80 != 0, address, context })
    }
}
