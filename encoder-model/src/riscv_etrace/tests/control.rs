//! Enabling, filters, triggers, halt and reset, contexts, modes, lost packets.

use crate::riscv_etrace::Encoder;
use traceproof_vectors::riscv_etrace::{
    AddressRange, Block, Cycle, Encapsulation, Filter, Itype, Modes, NormalEncapsulation, Packet, Parameters,
    Policy, QualStatus, ReportedAddress, Retire, Step, Stimulus,
};
use traceproof_vectors::{Address, Encoder as _, Refusal};

use super::bench::{
    enable, encode, exception, hex, idle, instruction, interrupt, packets, path, payloads, retire,
    small_program, transport, untraced,
};

fn start(address: u64) -> Packet {
    Packet::Start { branch: true, privilege: 3, time: None, context: None, address: Address(address) }
}

fn delta(delta: i64) -> Packet {
    let (notify, updiscon, irreport, irdepth) = (false, false, false, 0);
    Packet::Address { address: ReportedAddress::Delta(delta), notify, updiscon, irreport, irdepth, irets: 0 }
}

fn support(ienable: bool, qual_status: QualStatus) -> Packet {
    let (encoder_mode, ioptions, denable, dloss, doptions) = (0, 0, false, false, 0);
    Packet::Support { ienable, encoder_mode, qual_status, ioptions, denable, dloss, doptions }
}

const ENDED: QualStatus = QualStatus::EndedRep;

fn handler(interrupt: bool, ecause: u64, address: u64) -> Packet {
    Packet::Trap {
        branch: true,
        privilege: 3,
        time: None,
        context: None,
        ecause,
        interrupt,
        thaddr: true,
        address: Some(Address(address)),
        tval: (!interrupt).then_some(0),
    }
}

fn early_trap(interrupt: bool, ecause: u64, address: u64) -> Packet {
    Packet::Trap {
        branch: true,
        privilege: 3,
        time: None,
        context: None,
        ecause,
        interrupt,
        thaddr: false,
        address: Some(Address(address)),
        tval: (!interrupt).then_some(0),
    }
}

#[track_caller]
fn check(steps: &[Step], expected: &[Packet]) {
    assert_eq!(packets(&Policy::default(), steps), expected);
}

#[test]
fn disabling_reports_the_final_instruction() {
    let steps =
        [path(&[0x1000, 0x1004]), vec![enable(false)], path(&[0x1008]), vec![enable(true)], path(&[0x2000])];
    let expected = [
        start(0x1000),
        delta(4),
        support(false, ENDED),
        support(true, QualStatus::NoChange),
        start(0x2000),
        support(true, ENDED),
    ];
    check(&steps.concat(), &expected);
    let twice = Policy { support_at_disable: true, ..Policy::default() };
    let expected = [start(0x1000), delta(4), support(true, ENDED), support(false, QualStatus::NoChange)];
    assert_eq!(packets(&twice, &[path(&[0x1000, 0x1004]), vec![enable(false)]].concat()), expected);
    assert_eq!(payloads(&hex("01 4f 01 0f")), [hex("4f"), hex("0f")]);
}

