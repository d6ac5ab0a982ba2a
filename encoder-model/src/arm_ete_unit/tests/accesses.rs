//! Who may access which register, when, and with what result. The tables are those of the specification, by name.

use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::{Power, Space, UnpredictableWrite, UnsupportedSize};

use super::*;

const TRACE: &[&str] = &[
    "TRCPRGCTLR",
    "TRCSTATR",
    "TRCCONFIGR",
    "TRCAUXCTLR",
    "TRCEVENTCTL1R",
    "TRCRSR",
    "TRCVICTLR",
    "TRCSEQSTR",
    "TRCCNTVR1",
    "TRCIMSPEC0",
    "TRCIMSPEC7",
    "TRCRSCTLR2",
    "TRCRSCTLR15",
    "TRCSSCSR0",
    "TRCACVR7",
    "TRCACATR7",
    "TRCCIDCVR0",
    "TRCVMIDCVR0",
    "TRCVMIDCCTLR0",
    "TRCITCTRL",
];
const CLAIM: &[&str] = &["TRCCLAIMSET", "TRCCLAIMCLR", "TRCIDR0", "TRCIDR7", "TRCIDR8", "TRCIDR13"];
const MANAGEMENT: &[&str] = &[
    "TRCAUTHSTATUS",
    "TRCPDCR",
    "TRCPDSR",
    "TRCDEVARCH",
    "TRCDEVID",
    "TRCDEVID1",
    "TRCDEVID2",
    "TRCDEVTYPE",
    "TRCDEVAFF0",
    "TRCDEVAFF1",
    "TRCPIDR0",
    "TRCPIDR7",
    "TRCCIDR0",
    "TRCCIDR3",
    "TRCLSR",
    "TRCLAR",
];
/// Registers without a System encoding.
const EXTERNAL_ONLY: &[&str] = &[
    "TRCPDCR",
    "TRCPDSR",
    "TRCITCTRL",
    "TRCLAR",
    "TRCLSR",
    "TRCDEVAFF0",
    "TRCDEVAFF1",
    "TRCDEVID1",
    "TRCDEVID2",
    "TRCDEVTYPE",
    "TRCPIDR0",
    "TRCPIDR7",
    "TRCCIDR0",
    "TRCCIDR3",
];
/// Registers that the default trace unit has not.
const ABSENT: &[&str] = &[
    "TRCQCTLR",
    "TRCITEEDCR",
    "TRCVIPCSSCTLR",
    "TRCSSPCICR0",
    "TRCCNTVR2",
    "TRCRSCTLR16",
    "TRCSSCSR1",
    "TRCACVR8",
    "TRCCIDCVR1",
    "TRCVMIDCCTLR1",
    "TRCOSLAR",
    "0x000",
    "0x0f0",
    "0xefc",
];

/// Something that happens before the accesses.
type Act = fn(&mut Bench) -> Vec<Packet>;

fn register(name: &str) -> Register {
    name.parse().unwrap()
}

/// A read, or a write of what can only be written.
fn access(agent: Agent, name: &str) -> Access {
    let register = register(name);
    if name == "TRCLAR" { write(agent, register, 0) } else { read(agent, register) }
}

/// Spec: ETE-ACC-001 to ETE-ACC-004, ETE-TWQJT-001.
#[test]
fn external_errors_by_class() {
    let etad = |bench: &mut Bench| bench.input(Input::ExternalAccess { etad: 1 });
    let lock = |bench: &mut Bench| bench.lock(true);
    let conditions: [(&str, &[Act], [bool; 4]); 6] = [
        // Errors of the classes T, C, TRCOSLSR, M.
        ("open", &[], [false, false, false, false]),
        ("locked", &[lock], [true, true, false, false]),
        ("not allowed", &[etad], [true, false, true, false]),
        ("locked and not allowed", &[lock, etad], [true, true, true, false]),
        ("off", &[|bench| bench.input(Input::Power(Power::Off))], [true; 4]),
        ("retention", &[|bench| bench.input(Input::Power(Power::Retention))], [true; 4]),
    ];
    for (condition, acts, errors) in conditions {
        let mut bench = Bench::new();
        acts.iter().for_each(|act| drop(act(&mut bench)));
        for (names, error) in [TRACE, CLAIM, &["TRCOSLSR"], MANAGEMENT].into_iter().zip(errors) {
            for name in names {
                let found = bench.access(access(X, name));
                let expected = if error { Outcome::Error } else { Outcome::Ok };
                assert_eq!(found.outcome, expected, "{name}, {condition}");
                assert_eq!(found.value.is_some(), !error || *name == "TRCLAR", "{name}, {condition}");
            }
        }
    }
}

