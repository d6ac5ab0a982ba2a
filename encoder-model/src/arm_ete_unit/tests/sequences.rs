//! Sequences of real software and of the specification's figures, from every state that they may start in.

use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::{EnableChange, Power, UnpredictableWrite};

use super::*;
use ProgrammingState::{Enabling, Idle, Running, Stable, Unstable};

/// What a driver programs: a register and its value, in the order of the writes.
const PROGRAM: [(Register, u64); 14] = [
    (Register::CONFIGR, 0x18C1),
    (Register::AUXCTLR, 0),
    (Register::EVENTCTL0R, 0),
    (Register::EVENTCTL1R, 0x2000),
    (Register::STALLCTLR, 0),
    (Register::TSCTLR, 0),
    (Register::SYNCPR, 0xC),
    (Register::CCCTLR, 0x100),
    (Register::BBCTLR, 0),
    (Register::TRACEIDR, 0x10),
    (Register::VICTLR, 0x6F_0201),
    (Register::VIIECTLR, 0),
    (Register::cntvr(0), 0xFF),
    (Register::RSR, 0x1000),
];
const DSB: Input = Input::Barrier(Barrier::Dsb);
const TSB: Input = Input::Barrier(Barrier::Tsb);

impl Bench {
    fn program(&mut self, agent: Agent) {
        for (register, value) in PROGRAM {
            assert_eq!(self.write(agent, register, value), Outcome::Ok, "{register}");
        }
    }

    /// Reads back what was programmed, in Idle or Stable or with resource state that does not change by itself.
    fn check_program(&mut self) {
        for (register, value) in PROGRAM {
            assert_eq!(self.read(S, register).0, Some(value), "{register}");
        }
    }

    fn wait_for(&mut self, agent: Agent, bit: StatusBit, value: bool) {
        let poll = self.poll(agent, bit, value);
        assert!(!poll.timed_out, "{poll:?}");
    }

    /// D1 of a kernel driver, by System instructions.
    fn driver_enable(&mut self) {
        self.lock(false);
        assert_eq!(self.read(S, Register::CLAIMCLR).0, Some(0));
        self.write(S, Register::CLAIMSET, 2);
        self.isb();
        assert_eq!(self.read(S, Register::CLAIMCLR).0, Some(2));
        self.enable(0);
        self.wait_for(S, StatusBit::Idle, true);
        self.program(S);
        self.filter(false);
        self.enable(1);
        self.wait_for(S, StatusBit::Idle, false);
        self.input(DSB);
        self.isb();
    }

    /// D2 up to the `isb` after the poll.
    fn driver_pause(&mut self) {
        assert_eq!(self.read(S, Register::PRGCTLR).0, Some(1));
        self.filter(true);
        self.input(DSB);
        self.isb();
        self.input(TSB);
        self.enable(0);
        self.wait_for(S, StatusBit::Pmstable, true);
        self.isb();
    }
}

fn policies() -> impl Iterator<Item = Policy> {
    DirectWrite::ALL.iter().flat_map(|direct_write| {
        [false, true].map(|pmstable_while_enabled| Policy {
            direct_write: *direct_write,
            pmstable_while_enabled,
            ..Policy::default()
        })
    })
}

/// Spec: ETE-ZGJRF-001, ETE-BPTKT-002, ETE-RWYQD-004.
#[test]
fn a_driver_enables_from_every_state() {
    for policy in policies() {
        for state in [Idle, Running, Unstable, Stable] {
            let mut bench = Bench::policy(policy.clone());
            bench.bring_to(state);
            bench.driver_enable();
            assert_eq!(bench.status() & 1, 0, "{state:?}");
            bench.check_program();
            bench.generate(5);
            assert_eq!(outputs(&bench.drain()), [(IF0, 5)], "{state:?}");
        }
        // After a Cold reset: locked, and TRFCR_ELx prohibits until the driver allows.
        let mut bench = Bench::policy(policy.clone());
        bench.input(Input::Reset(Reset::Cold));
        bench.driver_enable();
        bench.generate(5);
        assert_eq!(outputs(&bench.drain()), [(IF0, 5)]);
    }
}

