//! What is to be traced, and why it cannot be.

use alloc::vec::Vec;
use core::fmt;

use traceproof_vectors::arm_ete_unit::Parameters;

/// What is to be traced. The default is everything at EL0, to the interfaces, with a return stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRequest {
    /// The code; none = wherever it is. Each range takes a pair of address comparators. An instruction outside that is
    /// in one block with an instruction inside may be traced too.
    pub ranges: Vec<AddressRange>,
    /// The code is T32: ranges are multiples of 2 bytes, otherwise of 4.
    pub thumb: bool,
    /// The exception levels.
    pub levels: Levels,
    /// Cycle counts, with this threshold.
    pub cycle_counts: Option<u16>,
    /// TRCIDR3.CCITMIN: the least threshold. Of units that read 0x100 by an erratum it is 4. Default: 4.
    pub least_threshold: u16,
    /// Context identifiers are traced.
    pub context_id: bool,
    /// Virtual context identifiers are traced.
    pub virtual_context_id: bool,
    /// Timestamps are traced.
    pub timestamps: bool,
    /// The return stack is used. Default: true.
    pub return_stack: bool,
    /// Every branch gives its target.
    pub branch_broadcast: bool,
    /// System Error exceptions are traced wherever they occur.
    pub system_errors: bool,
    /// Resets of the processor are traced wherever they occur.
    pub resets: bool,
    /// 2 to the power of so many bytes are between synchronisation requests: 8 to 20, or 0 for no requests. Of no
    /// effect where the period is fixed. Default: 12.
    pub sync_period: u8,
    /// The trace ID on the interface: 0x01 to 0x6F. Of no effect without one. Default: 0x10.
    pub trace_id: u8,
    /// The processor may be stalled.
    pub stall: Option<Stall>,
    /// Where the trace goes.
    pub output: Output,
}

impl Default for TraceRequest {
    fn default() -> Self {
        Self {
            ranges: Vec::new(),
            thumb: false,
            levels: Levels::at(1),
            cycle_counts: None,
            least_threshold: 4,
            context_id: false,
            virtual_context_id: false,
            timestamps: false,
            return_stack: true,
            branch_broadcast: false,
            system_errors: false,
            resets: false,
            sync_period: 12,
            trace_id: 0x10,
            stall: None,
            output: Output::Interfaces,
        }
    }
}

/// Addresses from `start` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    /// The first one.
    pub start: u64,
    /// The one after the last one.
    pub end: u64,
}

/// Exception levels: bit k is level k.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// In Secure state; bit 3 is EL3.
    pub secure: u8,
    /// In Non-secure state: EL0 to EL2.
    pub non_secure: u8,
    /// In Realm state: EL0 to EL2. Of no effect without FEAT_RME.
    pub realm: u8,
}

impl Levels {
    /// The levels of this mask in every state that has them.
    #[must_use]
    pub const fn at(levels: u8) -> Self {
        Self { secure: levels & 0xF, non_secure: levels & 7, realm: levels & 7 }
    }
}

/// How the processor may be stalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// How early: 0 to 15, where 15 stalls most. Units may implement the upper 2 bits only.
    pub level: u8,
    /// It is stalled as often as overflow needs it.
    pub no_overflow: bool,
}

/// Where trace goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// To the trace buffer unit.
    TraceBuffer,
    /// To the IMPLEMENTATION DEFINED interfaces.
    Interfaces,
}

/// Why a trace unit cannot trace what is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsRefusal {
    /// A parameter of the trace unit is that of none.
    Parameters(&'static str),
    /// This range has no address.
    EmptyRange(usize),
    /// This range begins or ends inside an instruction.
    UnalignedRange(usize),
    /// This range begins or ends at what is no virtual address: bits 63 to 56 are neither all 0 nor all 1.
    NoAddress(usize),
    /// There are only so many pairs of comparators.
    TooManyRanges {
        /// So many.
        pairs: u8,
    },
    /// No exception level is selected, or one that does not exist.
    Levels,
    /// The threshold of cycle counts is below the least, or above 0xFFF.
    Threshold(u16),
    /// The synchronisation period is none that a trace unit has.
    SyncPeriod(u8),
    /// The trace ID is reserved.
    TraceId(u8),
    /// This unit cannot stall the processor, or not in this way.
    Stall,
    /// There is no such output, or it cannot be used.
    Output(Output),
}

