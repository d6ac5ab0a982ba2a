//! The sequences that write the settings.

use alloc::vec::Vec;

use traceproof_vectors::arm_ete_unit::{
    Access, Agent, Barrier, Input, Operation, Outcome, Parameters, Register, StatusBit, Stimulus,
};

use super::{Output, Setting};

/// Who programs the trace unit.
///
/// Its sequences are stimulus of the [model](super::super::Encoder). Polls need a time-out (ETE-DHQGM-001).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// A driver on the traced processor, by System instructions. It sets up TRFCR_ELx and TRBLIMITR_EL1.E too.
    System,
    /// A debugger. TRFCR_ELx and the trace buffer unit are not its own: they stay as they are.
    External,
}

/// TRCAUTHSTATUS.
const AUTHSTATUS: Register = Register(0xFB8);
const ISB: Stimulus = Stimulus::Input(Input::Barrier(Barrier::Isb));
const DSB: Stimulus = Stimulus::Input(Input::Barrier(Barrier::Dsb));
const TSB: Stimulus = Stimulus::Input(Input::Barrier(Barrier::Tsb));

impl Procedure {
    /// From any state but Enabling to Running with these settings. Where EN was left at 1 under the OS Lock, the unit
    /// is in Enabling when EN is cleared.
    ///
    /// Spec: ETE-PRG-001 to ETE-PRG-004, ETE-PRG-009, ETE-SYN-003 to ETE-SYN-005, ETE-SYN-007.
    #[must_use]
    pub fn enable(self, parameters: &Parameters, settings: &[Setting], output: Output) -> Vec<Stimulus> {
        let mut steps = Vec::new();
        if self == Self::External {
            steps.push(self.read(Register::PDSR));
        }
        steps.push(Stimulus::Input(Input::OsLock { agent: self.agent(), locked: false }));
        self.synchronise(&mut steps);
        self.claim(parameters, &mut steps);
        if self == Self::External {
            steps.push(self.read(AUTHSTATUS));
        }
        steps.push(self.write(Register::PRGCTLR, 0));
        self.synchronise(&mut steps);
        steps.push(self.poll(true));
        for setting in settings {
            self.program(setting, &mut steps);
        }
        if self == Self::System {
            if parameters.trace_buffer {
                let enabled = output == Output::TraceBuffer;
                steps.push(Stimulus::Input(Input::TraceBuffer { enabled }));
            }
            steps.extend([Stimulus::Input(Input::TraceFilter { prohibited: false }), ISB]);
        }
        steps.push(self.write(Register::PRGCTLR, 1));
        self.synchronise(&mut steps);
        steps.push(self.poll(false));
        if self == Self::System {
            steps.extend([DSB, ISB]);
        }
        steps
    }

    /// From Running to Idle, with every byte output.
    ///
    /// Spec: ETE-SYN-009, ETE-SYN-010, ETE-PRG-009, ETE-PRG-010, ETE-ZGJRF-001.
    #[must_use]
    pub fn disable(self, parameters: &Parameters, output: Output) -> Vec<Stimulus> {
        let mut steps = Vec::new();
        if self == Self::System {
            let prohibit = Stimulus::Input(Input::TraceFilter { prohibited: true });
            steps.extend([prohibit, ISB, DSB, ISB, TSB]);
        }
        steps.push(self.write(Register::PRGCTLR, 0));
        self.synchronise(&mut steps);
        steps.push(self.poll(true));
        if self == Self::System {
            steps.push(ISB);
            if output == Output::TraceBuffer {
                let disable = Stimulus::Input(Input::TraceBuffer { enabled: false });
                steps.extend([TSB, DSB, disable, ISB]);
            }
        }
        if let Some(tag) = self.tag(parameters) {
            steps.push(self.write(Register::CLAIMCLR, tag));
            self.synchronise(&mut steps);
        }
        steps
    }

    const fn agent(self) -> Agent {
        match self {
            Self::System => Agent::System,
            Self::External => Agent::External,
        }
    }

    /// The claim tag, by convention: bit 1 of self-hosted software, bit 0 of a debugger.
    fn tag(self, parameters: &Parameters) -> Option<u64> {
        let (needed, tag) = match self {
            Self::System => (2, 2),
            Self::External => (1, 1),
        };
        (parameters.claim_tags >= needed).then_some(tag)
    }

    /// Sets the claim tag between two reads, which show whether another agent has the unit.
    fn claim(self, parameters: &Parameters, steps: &mut Vec<Stimulus>) {
        let Some(tag) = self.tag(parameters) else { return };
        steps.extend([self.read(Register::CLAIMCLR), self.write(Register::CLAIMSET, tag)]);
        self.synchronise(steps);
        steps.push(self.read(Register::CLAIMCLR));
    }

    /// External accesses need no synchronisation.
    fn synchronise(self, steps: &mut Vec<Stimulus>) {
        if self == Self::System {
            steps.push(ISB);
        }
    }

    /// A debugger writes registers of 64 bits in two words (ETE-ACC-012).
    fn program(self, setting: &Setting, steps: &mut Vec<Stimulus>) {
        if self == Self::External && setting.register.is_wide() {
            let upper = Register(setting.register.offset() + 4);
            steps.push(self.write(setting.register, setting.value & 0xFFFF_FFFF));
            steps.push(self.write(upper, setting.value >> 32));
        } else {
            steps.push(self.write(setting.register, setting.value));
        }
    }

    const fn poll(self, value: bool) -> Stimulus {
        Stimulus::Poll { agent: self.agent(), bit: StatusBit::Idle, value }
    }

    const fn read(self, register: Register) -> Stimulus {
        Stimulus::Access(self.access(Operation::Read, register, None))
    }

    const fn write(self, register: Register, value: u64) -> Stimulus {
        Stimulus::Access(self.access(Operation::Write, register, Some(value)))
    }

    const fn access(self, operation: Operation, register: Register, value: Option<u64>) -> Access {
        let agent = self.agent();
        Access { agent, space: None, operation, register, double: false, value, outcome: Outcome::Ok }
    }
}
