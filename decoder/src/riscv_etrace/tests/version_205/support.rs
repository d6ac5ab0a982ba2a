//! What standard support packets do.

use traceproof_vectors::riscv_etrace::{
    DataLayout, DataParameters, Encapsulation, Parameters, QualStatus, StandardSupport, TrapVectors,
};
use traceproof_vectors::{Address, Program};

use super::super::{NOP, frame, program};
use super::{announcement, implicit, later, payload, stack, summary};
use crate::riscv_etrace::dissect;

fn code() -> Program {
    program(&[(0x1000, &[NOP; 8])])
}

/// RVET5-DEC-004: the bit is that of the field, and the parameter stays in force.
#[test]
fn contradictions_are_reported_at_their_field() {
    let parameters = Parameters { f0s_width_p: 1, bpred_size_p: 4, cache_size_p: 5, ..stack() };
    let right = StandardSupport { f0s_width: 1, bpred_size: 4, cache_size: 5, ..announcement(&parameters) };
    let after = ["73 00 04", "0a"];
    let decoded =
        |packet: &StandardSupport| summary(&parameters, &code(), &[&payload(packet), after[0], after[1]]);
    assert_eq!(decoded(&right), "P3 1000 1004");
    for (packet, place) in [
        (StandardSupport { iret_ext: false, ..right }, "3.0"),
        (StandardSupport { time_width: 1, ..right }, "3.1"),
        (StandardSupport { f0s_width: 2, ..right }, "3.4"),
        (StandardSupport { return_stack_size: 2, ..right }, "3.6"),
        (StandardSupport { call_counter_size: 9, ..right }, "4.1"),
        (StandardSupport { bpred_size: 0, ..right }, "4.5"),
        (StandardSupport { cache_size: 7, ..right }, "5.0"),
    ] {
        let expected = alloc::format!("contradiction@0:{place} P3 1000 1004");
        assert_eq!(decoded(&packet), expected, "{packet:?}");
    }
    // Without data trace `mmacas_ext` may have any value.
    assert_eq!(decoded(&StandardSupport { mmacas_ext: true, ..right }), "P3 1000 1004");
}

#[test]
fn mmacas_ext_is_compared_where_data_trace_is_followed() {
    for (layout, mmacas_ext) in [(DataLayout::Ratified, true), (DataLayout::MmaCas, false)] {
        let encapsulation = Encapsulation::Siemens(Default::default());
        let data = Some(DataParameters { layout, ..DataParameters::default() });
        let parameters = Parameters { encapsulation, data, ..later() };
        for (mmacas_ext, contradicts) in [(mmacas_ext, true), (!mmacas_ext, false)] {
            let packet = StandardSupport { mmacas_ext, ..announcement(&parameters) };
            // A header byte, source 0 and type 2 in one byte, and the payload.
            let plain = frame(&[&alloc::format!("80 {}", payload(&packet))]);
            let log = super::decode(&parameters, &code(), &plain);
            let places: alloc::vec::Vec<_> =
                log.faults().map(|fault| (fault.place.byte, fault.place.bit)).collect();
            // Bit 37 of the payload, which begins with byte 2.
            assert_eq!(places, if contradicts { &[(6, 5)][..] } else { &[] }, "{layout:?}");
            assert_eq!(dissect(&plain, &parameters).len(), 1);
        }
    }
}

/// RVET5-DEC-002.
#[test]
fn reserved_values_are_refused() {
    let right = announcement(&later());
    for encoder_mode in 1..=3 {
        let wrong = payload(&StandardSupport { encoder_mode, ..right });
        // Until a support packet that can be honoured.
        assert_eq!(
            summary(&later(), &code(), &[&wrong, "73 00 04", "1f", "73 00 04", "0a"]),
            "unsupported-mode@0:1.5 P3 1000 1004"
        );
    }
    for time_width in 5..=7 {
        let wrong = payload(&StandardSupport { time_width, ..right });
        assert_eq!(
            summary(&later(), &code(), &["73 00 04", &wrong, "0a", "73 00 04"]),
            "P3 1000 reserved-encoding@1:7.1 not-synchronised@2:12.0 P3 1000"
        );
    }
}

