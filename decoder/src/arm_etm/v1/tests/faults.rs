//! What is wrong, where, and what follows it.

use alloc::format;
use alloc::string::String;

use traceproof_vectors::arm_etm::v1::LIMIT;
use traceproof_vectors::arm_etm::{Architecture, Event, Parameters};
use traceproof_vectors::{Decoder as _, Entry, FaultClass, Program};

use super::{BX, Decoder, ENABLED, LDR, MOV, arm, decode, enabled, etm, format_log, summary, wire};

fn straight(text: &str) -> String {
    enabled(&etm(), &arm(&[MOV, MOV, MOV, MOV, MOV, MOV]), text)
}

fn branch(text: &str) -> String {
    enabled(&etm(), &arm(&[MOV, BX, MOV, MOV, MOV]), text)
}

#[test]
fn records_have_a_format() {
    assert_eq!(straight("IE --; ?? --; IE --"), "E5:8000 framing@1:12.4 E7:?");
    let narrow = Parameters { port_width: 4, ..etm() };
    assert_eq!(format_log(&decode(&narrow, &Program::new(), &[0, 0x10])), "framing@0:1.4");
    let mut cut = wire(&etm(), ENABLED);
    cut.push(0);
    assert_eq!(format_log(&decode(&etm(), &Program::new(), &cut)), "sync0:enabled:Arm:8000 truncated@1:10.0");
}

#[test]
fn a_trigger_replaces_a_status() {
    assert_eq!(straight("TR 06; IE --"), "TR5 reserved-encoding@1:11.0 E6:?");
    assert_eq!(straight("TR 07; IE --"), "TR5 contradiction@1:11.0 E6:8000");
    assert_eq!(straight("TR 03; IE --"), "TR5 E6:8000");
}

#[test]
fn td_is_no_apo() {
    let reported = branch("IE --; BE* 08; TD 00; A0 --; IE --");
    assert_eq!(reported, "E5:8000 E6:8004 branch6:Arm:8008 suspicious@2:14.0 E9:8008");
    let reported = branch("IE --; BE* 08; A0 --; TR 07; IE --");
    assert_eq!(reported, "E5:8000 E6:8004 branch6:Arm:8008 TR8 suspicious@2:17.0 E9:8008");
    // A decoder that is not synchronised does not find that address.
    assert_eq!(summary(&etm(), &Program::new(), "BE* 80; TD 00; A0 80"), "E0:? suspicious@0:2.0");
}

#[test]
fn nothing_is_output_with_td_and_tr() {
    assert_eq!(straight("TD* 00; IE --"), "contradiction@1:10.3 E6:8000");
    assert_eq!(straight("TR* 00"), "TR5 contradiction@1:10.3 E5:8000");
}

#[test]
fn data_statuses_need_data_tracing() {
    let none = Parameters { data_value: false, data_address: false, ..etm() };
    let program = arm(&[MOV, MOV, MOV]);
    let reported = enabled(&none, &program, "ID --; BD* 08; A0 --; A0 --; IE --");
    assert_eq!(
        reported,
        "contradiction@1:10.0 E5:8000 contradiction@1:12.0 E6:8004 branch6:Arm:8008 E9:8008"
    );
}

#[test]
fn td_and_wt_say_whether_the_fifo_is_empty() {
    assert_eq!(straight("WT --; WT --; IE --; WT --"), "contradiction@1:10.0 E7:8000 contradiction@1:16.0");
    let addresses = Parameters { data_value: false, ..etm() };
    let text = "ID 84; BE 80; A0 80; A0 80; TD 00; TD 00; WT 04; WT* 08";
    assert_eq!(
        enabled(&addresses, &arm(&[LDR, BX]), text),
        "E5:8000 contradiction@1:18.0 #0@5[0x40000004] E6:8004 branch6:Arm:8008"
    );
}

#[test]
fn the_apo_is_trusted() {
    let reported = branch("IE --; BE* 04; A1 --; A0 --; WT* 08; IE --");
    assert_eq!(reported, "E5:8000 contradiction@1:12.0 E6:? branch6:Arm:8008 E10:8008");
    // An older branch whose address does not come.
    let reported = branch("IE --; TR 04; TR 00; TR 00; TR 00; BE* 08; A0 --; A0 --; IE --");
    assert_eq!(
        reported,
        "E5:8000 TR6 TR7 TR8 TR9 contradiction@1:20.0 E6:8004 E9:? E10:? branch10:Arm:8008 E13:8008"
    );
}

