//! From entropy to a log's stimulus.

use std::fmt;

use traceproof_vectors::arm_ete_unit::{
    Access, Agent, Barrier, DisabledWhileEnabling, EnabledWhileDisabling, Input, Operation, Outcome,
    Parameters, Policy, Power, ProcessorEvent, Register, Reset, Sink, SinkState, Space, StatusBit, Stimulus,
    Visible,
};

use super::procedures::{access, barrier, disable, enable, poll, read, save, switch_trace_buffer, write};
use super::world;
use crate::generate::Entropy;

/// Maximum number of steps, so that a scenario stays readable.
pub const MAX_STEPS: usize = 2000;

/// Everything that determines a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The trace unit, and what the log shows.
    pub parameters: Parameters,
    /// The model's choices.
    pub policy: Policy,
    /// What happens.
    pub stimulus: Vec<Stimulus>,
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}\n{:?}", self.parameters, self.policy)?;
        self.stimulus.iter().try_for_each(|step| writeln!(f, "{step:x?}"))
    }
}

/// Makes a scenario of entropy. Any bytes give one that can happen, apart from steps that the model leaves out.
///
/// The log shows EN before every write of it: a first EN = 0 that hits Enabling would be taken for one that disables
/// the unit, which is a reading and no property of every unit.
#[must_use]
pub fn scenario(bytes: &[u8]) -> Scenario {
    let mut entropy = Entropy::new(bytes);
    let parameters = world::parameters(&mut entropy);
    let policy = world::policy(&mut entropy);
    let reset = Stimulus::Input(Input::Reset(Reset::TraceUnit));
    let mut author = Author { parameters, policy, entropy, stimulus: vec![reset], power: Power::On };
    while !author.entropy.is_empty() && author.stimulus.len() < MAX_STEPS {
        author.step();
    }
    Scenario { parameters: author.parameters, policy: author.policy, stimulus: author.stimulus }
}

struct Author<'a> {
    parameters: Parameters,
    policy: Policy,
    entropy: Entropy<'a>,
    stimulus: Vec<Stimulus>,
    /// Core power after the steps so far.
    power: Power,
}