/// A mode that the parameters have nothing for: at its own bit.
#[test]
fn modes_need_their_hardware() {
    let right = announcement(&later());
    for (packet, place) in [
        (StandardSupport { sijump: true, ..right }, "2.1"),
        (StandardSupport { implicit_return: true, ..right }, "2.2"),
        (StandardSupport { branch_predictor: true, ..right }, "2.3"),
        (StandardSupport { jump_target_cache: true, ..right }, "2.4"),
        (StandardSupport { implicit_except: true, ..right }, "2.5"),
    ] {
        let expected = alloc::format!("unsupported-mode@0:{place}");
        assert_eq!(summary(&later(), &code(), &[&payload(&packet), "73 00 04"]), expected);
    }
}

/// Each mode is switched on by its own bit: what follows can be read in no other mode.
#[test]
fn modes_are_switched_on() {
    let full = StandardSupport { full_iaddress: true, ..announcement(&later()) };
    // An address of 0x1008 that is no difference.
    assert_eq!(summary(&later(), &code(), &[&payload(&full), "73 00 04", "12 20"]), "P3 1000 1004 1008");
    let vectors = Some(TrapVectors { base: Address(0x1010), vectored: false });
    let handlers = Parameters { trap_vectors: vectors, ..later() };
    let implicit = StandardSupport { implicit_except: true, ..announcement(&handlers) };
    // Format 3.1: branch 1, privilege 3, cause 7, an interrupt, thaddr, and nothing else.
    let interrupt = super::pack(&[(3, 2), (1, 2), (1, 1), (3, 2), (7, 4), (1, 1), (1, 1)]);
    assert_eq!(
        summary(&handlers, &code(), &[&payload(&implicit), "73 00 04", &interrupt]),
        "P3 1000 I7 P3 1010"
    );
}

/// RVET5-ENC-015 and the reading `resync-disabled-keeps-state`.
#[test]
fn synchronisation_packets_keep_the_stack_where_parameters_say_so() {
    // A call at 0x1000 to 0x2000: jal x1, .+0x1000; the function is a nop and a return.
    let code = program(&[(0x1000, &[0x0000_10ef, NOP, NOP]), (0x2000, &[NOP, super::super::RET])]);
    let keeps = Parameters { resync_disabled_keeps_state: true, ..implicit() };
    let disabled = StandardSupport { resync_disabled: true, ..announcement(&implicit()) };
    let enabled = announcement(&implicit());
    // From 0x2000 to 0x1008, without `irreport`: a difference of -0xff8.
    let back = super::pack(&[(2, 2), ((-0xff8_i64 as u64) >> 1, 31), (7, 3), (0xff, 8)]);
    let decoded =
        |parameters, packet| summary(parameters, &code, &[&payload(packet), "73 00 04", "73 00 08", &back]);
    assert_eq!(decoded(&keeps, &disabled), "P3 1000 P3 2000 2004 1004 1008");
    assert_eq!(decoded(&keeps, &enabled), "P3 1000 P3 2000 2004 1008");
    assert_eq!(decoded(&implicit(), &disabled), "P3 1000 P3 2000 2004 1008");
    // An interrupt at the call, and back: the call has retired. 0x3000 is the handler.
    let code = program(&[
        (0x1000, &[0x0000_10ef, NOP, NOP]),
        (0x2000, &[NOP, super::super::RET]),
        (0x3000, &[super::super::MRET]),
    ]);
    // Format 3.1 for the handler: cause 7, interrupt.
    let interrupt = super::pack(&[(3, 2), (1, 2), (1, 1), (3, 2), (7, 4), (1, 1), (1, 1), (0x3000 >> 1, 31)]);
    let returned = super::pack(&[(3, 2), (0, 2), (1, 1), (3, 2), (0x2000 >> 1, 31)]);
    let payloads = [&payload(&disabled), "73 00 04", &interrupt, &returned, &back];
    assert_eq!(summary(&keeps, &code, &payloads), "P3 1000 I7 P3 3000 P3 2000 2004 1004 1008");
    // A new trace starts over.
    let ended = StandardSupport { qual_status: QualStatus::EndedNtr, ..disabled };
    let payloads = [&payload(&disabled), "73 00 04", &payload(&ended), "73 00 08", &back];
    assert_eq!(summary(&keeps, &code, &payloads), "P3 1000 end P3 2000 2004 1008");
}
