//! Any stimulus, policy and trace unit: typed errors, and a log that keeps what holds whatever is chosen.

use proptest::prelude::*;
use traceproof_vectors::Refusal;
use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::wire::{Kind, RECORD};
use traceproof_vectors::arm_ete_unit::{
    DisabledWhileEnabling, EnableChange, EnabledWhileDisabling, Power, Space, UnpredictableWrite,
    UnsupportedSize, Visible,
};

use super::*;
use ProgrammingState::{Enabling, Idle, Running, Stable, Unstable};

/// Takes choices from a number.
struct Choices(u64);

impl Choices {
    fn below(&mut self, count: u64) -> u64 {
        let taken = self.0 % count;
        self.0 /= count;
        taken
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    fn register(&mut self) -> Register {
        const USUAL: [Register; 12] = [
            Register::PRGCTLR,
            Register::PRGCTLR,
            Register::STATR,
            Register::CONFIGR,
            Register::EVENTCTL1R,
            Register::STALLCTLR,
            Register::RSR,
            Register::CLAIMSET,
            Register::CLAIMCLR,
            Register::OSLAR,
            Register::PDSR,
            Register(0x400),
        ];
        match self.below(16) {
            n @ 0..12 => USUAL[n as usize],
            12 => Register(self.below(0x1100) as u16),
            13 => Register(4 * self.below(0x418) as u16),
            _ => Register::PRGCTLR,
        }
    }

    fn access(&mut self) -> Access {
        let operation = self.of(&Operation::ALL);
        let agent = self.of(&Agent::ALL);
        let register = self.register();
        let known = operation == Operation::Write && self.below(32) > 0;
        let usual = match register {
            Register::EVENTCTL1R => 1 << 13,
            Register::STALLCTLR => 1 << 13 | 1 << 8,
            _ => self.below(2),
        };
        let value = if self.below(4) > 0 { usual } else { 1 << self.below(64) };
        Access {
            agent,
            space: if self.flag() { None } else { Some(self.of(&Space::ALL)) },
            operation,
            register,
            double: self.below(8) == 0,
            value: known.then_some(value),
            outcome: if self.below(16) == 0 { Outcome::Trapped } else { Outcome::Ok },
        }
    }

    fn input(&mut self) -> Input {
        let flag = self.flag();
        match self.below(20) {
            0..5 => Input::Barrier(self.of(&Barrier::ALL)),
            5 => Input::OsLock { agent: self.of(&Agent::ALL), locked: flag },
            6 => Input::TraceFilter { prohibited: flag },
            7 => Input::TraceBuffer { enabled: flag },
            8 => Input::Processor(self.processor()),
            9 if self.below(8) == 0 => Input::Reset(self.of(&Reset::ALL)),
            10 => Input::Power(if self.below(16) > 0 { Power::On } else { self.of(&Power::ALL) }),
            11 => {
                let sink = self.below(18) as u8;
                let sink = if sink == 0 { Sink::TraceBuffer } else { Sink::Interface(sink - 1) };
                Input::Sink { sink, state: self.of(&SinkState::ALL) }
            }
            12 => Input::Interfaces { enabled: flag },
            13 => Input::ExternalAccess { etad: self.below(5) as u8 },
            14 => Input::Event(self.below(5) as u8),
            15 => Input::FlushRequest,
            16 => Input::Wait(if flag { self.below(200) } else { u64::MAX }),
            // The checks below need to see the states.
            17 => Input::Visibility { what: self.of(&[Visible::Barriers, Visible::Events]), shown: flag },
            18 => Input::Gap,
            19 => Input::End,
            _ => Input::Barrier(Barrier::Isb),
        }
    }

    fn processor(&mut self) -> ProcessorEvent {
        match self.below(9) {
            0 => ProcessorEvent::DebugEntry,
            1 => ProcessorEvent::DebugExit,
            2 => ProcessorEvent::ProhibitedEntry,
            3 => ProcessorEvent::ProhibitedExit,
            4 => ProcessorEvent::LowPowerEntry,
            5 => ProcessorEvent::LowPowerExit,
            _ => {
                let usual = 1 + self.below(3) as u8;
                let level = if self.below(16) > 0 { usual } else { 4 * self.below(2) as u8 };
                ProcessorEvent::Level { level, space: self.of(&Space::ALL) }
            }
        }
    }

    fn stimulus(&mut self) -> Stimulus {
        match self.below(14) {
            0..4 => Stimulus::Access(self.access()),
            4 => Stimulus::Poll {
                agent: self.of(&Agent::ALL),
                bit: self.of(&StatusBit::ALL),
                value: self.flag(),
            },
            5..8 => Stimulus::Input(self.input()),
            8 => Stimulus::Generate { bytes: if self.flag() { self.below(100) as u32 } else { u32::MAX } },
            9 => Stimulus::ViewInst(self.flag()),
            10..13 => Stimulus::Progress,
            _ => Stimulus::Drain { bytes: self.flag().then(|| self.below(50) as u32) },
        }
    }

    fn policy(&mut self) -> Policy {
        Policy {
            direct_write: self.of(DirectWrite::ALL),
            write_outside_idle: self.of(UnpredictableWrite::ALL),
            corrupts_stream: self.flag(),
            enable_change: self.of(EnableChange::ALL),
            disabled_while_enabling: self.of(DisabledWhileEnabling::ALL),
            enabled_while_disabling: self.of(EnabledWhileDisabling::ALL),
            pmstable_while_enabled: self.flag(),
            unknown: if self.flag() { 0 } else { u64::MAX },
            unknown_resource_state: self.flag(),
            reserved_is_error: self.flag(),
            unsupported_size: self.of(UnsupportedSize::ALL),
            disabled_interfaces_output: self.flag(),
            in_flight: self.of(InFlight::ALL),
            interface_mask: self.below(8) as u16,
            buffer: self.of(&[0, 1, 64, u32::MAX]),
            overflow_in_enabling: self.flag(),
            trace_in_enabling: self.flag(),
            overflow_keeps_ta: self.flag(),
            speculation_cancelled: self.flag(),
            low_power: self.flag(),
            flushes_on_entry: self.flag(),
            stalls: self.flag(),
            poll_steps: self.of(&[8, 0, u32::MAX]),
        }
    }

    fn parameters(&mut self) -> Parameters {
        let version = self.of(&[Version::Ete1_3, Version::Ete1_0, Version::Etmv4_3]);
        let interfaces = self.of(&[1, 0, 3, 15]);
        Parameters {
            version,
            trace_buffer: self.flag(),
            trace_buffer_external: self.flag(),
            realms: self.flag(),
            self_hosted: self.below(4) > 0,
            invasive_debug: self.flag(),
            interfaces,
            output_enable: self.flag() || version == Version::Ete1_3 && interfaces > 0,
            events: self.of(&[4, 1]),
            fixed_sync_period: self.flag(),
            stall_control: self.below(4) > 0,
            system_stall: self.below(4) > 0,
            no_overflow: self.flag(),
            address_pairs: self.of(&[4, 0, 8]),
            claim_tags: self.of(&[4, 0, 32]),
            bound: if self.flag() { None } else { Some(100) },
            ..Parameters::default()
        }
    }
}

/// What a log has shown.
struct Seen {
    state: ProgrammingState,
    overflow: bool,
    operative: bool,
    power: Power,
}

impl Seen {
    /// Checks one packet of a step.
    fn check(&mut self, packet: &Packet, stimulus: &Stimulus, policy: &Policy) -> Result<(), TestCaseError> {
        match *packet {
            Packet::State(state) => {
                let is_reset = matches!(stimulus, Stimulus::Input(Input::Reset(_) | Input::Power(_)));
                let is_known = is_reset && state == Idle || leads_to(self.state, state, policy);
                prop_assert!(is_known, "{:?} to {state:?} at {stimulus:?}", self.state);
                self.state = state;
            }
            Packet::Output { bytes, .. } => {
                prop_assert!(bytes > 0 && self.state != Idle && self.power == Power::On, "{stimulus:?}");
            }
            Packet::Signal(Signal::Overflow(value)) => self.overflow = value,
            Packet::Signal(Signal::Operative(value)) => {
                prop_assert_eq!(value, self.state.is_enabled() && !self.overflow);
                self.operative = value;
            }
            Packet::Signal(Signal::Enabled(value)) => prop_assert_eq!(value, self.state.is_enabled()),
            Packet::Signal(Signal::FlushAcknowledge) => prop_assert!(!self.overflow),
            Packet::Signal(Signal::Stall(true) | Signal::Resources(Resources::Running)) => {
                prop_assert!(self.state.is_enabled());
            }
            Packet::Poll(poll) => {
                let read = status_of(self.state, poll.bit);
                prop_assert!(read.is_none_or(|read| (read == poll.value) != poll.timed_out), "{poll:?}");
            }
            Packet::Input(Input::Power(power)) => self.power = power,
            Packet::Input(Input::Reset(Reset::Cold)) => self.power = Power::On,
            _ => {}
        }
        // Spec: ETE-RPSPH-001.
        prop_assert!(!self.overflow || self.state != Idle || matches!(stimulus, Stimulus::Input(_)));
        Ok(())
    }