/// Spec: ETE-ACC-006.
#[test]
fn external_access_is_allowed_by_space() {
    use Space::{NonSecure, Realm, Root, Secure};
    let spaces = [Secure, NonSecure, Root, Realm];
    let (realms, plain) = (
        Parameters { realms: true, ..Parameters::default() },
        Parameters { realms: false, ..Parameters::default() },
    );
    let none = Parameters { trace_buffer: false, ..Parameters::default() };
    for (parameters, etad, allowed) in [
        (&none, 3, [true, true, true, true]),
        (&plain, 0, [true, true, false, false]),
        (&plain, 1, [true, false, false, false]),
        (&plain, 2, [true, true, false, false]),
        (&realms, 0, [true, true, true, true]),
        (&realms, 1, [true, false, true, false]),
        (&realms, 2, [false, false, true, true]),
        (&realms, 3, [false, false, true, false]),
    ] {
        let mut bench = Bench::with(parameters.clone(), Policy::default());
        bench.input(Input::ExternalAccess { etad });
        for (space, allowed) in spaces.into_iter().zip(allowed) {
            let found = bench.access(Access { space: Some(space), ..read(X, Register::CONFIGR) });
            let expected = if allowed { Outcome::Ok } else { Outcome::Error };
            assert_eq!(found.outcome, expected, "{etad}, {space:?}, {parameters:?}");
        }
    }
    // A refused write writes nothing, and does not enable.
    let mut bench = Bench::with(realms, Policy::default());
    bench.input(Input::ExternalAccess { etad: 3 });
    assert_eq!(bench.write(X, Register::PRGCTLR, 1), Outcome::Error);
    assert_eq!((bench.status(), bench.read(S, Register::PRGCTLR)), (3, (Some(0), Outcome::Ok)));
}

/// Spec: ETE-ACC-005, ETE-ACC-007, ETE-WCXDT-001, ETE-SGPQB-001.
#[test]
fn direct_accesses_are_undefined_or_complete() {
    let mut bench = Bench::new();
    bench.lock(true);
    bench.input(Input::ExternalAccess { etad: 1 });
    for name in TRACE.iter().chain(CLAIM).filter(|name| **name != "TRCITCTRL") {
        assert_eq!(bench.read(S, register(name)).1, Outcome::Ok, "{name}");
    }
    assert_eq!(bench.write(S, Register::CONFIGR, 5), Outcome::Ok);
    assert_eq!(bench.read(S, Register::CONFIGR), (Some(5), Outcome::Ok));
    for name in EXTERNAL_ONLY.iter().chain(ABSENT).chain(&["TRCACVR0+4"]) {
        assert_eq!(bench.read(S, register(name)), (None, Outcome::Undefined), "{name}");
        assert_eq!(bench.write(S, register(name), 0), Outcome::Undefined, "{name}");
    }
    for name in ["TRCSTATR", "TRCIDR0", "TRCOSLSR", "TRCAUTHSTATUS", "TRCDEVARCH", "TRCDEVID"] {
        assert_eq!(bench.write(S, register(name), 0), Outcome::Undefined, "{name}");
        assert_eq!(bench.read(S, register(name)).1, Outcome::Ok, "{name}");
    }
    bench.input(Input::Processor(ProcessorEvent::Level { level: 0, space: Space::NonSecure }));
    for name in TRACE.iter().chain(CLAIM) {
        let trapped = Access { outcome: Outcome::Trapped, ..read(S, register(name)) };
        assert_eq!(bench.read(S, register(name)), (None, Outcome::Undefined), "{name}");
        assert_eq!(bench.access(trapped).outcome, Outcome::Undefined, "{name}");
    }
    assert_eq!(bench.read(S, register("TRBSR_EL1")), (None, Outcome::Ok));
    assert_eq!(bench.read(X, Register::CLAIMSET).1, Outcome::Error);
    bench.input(Input::Processor(ProcessorEvent::Level { level: 1, space: Space::NonSecure }));
    assert_eq!(bench.read(S, Register::CLAIMSET), (Some(15), Outcome::Ok));
}