impl fmt::Display for SettingsRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameters(name) => write!(f, "no trace unit has this value of `{name}`"),
            Self::EmptyRange(index) => write!(f, "range {index} is empty"),
            Self::UnalignedRange(index) => write!(f, "range {index} begins or ends inside an instruction"),
            Self::NoAddress(index) => write!(f, "range {index} is not one of virtual addresses"),
            Self::TooManyRanges { pairs } => write!(f, "only {pairs} ranges can be compared"),
            Self::Levels => f.write_str("no exception level is selected, or one that does not exist"),
            Self::Threshold(threshold) => {
                write!(f, "the threshold {threshold:#x} of cycle counts is out of range")
            }
            Self::SyncPeriod(period) => {
                write!(f, "{period} is no synchronisation period; they are 0 and 8 to 20")
            }
            Self::TraceId(id) => write!(f, "the trace ID {id:#04x} is reserved; use 0x01 to 0x6f"),
            Self::Stall => f.write_str("this trace unit cannot stall the processor like that"),
            Self::Output(Output::TraceBuffer) => f.write_str("no trace buffer unit can be used"),
            Self::Output(Output::Interfaces) => f.write_str("there is no trace output interface"),
        }
    }
}

impl core::error::Error for SettingsRefusal {}

impl TraceRequest {
    /// Bytes of the smallest instruction.
    pub(super) const fn granule(&self) -> u64 {
        if self.thumb { 2 } else { 4 }
    }

    /// Why this trace unit cannot do it.
    pub(super) fn check(&self, parameters: &Parameters) -> Result<(), SettingsRefusal> {
        if let Some(name) = parameters.contradiction() {
            return Err(SettingsRefusal::Parameters(name));
        }
        self.check_ranges(parameters)?;
        let Levels { secure, non_secure, realm } = self.levels;
        let realm = if parameters.realms { realm } else { 0 };
        if secure > 0xF || non_secure > 7 || realm > 7 || secure | non_secure | realm == 0 {
            return Err(SettingsRefusal::Levels);
        }
        let least = self.least_threshold.max(1);
        if let Some(threshold) = self.cycle_counts.filter(|threshold| !(least..=0xFFF).contains(threshold)) {
            return Err(SettingsRefusal::Threshold(threshold));
        }
        if !parameters.fixed_sync_period && self.sync_period != 0 && !(8..=20).contains(&self.sync_period) {
            return Err(SettingsRefusal::SyncPeriod(self.sync_period));
        }
        if parameters.trace_id && !(1..=0x6F).contains(&self.trace_id) {
            return Err(SettingsRefusal::TraceId(self.trace_id));
        }
        self.check_stall(parameters)?;
        let has_output = match self.output {
            Output::TraceBuffer => {
                parameters.trace_buffer && (parameters.self_hosted || parameters.trace_buffer_external)
            }
            Output::Interfaces => parameters.interfaces > 0,
        };
        if has_output { Ok(()) } else { Err(SettingsRefusal::Output(self.output)) }
    }

    fn check_ranges(&self, parameters: &Parameters) -> Result<(), SettingsRefusal> {
        if self.ranges.len() > usize::from(parameters.address_pairs) {
            return Err(SettingsRefusal::TooManyRanges { pairs: parameters.address_pairs });
        }
        for (index, AddressRange { start, end }) in self.ranges.iter().enumerate() {
            if start >= end {
                return Err(SettingsRefusal::EmptyRange(index));
            }
            if (start | end) % self.granule() != 0 {
                return Err(SettingsRefusal::UnalignedRange(index));
            }
            let is_address = |address: u64| matches!(address >> 56, 0 | 0xFF);
            if !is_address(*start) || !is_address(end - self.granule()) {
                return Err(SettingsRefusal::NoAddress(index));
            }
        }
        Ok(())
    }

    /// Spec: ETE-RWTYJ-001, ETE-MYMKW-001, ETE-JYYLV-001.
    fn check_stall(&self, parameters: &Parameters) -> Result<(), SettingsRefusal> {
        let Some(Stall { level, no_overflow }) = self.stall else { return Ok(()) };
        let can_stall = parameters.stall_control && parameters.system_stall;
        if can_stall && level <= 0xF && (parameters.no_overflow || !no_overflow) {
            Ok(())
        } else {
            Err(SettingsRefusal::Stall)
        }
    }
}
