//! The worked examples of branch addresses, APO and data, on every port.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::v1::AddressReason;
use traceproof_vectors::arm_etm::{CompressedAddress, Packet, Parameters};
use traceproof_vectors::{Address32, Program};

use super::{BX, ENABLED, LDR, MOV, arm, arm_at, decode, enabled, etm, format_log, summary, wire};

fn packets(parameters: &Parameters, program: &Program, text: &str) -> Vec<Packet> {
    decode(parameters, program, &wire(parameters, text)).packets().copied().collect()
}

#[test]
fn a_full_address_has_a_reason_and_a_context_id() {
    let restart = |context_id| Packet::FullBranchAddress {
        address: Address32(0x8125),
        reason: AddressReason::TraceEnabled,
        jazelle: false,
        context_id,
    };
    let text = "BE* a5; A0 82; A0 82; WT 80; WT 10";
    assert_eq!(packets(&etm(), &Program::new(), text), [restart(None)]);
    assert_eq!(summary(&etm(), &Program::new(), text), "sync0:enabled:Thumb:8124");

    let with_context = Parameters { context_id_bytes: 2, ..etm() };
    let text = "BE* a5; A0 82; A0 82; WT 80; WT 10; WT 07; WT 00";
    assert_eq!(packets(&with_context, &Program::new(), text), [restart(Some(7))]);
    assert_eq!(summary(&with_context, &Program::new(), text), "sync0:enabled:Thumb:8124:context=7");
}

#[test]
fn bits_that_are_not_sent_keep_their_value() {
    let mut program = arm_at(0x8124, &[MOV, BX]);
    for section in arm_at(0x9124, &[MOV]).sections() {
        program.insert(section.clone()).expect("no overlap");
    }
    let text = "BE* a4; A0 82; A0 82; WT 80; WT 10; IE --; BE* a4; A0 22; A0 --; IE --";
    let reported = summary(&etm(), &program, text);
    assert_eq!(reported, "sync0:enabled:Arm:8124 E5:8124 E6:8128 branch6:Arm:9124 E9:9124");
    let short = Packet::BranchAddress(CompressedAddress { bits: 0x1124, bytes: 2 });
    assert_eq!(packets(&etm(), &program, text)[1], short);
}

/// LDM of four words; two indirect branches follow it before its data are out.
const TWO_WAIT: &str = "BE* 80; A0 80; A0 82; WT 80; WT 10; \
     ID 80; BE 80; A0 80; A0 80; BE 04; A1 11; A0 00; IE 00; WT 00; \
     WT 22; 3x WT 00; WT 33; 3x WT 00; WT 44; 3x WT 00; WT* 80; WT 02; WT* 80; WT 04; TD 00";

fn two_wait() -> Program {
    let mut program = arm(&[0xe891_003c, BX]);
    for address in [0x8100, 0x8200] {
        for section in arm_at(address, &[BX]).sections() {
            program.insert(section.clone()).expect("no overlap");
        }
    }
    program
}

#[test]
fn apo_passes_over_older_addresses() {
    assert_eq!(
        summary(&etm(), &two_wait(), TWO_WAIT),
        "sync0:enabled:Arm:8000 E5:8000 #0@5[0x40000000]=11 #1@5[0x40000004]=22 #2@5[0x40000008]=33 \
         #3@5[0x4000000c]=44 E6:8004 branch6:Arm:8100 E9:8100 branch9:Arm:8200 E12:8200"
    );
    // A capture that begins at the second branch finds its address, of which only 14 bits are output.
    let late = &wire(&etm(), TWO_WAIT)[18..];
    assert_eq!(format_log(&decode(&etm(), &two_wait(), late)), "E0:? E3:?");
}

#[test]
fn apo_13_selects_the_fourteenth_mark() {
    let text = "BE --; A1 --; A3 --; 13x WT* 02; WT* 80; WT 80; WT 82; WT 80; WT 00; IE --";
    assert_eq!(summary(&etm(), &arm(&[MOV]), text), "E0:? branch0:Arm:8000 E21:8000");
}