/// D2 with the trace buffer unit, then the sink.
#[test]
fn a_driver_disables() {
    for policy in policies() {
        let mut bench = Bench::policy(policy);
        bench.trace_buffer(true);
        bench.driver_enable();
        bench.generate(5);
        bench.driver_pause();
        bench.check_program();
        assert_eq!(bench.read(S, Register::sscsr(0)).0, Some(0));
        assert_eq!(bench.read(S, Register::CLAIMCLR).0, Some(2));
        bench.write(S, Register::CLAIMCLR, 2);
        assert_eq!(bench.read(S, Register::CLAIMCLR).0, Some(0));
        bench.input(TSB);
        bench.input(DSB);
        bench.trace_buffer(false);
        assert_eq!(outputs(&bench.drain()), []);
        bench.wait_for(S, StatusBit::Idle, true);
    }
}

/// Spec: ETE-ZGJRF-002, ETE-TRZCP-002.
#[test]
fn a_driver_disables_with_a_blocked_sink() {
    let mut bench = Bench::new();
    bench.driver_enable();
    bench.generate(5);
    bench.input(Input::Sink { sink: IF0, state: SinkState::Blocked });
    bench.driver_pause();
    assert_eq!(bench.status(), 2);
    assert!(bench.poll(S, StatusBit::Idle, true).timed_out);
    bench.check_program();
}

/// D3: resuming knows PMSTABLE only. With a blocked sink it meets Stable, where nothing is settled: the poll ends at
/// once because IDLE is 0 there, and by this choice of the unit there is no trace.
#[test]
fn a_driver_resumes() {
    for blocked in [false, true] {
        let policy = Policy {
            enable_change: EnableChange::Ignored,
            write_outside_idle: UnpredictableWrite::Ignored,
            ..Policy::default()
        };
        let mut bench = Bench::policy(policy);
        bench.driver_enable();
        bench.generate(5);
        let state = if blocked { SinkState::Blocked } else { SinkState::Accepting };
        bench.input(Input::Sink { sink: IF0, state });
        bench.driver_pause();
        if !blocked {
            bench.drain();
            bench.go();
        }
        assert_eq!(bench.write(S, Register::RSR, 0x1000), Outcome::Ok);
        bench.filter(false);
        bench.enable(1);
        bench.wait_for(S, StatusBit::Idle, false);
        assert_eq!(bench.read(S, Register::PRGCTLR).0, Some(u64::from(!blocked)));
        bench.generate(3);
        bench.input(Input::Sink { sink: IF0, state: SinkState::Accepting });
        assert_eq!(outputs(&bench.drain()), [(IF0, if blocked { 5 } else { 3 })]);
    }
}

/// D4, until 2025: save under the OS Lock, Core power off and on, restore EN before the other registers.
///
/// Spec: ETE-DXFFN-002, ETE-ST-004, ETE-ST-006, ETE-PTZDH-001.
#[test]
fn a_driver_saves_and_restores() {
    for policy in policies() {
        let mut bench = Bench::policy(Policy { unknown: 0xFFFF_FFFF, ..policy });
        bench.driver_enable();
        bench.generate(5);
        bench.input(DSB);
        bench.isb();
        bench.lock(true);
        bench.wait_for(S, StatusBit::Pmstable, true);
        let saved: Vec<_> = PROGRAM.iter().map(|(register, _)| bench.read(S, *register).0.unwrap()).collect();
        assert_eq!(bench.read(S, Register::PRGCTLR).0, Some(1));
        assert_eq!(bench.read(S, Register::CLAIMCLR).0, Some(2));
        bench.wait_for(S, StatusBit::Idle, true);
        bench.input(Input::Power(Power::Off));
        bench.input(Input::Power(Power::On));
        assert_eq!(bench.read(S, Register::PRGCTLR).0, Some(0));
        assert_eq!(bench.read(S, Register::CLAIMCLR).0, Some(0));
        assert_eq!(bench.read(S, Register::CONFIGR).0, Some(0xFFFF_FFFF));
        bench.write(S, Register::CLAIMSET, 2);
        assert_eq!(states(&bench.step(Stimulus::Access(write(S, Register::PRGCTLR, 1)))), []);
        for ((register, _), value) in PROGRAM.iter().zip(saved) {
            assert_eq!(bench.write(S, *register, value), Outcome::Ok);
        }
        bench.input(DSB);
        assert_eq!(states(&bench.isb()), []);
        assert_eq!(bench.status(), 3);
        bench.check_program();
        assert_eq!(states(&bench.lock(false)), [Enabling]);
        bench.go();
        bench.generate(3);
        assert_eq!(outputs(&bench.drain()), [(IF0, 3)]);
    }
}