    /// Spec: ETE-WMGGP-002, ETE-WMGGP-003.
    fn check_status(&self, bench: &mut Bench) -> Result<(), TestCaseError> {
        let found = bench.step(Stimulus::Access(read(S, Register::STATR)));
        let Some(Packet::Access(Access { value: Some(value), .. })) = found.first() else { return Ok(()) };
        prop_assert!(*value < 4);
        for bit in StatusBit::ALL {
            let read = *value >> bit as u8 & 1 == 1;
            prop_assert!(
                status_of(self.state, bit).is_none_or(|expected| expected == read),
                "{:?}",
                self.state
            );
        }
        Ok(())
    }
}

/// A bit of TRCSTATR, where it has one value.
fn status_of(state: ProgrammingState, bit: StatusBit) -> Option<bool> {
    match (state, bit) {
        (Idle | Enabling, StatusBit::Idle) => Some(true),
        (Running | Unstable | Stable, StatusBit::Idle) => Some(false),
        (Enabling | Running, StatusBit::Pmstable) => None,
        (Idle | Stable, StatusBit::Pmstable) => Some(true),
        (Unstable, StatusBit::Pmstable) => Some(false),
    }
}

/// The arrows of the state machine, and those of cells that the text does not settle.
fn leads_to(from: ProgrammingState, to: ProgrammingState, policy: &Policy) -> bool {
    match (from, to) {
        (Idle, Enabling)
        | (Enabling, Running)
        | (Running, Unstable)
        | (Unstable, Stable)
        | (Stable, Idle) => true,
        (Enabling, Unstable) => policy.disabled_while_enabling != DisabledWhileEnabling::AfterRunning,
        (Enabling, Idle) => policy.disabled_while_enabling == DisabledWhileEnabling::Idle,
        (Unstable | Stable, Enabling) => policy.enabled_while_disabling == EnabledWhileDisabling::AtOnce,
        _ => false,
    }
}

/// Lets a history happen at a trace unit and checks every packet, then hands it on.
fn follow(
    setting: (u64, u64),
    history: impl IntoIterator<Item = u64>,
    mut each: impl FnMut(&Packet),
) -> Result<(), TestCaseError> {
    let (policy, parameters) = (Choices(setting.0).policy(), Choices(setting.1).parameters());
    let mut bench = Bench::with(parameters, policy.clone());
    let mut seen = Seen { state: Idle, overflow: false, operative: false, power: Power::On };
    // Half of the histories begin in Running, with an output and perhaps stalls.
    let start = [
        Stimulus::Access(write(S, Register::EVENTCTL1R, 1 << 13)),
        Stimulus::Access(write(S, Register::STALLCTLR, 1 << 13 | 1 << 8)),
        Stimulus::Access(write(S, Register::PRGCTLR, 1)),
        Stimulus::Input(Input::Barrier(Barrier::Isb)),
        Stimulus::Progress,
    ];
    let start = start.into_iter().filter(|_| setting.0 >> 63 == 1);
    for stimulus in start.chain(history.into_iter().map(|number| Choices(number).stimulus())) {
        let packets = bench.step(stimulus);
        if let Some(refused) = bench.encoder.refused() {
            prop_assert!(packets.is_empty(), "{stimulus:?}: {refused}");
        }
        for packet in &packets {
            seen.check(packet, &stimulus, &policy)?;
            each(packet);
        }
        prop_assert_eq!(seen.operative, seen.state.is_enabled() && !seen.overflow);
        seen.check_status(&mut bench)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(512)))]

    #[test]
    fn any_history(setting in any::<(u64, u64)>(), history in prop::collection::vec(any::<u64>(), 0..200)) {
        follow(setting, history, |_| {})?;
    }
}