#[test]
fn marks_stand_where_addresses_begin() {
    assert_eq!(straight("IE* 00; IE --"), "E5:8000 framing@1:10.3 E6:?");
    assert_eq!(summary(&etm(), &Program::new(), "BE* 80; A0* 80; A0 82; IE --"), "framing@0:2.3 E0:? E3:?");
    let reported = branch("IE --; BE 08; A0 00; A0* 08; IE --");
    assert_eq!(reported, "E5:8000 contradiction@1:13.0 E6:8004 branch6:Arm:8008 E9:8008");
}

#[test]
fn only_a_restart_cuts_data() {
    let reported = enabled(&etm(), &arm(&[LDR, BX]), "ID 84; BE 80; A0 80; A0* 08");
    assert_eq!(reported, "E5:8000 open5 contradiction@2:17.0 E6:8004 branch6:Arm:8008");
}

#[test]
fn byte_5_has_reserved_codes() {
    let reported = |minor, fifth: &str| {
        let text = format!("BE* 80; A0 80; A0 82; WT 80; WT {fifth}; IE --");
        summary(&Parameters { minor, ..etm() }, &Program::new(), &text)
    };
    for (minor, fifth) in [(3, "50"), (3, "60"), (3, "f0"), (1, "40"), (2, "90"), (0, "80")] {
        assert_eq!(reported(minor, fifth), "reserved-encoding@0:9.0 E0:? E5:?", "{minor} {fifth}");
    }
    assert_eq!(reported(2, "40"), "E0:? sync0:periodic:Arm:8000 E5:8000");
    assert_eq!(reported(3, "b0"), "sync0:debug:Jazelle:8000 E5:j?");
    let reported = enabled(&etm(), &arm(&[LDR, MOV]), "ID 84; 3x WT 80; WT 14; IE --");
    assert_eq!(reported, "E5:8000 contradiction@1:19.0 open5 E10:8004");
}

#[test]
fn data_need_an_instruction_that_transfers() {
    assert_eq!(straight("ID 00; IE --"), "E5:8000 contradiction@1:10.0[8000] open5 E6:8004");
}

#[test]
fn an_indirect_branch_owes_an_address() {
    let reported = branch("IE --; IE --; IE --; IE --; BE* 00; A0 --; A0 --; IE --");
    assert_eq!(reported, "E5:8000 E6:8004 missing-address@1:14.0 E7:? E8:? E9:? branch9:Arm:8000 E12:8000");
}

#[test]
fn code_ends() {
    let reported = enabled(&etm(), &arm(&[MOV]), "IE --; IE --; IE --");
    assert_eq!(reported, "E5:8000 no-code@1:12.0[8004] E6:8004 E7:?");
    assert_eq!(enabled(&etm(), &Program::new(), "IE --; IE --"), "E5:8000 E6:?");
}

#[test]
fn not_every_status_can_wait() {
    let text = format!("{ENABLED}; TR 04; TR 00; TR 00; {LIMIT}x TR 00");
    let log = decode(&etm(), &arm(&[BX]), &wire(&etm(), &text));
    let fault = log.faults().next().expect("a fault");
    // The branch and 1023 others wait; the next one is in record 8 + 1023, and reported like the others.
    assert_eq!((fault.class, fault.place.byte), (FaultClass::Limit, 2 * 1031));
    let events: alloc::vec::Vec<_> = log
        .entries
        .iter()
        .skip_while(|(_, entry)| !matches!(entry, Entry::Fault(_)))
        .filter_map(|(_, entry)| match entry {
            Entry::Event(Event::InstructionAt { cycle, address, .. }) => {
                Some((*cycle, address.map(u32::from)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(events.len(), LIMIT + 1);
    assert_eq!(events[..2], [(5, Some(0x8000)), (8, None)]);
}

#[test]
fn other_architectures_and_impossible_parameters_are_refused() {
    let mut decoder = Decoder::default();
    for parameters in [
        Parameters::default(),
        Parameters { architecture: Architecture::V1, port_width: 3, ..Parameters::default() },
        Parameters { architecture: Architecture::V1, minor: 4, ..Parameters::default() },
    ] {
        assert!(decoder.begin(&parameters, &Program::new()).is_err());
    }
}

#[test]
fn finishing_twice_says_nothing_new() {
    let mut decoder = Decoder::default();
    decoder.begin(&etm(), &arm(&[LDR])).expect("supported");
    let mut log = traceproof_vectors::Log::default();
    let mut capture = wire(&etm(), &format!("{ENABLED}; ID 84; IE 80"));
    capture.push(7);
    decoder.push(&capture, &mut log);
    decoder.finish(&mut log);
    assert_eq!(format_log(&log), "sync0:enabled:Arm:8000 E5:8000 truncated@1:14.0 open5 E6:?");
    let before = log.entries.len();
    decoder.finish(&mut log);
    assert_eq!(log.entries.len(), before);
}
