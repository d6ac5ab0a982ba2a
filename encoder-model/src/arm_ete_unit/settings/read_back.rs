//! What register values mean.

use alloc::vec::Vec;
use core::fmt;

use traceproof_vectors::arm_ete_unit::{Parameters, Register};

use super::values::{
    ALWAYS, BB, CCI, CID, ERROR, ISTALL, NO_OVERFLOW, OE, RESET, RS, TS, VMID, VMIDOPT, acatr, acvr,
};
use super::{AddressRange, Levels, Output, Stall, TraceRequest};

/// What registers of the trace unit do not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The code is T32.
    pub thumb: bool,
    /// Where the trace goes: the trace buffer unit has registers of its own.
    pub output: Output,
}

/// Why register values are no [`TraceRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inexpressible {
    /// The value of this register is needed and was not given.
    Missing(Register),
    /// These bits of the register ask for what no request can: events, resources, start and stop points, excluded
    /// ranges, comparisons of contexts, or what is reserved.
    Bits {
        /// The register.
        register: Register,
        /// The bits.
        bits: u64,
    },
}

impl fmt::Display for Inexpressible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(register) => write!(f, "the value of {register} is needed"),
            Self::Bits { register, bits } => {
                write!(f, "{register}: bits {bits:#x} are not those of a plain request")
            }
        }
    }
}

impl core::error::Error for Inexpressible {}

/// Registers and their values, of which the last one counts.
struct Values<'a> {
    parameters: &'a Parameters,
    values: &'a [(Register, u64)],
}

impl Values<'_> {
    fn of(&self, register: Register) -> Result<u64, Inexpressible> {
        let found = self.values.iter().rev().find(|(other, _)| *other == register);
        found.map(|(_, value)| *value).ok_or(Inexpressible::Missing(register))
    }

    /// The value, 0 where the unit has no such register.
    fn if_there(&self, register: Register) -> Result<u64, Inexpressible> {
        if register.exists(self.parameters) { self.of(register) } else { Ok(0) }
    }

    /// Nothing but these bits may be set, in a register that the unit has and that was given.
    fn only(&self, register: Register, bits: u64) -> Result<u64, Inexpressible> {
        let value = self.if_there(register)?;
        match value & !bits {
            0 => Ok(value),
            bits => Err(Inexpressible::Bits { register, bits }),
        }
    }
}

impl TraceRequest {
    /// The request that these values of registers carry out. Resources that nothing selects do not matter; of
    /// [`Self::least_threshold`] nothing is known, so that it is the default.
    ///
    /// # Errors
    ///
    /// The first register, in the order of the writes, that is missing or asks for something else.
    pub fn from_values(
        parameters: &Parameters,
        values: &[(Register, u64)],
        unread: Unread,
    ) -> Result<Self, Inexpressible> {
        let values = Values { parameters, values };
        let config = values.only(Register::CONFIGR, 1 | BB | CCI | CID | VMID | TS | RS | VMIDOPT)?;
        values.only(Register::EVENTCTL0R, 0)?;
        let enabled = values.only(Register::EVENTCTL1R, OE)?;
        let needed = if parameters.output_enable && unread.output == Output::Interfaces { OE } else { 0 };
        if parameters.output_enable && enabled & needed != needed {
            return Err(Inexpressible::Bits { register: Register::EVENTCTL1R, bits: OE });
        }
        let stall = stall(&values)?;
        let has = |bit: u64| config & bit != 0;
        if has(TS) {
            values.only(Register::TSCTLR, 0)?;
        }
        let default = Self::default();
        let sync_period = if parameters.fixed_sync_period {
            default.sync_period
        } else {
            values.only(Register::SYNCPR, 0x1F)? as u8
        };
        let cycle_counts = if has(CCI) { Some(values.only(Register::CCCTLR, 0xFFF)? as u16) } else { None };
        if has(BB) {
            values.only(Register::BBCTLR, 0)?;
        }
        let trace_id =
            if parameters.trace_id { values.only(Register::TRACEIDR, 0x7F)? as u8 } else { default.trace_id };
        let filter = view_inst(&values)?;
        Ok(Self {
            ranges: ranges(&values, unread.thumb)?,
            thumb: unread.thumb,
            levels: levels(filter, parameters),
            cycle_counts,
            least_threshold: default.least_threshold,
            context_id: has(CID),
            virtual_context_id: has(VMID),
            timestamps: has(TS),
            return_stack: has(RS),
            branch_broadcast: has(BB),
            system_errors: filter & ERROR != 0,
            resets: filter & RESET != 0,
            sync_period,
            trace_id,
            stall,
            output: unread.output,
        })
    }
}

fn stall(values: &Values<'_>) -> Result<Option<Stall>, Inexpressible> {
    let value = values.only(Register::STALLCTLR, ISTALL | NO_OVERFLOW | 0xF)?;
    let stall = Stall { level: (value & 0xF) as u8, no_overflow: value & NO_OVERFLOW != 0 };
    Ok((value & ISTALL != 0).then_some(stall))
}

/// TRCVICTLR, with the resource event that is always TRUE and the start/stop function started.
fn view_inst(values: &Values<'_>) -> Result<u64, Inexpressible> {
    let realm = if values.parameters.realms { 7 << 24 } else { 0 };
    let register = Register::VICTLR;
    let value = values.only(register, ALWAYS | RESET | ERROR | 0x7F << 16 | realm)?;
    match !value & ALWAYS {
        0 => Ok(value),
        bits => Err(Inexpressible::Bits { register, bits }),
    }
}

fn levels(filter: u64, parameters: &Parameters) -> Levels {
    let field = |place: u32, mask: u8| (filter >> place) as u8 & mask;
    let (secure, non_secure) = (!field(16, 0xF) & 0xF, !field(20, 7) & 7);
    let differs = if parameters.realms { field(24, 7) } else { 0 };
    Levels { secure, non_secure, realm: non_secure ^ differs }
}

fn ranges(values: &Values<'_>, thumb: bool) -> Result<Vec<AddressRange>, Inexpressible> {
    let pairs = values.parameters.address_pairs.min(8);
    let include = values.only(Register::VIIECTLR, (1 << pairs) - 1)?;
    values.only(Register::VISSCTLR, 0)?;
    values.only(Register::VIPCSSCTLR, 0)?;
    let granule = if thumb { 2 } else { 4 };
    let mut ranges = Vec::new();
    for pair in (0..pairs).filter(|pair| include >> pair & 1 == 1) {
        let (low, high) = (2 * pair, 2 * pair + 1);
        let (start, last) = (values.of(acvr(low))?, values.of(acvr(high))?);
        values.only(acatr(low), 0)?;
        values.only(acatr(high), 0)?;
        let end = last.checked_add(granule).filter(|end| (start | last) % granule == 0 && start < *end);
        // Comparators out of order match or do not.
        let end = end.ok_or(Inexpressible::Bits { register: acvr(high), bits: last })?;
        ranges.push(AddressRange { start, end });
    }
    Ok(ranges)
}
