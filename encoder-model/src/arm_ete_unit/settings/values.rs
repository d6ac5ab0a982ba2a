//! The value of every register.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use traceproof_vectors::arm_ete_unit::{Parameters, Register};

use super::{Levels, Output, SettingsRefusal, TraceRequest};

/// TRCCONFIGR.BB.
pub(super) const BB: u64 = 1 << 3;
/// TRCCONFIGR.CCI.
pub(super) const CCI: u64 = 1 << 4;
/// TRCCONFIGR.CID.
pub(super) const CID: u64 = 1 << 6;
/// TRCCONFIGR.VMID.
pub(super) const VMID: u64 = 1 << 7;
/// TRCCONFIGR.TS.
pub(super) const TS: u64 = 1 << 11;
/// TRCCONFIGR.RS.
pub(super) const RS: u64 = 1 << 12;
/// TRCCONFIGR.VMIDOPT, which is RES1 in ETE.
pub(super) const VMIDOPT: u64 = 1 << 15;
/// TRCEVENTCTL1R.OE.
pub(super) const OE: u64 = 1 << 13;
/// TRCSTALLCTLR.ISTALL.
pub(super) const ISTALL: u64 = 1 << 8;
/// TRCSTALLCTLR.NOOVERFLOW.
pub(super) const NO_OVERFLOW: u64 = 1 << 13;
/// TRCVICTLR with the resource event that is always TRUE, and the start/stop function started.
pub(super) const ALWAYS: u64 = 1 << 9 | 1;
/// TRCVICTLR.TRCRESET.
pub(super) const RESET: u64 = 1 << 10;
/// TRCVICTLR.TRCERR.
pub(super) const ERROR: u64 = 1 << 11;
/// TRCRSR.TA.
const TA: u64 = 1 << 12;

/// `TRCACVR<n>`.
pub(super) const fn acvr(n: u8) -> Register {
    Register(0x400 + 8 * n as u16)
}

/// `TRCACATR<n>`.
pub(super) const fn acatr(n: u8) -> Register {
    Register(0x480 + 8 * n as u16)
}

/// One register to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Which.
    pub register: Register,
    /// What.
    pub value: u64,
    /// What for, in words; empty where the register is not used.
    pub meaning: String,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {:#x}", self.register, self.value)?;
        if self.meaning.is_empty() { Ok(()) } else { write!(f, ": {}", self.meaning) }
    }
}

/// The registers that a trace unit has, in the order of their writes.
struct Writes<'a> {
    parameters: &'a Parameters,
    settings: Vec<Setting>,
}

impl Writes<'_> {
    fn put(&mut self, register: Register, value: u64, meaning: impl Into<String>) {
        if register.exists(self.parameters) {
            self.settings.push(Setting { register, value, meaning: meaning.into() });
        }
    }

    /// Registers that are not used, from this offset on.
    fn clear(&mut self, offset: u16, count: u16) {
        for index in 0..count {
            let first = Register(offset);
            let stride = if first.is_wide() { 8 } else { 4 };
            self.put(Register(offset + stride * index), 0, "");
        }
    }
}

impl TraceRequest {
    /// Every register of the trace unit that has to be written, in the order in which drivers do; those that are not
    /// used become 0, so that nothing is left over from earlier.
    ///
    /// Spec: ETE-PRG-004, ETE-PRG-005, ETE-PRG-006.
    ///
    /// # Errors
    ///
    /// Why this trace unit cannot trace what is requested.
    pub fn settings(&self, parameters: &Parameters) -> Result<Vec<Setting>, SettingsRefusal> {
        self.check(parameters)?;
        let mut writes = Writes { parameters, settings: Vec::new() };
        self.put_controls(&mut writes);
        self.put_filters(&mut writes);
        put_resources(&mut writes);
        self.put_comparators(&mut writes);
        writes.put(Register::RSR, TA, "TA = 1: an exception right at the beginning is traced");
        Ok(writes.settings)
    }