/// The posted change of D4 clears EN after the OS Lock, in Stable: no outcome is certain, but the state goes on.
///
/// Spec: ETE-MDZDN-001.
#[test]
fn a_driver_clears_enable_under_the_lock() {
    for (enable_change, enable) in
        [(EnableChange::Ignored, 1), (EnableChange::Zero, 0), (EnableChange::One, 1)]
    {
        let mut bench = Bench::policy(Policy { enable_change, ..Policy::default() });
        bench.driver_enable();
        bench.generate(5);
        bench.lock(true);
        bench.wait_for(S, StatusBit::Pmstable, true);
        bench.enable(0);
        bench.wait_for(S, StatusBit::Idle, true);
        assert_eq!(bench.read(S, Register::PRGCTLR).0, Some(enable));
    }
}

/// D5, a memory-mapped ETMv4.
#[test]
fn a_driver_of_a_mapped_trace_unit() {
    const M: Agent = Agent::Memory;
    let etm = Parameters { version: Version::Etmv4_2, ..Parameters::default() };
    let mut bench = Bench::with(etm, Policy::default());
    bench.input(Input::Reset(Reset::Cold));
    assert_eq!(bench.read(M, Register::CLAIMCLR).1, Outcome::Error);
    assert_eq!(bench.write(M, Register::LAR, 0xC5AC_CE55), Outcome::Ok);
    assert_eq!(bench.write(M, Register::OSLAR, 0), Outcome::Ok);
    bench.isb();
    bench.write(M, Register::PRGCTLR, 0);
    bench.wait_for(M, StatusBit::Idle, true);
    bench.program(M);
    assert_eq!(bench.write(M, Register::PDCR, 8), Outcome::Ok);
    bench.filter(false);
    assert_eq!(states(&bench.step(Stimulus::Access(write(M, Register::PRGCTLR, 1)))), [Enabling]);
    bench.wait_for(M, StatusBit::Idle, false);
    bench.generate(5);
    // The disable clears TRCPDCR.PU first, in Running.
    assert_eq!(bench.write(M, Register::PDCR, 0), Outcome::Ok);
    bench.filter(true);
    bench.input(TSB);
    bench.write(M, Register::PRGCTLR, 0);
    bench.wait_for(M, StatusBit::Pmstable, true);
    bench.check_program();
}

/// D6 of a library, which writes 0x300 to unlock: of ETE it unlocks nothing, and nothing can be polled.
#[test]
fn a_library_cannot_unlock() {
    let mut bench = Bench::new();
    bench.input(Input::Reset(Reset::Cold));
    bench.write(X, Register::LAR, 0xC5AC_CE55);
    assert_eq!(bench.read(X, Register::PDSR).0, Some(0x23));
    assert_eq!(bench.read(X, Register::OSLSR).0, Some(0x12));
    bench.write(X, Register::OSLAR, 0);
    assert_eq!(bench.read(X, Register::OSLSR).0, Some(0x12));
    for register in [Register::CLAIMSET, Register::PRGCTLR, Register::CONFIGR] {
        assert_eq!(bench.write(X, register, 1), Outcome::Error);
    }
    let packets = bench.step(Stimulus::Poll { agent: X, bit: StatusBit::Idle, value: true });
    let expected = Access { outcome: Outcome::Error, ..read(X, Register::STATR) };
    assert_eq!(packets, [Packet::Access(expected)]);
    // Unlocked by the processor, it configures, enables without a poll, and disables.
    bench.lock(false);
    bench.write(X, Register::PRGCTLR, 0);
    bench.wait_for(X, StatusBit::Idle, true);
    bench.program(X);
    assert_eq!(states(&bench.step(Stimulus::Access(write(X, Register::PRGCTLR, 1)))), [Enabling]);
    // EN = 0 may meet Enabling, where it may be ignored; the poll is satisfied there.
    bench.write(X, Register::PRGCTLR, 0);
    bench.wait_for(X, StatusBit::Idle, true);
    assert_eq!(states(&bench.go()), [Running]);
}

