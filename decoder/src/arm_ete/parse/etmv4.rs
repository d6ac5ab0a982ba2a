//! Packets that only ETMv4 has.

use traceproof_vectors::arm_ete::{ConditionalResult, Packet, VariableField};

use super::super::headers::Header;
use super::cursor::{Cursor, Stop};
use crate::arm::notes::Notes;

impl<N: Notes> Cursor<'_, N> {
    /// Spec: ETE-PKT-EXC-007, ETE-V4-EXC-002.
    pub(super) fn exception_v4(&mut self) -> Result<Packet, Stop> {
        self.header(&[("header", 8)])?;
        let first = self.header(&[("E0", 1), ("TYPE", 5), ("E1", 1), ("C", 1)])?;
        let with_target = match first & 0x41 {
            0x01 => false,
            0x40 => true,
            _ => return Err(Stop::Reserved(1)),
        };
        let number = u16::from(first >> 1 & 0x1f);
        if first & 0x80 == 0 {
            return Ok(Packet::ExceptionV4 { number, with_target, fault_pending: None, reserved: 0 });
        }
        let second = self.header(&[("TYPE", 5), ("P", 1), ("0", 2)])?;
        Ok(Packet::ExceptionV4 {
            number: number | u16::from(second & 0x1f) << 5,
            with_target,
            fault_pending: Some(second & 0x20 != 0),
            reserved: second & 0xc0,
        })
    }

    /// Conditional instructions and results of more than one byte.
    ///
    /// Spec: ETE-DEC-V4-001 (sheet 2.3).
    pub(super) fn conditional(&mut self, header: Header) -> Result<Packet, Stop> {
        match header {
            Header::ConditionalInstruction1 => {
                self.header(&[("header", 8)])?;
                Ok(Packet::ConditionalInstruction1(self.variable("KEY", 5)?))
            }
            Header::ConditionalInstruction3 => {
                self.header(&[("header", 8)])?;
                let byte = self.header(&[("Z", 1), ("NUM", 6), ("0", 1)])?;
                let (count, repeated) = (byte >> 1 & 0x3f, byte & 1 != 0);
                Ok(Packet::ConditionalInstruction3 { count, repeated, reserved: byte & 0x80 != 0 })
            }
            Header::ConditionalResult3 => {
                let high = self.header(&[("tokens", 4), ("header", 4)])?;
                let low = self.header(&[("tokens", 8)])?;
                Ok(Packet::ConditionalResult3(u16::from(high & 0xf) << 8 | u16::from(low)))
            }
            _ => self.results(),
        }
    }

    /// One or two results of format 1.
    fn results(&mut self) -> Result<Packet, Stop> {
        let byte = self.peek()?;
        if byte >= 0x6e {
            self.header(&[("CI", 1), ("header", 7)])?;
            return Ok(Packet::ConditionalResult1 { first: self.result(byte & 1 != 0)?, second: None });
        }
        self.header(&[("CI", 1), ("CI", 1), ("header", 6)])?;
        let first = self.result(byte & 1 != 0)?;
        Ok(Packet::ConditionalResult1 { first, second: Some(self.result(byte & 2 != 0)?) })
    }

    fn result(&mut self, implied: bool) -> Result<ConditionalResult, Stop> {
        /// Bytes of a key, at most.
        const MOST: u8 = 6;
        let first = self.header(&[("RESULT", 4), ("KEY", 3), ("C", 1)])?;
        let mut key = VariableField { bits: u64::from(first >> 4 & 7), bytes: 1 };
        let mut more = first & 0x80 != 0;
        while more {
            let byte = self.next()?;
            let shift = 3 + 7 * (u32::from(key.bytes) - 1);
            key.bytes += 1;
            let is_last = key.bytes == MOST;
            self.note(byte, if is_last { &[("KEY", 1), ("0", 7)] } else { &[("KEY", 7), ("C", 1)] });
            key.bits |= u64::from(if is_last { byte } else { byte & 0x7f }) << shift;
            more = byte & 0x80 != 0 && !is_last;
        }
        Ok(ConditionalResult { implied, result: first & 0xf, key })
    }
}