/// Spec: ETE-ACC-008.
#[test]
fn a_trapped_access_does_not_reach_the_unit() {
    let mut bench = Bench::new();
    for (register, value) in [(Register::PRGCTLR, 1), (Register::CONFIGR, 7), (Register::CLAIMSET, 1)] {
        let found = bench.access(Access { outcome: Outcome::Trapped, ..write(S, register, value) });
        assert_eq!((found.outcome, found.value), (Outcome::Trapped, Some(value)));
        assert_eq!(states(&bench.isb()), []);
        let found = bench.access(Access { outcome: Outcome::Trapped, ..read(S, register) });
        assert_eq!((found.outcome, found.value), (Outcome::Trapped, None));
    }
    for register in [Register::PRGCTLR, Register::CONFIGR, Register::CLAIMCLR] {
        assert_eq!(bench.read(S, register), (Some(0), Outcome::Ok));
    }
    // No external access is trapped.
    let external = Access { outcome: Outcome::Trapped, ..read(X, Register::CONFIGR) };
    assert_eq!(bench.access(external).outcome, Outcome::Ok);
}

/// Spec: ETE-KQMKX-001, ETE-SVSNR-001, ETE-WXKDP-001.
#[test]
fn reserved_registers() {
    let open: Act = |_| Vec::new();
    let lock = |bench: &mut Bench| bench.lock(true);
    let etad = |bench: &mut Bench| bench.input(Input::ExternalAccess { etad: 1 });
    for (is_open, act) in [(true, open), (false, lock), (false, etad)] {
        for reserved_is_error in [false, true] {
            let policy = Policy { reserved_is_error, unknown: u64::MAX, ..Policy::default() };
            let mut bench = Bench::policy(policy);
            act(&mut bench);
            let expected =
                if reserved_is_error && !is_open { (None, Outcome::Error) } else { (Some(0), Outcome::Ok) };
            for name in ABSENT {
                assert_eq!(bench.write(X, register(name), 0xFFFF), expected.1, "{name}");
                assert_eq!(bench.read(X, register(name)), expected, "{name}");
            }
            for name in ["0xf04", "0xf9c"] {
                assert_eq!(bench.write(X, register(name), 0xFFFF), Outcome::Ok, "{name}");
                assert_eq!(bench.read(X, register(name)), (Some(0), Outcome::Ok), "{name}");
            }
            assert_eq!(bench.read(X, Register::LAR), (Some(0), Outcome::Ok));
        }
    }
    // A write of what is only read is ignored.
    let mut bench = Bench::new();
    for name in ["TRCSTATR", "TRCIDR5", "TRCOSLSR", "TRCPDSR", "TRCAUTHSTATUS", "TRCDEVARCH"] {
        let before = bench.read(X, register(name)).0;
        assert_eq!(bench.write(X, register(name), 0xFFFF_FFFF), Outcome::Ok, "{name}");
        let cleared = if name == "TRCPDSR" { before.map(|value| value & !2) } else { before };
        assert_eq!(bench.read(X, register(name)), (cleared, Outcome::Ok), "{name}");
    }
}