/// D7 of a debugger, from every state but Enabling. Spec: ETE-FJPCN-001, ETE-PRG-001.
#[test]
fn a_debugger_programs_from_every_state() {
    for policy in policies() {
        for state in [Idle, Running, Unstable, Stable] {
            let mut bench = Bench::policy(policy.clone());
            bench.bring_to(state);
            bench.read(X, Register::PDSR);
            bench.write(X, Register::CLAIMSET, 1);
            assert_eq!(bench.read(X, Register::CLAIMCLR).0, Some(1));
            bench.write(X, Register::PRGCTLR, 0);
            bench.wait_for(X, StatusBit::Idle, true);
            bench.program(X);
            assert_eq!(states(&bench.step(Stimulus::Access(write(X, Register::PRGCTLR, 1)))), [Enabling]);
            bench.wait_for(X, StatusBit::Idle, false);
            bench.check_program();
            bench.generate(9);
            bench.write(X, Register::PRGCTLR, 0);
            bench.wait_for(X, StatusBit::Idle, true);
            assert_eq!(bench.status(), 3);
        }
    }
    // With EN left at 1 under the OS Lock, the unlock starts a session.
    let mut bench = Bench::new();
    bench.lock(true);
    bench.enable(1);
    assert_eq!(bench.status(), 3);
    assert_eq!(states(&bench.input(Input::OsLock { agent: X, locked: false })), [Enabling]);
}

/// D8, the examples of the architecture: enable, disable, save and restore, context switch.
#[test]
fn the_examples_of_the_architecture() {
    for policy in policies() {
        let mut bench = Bench::policy(policy);
        bench.program(S);
        bench.isb();
        bench.write(S, Register::PRGCTLR, 1);
        bench.isb();
        assert_eq!(bench.status() & 1, 1);
        bench.go();
        bench.isb();
        assert_eq!(bench.status() & 1, 0);
        bench.generate(4);
        // Disable.
        bench.filter(true);
        bench.input(TSB);
        bench.enable(0);
        let mut found = alloc::vec![bench.status()];
        for _ in 0..2 {
            bench.go();
            bench.drain();
            found.push(bench.status());
        }
        assert_eq!(found, [0, 2, 3]);
        bench.filter(false);
        // Context switch, out and in.
        bench.trace_buffer(true);
        bench.enable(1);
        bench.go();
        bench.generate(6);
        bench.filter(true);
        assert_eq!(outputs(&bench.input(TSB)), [(Sink::TraceBuffer, 6)]);
        bench.write(S, Register::PRGCTLR, 0);
        bench.input(Input::TraceBuffer { enabled: false });
        bench.input(DSB);
        bench.isb();
        bench.go();
        bench.go();
        bench.check_program();
        assert_eq!(bench.status(), 3);
    }
}

/// A hypervisor runs a guest with the unit enabled, the trace buffer unit disabled and trace prohibited.
#[test]
fn a_hypervisor_keeps_the_unit_enabled() {
    let mut bench = Bench::new();
    bench.trace_buffer(true);
    bench.driver_enable();
    bench.generate(4);
    bench.filter(true);
    assert_eq!(outputs(&bench.input(TSB)), [(Sink::TraceBuffer, 4)]);
    bench.input(DSB);
    bench.trace_buffer(false);
    bench.generate(100);
    assert_eq!((outputs(&bench.drain()), bench.status()), (Vec::new(), 0));
    bench.trace_buffer(true);
    bench.filter(false);
    bench.generate(2);
    assert_eq!(outputs(&bench.drain()), [(Sink::TraceBuffer, 2)]);
}

/// Sessions by the OS Lock: EN does not change. Spec: ETE-XBPSQ-001, ETE-GLTKQ-001, ETE-TZSRP-002.
#[test]
fn two_sessions_by_the_os_lock() {
    let mut bench = Bench::new();
    bench.run();
    let mut found = signals(&bench.lock(true));
    bench.go();
    bench.go();
    found.extend(signals(&bench.lock(false)));
    found.retain(|signal| matches!(signal, Signal::Enabled(_) | Signal::Operative(_)));
    let expected =
        [Signal::Enabled(false), Signal::Operative(false), Signal::Enabled(true), Signal::Operative(true)];
    assert_eq!(found, expected);
    assert_eq!(bench.read(X, Register::PRGCTLR).0, Some(1));
}
