//! What register values mean.

use alloc::vec::Vec;
use core::cell::RefCell;
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
                write!(f, "{register}: bits {bits:#x} are not as in a plain request")
            }
        }
    }
}

impl core::error::Error for Inexpressible {}

/// Registers and their values, of which the last one counts, and what is wrong with them so far.
struct Values<'a> {
    parameters: &'a Parameters,
    values: &'a [(Register, u64)],
    problems: RefCell<Vec<Inexpressible>>,
}

impl Values<'_> {
    fn problem(&self, problem: Inexpressible) {
        self.problems.borrow_mut().push(problem);
    }

    fn bits(&self, register: Register, bits: u64) {
        self.problem(Inexpressible::Bits { register, bits });
    }

    fn of(&self, register: Register) -> Option<u64> {
        let found = self.values.iter().rev().find(|(other, _)| *other == register);
        if found.is_none() {
            self.problem(Inexpressible::Missing(register));
        }
        found.map(|(_, value)| *value)
    }

    /// Nothing but these bits may be set, in a register that was given; the others are taken for 0. The value is 0
    /// where the unit has no such register.
    fn only(&self, register: Register, bits: u64) -> u64 {
        if !register.exists(self.parameters) {
            return 0;
        }
        let value = self.of(register).unwrap_or(0);
        if value & !bits != 0 {
            self.bits(register, value & !bits);
        }
        value & bits
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
        let (request, problems) = Self::read_back(parameters, values, unread);
        problems.into_iter().next().map_or(Ok(request), Err)
    }

    /// As [`from_values`](Self::from_values), with everything that no request can ask for, in the order of the writes.
    /// The request is that of the rest: registers that are missing are taken for 0, ranges that are none are left out.
    #[must_use]
    pub fn read_back(
        parameters: &Parameters,
        values: &[(Register, u64)],
        unread: Unread,
    ) -> (Self, Vec<Inexpressible>) {
        let values = Values { parameters, values, problems: RefCell::new(Vec::new()) };
        let request = Self::of_values(&values, unread);
        (request, values.problems.into_inner())
    }

    fn of_values(values: &Values<'_>, unread: Unread) -> Self {
        let parameters = values.parameters;
        let config = values.only(Register::CONFIGR, 1 | BB | CCI | CID | VMID | TS | RS | VMIDOPT);
        values.only(Register::EVENTCTL0R, 0);
        let enabled = values.only(Register::EVENTCTL1R, OE);
        if parameters.output_enable && unread.output == Output::Interfaces && enabled & OE == 0 {
            values.bits(Register::EVENTCTL1R, OE);
        }
        let stall = stall(values);
        let has = |bit: u64| config & bit != 0;
        if has(TS) {
            values.only(Register::TSCTLR, 0);
        }
        let default = Self::default();
        let sync_period = if parameters.fixed_sync_period {
            default.sync_period
        } else {
            values.only(Register::SYNCPR, 0x1F) as u8
        };
        let cycle_counts = has(CCI).then(|| values.only(Register::CCCTLR, 0xFFF) as u16);
        if has(BB) {
            values.only(Register::BBCTLR, 0);
        }
        let trace_id =
            if parameters.trace_id { values.only(Register::TRACEIDR, 0x7F) as u8 } else { default.trace_id };
        let filter = view_inst(values);
        Self {
            ranges: ranges(values, unread.thumb),
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
        }
    }
}

fn stall(values: &Values<'_>) -> Option<Stall> {
    let value = values.only(Register::STALLCTLR, ISTALL | NO_OVERFLOW | 0xF);
    let stall = Stall { level: (value & 0xF) as u8, no_overflow: value & NO_OVERFLOW != 0 };
    (value & ISTALL != 0).then_some(stall)
}

/// TRCVICTLR, with the resource event that is always TRUE and the start/stop function started.
fn view_inst(values: &Values<'_>) -> u64 {
    let realm = if values.parameters.realms { 7 << 24 } else { 0 };
    let value = values.only(Register::VICTLR, ALWAYS | RESET | ERROR | 0x7F << 16 | realm);
    if !value & ALWAYS != 0 {
        values.bits(Register::VICTLR, !value & ALWAYS);
    }
    value
}

fn levels(filter: u64, parameters: &Parameters) -> Levels {
    let field = |place: u32, mask: u8| (filter >> place) as u8 & mask;
    let (secure, non_secure) = (!field(16, 0xF) & 0xF, !field(20, 7) & 7);
    let differs = if parameters.realms { field(24, 7) } else { 0 };
    Levels { secure, non_secure, realm: non_secure ^ differs }
}

fn ranges(values: &Values<'_>, thumb: bool) -> Vec<AddressRange> {
    let pairs = values.parameters.address_pairs.min(8);
    let include = values.only(Register::VIIECTLR, (1 << pairs) - 1);
    values.only(Register::VISSCTLR, 0);
    values.only(Register::VIPCSSCTLR, 0);
    let granule = if thumb { 2 } else { 4 };
    let mut ranges = Vec::new();
    for pair in (0..pairs).filter(|pair| include >> pair & 1 == 1) {
        let (low, high) = (2 * pair, 2 * pair + 1);
        let (start, last) = (values.of(acvr(low)), values.of(acvr(high)));
        values.only(acatr(low), 0);
        values.only(acatr(high), 0);
        let (Some(start), Some(last)) = (start, last) else { continue };
        match last.checked_add(granule).filter(|end| (start | last) % granule == 0 && start < *end) {
            Some(end) => ranges.push(AddressRange { start, end }),
            // Comparators out of order match or do not.
            None => values.bits(acvr(high), last),
        }
    }
    ranges
}
