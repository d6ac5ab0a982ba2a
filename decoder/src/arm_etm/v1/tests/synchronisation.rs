//! What is known of addresses, and when.

use traceproof_vectors::arm_etm::Parameters;
use traceproof_vectors::{Program, Section};

use super::{BX, MOV, arm, enabled, etm, summary};

#[test]
fn before_the_first_full_address_statuses_only_count() {
    let text = "IE --; IN --; ID --; BE* 04; A0 --; A0 --; IE --; BE* 80; A0 80; A0 82; WT 80; WT 00; IE --";
    let reported = summary(&etm(), &arm(&[MOV]), text);
    assert_eq!(reported, "E0:? N1:? E2:? E3:? E6:? E7:? branch7:Arm:8000 E12:8000");
}

#[test]
fn code_is_gone_over() {
    // nop; beq 0x800c; nop; b 0x8000
    let program = arm(&[MOV, 0x0a00_0000, MOV, 0xeaff_fffb]);
    let reported = enabled(&etm(), &program, "IE --; IE --; IE --; IE --; IN --; IE --");
    assert_eq!(reported, "E5:8000 E6:8004 E7:800c E8:8000 N9:8004 E10:8008");
}

#[test]
fn thumb_bl_is_two_instructions() {
    let halves = [0xf000_u16, 0xf802, 0x46c0, 0x46c0, 0x46c0];
    let bytes = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    let mut program = Program::new();
    program.insert(Section::new(0x8100, bytes, "bl")).expect("no overlap");
    let text = "BE* 81; A0 82; A0 82; WT 80; WT 10; IE --; IE --; IE --";
    let reported = summary(&etm(), &program, text);
    assert_eq!(reported, "sync0:enabled:Thumb:8100 E5:t8100 E6:t8102 E7:t8108");
}

#[test]
fn a_branch_may_change_state_in_one_packet() {
    let reported = enabled(&etm(), &arm(&[BX]), "BE* 05; A0 --; A0 --; IE --");
    assert_eq!(reported, "E5:8000 branch5:Thumb:8004 no-code@2:16.0[8004] E8:t8004");
}

#[test]
fn java_state_has_no_addresses_of_instructions() {
    let java = Parameters { minor: 3, ..etm() };
    let text = "BE* 81; A0 80; A0 82; WT 80; WT 90; IE --; BE* 03; A0 --; A0 --; IE --";
    let reported = summary(&java, &arm(&[MOV]), text);
    assert_eq!(reported, "sync0:enabled:Jazelle:8001 E5:j? E6:j? branch6:Jazelle:8003 E9:j?");
}

#[test]
fn a_periodic_address_is_a_branch_with_context_id() {
    let parameters = Parameters { context_id_bytes: 1, ..etm() };
    let text = "BE* 80; A0 80; A0 82; WT 80; WT 10; WT 01; BE* 84; A0 80; A0 82; WT 80; WT 40; WT 2a; IE --";
    let reported = summary(&parameters, &arm(&[BX, MOV]), text);
    assert_eq!(
        reported,
        "sync0:enabled:Arm:8000:context=1 E6:8000 sync6:periodic:Arm:8004:context=2a E12:8004"
    );
}

#[test]
fn context_ids_came_with_version_2() {
    let parameters = Parameters { minor: 1, context_id_bytes: 4, ..etm() };
    assert_eq!(enabled(&parameters, &arm(&[MOV]), "IE --"), "E5:8000");
}

#[test]
fn a_branch_in_an_apo_record_abandons_the_one_before() {
    let reported = enabled(&etm(), &arm(&[MOV, BX]), "IE --; BE* 08; BE* 10; A0 --; A0 --; IE --");
    assert_eq!(reported, "E5:8000 E6:8004 E7:? branch7:Arm:8010 no-code@3:20.0[8010] E10:8010");
    // In the second one; a trigger hides it.
    let reported = enabled(&etm(), &arm(&[MOV, BX]), "IE --; BE* 08; A0 --; TR 04; A0* 10; A0 --");
    assert_eq!(reported, "E5:8000 E6:8004 TR8 E8:? branch8:Arm:8010");
}

#[test]
fn a_speculative_restart_is_dropped() {
    let text = "TD 00; BE* 80; BE 80; A0 82; A0 80; WT 20; WT* 84; WT 80; WT 82; WT 80; WT 20; IE --";
    assert_eq!(enabled(&etm(), &arm(&[MOV, MOV]), text), "sync7:overflow:Arm:8004 E16:8004");
}

#[test]
fn an_abandoned_context_id_is_reported() {
    let parameters = Parameters { context_id_bytes: 1, ..etm() };
    let text = "BE* 80; A0 80; A0 82; WT 80; WT 10; WT 01; \
         BE* 84; BE 80; A0 82; A0 80; WT 40; WT 2a; WT* 00; IE --";
    let reported = summary(&parameters, &arm(&[BX]), text);
    assert_eq!(
        reported,
        "sync0:enabled:Arm:8000:context=1 E6:8000 context6:2a E7:? branch7:Arm:8000 E13:8000"
    );
}

#[test]
fn an_offset_that_does_not_fit_leaves_the_target_unknown() {
    let text = "BE* 04; A3 --; A3 --; IE --; BE* 00; A0 --; A0 --; IE --; \
         BE* 80; A0 80; A0 82; WT 80; WT 00; IE --";
    let reported = enabled(&etm(), &arm(&[BX]), text);
    assert_eq!(reported, "E5:8000 E8:? E9:? E12:? E13:? branch13:Arm:8000 E18:8000");
}

#[test]
fn at_the_end_what_waits_is_reported() {
    assert_eq!(summary(&etm(), &arm(&[MOV]), "BE* 80; A0 80; A0 82; IE 80"), "E0:? open0 E3:?");
    assert_eq!(enabled(&etm(), &arm(&[BX]), "BE* 80; A0 80; A0 80; IN 80"), "E5:8000 open5 N8:?");
    assert_eq!(enabled(&etm(), &arm(&[super::LDR]), "ID 84; IE --"), "E5:8000 open5 E6:?");
}
