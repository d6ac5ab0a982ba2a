//! The sequences, step by step and at the model.

use traceproof_vectors::arm_ete_unit::{
    Access, Agent, ArmEteUnit, Barrier, DirectWrite, Input, Operation, Outcome, Packet, Policy, Poll,
    ProgrammingState, Shown, Sink, StatusBit, Stimulus,
};
use traceproof_vectors::{Encoder as _, Log};

use super::super::super::Encoder;
use super::*;

/// A sequence, item by item.
fn shown(steps: &[Stimulus]) -> Vec<String> {
    let item = |step: &Stimulus| match step {
        Stimulus::Access(Access { agent, operation, register, value, .. }) => match operation {
            Operation::Read => alloc::format!("{agent:?} {register}"),
            Operation::Write => alloc::format!("{agent:?} {register}={:x}", value.unwrap()),
        },
        Stimulus::Poll { agent, bit: StatusBit::Idle, value } => alloc::format!("{agent:?} IDLE={value}"),
        Stimulus::Input(Input::Barrier(barrier)) => alloc::format!("{barrier:?}"),
        Stimulus::Input(Input::OsLock { agent, locked }) => alloc::format!("{agent:?} lock {locked}"),
        Stimulus::Input(Input::TraceFilter { prohibited }) => alloc::format!("prohibited {prohibited}"),
        Stimulus::Input(Input::TraceBuffer { enabled }) => alloc::format!("buffer {enabled}"),
        other => panic!("{other:?}"),
    };
    steps.iter().map(item).collect()
}

#[test]
fn the_sequences_step_by_step() {
    let settings = [
        Setting { register: Register::CONFIGR, value: 0x1051, meaning: "".into() },
        Setting { register: Register(0x400), value: 0x1_0000_0002, meaning: "".into() },
    ];
    let unit = Parameters::default();
    let found = shown(&Procedure::System.enable(&unit, &settings, Output::TraceBuffer));
    let expected = [
        "System lock false",
        "Isb",
        "System TRCCLAIMCLR",
        "System TRCCLAIMSET=2",
        "Isb",
        "System TRCCLAIMCLR",
        "System TRCPRGCTLR=0",
        "Isb",
        "System IDLE=true",
        "System TRCCONFIGR=1051",
        "System TRCACVR0=100000002",
        "buffer true",
        "prohibited false",
        "Isb",
        "System TRCPRGCTLR=1",
        "Isb",
        "System IDLE=false",
        "Dsb",
        "Isb",
    ];
    assert_eq!(found, expected);
    let found = shown(&Procedure::System.disable(&unit, Output::TraceBuffer));
    let expected = [
        "prohibited true",
        "Isb",
        "Dsb",
        "Isb",
        "Tsb",
        "System TRCPRGCTLR=0",
        "Isb",
        "System IDLE=true",
        "Isb",
        "Tsb",
        "Dsb",
        "buffer false",
        "Isb",
        "System TRCCLAIMCLR=2",
        "Isb",
    ];
    assert_eq!(found, expected);
    let found = shown(&Procedure::External.enable(&unit, &settings, Output::Interfaces));
    let expected = [
        "External TRCPDSR",
        "External lock false",
        "External TRCCLAIMCLR",
        "External TRCCLAIMSET=1",
        "External TRCCLAIMCLR",
        "External TRCAUTHSTATUS",
        "External TRCPRGCTLR=0",
        "External IDLE=true",
        "External TRCCONFIGR=1051",
        "External TRCACVR0=2",
        "External TRCACVR0+4=1",
        "External TRCPRGCTLR=1",
        "External IDLE=false",
    ];
    assert_eq!(found, expected);
    let found = shown(&Procedure::External.disable(&unit, Output::Interfaces));
    assert_eq!(found, ["External TRCPRGCTLR=0", "External IDLE=true", "External TRCCLAIMCLR=1"]);
    // Without claim tags none is claimed.
    let none = Parameters { claim_tags: 0, ..unit };
    assert!(!shown(&Procedure::System.enable(&none, &[], Output::Interfaces)).concat().contains("CLAIM"));
}

/// A model, and what it has written.
struct Bench {
    encoder: Encoder,
    log: Log<ArmEteUnit>,
}

impl Bench {
    fn run(&mut self, steps: &[Stimulus]) {
        for step in steps {
            self.encoder.step(step, &mut self.log);
            assert_eq!(self.encoder.refused(), None, "{step:?}");
        }
    }

    fn state(&self) -> Option<ProgrammingState> {
        let states = self.log.packets().filter_map(|packet| match packet {
            Packet::State(state) => Some(*state),
            _ => None,
        });
        states.last()
    }

    fn read(&mut self, register: Register) -> Option<u64> {
        let access = Access {
            agent: Agent::System,
            space: None,
            operation: Operation::Read,
            register,
            double: false,
            value: None,
            outcome: Outcome::Ok,
        };
        let count = self.log.packets().count();
        self.run(&[Stimulus::Access(access)]);
        match self.log.packets().nth(count) {
            Some(Packet::Access(access)) => access.value,
            other => panic!("{other:?}"),
        }
    }
}

/// The model reaches Running with these values and traces to the right sink, from Idle and from Running.
#[test]
fn the_sequences_program_the_model() {
    let procedures = [
        (Procedure::System, Output::Interfaces, Sink::Interface(0)),
        (Procedure::System, Output::TraceBuffer, Sink::TraceBuffer),
        (Procedure::External, Output::Interfaces, Sink::Interface(0)),
    ];
    let shown = Shown { states: true, ..Shown::default() };
    for (procedure, output, sink) in procedures {
        for direct_write in DirectWrite::ALL {
            let parameters = Parameters { shown, ..Parameters::default() };
            let policy = Policy { direct_write: *direct_write, unknown: u64::MAX, ..Policy::default() };
            let request = TraceRequest { output, ..request() };
            let settings = request.settings(&parameters).unwrap();
            let mut bench = Bench { encoder: Encoder::default(), log: Log::default() };
            bench.encoder.begin(&parameters, &policy).unwrap();
            for _ in 0..2 {
                bench.run(&procedure.enable(&parameters, &settings, output));
                assert_eq!(bench.state(), Some(ProgrammingState::Running));
                for setting in &settings {
                    assert_eq!(bench.read(setting.register), Some(setting.value), "{setting}");
                }
            }
            bench.run(&[Stimulus::Generate { bytes: 6 }]);
            bench.run(&procedure.disable(&parameters, output));
            assert_eq!(bench.state(), Some(ProgrammingState::Idle));
            assert!(bench.log.packets().any(|packet| *packet == Packet::Output { sink, bytes: 6 }));
            let is_timed_out = |packet: &Packet| matches!(packet, Packet::Poll(Poll { timed_out: true, .. }));
            assert!(!bench.log.packets().any(is_timed_out));
            assert_eq!(bench.read(Register::CLAIMCLR), Some(0));
            let barriers = bench
                .log
                .packets()
                .filter(|packet| matches!(packet, Packet::Input(Input::Barrier(Barrier::Isb))));
            assert_eq!(barriers.count() > 0, procedure == Procedure::System);
        }
    }
}