/// Whether a packet is one that is looked for.
type Sought = fn(&Packet) -> bool;

/// Histories of this kind reach every state and what is rare. The numbers are those of splitmix64.
#[test]
fn histories_reach_everything() {
    let mut counter = 0_u64;
    let mut next = || {
        counter = counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (counter ^ counter >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    };
    let wanted: [(&str, Sought); 14] = [
        ("Idle", |packet| *packet == Packet::State(Idle)),
        ("Enabling", |packet| *packet == Packet::State(Enabling)),
        ("Running", |packet| *packet == Packet::State(Running)),
        ("Unstable", |packet| *packet == Packet::State(Unstable)),
        ("Stable", |packet| *packet == Packet::State(Stable)),
        ("overflow", |packet| *packet == Packet::Signal(Signal::Overflow(true))),
        ("recovery", |packet| *packet == Packet::Signal(Signal::Operative(true))),
        ("stall", |packet| *packet == Packet::Signal(Signal::Stall(true))),
        ("flush", |packet| *packet == Packet::Signal(Signal::FlushAcknowledge)),
        ("trace buffer", |packet| matches!(packet, Packet::Output { sink: Sink::TraceBuffer, .. })),
        ("interface", |packet| matches!(packet, Packet::Output { sink: Sink::Interface(_), .. })),
        ("time-out", |packet| matches!(packet, Packet::Poll(Poll { timed_out: true, .. }))),
        ("error", |packet| matches!(packet, Packet::Access(Access { outcome: Outcome::Error, .. }))),
        ("undefined", |packet| matches!(packet, Packet::Access(Access { outcome: Outcome::Undefined, .. }))),
    ];
    let mut counts = [0; 14];
    for _ in 0..400 {
        let setting = (next(), next());
        let history: Vec<u64> = (0..200).map(|_| next()).collect();
        let count = |packet: &Packet| {
            for (count, (_, is_wanted)) in counts.iter_mut().zip(&wanted) {
                *count += usize::from(is_wanted(packet));
            }
        };
        follow(setting, history, count).unwrap();
    }
    for (count, (name, _)) in counts.iter().zip(&wanted) {
        assert!(*count >= 10, "{name}: {count} of {counts:?}");
    }
}

#[test]
fn what_cannot_happen_is_named() {
    let mut bench = Bench::new();
    let field = |field| ImpossibleStimulus::Unencodable(crate::arm_ete_unit::UnencodablePacket { field });
    let input = Stimulus::Input;
    let access = Stimulus::Access;
    let unknown = Access { value: None, ..write(S, Register::CONFIGR, 0) };
    let level = ProcessorEvent::Level { level: 4, space: Space::Secure };
    for (stimulus, expected) in [
        (access(read(S, Register(2))), field("register")),
        (access(read(X, Register(0x1060))), field("register")),
        (access(Access { double: true, ..read(S, Register::CONFIGR) }), field("double")),
        (access(write(X, Register::CONFIGR, 1 << 32)), field("value")),
        (access(write(S, Register::CONFIGR, 1 << 32)), field("value")),
        (access(unknown), ImpossibleStimulus::WithoutValue),
        (access(read(X, Register(0x1000))), ImpossibleStimulus::NotExternal),
        (input(Input::Processor(level)), field("level")),
        (input(Input::ExternalAccess { etad: 4 }), field("etad")),
        (input(Input::Event(4)), field("event")),
        (input(Input::Event(0)), ImpossibleStimulus::EventWhileDisabled),
        (input(Input::Sink { sink: Sink::Interface(15), state: SinkState::Blocked }), field("sink")),
        (input(Input::Sink { sink: IF0, state: SinkState::Stopped }), field("state")),
    ] {
        assert_eq!(bench.step(stimulus), [], "{stimulus:?}");
        assert_eq!(bench.encoder.refused(), Some(expected), "{stimulus:?}");
    }
    bench.isb();
    assert_eq!(bench.encoder.refused(), None);
    assert_eq!(bench.status(), 3);
}

#[test]
fn parameters_of_no_trace_unit_are_refused() {
    let mut encoder = Encoder::default();
    for (parameters, name) in [
        (Parameters { interfaces: 16, ..Parameters::default() }, "interfaces"),
        (Parameters { trace_id: false, ..Parameters::default() }, "trace_id"),
    ] {
        let refusal: Refusal = encoder.begin(&parameters, &Policy::default()).unwrap_err();
        assert!(alloc::format!("{refusal}").contains(name), "{refusal}");
    }
    // Steps without a begin are discarded.
    let mut log: Log<ArmEteUnit> = Log::default();
    encoder.step(&Stimulus::Progress, &mut log);
    encoder.finish(&mut log);
    assert_eq!(log.packets().count(), 0);
}

/// Records by the table of their bytes, worked out by hand.
#[test]
fn bytes_of_records() {
    let mut log: Log<ArmEteUnit> = Log::default();
    let mut encoder = Encoder::default();
    encoder.begin(&Parameters::default(), &Policy::default()).unwrap();
    let external = Access {
        space: Some(Space::Secure),
        double: true,
        ..write(X, Register(0x400), 0x0102_0304_0506_0708)
    };
    for stimulus in [
        Stimulus::Access(external),
        Stimulus::Poll { agent: S, bit: StatusBit::Pmstable, value: false },
        Stimulus::Input(Input::OsLock { agent: X, locked: true }),
        Stimulus::Input(Input::Processor(ProcessorEvent::Level { level: 2, space: Space::Realm })),
        Stimulus::Input(Input::Sink { sink: Sink::Interface(3), state: SinkState::Accepting }),
        Stimulus::Input(Input::Wait(0x1234)),
        Stimulus::Access(read(X, Register::CONFIGR)),
    ] {
        encoder.step(&stimulus, &mut log);
    }
    let expected: [[u8; RECORD]; 7] = [
        // Agent 1, write, 64 bits, known; register 0x400; Secure is 1, plus 1.
        [1, 0b0001_1101, 0x00, 0x04, 2, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1],
        // PMSTABLE is 1 in Idle: timed out.
        [2, 0b0001_0100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [4, 0b101, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [7, 2, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [10, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [15, 0, 0, 0, 0, 0, 0, 0, 0x34, 0x12, 0, 0, 0, 0, 0, 0],
        // Read, not known, outcome 1.
        [1, 0b0010_0001, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ];
    assert_eq!(log.wire, expected.concat());
    assert!(log.wire.chunks(RECORD).all(|record| usize::from(record[0]) < Kind::ALL.len()));
}