/// Spec: ETE-ACC-009 to ETE-ACC-011, ETE-CMKXK-001.
#[test]
fn registers_of_their_own_kind() {
    let mut bench = Bench::new();
    assert_eq!(bench.read(X, Register::OSLSR).0, Some(0x10));
    bench.lock(true);
    assert_eq!(bench.read(X, Register::OSLSR).0, Some(0x12));
    assert_eq!(bench.read(S, Register::OSLSR).0, Some(0x12));
    // POWER, STICKYPD, OSLK; STICKYPD is cleared by the read.
    assert_eq!(bench.read(X, Register::PDSR).0, Some(0x23));
    assert_eq!(bench.read(X, Register::PDSR).0, Some(0x21));
    bench.lock(false);
    bench.input(Input::Power(Power::Retention));
    bench.input(Input::Power(Power::On));
    assert_eq!(bench.read(X, Register::PDSR).0, Some(1));
    bench.input(Input::Power(Power::Off));
    bench.input(Input::Power(Power::On));
    assert_eq!((bench.read(X, Register::PDSR).0, bench.read(X, Register::PDSR).0), (Some(3), Some(1)));
    assert_eq!(bench.write(X, Register::PDCR, 8), Outcome::Ok);
    assert_eq!(bench.read(X, Register::PDCR).0, Some(0));
    // EN is the only bit of TRCPRGCTLR.
    assert_eq!(bench.write(X, Register::PRGCTLR, 0xFFFF_FFFE), Outcome::Ok);
    assert_eq!((bench.read(X, Register::PRGCTLR).0, bench.status()), (Some(0), 3));
    for (tags, mask) in [(0, 0), (1, 1), (31, 0x7FFF_FFFF), (32, 0xFFFF_FFFF)] {
        let mut bench =
            Bench::with(Parameters { claim_tags: tags, ..Parameters::default() }, Policy::default());
        bench.write(X, Register::CLAIMSET, 0xFFFF_FFFF);
        assert_eq!(bench.read(X, Register::CLAIMSET).0, Some(mask));
        assert_eq!(bench.read(X, Register::CLAIMCLR).0, Some(mask));
        bench.write(X, Register::CLAIMCLR, 1);
        assert_eq!(bench.read(S, Register::CLAIMCLR).0, Some(mask & !1));
    }
}

/// Spec: ETE-OE-RST-001, ETE-WKLGX-001, ETE-PCXJC-001, ETE-PTZDH-001, ETE-YYHBF-001, ETE-RWYQD-004.
#[test]
fn what_a_reset_leaves() {
    let power_cycle = [Input::Power(Power::Off), Input::Power(Power::On)];
    for (resets, is_reset) in [
        (&[Input::Reset(Reset::TraceUnit)][..], true),
        (&[Input::Reset(Reset::Cold), Input::OsLock { agent: X, locked: false }], true),
        (&power_cycle, true),
        (&[Input::Reset(Reset::Warm)], false),
        (&[Input::Power(Power::Retention), Input::Power(Power::On)], false),
    ] {
        let mut bench = Bench::policy(Policy { unknown: 0xAAAA_AAAA_FFFF_FFFF, ..Policy::default() });
        let written = [Register::EVENTCTL1R, Register::CONFIGR, Register::IMSPEC0, Register::AUXCTLR];
        for register in written {
            assert_eq!(bench.write(S, register, 0x2011), Outcome::Ok);
        }
        bench.write(S, Register::CLAIMSET, 3);
        bench.write(S, Register(0x400), 0x1122_3344_5566_7788);
        resets.iter().for_each(|reset| drop(bench.input(*reset)));
        let expected = if is_reset {
            [0xFFFF_DFFF, 0xFFFF_FFFF, 0xFFFF_FF0F, 0, 0, 0xAAAA_AAAA_FFFF_FFFF]
        } else {
            [0x2011, 0x2011, 0x2011, 0x2011, 3, 0x1122_3344_5566_7788]
        };
        for (register, expected) in
            written.into_iter().chain([Register::CLAIMCLR, Register(0x400)]).zip(expected)
        {
            assert_eq!(bench.read(S, register).0, Some(expected), "{register}, {resets:?}");
        }
        assert_eq!(bench.read(S, Register::PRGCTLR).0, Some(0));
    }
}