impl Author<'_> {
    fn step(&mut self) {
        match self.entropy.below(64) {
            0..=3 => {
                let agent = self.agent();
                self.stimulus.extend(enable(agent));
            }
            4..=5 => {
                let (agent, bit) = (self.agent(), self.entropy.pick(&StatusBit::ALL));
                self.stimulus.extend(disable(agent, bit));
            }
            6 => self.stimulus.extend(save()),
            7 => {
                let enabled = self.entropy.chance(128);
                self.stimulus.extend(switch_trace_buffer(enabled));
            }
            8..=23 => self.access(),
            24..=27 => {
                let (agent, bit) = (self.agent(), self.entropy.pick(&StatusBit::ALL));
                let value = self.entropy.chance(128);
                self.stimulus.push(poll(agent, bit, value));
            }
            28..=33 => {
                let (agent, value) = (self.agent(), u64::from(self.entropy.chance(128)));
                self.stimulus.push(write(agent, Register::PRGCTLR, value));
            }
            34..=39 => {
                let kind = self.entropy.pick(&[0, 0, 0, 1, 2, 3, 4]);
                self.stimulus.push(barrier(Barrier::ALL[kind]));
            }
            40..=44 => self.stimulus.push(Stimulus::Progress),
            45..=47 => {
                let bytes = u32::from(self.entropy.byte());
                self.stimulus.push(Stimulus::Generate { bytes });
            }
            48..=50 => {
                let bytes = self.entropy.chance(128).then(|| u32::from(self.entropy.byte()));
                self.stimulus.push(Stimulus::Drain { bytes });
            }
            51 => {
                let active = self.entropy.chance(128);
                self.stimulus.push(Stimulus::ViewInst(active));
            }
            _ => self.input(),
        }
    }

    fn agent(&mut self) -> Agent {
        let memory = if self.parameters.version.is_ete() { Agent::External } else { Agent::Memory };
        self.entropy.pick(&[Agent::System, Agent::System, Agent::External, memory])
    }

    fn access(&mut self) {
        let agent = self.agent();
        let register = world::register(&mut self.entropy);
        let space = world::space(&mut self.entropy, &self.parameters);
        let (trapped, double) = (self.entropy.chance(4), self.entropy.chance(16));
        let operation = self.entropy.pick(&[Operation::Read, Operation::Write]);
        let value = (operation == Operation::Write).then(|| world::value(&mut self.entropy));
        let Stimulus::Access(mut access) = access(agent, space, operation, register, value) else { return };
        if agent.is_direct() && trapped {
            access.outcome = Outcome::Trapped;
        }
        access.double = !agent.is_direct() && double;
        fit(&mut access);
        self.stimulus.push(Stimulus::Access(access));
    }

    fn input(&mut self) {
        let input = match self.entropy.below(20) {
            0..=3 => {
                let agent = self.agent();
                Input::OsLock { agent, locked: self.entropy.chance(128) }
            }
            4..=5 => Input::TraceFilter { prohibited: self.entropy.chance(128) },
            6 => Input::TraceBuffer { enabled: self.entropy.chance(128) },
            7..=9 => Input::Processor(self.processor()),
            10 => Input::Reset(self.entropy.pick(&Reset::ALL)),
            11 => return self.power(),
            12..=13 => self.sink(),
            14 => Input::Interfaces { enabled: self.entropy.chance(128) },
            15 => Input::ExternalAccess {
                etad: self.entropy.byte() & if self.parameters.realms { 3 } else { 1 },
            },
            16 => Input::Event(self.entropy.byte() & 3),
            17 => Input::FlushRequest,
            18 => Input::Wait(world::time(&mut self.entropy)),
            _ => return self.rare(),
        };
        if input == Input::Reset(Reset::Cold) {
            self.power = Power::On;
        }
        self.stimulus.push(Stimulus::Input(input));
    }

    fn processor(&mut self) -> ProcessorEvent {
        let spaces = if self.parameters.realms { &Space::ALL[..] } else { &Space::ALL[..2] };
        match self.entropy.below(8) {
            0 => ProcessorEvent::DebugEntry,
            1 => ProcessorEvent::DebugExit,
            2 => ProcessorEvent::ProhibitedEntry,
            3 => ProcessorEvent::ProhibitedExit,
            4 => ProcessorEvent::LowPowerEntry,
            5 => ProcessorEvent::LowPowerExit,
            _ => ProcessorEvent::Level {
                level: self.entropy.pick(&[1, 2, 3, 0]),
                space: self.entropy.pick(spaces),
            },
        }
    }

    /// Core power goes and comes back, with a few accesses in between.
    fn power(&mut self) {
        self.power = if self.power == Power::On {
            self.entropy.pick(&[Power::Off, Power::Retention])
        } else {
            Power::On
        };
        self.stimulus.push(Stimulus::Input(Input::Power(self.power)));
    }

    fn sink(&mut self) -> Input {
        let sink = match self.entropy.below(3) {
            0 => Sink::TraceBuffer,
            n => Sink::Interface(u8::try_from(n - 1).unwrap_or(0)),
        };
        let states = if sink == Sink::TraceBuffer { &SinkState::ALL[..] } else { &SinkState::ALL[..2] };
        Input::Sink { sink, state: self.entropy.pick(states) }
    }

    /// What the log shows changes, records are missing, or another log begins. EN is read after a gap; nothing is
    /// pending at one. A log begins with every sink accepting, outside of Debug state, low power and prohibited regions.
    fn rare(&mut self) {
        let kind = self.entropy.below(4);
        if kind < 2 || self.power != Power::On || !self.is_usual() {
            let what =
                self.entropy.pick(&[Visible::Barriers, Visible::System, Visible::External, Visible::Events]);
            let shown = !self.entropy.chance(96);
            self.stimulus.push(Stimulus::Input(Input::Visibility { what, shown }));
            return;
        }
        let level = ProcessorEvent::Level { level: 1, space: Space::NonSecure };
        let border = if kind == 2 { Input::Gap } else { Input::End };
        self.stimulus.extend([
            barrier(Barrier::Isb),
            Stimulus::Input(Input::Processor(level)),
            Stimulus::Input(border),
            Stimulus::Input(Input::ExternalAccess { etad: 0 }),
        ]);
        if border == Input::End {
            let interfaces = (0..self.parameters.interfaces).map(Sink::Interface);
            let sinks = std::iter::once(Sink::TraceBuffer).chain(interfaces);
            let accepts = |sink| Stimulus::Input(Input::Sink { sink, state: SinkState::Accepting });
            self.stimulus.extend(sinks.map(accepts));
            self.stimulus.push(Stimulus::Input(Input::Interfaces { enabled: true }));
            let leaves =
                [ProcessorEvent::DebugExit, ProcessorEvent::ProhibitedExit, ProcessorEvent::LowPowerExit];
            self.stimulus.extend(leaves.map(|event| Stimulus::Input(Input::Processor(event))));
        }
        self.stimulus.push(read(Agent::System, Register::PRGCTLR));
    }

    /// Whether the unit is always in a usual configuration: a log that begins with another one is taken for wrong.
    fn is_usual(&self) -> bool {
        self.policy.disabled_while_enabling != DisabledWhileEnabling::AfterRunning
            && self.policy.enabled_while_disabling == EnabledWhileDisabling::AtOnce
    }
}

/// Drops bits that an access of this size has not.
fn fit(access: &mut Access) {
    let bits = access.value_bits();
    access.value = access.value.map(|value| if bits == 64 { value } else { value & 0xFFFF_FFFF });
}
