//! Requests as a user makes them, against values worked out by hand from the fields of the registers.

use alloc::vec;
use alloc::vec::Vec;

use traceproof_vectors::arm_ete::Version;
use traceproof_vectors::arm_ete_unit::{Parameters, Register};

use super::*;

mod procedure;
mod read_back;

const RANGE: AddressRange = AddressRange { start: 0x40_0000, end: 0x40_1000 };

/// A trace unit with a pair of address comparators and no other resource.
fn small() -> Parameters {
    Parameters {
        stall_control: false,
        address_pairs: 1,
        resource_pairs: 1,
        single_shot: 0,
        context_ids: 0,
        vmids: 0,
        external_inputs: 0,
        sequencer: false,
        counters: 0,
        ..Parameters::default()
    }
}

/// This range at EL0 with cycle counts and context.
fn request() -> TraceRequest {
    TraceRequest {
        ranges: vec![RANGE],
        cycle_counts: Some(0x100),
        context_id: true,
        ..TraceRequest::default()
    }
}

fn values(request: &TraceRequest, parameters: &Parameters) -> Vec<(Register, u64)> {
    let settings = request.settings(parameters).unwrap();
    settings.iter().map(|setting| (setting.register, setting.value)).collect()
}

fn value(request: &TraceRequest, parameters: &Parameters, register: Register) -> u64 {
    let found: Vec<_> =
        values(request, parameters).into_iter().filter(|(other, _)| *other == register).collect();
    assert_eq!(found.len(), 1, "{register} is written once");
    found[0].1
}

#[test]
fn a_range_at_el0_with_cycle_counts_and_context() {
    let names: Vec<_> = values(&request(), &small())
        .into_iter()
        .map(|(register, value)| alloc::format!("{register}={value:x}"))
        .collect();
    let expected = [
        // 1, CCI, CID, RS.
        "TRCCONFIGR=1051",
        "TRCAUXCTLR=0",
        "TRCEVENTCTL0R=0",
        "TRCEVENTCTL1R=2000",
        "TRCTSCTLR=0",
        "TRCSYNCPR=c",
        "TRCCCCTLR=100",
        "TRCBBCTLR=0",
        "TRCTRACEIDR=10",
        // Secure EL1 to EL3 and Non-secure EL1 and EL2 are filtered.
        "TRCVICTLR=6e0201",
        "TRCVIIECTLR=1",
        "TRCVISSCTLR=0",
        "TRCACVR0=400000",
        "TRCACATR0=0",
        "TRCACVR1=400ffc",
        "TRCACATR1=0",
        "TRCRSR=1000",
    ];
    assert_eq!(names, expected);
}

/// The minimal values of the architecture's examples; VMIDOPT is RES1 in ETE.
#[test]
fn the_values_of_the_examples() {
    let request = TraceRequest {
        levels: Levels { secure: 0, non_secure: 1, realm: 1 },
        virtual_context_id: true,
        timestamps: true,
        context_id: true,
        output: Output::TraceBuffer,
        ..TraceRequest::default()
    };
    let realms = Parameters { realms: true, ..Parameters::default() };
    for (register, expected) in [
        (Register::CONFIGR, 0x98C1),
        (Register::EVENTCTL0R, 0),
        (Register::EVENTCTL1R, 0),
        (Register::STALLCTLR, 0),
        (Register::SYNCPR, 0xC),
        (Register::TSCTLR, 0),
        (Register::VICTLR, 0x6F_0201),
        (Register::VIIECTLR, 0),
        (Register::VISSCTLR, 0),
    ] {
        assert_eq!(value(&request, &realms, register), expected, "{register}");
    }
    let etm = Parameters { version: Version::Etmv4_3, ..Parameters::default() };
    assert_eq!(value(&request, &etm, Register::CONFIGR), 0x18C1);
}