/// Spec: ETE-VQWLY-001, ETE-VNNPF-001, ETE-YFRMG-001.
#[test]
fn accesses_of_64_bits() {
    let wide = |access: Access| Access { double: true, ..access };
    let low = Register(0x408);
    for unsupported_size in UnsupportedSize::ALL {
        let policy = Policy {
            unsupported_size: *unsupported_size,
            unknown: 0xAAAA_AAAA_BBBB_BBBB,
            ..Policy::default()
        };
        let mut bench = Bench::policy(policy);
        // Of a register of 64 bits they are supported.
        assert_eq!(bench.access(wide(write(X, low, 0x1111_2222_3333_4444))).outcome, Outcome::Ok);
        assert_eq!(bench.read(X, Register(0x40C)).0, Some(0x1111_2222));
        bench.write(X, Register(0x40C), 0x55);
        bench.write(X, low, 0x66);
        assert_eq!(bench.access(wide(read(X, low))).value, Some(0x55_0000_0066));
        assert_eq!(bench.read(S, low).0, Some(0x55_0000_0066));
        bench.write(S, low, 0x9_0000_0008);
        assert_eq!((bench.read(X, low).0, bench.read(X, Register(0x40C)).0), (Some(8), Some(9)));
        // Of a register of 32 bits they are not.
        bench.write(X, Register::CONFIGR, 0x77);
        let (outcome, kept) = match unsupported_size {
            UnsupportedSize::Unknown => (Outcome::Ok, 0xBBBB_BBBB),
            UnsupportedSize::WriteIgnored => (Outcome::Ok, 0x77),
            UnsupportedSize::Error => (Outcome::Error, 0xBBBB_BBBB),
        };
        let found = bench.access(wide(read(X, Register::CONFIGR)));
        let value = (outcome == Outcome::Ok).then_some(0xAAAA_AAAA_BBBB_BBBB);
        assert_eq!((found.outcome, found.value), (outcome, value));
        assert_eq!(bench.access(wide(write(X, Register::CONFIGR, 1))).outcome, outcome);
        assert_eq!(bench.read(X, Register::CONFIGR).0, Some(kept));
        assert_eq!(bench.access(wide(write(X, Register::PRGCTLR, 1))).outcome, outcome);
        assert_eq!((bench.read(X, Register::PRGCTLR).0, bench.status()), (Some(0), 3));
        // What is refused for another reason writes nothing.
        bench.write(S, Register::CONFIGR, 0x88);
        bench.input(Input::ExternalAccess { etad: 1 });
        assert_eq!(bench.access(wide(write(X, Register::CONFIGR, 1))).outcome, Outcome::Error);
        bench.input(Input::Power(Power::Retention));
        assert_eq!(bench.access(wide(write(X, Register::CONFIGR, 1))).outcome, Outcome::Error);
        bench.input(Input::Power(Power::On));
        assert_eq!(bench.read(S, Register::CONFIGR).0, Some(0x88));
    }
}

/// Values by the fields of the registers, for the default trace unit: four events, 4 address pairs, 8 pairs of
/// selectors, one of each comparator, 4 external inputs, a sequencer, 2 counters, an ATB.
#[test]
fn identification_of_the_default_trace_unit() {
    let mut bench = Bench::new();
    for (name, value) in [
        ("TRCIDR0", 0x2800_0EA1),
        ("TRCIDR1", 0x0000_0FF3),
        ("TRCIDR2", 0x4000_1088),
        ("TRCIDR3", 0x8D7F_0004),
        ("TRCIDR4", 0x1117_0004),
        ("TRCIDR5", 0xA847_09FF),
        ("TRCIDR8", 0),
        ("TRCDEVARCH", 0x4773_5A13),
    ] {
        assert_eq!(bench.read(X, register(name)).0, Some(value), "{name}");
        assert_eq!(bench.read(S, register(name)).0, Some(value), "{name}");
    }
    for (version, architecture) in
        [(Version::Ete1_0, 0x4770_5A13), (Version::Ete1_2, 0x4772_5A13), (Version::Etmv4_5, 0x4775_4A13)]
    {
        let mut bench = Bench::with(Parameters { version, ..Parameters::default() }, Policy::default());
        assert_eq!(bench.read(X, register("TRCDEVARCH")).0, Some(architecture));
    }
}

/// Spec: ETE-RWPFG-001, ETE-RWPFG-002, ETE-HBBDV-001, ETE-RPHPJ-001.
#[test]
fn identification_of_the_output() {
    let field = |parameters: Parameters| {
        let value = Bench::with(parameters, Policy::default()).read(X, Register::IDR5).0.unwrap();
        // OE, ATBTRIG, TRACEIDSIZE.
        (value >> 31 & 1, value >> 22 & 1, value >> 16 & 0x3F)
    };
    let default = Parameters::default;
    assert_eq!(field(default()), (1, 1, 7));
    assert_eq!(field(Parameters { atb: false, trace_id: false, ..default() }), (1, 0, 0));
    let older = Parameters { version: Version::Ete1_1, ..default() };
    assert_eq!(field(older.clone()), (1, 1, 7));
    assert_eq!(field(Parameters { output_enable: false, ..older }), (0, 1, 7));
    let private = Parameters { interfaces: 0, output_enable: false, ..default() };
    assert_eq!(field(private), (0, 0, 7));
    let mut encoder = Encoder::default();
    let wrong = Parameters { output_enable: false, ..default() };
    assert!(encoder.begin(&wrong, &Policy::default()).is_err());
}