/// RVET-ENC-034, RVET-ENC-013 and RVET-ENC-014: an end that is known early.
#[test]
fn the_end_at_an_updiscon_target_has_two_forms() {
    let steps = [path(&[0x100c, 0x2000]), vec![enable(false)]].concat();
    check(&steps, &[start(0x100c), delta(0xff4), support(false, QualStatus::EndedNtr)]);
    let early = Policy { updiscon_at_end: true, ..Policy::default() };
    let flagged = Packet::Address {
        address: ReportedAddress::Delta(0xff4),
        notify: false,
        updiscon: true,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    assert_eq!(packets(&early, &steps), [start(0x100c), flagged, support(false, ENDED)]);
    let steps = [path(&[0x1000, 0x1004]), vec![enable(false)]].concat();
    assert_eq!(packets(&early, &steps), [start(0x1000), delta(4), support(false, ENDED)]);
}

#[test]
fn switching_to_the_state_in_force_does_nothing() {
    let steps = [vec![enable(true)], path(&[0x1000]), vec![enable(true)], path(&[0x1004])].concat();
    check(&steps, &[start(0x1000), delta(4), support(true, ENDED)]);
}

#[test]
fn nothing_is_traced_while_disabled() {
    let steps = path(&[0x1000, 0x1004]);
    let log = encode(&small_program(), &Parameters::default(), &Policy::default(), &steps);
    assert!(log.entries.is_empty() && log.wire.is_empty());
}

#[test]
fn filters_cut_the_trace() {
    let addresses = vec![
        AddressRange { first: Address(0x1000), last: Address(0x1007) },
        AddressRange { first: Address(0x100c), last: Address(0x2fff) },
    ];
    let policy = Policy { filters: vec![Filter { addresses, ..Filter::default() }], ..Policy::default() };
    let steps = [path(&[0x1000, 0x1004, 0x1008]), path(&[0x100c, 0x2000, 0x2004])].concat();
    let expected = [
        start(0x1000),
        delta(4),
        support(true, ENDED),
        start(0x100c),
        delta(0xff4),
        delta(4),
        support(true, ENDED),
    ];
    assert_eq!(packets(&policy, &steps), expected);
}

/// RVET-ENC-077 and RVET-ENC-084.
#[test]
fn filters_around_traps() {
    let hidden = untraced(exception(2, 0x1008));
    // Only the handler is traced: the trap's packet comes with it.
    check(&[hidden.clone(), path(&[0x3000])].concat(), &[handler(false, 2, 0x3000), support(true, ENDED)]);
    // A traced trap after an untraced one is the first thing traced.
    let steps = [hidden, vec![exception(5, 0x3000), retire(0x3000)]].concat();
    check(&steps, &[early_trap(false, 5, 0x3000), start(0x3000), support(true, ENDED)]);
    // A traced trap whose handler is not traced is not reported.
    let steps = [vec![retire(0x1000), exception(2, 0x1004)], untraced(retire(0x3000))].concat();
    check(&steps, &[start(0x1000), support(true, ENDED)]);
}

#[test]
fn interrupt_first() {
    let steps = [interrupt(7), retire(0x3000)];
    check(&steps, &[handler(true, 7, 0x3000), support(true, ENDED)]);
    let separate = Policy {
        interrupt_report: traceproof_vectors::riscv_etrace::InterruptReport::Separate,
        ..Policy::default()
    };
    let expected = [early_trap(true, 7, 0), start(0x3000), support(true, ENDED)];
    assert_eq!(packets(&separate, &steps), expected);
}

/// RVET-ENC-024, RVET-ENC-025, RVET-ENC-083: two and three traps in a row.
#[test]
fn chains_of_traps() {
    let traps = [exception(2, 0x1004), exception(5, 0x3000), interrupt(7)];
    let steps = [vec![retire(0x1000)], traps.to_vec(), path(&[0x3000])].concat();
    let expected = [
        start(0x1000),
        early_trap(false, 2, 0x3000),
        early_trap(false, 5, 0),
        handler(true, 7, 0x3000),
        support(true, ENDED),
    ];
    check(&steps, &expected);
    // After an updiscon every trap of the chain has its own packet.
    let steps = [path(&[0x1000, 0x100c]), traps.to_vec(), path(&[0x3000])].concat();
    let expected = [
        start(0x1000),
        delta(0xc),
        early_trap(false, 2, 0x1004),
        early_trap(false, 5, 0x3000),
        early_trap(true, 7, 0),
        start(0x3000),
        support(true, ENDED),
    ];
    check(&steps, &expected);
}

#[test]
fn halt_and_reset_cut_the_trace() {
    for cycle in [Cycle { halted: true, ..Cycle::default() }, Cycle { reset: true, ..Cycle::default() }] {
        let steps = [path(&[0x1000, 0x1004]), vec![idle(cycle)], path(&[0x1008, 0x100c])].concat();
        let expected =
            [start(0x1000), delta(4), support(true, ENDED), start(0x1008), delta(4), support(true, ENDED)];
        check(&steps, &expected);
    }
    // A cycle in which nothing happens at all cuts nothing.
    let steps = [path(&[0x1000, 0x1004]), vec![idle(Cycle::default())], path(&[0x1008, 0x100c])].concat();
    check(&steps, &[start(0x1000), delta(0xc), support(true, ENDED)]);
}

/// A `nop` that retires in a cycle with trigger pulses.
fn pulsed(iaddr: u64, trace_on: bool, trace_off: bool) -> Step {
    let block = Block {
        itype: Itype::Nothing,
        iaddr: Address(iaddr),
        iretire: 1,
        ilastsize: 1,
        sijump: false,
        notify: false,
    };
    idle(Cycle { blocks: [block].into(), privilege: 3, trace_on, trace_off, ..Cycle::default() })
}

/// RVET-ENC-048 to 050.
#[test]
fn trigger_pulses() {
    // Off after 0x1004, and on again in the next cycle: nothing happens.
    let steps = [pulsed(0x1000, false, false), pulsed(0x1004, false, true), pulsed(0x1008, true, false)];
    check(&steps, &[start(0x1000), delta(8), support(true, ENDED)]);
    // Off for one cycle.
    let steps = [pulsed(0x1000, false, true), pulsed(0x1004, false, false), pulsed(0x1008, true, false)];
    let expected = [start(0x1000), support(true, ENDED), start(0x1008), support(true, ENDED)];
    check(&steps, &expected);
    // The same with a cycle in which nothing retires.
    let nothing = idle(Cycle::default());
    check(&[pulsed(0x1000, false, true), nothing, pulsed(0x1008, true, false)], &expected);
    // Both at once while off: that cycle only.
    let steps = [
        pulsed(0x1000, false, true),
        pulsed(0x1004, false, false),
        pulsed(0x1008, true, true),
        pulsed(0x100c, false, false),
    ];
    check(&steps, &expected);
}

fn in_context(address: u64, context: u64, ctype: u8) -> Step {
    Step::Retire(Retire { context, ctype, ..instruction(address) })
}

fn context_packets(steps: &[Step]) -> Vec<Packet> {
    let parameters = Parameters { nocontext_p: false, context_width_p: 8, ..Parameters::default() };
    let steps: Vec<Step> = [enable(true)].iter().chain(steps).cloned().collect();
    let log = encode(&small_program(), &parameters, &Policy::default(), &steps);
    log.packets().skip(1).copied().collect()
}

fn start_in(address: u64, context: u64) -> Packet {
    Packet::Start {
        branch: true,
        privilege: 3,
        time: None,
        context: Some(context),
        address: Address(address),
    }
}

/// RVET-ENC-041 to 043.
#[test]
fn context_changes_by_type() {
    let run = |ctype, tail: &[u64]| {
        let head = vec![in_context(0x1000, 1, 0), in_context(0x1004, 1, 0)];
        let changed = vec![in_context(0x1008, 2, ctype)];
        let tail = tail.iter().map(|&address| in_context(address, 2, 0)).collect();
        context_packets(&[head, changed, tail].concat())
    };
    let ended = support(true, ENDED);
    let imprecise = Packet::Context { privilege: 3, time: None, context: Some(2) };
    assert_eq!(run(0, &[0x100c]), [start_in(0x1000, 1), delta(0xc), ended]);
    assert_eq!(run(1, &[0x100c]), [start_in(0x1000, 1), imprecise, delta(0xc), ended]);
    // Precise: no branches, so nothing comes before the new context.
    assert_eq!(run(2, &[0x100c]), [start_in(0x1000, 1), start_in(0x1008, 2), delta(4), ended]);
    // Asynchronous: the last instruction of the old context is reported too.
    assert_eq!(run(3, &[0x100c]), [start_in(0x1000, 1), delta(4), start_in(0x1008, 2), delta(4), ended]);
    // An imprecise change on an instruction that is reported anyway.
    assert_eq!(run(1, &[]), [start_in(0x1000, 1), imprecise, delta(8), ended]);
    // A synchronisation packet carries it.
    assert_eq!(context_packets(&[in_context(0x1000, 2, 1)]), [start_in(0x1000, 2), ended]);
}

/// Each synchronisation packet has the time of the instruction that it reports, a trap before its handler that of
/// the trap.
#[test]
fn times_are_those_of_what_is_reported() {
    let parameters = Parameters { notime_p: false, time_width_p: 8, ..Parameters::default() };
    let at = |address, time| Step::Retire(Retire { time, ..instruction(address) });
    let trap = Step::Trap(traceproof_vectors::riscv_etrace::Trap {
        cause: 2,
        epc: Address(0x1004),
        privilege: 3,
        time: 7,
        ..Default::default()
    });
    let steps = [enable(true), at(0x1000, 5), at(0x100c, 6), trap, at(0x3000, 0x108), at(0x3004, 9)];
    let log = encode(&small_program(), &parameters, &Policy::default(), &steps);
    let times: Vec<Option<u64>> = log
        .packets()
        .filter_map(|packet| match packet {
            Packet::Start { time, .. } | Packet::Trap { time, .. } => Some(*time),
            _ => None,
        })
        .collect();
    assert_eq!(times, [Some(5), Some(7), Some(8)]);
}

/// An updiscon target before a precise context change has the updiscon flag (RVET-ENC-034).
#[test]
fn context_change_after_an_updiscon_target() {
    let steps = [
        in_context(0x1000, 1, 0),
        in_context(0x100c, 1, 0),
        in_context(0x1004, 1, 0),
        in_context(0x1008, 2, 2),
    ];
    let flagged = Packet::Address {
        address: ReportedAddress::Delta(4),
        notify: false,
        updiscon: true,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    let expected = [start_in(0x1000, 1), flagged, start_in(0x1008, 2), support(true, ENDED)];
    assert_eq!(context_packets(&steps), expected);
}

#[test]
fn full_addresses() {
    let parameters =
        Parameters { modes: Modes { full_address: true, ..Modes::default() }, ..Parameters::default() };
    let steps = [vec![enable(true)], path(&[0x1000, 0x100c, 0x2000, 0x2004])].concat();
    let log = encode(&small_program(), &parameters, &Policy::default(), &steps);
    // ioptions 4; 3.0; format 2 with 0x2000: 2 + 0x1000 * 4 = 0x4002 and sign 0; 0x2004: 0x400a; ended_rep.
    let expected = ["1f 04", "73 00 04", "02 40", "0a 40", "5f 04"].map(hex);
    assert_eq!(payloads(&log.wire), expected);
}

/// RVET-ENC-011: the change stands between the packets of the instructions around it, and the base stays.
#[test]
fn changing_the_address_mode() {
    let full = Stimulus::Modes(Modes { full_address: true, ..Modes::default() });
    let steps =
        [path(&[0x1000, 0x100c, 0x1004]), vec![Step::Stimulus(full)], path(&[0x1008, 0x100c, 0x2000])];
    let announced = Packet::Support {
        ienable: true,
        encoder_mode: 0,
        qual_status: QualStatus::NoChange,
        ioptions: 4,
        denable: false,
        dloss: false,
        doptions: 0,
    };
    let ended = Packet::Support {
        ienable: true,
        encoder_mode: 0,
        qual_status: QualStatus::EndedNtr,
        ioptions: 4,
        denable: false,
        dloss: false,
        doptions: 0,
    };
    let absolute = Packet::Address {
        address: ReportedAddress::Full(0x2000),
        notify: false,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    };
    check(&steps.concat(), &[start(0x1000), delta(4), announced, absolute, ended]);
}

#[test]
fn modes_that_the_hardware_lacks_cannot_be_switched_on() {
    let all = Stimulus::Modes(Modes {
        implicit_return: true,
        implicit_exception: true,
        full_address: false,
        jump_target_cache: true,
        branch_prediction: true,
        sijump: true,
    });
    let steps = [path(&[0x1000]), vec![Step::Stimulus(all)], path(&[0x1004])].concat();
    check(&steps, &[start(0x1000), delta(4), support(true, ENDED)]);
}

/// RVET-ENC-010, RVET-ENC-078.
#[test]
fn lost_packets_are_reported_and_tracing_starts_anew() {
    let steps = [
        path(&[0x1000, 0x1004]),
        vec![transport(false)],
        // The packet for 0x2000 is lost.
        path(&[0x1008, 0x100c, 0x2000]),
        vec![transport(true)],
        path(&[0x2004, 0x3000]),
    ];
    let expected = [
        start(0x1000),
        support(true, QualStatus::TraceLost),
        start(0x2004),
        delta(0xffc),
        support(true, ENDED),
    ];
    check(&steps.concat(), &expected);
    // Nothing was due in between, so nothing is reported.
    let steps =
        [path(&[0x1000]), vec![transport(false)], path(&[0x1004]), vec![transport(true)], path(&[0x1008])];
    check(&steps.concat(), &[start(0x1000), delta(8), support(true, ENDED)]);
    // The end is lost.
    check(&[retire(0x1000), transport(false), retire(0x1004)], &[start(0x1000)]);
    // The end is lost, and then the transport is back.
    let steps = [retire(0x1000), transport(false), retire(0x1004), enable(false), transport(true)];
    check(&steps, &[start(0x1000), support(false, QualStatus::TraceLost)]);
}

/// A trap whose first report was lost is reported with its handler.
#[test]
fn losing_the_start_of_a_chain() {
    let steps = [
        path(&[0x1000, 0x100c]),
        vec![transport(false), exception(2, 0x2000), transport(true)],
        path(&[0x3000]),
    ];
    let expected = [
        start(0x1000),
        delta(0xc),
        support(true, QualStatus::TraceLost),
        handler(false, 2, 0x3000),
        support(true, ENDED),
    ];
    check(&steps.concat(), &expected);
}

#[test]
fn refusals_name_the_feature_or_parameter() {
    let begin = |parameters: Parameters| Encoder::default().begin(&parameters, &Policy::default());
    let base = Parameters::default();
    let parameter = |result: Result<(), Refusal>| match result {
        Err(Refusal::Invalid { parameter, .. }) => parameter,
        _ => "",
    };
    // 5 + 3 + 64 + 64 + 6 + 2 + 63 + 64 = 271 bits (ET 7.3).
    let wide = Parameters {
        iaddress_width_p: 64,
        ecause_width_p: 6,
        privilege_width_p: 3,
        nocontext_p: false,
        context_width_p: 64,
        notime_p: false,
        time_width_p: 64,
        ..base.clone()
    };
    assert_eq!(parameter(begin(wide.clone())), "context_width_p");
    // 23 bits less are exactly 248.
    assert_eq!(begin(Parameters { context_width_p: 41, ..wide.clone() }), Ok(()));
    assert_eq!(parameter(begin(Parameters { context_width_p: 42, ..wide.clone() })), "time_width_p");
    assert_eq!(parameter(begin(Parameters { arch_p: 1, ..base.clone() })), "arch_p");
    let modes = |modes| Parameters { modes, ..base.clone() };
    let none = Modes::default();
    assert_eq!(parameter(begin(modes(Modes { implicit_exception: true, ..none }))), "trap_vectors");
    assert_eq!(parameter(begin(modes(Modes { implicit_return: true, ..none }))), "return_stack_size_p");
    assert_eq!(parameter(begin(modes(Modes { branch_prediction: true, ..none }))), "bpred_size_p");
    assert_eq!(parameter(begin(modes(Modes { jump_target_cache: true, ..none }))), "cache_size_p");
    assert_eq!(parameter(begin(modes(Modes { sijump: true, ..none }))), "sijump_p");
    // 248 bits no longer fit beside 4 bits of source.
    let constants = NormalEncapsulation { src_id_bits: 4, ..NormalEncapsulation::default() };
    let encapsulation = Encapsulation::Normal(constants);
    let beside_source = Parameters { context_width_p: 41, encapsulation, ..wide };
    assert_eq!(parameter(begin(beside_source)), "time_width_p");
    let policy = Policy { sync_max: 60, ..Policy::default() };
    assert_eq!(parameter(Encoder::default().begin(&base, &policy)), "sync_max");
}

/// Signals are as wide as the parameters say; what a wider stimulus has beyond that is not there.
#[test]
fn signals_are_cut_to_their_widths() {
    let parameters = Parameters { iaddress_width_p: 16, ..Parameters::default() };
    let block =
        |itype, iaddr, iretire| Block { itype, iaddr, iretire, ilastsize: 1, sijump: false, notify: false };
    let cycle = |block| {
        Stimulus::Cycle(Cycle {
            blocks: [block].into(),
            cause: 0x1f2,
            tval: 0x1_0005,
            privilege: 7,
            ..Cycle::default()
        })
    };
    let mut encoder = Encoder::default();
    encoder.begin(&parameters, &Policy::default()).expect("supported");
    let mut log = traceproof_vectors::Log::default();
    for stimulus in [
        Stimulus::Enable(true),
        cycle(block(Itype::Exception, Address(0x2_1001), 0)),
        cycle(block(Itype::Nothing, Address(0xfff_3001), 1)),
        Stimulus::Enable(false),
    ] {
        encoder.step(&stimulus, &mut log);
    }
    let packets: Vec<Packet> = log.packets().copied().collect();
    let Packet::Trap { ecause, tval, address, privilege, .. } = packets[1] else { panic!("{packets:?}") };
    assert_eq!((ecause, tval, address, privilege), (2, Some(5), Some(Address(0x1000)), 3));
    assert_eq!(packets[2], start(0x3000));
}