#[test]
fn fields_of_the_other_registers() {
    let unit = Parameters { realms: true, ..Parameters::default() };
    let default = TraceRequest::default;
    let levels = |secure, non_secure, realm| TraceRequest {
        levels: Levels { secure, non_secure, realm },
        ..default()
    };
    for (request, register, expected) in [
        (levels(0xF, 7, 7), Register::VICTLR, 0x0000_0201),
        // Realm state is filtered where its bit and that of Non-secure state differ.
        (levels(8, 0, 7), Register::VICTLR, 0x0777_0201),
        (levels(8, 7, 0), Register::VICTLR, 0x0707_0201),
        (levels(1, 3, 5), Register::VICTLR, 0x064E_0201),
        (TraceRequest { resets: true, ..levels(0, 1, 1) }, Register::VICTLR, 0x006F_0601),
        (TraceRequest { system_errors: true, ..levels(0, 1, 1) }, Register::VICTLR, 0x006F_0A01),
        (TraceRequest { branch_broadcast: true, return_stack: false, ..default() }, Register::CONFIGR, 9),
        (TraceRequest { output: Output::TraceBuffer, ..default() }, Register::EVENTCTL1R, 0),
        (
            TraceRequest { stall: Some(Stall { level: 12, no_overflow: true }), ..default() },
            Register::STALLCTLR,
            0x210C,
        ),
        (
            TraceRequest { stall: Some(Stall { level: 4, no_overflow: false }), ..default() },
            Register::STALLCTLR,
            0x104,
        ),
        (TraceRequest { sync_period: 0, ..default() }, Register::SYNCPR, 0),
        (TraceRequest { trace_id: 0x6F, ..default() }, Register::TRACEIDR, 0x6F),
    ] {
        assert_eq!(value(&request, &unit, register), expected, "{register}, {request:?}");
    }
    // Without FEAT_RME nothing is said about Realm state; T32 ends 2 bytes before the end.
    assert_eq!(value(&levels(8, 7, 0), &Parameters::default(), Register::VICTLR), 0x0007_0201);
    let thumb = TraceRequest {
        ranges: vec![
            AddressRange { start: 2, end: 6 },
            AddressRange { start: 0xFFFF_FFFF_FFFF_0000, end: u64::MAX - 1 },
        ],
        thumb: true,
        ..default()
    };
    assert_eq!(value(&thumb, &unit, Register::VIIECTLR), 3);
    assert_eq!(value(&thumb, &unit, Register(0x408)), 4);
    assert_eq!(value(&thumb, &unit, Register(0x410)), 0xFFFF_FFFF_FFFF_0000);
    assert_eq!(value(&thumb, &unit, Register(0x418)), u64::MAX - 3);
}