    fn put_controls(&self, writes: &mut Writes<'_>) {
        let (config, meaning) = self.config(writes.parameters);
        writes.put(Register::CONFIGR, config, meaning);
        writes.put(Register::AUXCTLR, 0, "");
        writes.put(Register::EVENTCTL0R, 0, "no ETEEvents");
        let output = match self.output {
            Output::Interfaces if writes.parameters.output_enable => (OE, "OE = 1: to the interfaces"),
            _ => (0, ""),
        };
        writes.put(Register::EVENTCTL1R, output.0, output.1);
        let (stall, meaning) = match self.stall {
            None => (0, String::new()),
            Some(stall) => {
                let no_overflow = if stall.no_overflow { NO_OVERFLOW } else { 0 };
                let value = ISTALL | no_overflow | u64::from(stall.level);
                let words = if stall.no_overflow { ", without overflow" } else { "" };
                (value, alloc::format!("the processor may be stalled, level {}{words}", stall.level))
            }
        };
        writes.put(Register::STALLCTLR, stall, meaning);
        writes.put(Register::TSCTLR, 0, if self.timestamps { "no timestamps by events" } else { "" });
        if !writes.parameters.fixed_sync_period {
            let meaning = match self.sync_period {
                0 => String::from("no synchronisation requests"),
                period => alloc::format!("a synchronisation request every {} bytes", 1_u32 << period),
            };
            writes.put(Register::SYNCPR, u64::from(self.sync_period), meaning);
        }
        let threshold = self.cycle_counts.unwrap_or(0);
        writes.put(
            Register::CCCTLR,
            u64::from(threshold),
            if threshold > 0 { "threshold of cycle counts" } else { "" },
        );
        writes.put(
            Register::BBCTLR,
            0,
            if self.branch_broadcast { "branches are broadcast everywhere" } else { "" },
        );
        writes.put(Register::TRACEIDR, u64::from(self.trace_id), "trace ID");
        writes.put(Register::QCTLR, 0, "");
        writes.clear(0x048, 1);
    }

    /// TRCCONFIGR, and what it turns on.
    fn config(&self, parameters: &Parameters) -> (u64, String) {
        let mut value = 1;
        let mut words = String::new();
        for (wanted, bit, name) in [
            (self.branch_broadcast, BB, "branch broadcasting"),
            (self.cycle_counts.is_some(), CCI, "cycle counts"),
            (self.context_id, CID, "context identifiers"),
            (self.virtual_context_id, VMID, "virtual context identifiers"),
            (self.timestamps, TS, "timestamps"),
            (self.return_stack, RS, "return stack"),
        ] {
            if wanted {
                value |= bit;
                words.push_str(if words.is_empty() { "" } else { ", " });
                words.push_str(name);
            }
        }
        let vmidopt = if self.virtual_context_id && parameters.version.is_ete() { VMIDOPT } else { 0 };
        (value | vmidopt, words)
    }

    /// ViewInst. A level of Realm state is filtered where its bit differs from that of Non-secure state.
    fn put_filters(&self, writes: &mut Writes<'_>) {
        let Levels { secure, non_secure, realm } = self.levels;
        let realm_differs = if writes.parameters.realms { realm ^ non_secure } else { 0 };
        let levels = u64::from(!secure & 0xF) << 16
            | u64::from(!non_secure & 7) << 20
            | u64::from(realm_differs & 7) << 24;
        let forced = if self.resets { RESET } else { 0 } | if self.system_errors { ERROR } else { 0 };
        let mut meaning = alloc::format!("exception levels S {secure:#06b}, NS {non_secure:#05b}");
        if writes.parameters.realms {
            meaning.push_str(&alloc::format!(", RL {realm:#05b}"));
        }
        writes.put(Register::VICTLR, levels | forced | ALWAYS, meaning);
        let include = (1_u64 << self.ranges.len()) - 1;
        let meaning = if include == 0 { "code wherever it is" } else { "code in the ranges of these pairs" };
        writes.put(Register::VIIECTLR, include, meaning);
        writes.put(Register::VISSCTLR, 0, "");
        writes.put(Register::VIPCSSCTLR, 0, "");
    }

    fn put_comparators(&self, writes: &mut Writes<'_>) {
        for n in 0..16_u8 {
            let range = self.ranges.get(usize::from(n / 2));
            let (address, meaning) = match range {
                None => (0, String::new()),
                Some(range) if n % 2 == 0 => {
                    (range.start, alloc::format!("first instruction of range {}", n / 2))
                }
                Some(range) => {
                    (range.end - self.granule(), alloc::format!("last instruction of range {}", n / 2))
                }
            };
            writes.put(acvr(n), address, meaning);
            writes.put(acatr(n), 0, "");
        }
        // TRCCIDCVRn, TRCCIDCCTLRn, TRCVMIDCVRn, TRCVMIDCCTLRn.
        for (offset, count) in [(0x600, 8), (0x680, 2), (0x640, 8), (0x688, 2)] {
            writes.clear(offset, count);
        }
    }
}

/// Sequencer, external inputs, counters, selectors and single-shot controls: not used.
fn put_resources(writes: &mut Writes<'_>) {
    for (offset, count) in [(0x100, 3), (0x118, 1), (0x11C, 1), (0x120, 4)] {
        writes.clear(offset, count);
    }
    for n in 0..4 {
        for offset in [0x140, 0x150, 0x160] {
            writes.clear(offset + 4 * n, 1);
        }
    }
    writes.clear(0x208, 30);
    for n in 0..8 {
        for offset in [0x280, 0x2A0, 0x2C0] {
            writes.clear(offset + 4 * n, 1);
        }
    }
}