#[test]
fn bd_has_data_and_then_an_address() {
    let mut program = arm_at(0x8124, &[LDR, 0xe591_f000]);
    for section in arm_at(0x9124, &[MOV]).sections() {
        program.insert(section.clone()).expect("no overlap");
    }
    let text = "BE* a4; A0 82; A0 82; WT 80; WT 10; ID 84; BD a0; A0 80; A0 80; IE 00; \
         WT 01; 3x WT 00; WT 00; WT 24; WT 91; WT 00; WT 00; WT* a4; WT 22";
    assert_eq!(
        summary(&etm(), &program, text),
        "sync0:enabled:Arm:8124 E5:8124 #0@5[0x1004]=1 E6:8128 #1@6[0x1000]=9124 branch6:Arm:9124 E9:9124"
    );
    let reported = packets(&etm(), &program, text);
    assert_eq!(
        reported[1..],
        [
            Packet::DataAddress(CompressedAddress { bits: 0x1004, bytes: 5 }),
            Packet::DataValue { bytes: 4, value: 1 },
            Packet::DataAddress(CompressedAddress { bits: 0, bytes: 1 }),
            Packet::DataValue { bytes: 4, value: 0x9124 },
            Packet::BranchAddress(CompressedAddress { bits: 0x1124, bytes: 2 }),
        ]
    );
}

#[test]
fn a_4_bit_port_takes_two_records_for_a_byte() {
    let narrow = Parameters { port_width: 4, ..etm() };
    let restart = "BE* 0; A0 8; A0 0; WT 8; WT 2; WT 8; WT 0; WT 8; WT 0; WT 1";
    let text = alloc::format!("{restart}; IE -; TR 4; A0* 8; A0 8; TR 3; WT 2; TD 0; IE 0");
    let reported = summary(&narrow, &arm(&[MOV, BX]), &text);
    // 88 02: 0x8108. TR and TD output nothing, whichever half is next; the branch is not complete before TD.
    assert_eq!(
        reported,
        "sync0:enabled:Arm:8000 E10:8000 TR11 TR14 contradiction@1:32.0 E11:8004 branch11:Arm:8108 \
         no-code@2:34.0[8108] E17:8108"
    );
}

#[test]
fn a_16_bit_port_begins_addresses_on_its_lower_half() {
    let wide = Parameters { port_width: 16, data_value: false, ..etm() };
    let text = "BE* 8080; A0 8082; A0 --10; ID 8084; BE 8080; A0 ff04; A0* 0280; IE ----";
    assert_eq!(
        summary(&wide, &arm(&[LDR, BX]), text),
        "sync0:enabled:Arm:8000 E3:8000 #0@3[0x40000004] E4:8004 branch4:Arm:8100 \
         no-code@3:21.0[8100] E7:8100"
    );
}

#[test]
fn a_trigger_shifts_packets_by_a_record() {
    let text = "IE --; TR 04; TR 00; A0* 80; WT 02; TR 00";
    let reported = enabled(&etm(), &arm(&[MOV, BX]), text);
    assert_eq!(reported, "E5:8000 TR6 TR7 E6:8004 branch6:Arm:8100 TR10 no-code@2:20.0[8100] E10:8100");
    // The APO is on TRACEPKT: one mark is skipped.
    let text = "TR 04; TR 01; A0* 02; WT* 80; WT 80; WT 82; WT 80; WT 00";
    assert_eq!(summary(&etm(), &Program::new(), text), "TR0 TR1 E0:? branch0:Arm:8000");
}

#[test]
fn a_byte_may_leave_in_the_record_of_its_status_or_not() {
    let text = alloc::format!("{ENABLED}; ID 01; WT 11; WT 22; WT 33; TD 00");
    let values = Parameters { data_address: false, ..etm() };
    let reported = |parameters| summary(parameters, &arm(&[LDR]), &text);
    assert_eq!(reported(&values), "sync0:enabled:Arm:8000 E5:8000 #0@5=33221101");
    let late = Parameters { fifo_latency: 1, ..values };
    assert_eq!(reported(&late), "sync0:enabled:Arm:8000 E5:8000 open5");
}