/// Every register that programs the unit is written once, in the order in which drivers write them.
#[test]
fn nothing_is_left_over() {
    for parameters in [
        Parameters::default(),
        small(),
        Parameters { q_filter: true, instrumentation: true, pe_comparators: 2, ..Parameters::default() },
        Parameters { address_pairs: 8, context_ids: 8, vmids: 8, counters: 4, ..Parameters::default() },
    ] {
        let mut written: Vec<_> =
            values(&request(), &parameters).into_iter().map(|(register, _)| register).collect();
        written.sort_unstable();
        let kept = ["TRCIMSPEC", "TRCITCTRL", "TRCPDCR"];
        let expected: Vec<_> = Register::named()
            .filter(|register| register.is_programming(&parameters))
            .filter(|register| !kept.iter().any(|name| alloc::format!("{register}").starts_with(name)))
            .collect();
        assert_eq!(written, expected);
    }
    let order: Vec<_> = values(&request(), &Parameters { context_ids: 2, vmids: 1, ..Parameters::default() })
        .into_iter()
        .map(|(register, _)| alloc::format!("{register}"))
        .collect();
    let expected = [
        "TRCCONFIGR",
        "TRCEVENTCTL1R",
        "TRCSTALLCTLR",
        "TRCTRACEIDR",
        "TRCVICTLR",
        "TRCVISSCTLR",
        "TRCSEQEVR0",
        "TRCSEQRSTEVR",
        "TRCSEQSTR",
        "TRCEXTINSELR0",
        "TRCCNTRLDVR0",
        "TRCCNTCTLR0",
        "TRCCNTVR0",
        "TRCCNTRLDVR1",
        "TRCRSCTLR2",
        "TRCSSCCR0",
        "TRCSSCSR0",
        "TRCACVR0",
        "TRCACATR0",
        "TRCACVR1",
        "TRCCIDCVR0",
        "TRCCIDCVR1",
        "TRCCIDCCTLR0",
        "TRCVMIDCVR0",
        "TRCVMIDCCTLR0",
        "TRCRSR",
    ];
    let found: Vec<_> = order.iter().filter(|name| expected.contains(&name.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn what_cannot_be_traced_is_refused() {
    use SettingsRefusal as Refusal;
    let (default, unit) = (TraceRequest::default, Parameters::default);
    let ranges = |start, end| TraceRequest { ranges: vec![RANGE, AddressRange { start, end }], ..default() };
    let stall = |level, no_overflow| TraceRequest { stall: Some(Stall { level, no_overflow }), ..default() };
    let levels = |secure, non_secure, realm| TraceRequest {
        levels: Levels { secure, non_secure, realm },
        ..default()
    };
    let counts = |threshold| TraceRequest { cycle_counts: Some(threshold), ..default() };
    let trace_buffer = TraceRequest { output: Output::TraceBuffer, ..default() };
    let no_interface = Parameters { interfaces: 0, output_enable: false, ..unit() };
    for (request, parameters, refusal) in [
        (ranges(8, 8), unit(), Refusal::EmptyRange(1)),
        (ranges(8, 4), unit(), Refusal::EmptyRange(1)),
        (ranges(2, 8), unit(), Refusal::UnalignedRange(1)),
        (ranges(4, 10), unit(), Refusal::UnalignedRange(1)),
        (TraceRequest { thumb: true, ..ranges(3, 8) }, unit(), Refusal::UnalignedRange(1)),
        (ranges(0x1_0000_0000_0000, 0x200_0000_0000_0000), unit(), Refusal::NoAddress(1)),
        (ranges(0x100_0000_0000_0000, 0x100_0000_0000_0004), unit(), Refusal::NoAddress(1)),
        (ranges(4, 8), Parameters { address_pairs: 1, ..unit() }, Refusal::TooManyRanges { pairs: 1 }),
        (levels(0, 0, 1), unit(), Refusal::Levels),
        (levels(16, 0, 0), unit(), Refusal::Levels),
        (levels(1, 8, 0), unit(), Refusal::Levels),
        (counts(3), unit(), Refusal::Threshold(3)),
        (counts(0x1000), unit(), Refusal::Threshold(0x1000)),
        (TraceRequest { least_threshold: 0, ..counts(0) }, unit(), Refusal::Threshold(0)),
        (TraceRequest { sync_period: 7, ..default() }, unit(), Refusal::SyncPeriod(7)),
        (TraceRequest { sync_period: 21, ..default() }, unit(), Refusal::SyncPeriod(21)),
        (TraceRequest { trace_id: 0, ..default() }, unit(), Refusal::TraceId(0)),
        (TraceRequest { trace_id: 0x70, ..default() }, unit(), Refusal::TraceId(0x70)),
        (stall(16, false), unit(), Refusal::Stall),
        (stall(4, true), Parameters { no_overflow: false, ..unit() }, Refusal::Stall),
        (stall(4, false), Parameters { system_stall: false, ..unit() }, Refusal::Stall),
        (stall(4, false), Parameters { stall_control: false, ..unit() }, Refusal::Stall),
        (default(), no_interface, Refusal::Output(Output::Interfaces)),
        (
            trace_buffer.clone(),
            Parameters { trace_buffer: false, ..unit() },
            Refusal::Output(Output::TraceBuffer),
        ),
        (trace_buffer, Parameters { self_hosted: false, ..unit() }, Refusal::Output(Output::TraceBuffer)),
        (default(), Parameters { events: 0, ..unit() }, Refusal::Parameters("events")),
    ] {
        assert_eq!(request.settings(&parameters), Err(refusal), "{request:?}");
    }
    assert!(counts(4).settings(&unit()).is_ok() && counts(0xFFF).settings(&unit()).is_ok());
    assert!(levels(0, 0, 1).settings(&Parameters { realms: true, ..unit() }).is_ok());
    assert!(ranges(0xFFFF_FFFF_FFFF_FFF0, 0xFFFF_FFFF_FFFF_FFFC).settings(&unit()).is_ok());
}