/// Spec: ETE-SYN-001, ETE-SYN-002, ETE-DYRZC-001.
#[test]
fn reads_see_what_was_written() {
    let late = Policy { direct_write: DirectWrite::AtSynchronisation, ..Policy::default() };
    let mut bench = Bench::policy(late);
    // Two direct writes: the second counts, and is read without synchronisation.
    bench.write(S, Register::PRGCTLR, 0);
    bench.write(S, Register::PRGCTLR, 1);
    assert_eq!((bench.read(S, Register::PRGCTLR).0, bench.read(X, Register::PRGCTLR).0), (Some(1), Some(0)));
    bench.write(S, Register::PRGCTLR, 0);
    assert_eq!(states(&bench.isb()), []);
    // An external write is read by the next external read, and acts at once.
    let packets = bench.step(Stimulus::Access(write(X, Register::PRGCTLR, 1)));
    assert_eq!(states(&packets), [ProgrammingState::Enabling]);
    assert_eq!(bench.read(X, Register::PRGCTLR).0, Some(1));
}

/// TRCOSLAR of ETMv4 locks; in ETE it is reserved, and the OS Lock is that of the processor.
#[test]
fn locks_of_etmv4() {
    let etm = Parameters { version: Version::Etmv4_4, ..Parameters::default() };
    for agent in [X, Agent::Memory, S] {
        let mut bench = Bench::with(etm.clone(), Policy::default());
        assert_eq!(bench.read(X, Register::OSLSR).0, Some(8));
        assert_eq!(bench.write(agent, Register::OSLAR, 1), Outcome::Ok);
        assert_eq!(bench.read(X, Register::OSLSR).0, Some(0xA));
        assert_eq!(bench.read(agent, Register::CONFIGR).1 == Outcome::Ok, agent == S);
        assert_eq!(bench.write(agent, Register::OSLAR, 0), Outcome::Ok);
        assert_eq!(bench.read(agent, Register::CONFIGR).1, Outcome::Ok);
        // The Software Lock decides nothing here.
        assert_eq!(bench.write(X, Register::LAR, 0xC5AC_CE55), Outcome::Ok);
    }
    let mut bench = Bench::new();
    assert_eq!(bench.write(X, Register::OSLAR, 1), Outcome::Ok);
    assert_eq!(bench.read(X, Register::OSLSR).0, Some(0x10));
    // A System instruction may write it late, and of two such writes the second counts. Spec: ETE-SYN-002.
    let policy = Policy { direct_write: DirectWrite::AtSynchronisation, ..Policy::default() };
    let mut bench = Bench::with(etm, policy);
    bench.input(Input::OsLock { agent: S, locked: false });
    bench.write(S, Register::OSLAR, 1);
    assert_eq!(bench.read(X, Register::OSLSR).0, Some(8));
    bench.isb();
    assert_eq!(bench.read(X, Register::OSLSR).0, Some(0xA));
}

/// In Running, an unpredictable write changes no other register. Spec: ETE-RWYQD-001, ETE-RWYQD-003.
#[test]
fn an_unpredictable_write_is_confined() {
    for choice in UnpredictableWrite::ALL {
        let mut bench =
            Bench::policy(Policy { write_outside_idle: *choice, unknown: 9, ..Policy::default() });
        bench.write(S, Register::CCCTLR, 0x40);
        bench.run();
        bench.write(S, Register::CONFIGR, 0x11);
        bench.write(X, Register::AUXCTLR, 1);
        assert_eq!(bench.read(S, Register::CCCTLR).0, Some(0x40));
        assert_eq!((bench.read(S, Register::PRGCTLR).0, bench.status()), (Some(1), 0));
        bench.enable(0);
        assert_eq!(bench.status(), 0);
        assert_eq!(states(&bench.go()), [ProgrammingState::Stable]);
    }
}
