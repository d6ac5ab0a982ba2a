//! Data packets, whose lengths follow from the code.

use traceproof_vectors::arm_etm::Parameters;

use super::{BX, LDR, MOV, arm, enabled, etm};

/// Values only.
fn values() -> Parameters {
    Parameters { data_address: false, ..etm() }
}

#[test]
fn sizes_are_those_of_the_access() {
    // ldrb; strh; ldm of two; ldr
    let program = arm(&[0xe5d1_0000, 0xe1c1_00b0, 0xe891_0003, LDR]);
    let text = "ID ab; ID 34; ID 12; ID 01; 3x WT 00; WT 02; 3x WT 00; WT ef; WT be; WT ad; WT de";
    assert_eq!(
        enabled(&values(), &program, text),
        "E5:8000 #0@5=ab E6:8004 #1@6=1234 E7:8008 #2@7=1 #3@7=2 E8:800c #4@8=deadbeef"
    );
}

#[test]
fn a_swap_is_two_transfers_at_one_address() {
    let program = arm(&[0xe101_2090]);
    let text = "ID 84; 3x WT 80; WT 04; WT 01; 3x WT 00; WT 02; 3x WT 00";
    assert_eq!(enabled(&etm(), &program, text), "E5:8000 #0@5[0x40000004]=1 #1@5[0x40000004]=2");
}

#[test]
fn coprocessor_transfers_have_no_address() {
    let program = arm(&[0xee10_1f10, LDR]);
    let monitored = Parameters { monitor_cprt: true, ..etm() };
    let text = "ID 07; 3x WT 00; ID 10; WT 05; 3x WT 00";
    let reported = enabled(&monitored, &program, text);
    assert_eq!(reported, "E5:8000 #0@5=7 E9:8004 #1@9[0x10/0x7f]=5");
    assert_eq!(enabled(&etm(), &program, "ID 07; 3x WT 00"), "E5:8000 contradiction@1:10.0[8000] open5");
}

#[test]
fn addresses_alone_need_no_code() {
    let addresses = Parameters { data_value: false, ..etm() };
    let reported = enabled(&addresses, &traceproof_vectors::Program::new(), "ID 84; WT a0; WT 00; ID 08");
    assert_eq!(reported, "E5:8000 #0@5[0x1004/0x1fffff] E8:? #1@8[0x1008/0x1fffff]");
}

#[test]
fn a_restart_forgets_data_addresses() {
    let text = "ID 84; 3x WT 80; WT 04; 4x WT 00; TD 00; BE* 80; A0 80; A0 82; WT 80; WT 10; ID 04; 4x WT 00";
    let reported = enabled(&etm(), &arm(&[LDR]), text);
    assert_eq!(reported, "E5:8000 #0@5[0x40000004]=0 sync15:enabled:Arm:8000 E20:8000 #1@20[0x4/0x7f]=0");
}

#[test]
fn code_that_is_not_there_hides_data_up_to_the_next_mark() {
    let text = "BE* 05; A0 --; A0 --; ID 12; ID 34; WT* 00; TD 00";
    // Nothing is due there.
    let reported = enabled(&values(), &arm(&[BX]), text);
    assert_eq!(
        reported,
        "E5:8000 branch5:Thumb:8004 no-code@2:16.0[8004] E8:t8004 open8 E9:? open9 framing@2:20.3"
    );
    let text = "BE* 05; A0 --; A0 --; ID 12; BE 34; A0* 00; A0 --; IE --";
    let reported = enabled(&values(), &arm(&[BX]), text);
    assert_eq!(
        reported,
        "E5:8000 branch5:Thumb:8004 no-code@2:16.0[8004] E8:t8004 open8 E9:? branch9:Arm:8000 E12:8000"
    );
}

#[test]
fn without_any_program_data_are_given_up() {
    let reported =
        enabled(&values(), &traceproof_vectors::Program::new(), "ID 12; BD 34; A0* 04; A0 --; IE --");
    assert_eq!(reported, "E5:8000 no-code@1:10.0[8000] open5 E6:? open6 branch6:Arm:8004 E9:8004");
}

#[test]
fn ldc_does_not_tell_how_much_it_transfers() {
    let reported = enabled(&values(), &arm(&[0xed91_0100, MOV]), "ID 12; IE 34");
    assert_eq!(reported, "E5:8000 no-code@1:10.0[8000] open5 E6:8004");
}

#[test]
fn an_overflow_cuts_data() {
    let text = "ID 84; WT 80; WT 80; TD 00; BE* 80; A0 80; A0 82; WT 80; WT 20; IE --";
    let reported = enabled(&etm(), &arm(&[LDR]), text);
    assert_eq!(reported, "E5:8000 open5 sync9:overflow:Arm:8000 E14:8000");
    // Values that were output are reported.
    let text = "ID 01; 3x WT 00; WT 02; TD 00; BE* 80; A0 80; A0 82; WT 80; WT 20; IE --";
    let reported = enabled(&values(), &arm(&[0xe891_0003]), text);
    assert_eq!(reported, "E5:8000 #0@5=1 open5 sync11:overflow:Arm:8000 E16:8000");
}
