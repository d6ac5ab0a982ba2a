//! Statuses, triggers, and which lanes of TRACEPKT carry what.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::Parameters;
use traceproof_vectors::arm_etm::v2::Pipestat;

use super::{ENABLED, cycle, decode, format_log, play, port, summary};

#[test]
fn statuses_tell_instructions_and_phantoms_come_first() {
    assert_eq!(
        summary(
            &Parameters::default(),
            &alloc::format!("TFO {ENABLED}; IE; IN; WT; PT_IE; PT_IN; PN_IE; PN_IN; TD")
        ),
        "E1 N2 PT4 E4 PT5 N5 sync0:enabled:Arm:8000 PN6 E6 PN7 N7"
    );
    let with_data = "DE 02; DN 02; DW 02; PT_DE 02; PT_DN 02; PN_DE 02; PN_DN 02";
    assert_eq!(
        summary(&Parameters::default(), &alloc::format!("TFO {ENABLED}; drain; {with_data}")),
        "sync0:enabled:Arm:8000 E6 #0@6=0 N7 #1@7=0 #2@8=0 PT9 E9 #3@9=0 PT10 N10 #4@10=0 PN11 E11 #5@11=0 \
         PN12 N12 #6@12=0"
    );
}

#[test]
fn a_trigger_hides_a_status_and_stops_the_fifo() {
    let default = Parameters::default();
    // Before synchronisation too; with data; on an idle cycle, where the hidden status is WT.
    assert_eq!(
        summary(&default, &alloc::format!("TR IE; TFO {ENABLED}; IE; TR DE 6a; TR WT; drain; TR WT; IE")),
        "TR0 E2 TR3 E3 TR4 sync1:enabled:Arm:8000 #0@3=vnt TR10 E11"
    );
}

#[test]
fn a_trigger_that_hides_a_tfo_delays_its_value() {
    // On a 4-bit port: value, gap, value, ten halves.
    for (width, next) in [(4, 14), (8, 7), (16, 5)] {
        let script = alloc::format!("TR TFO {ENABLED}; IE; drain; TR IE; IE");
        assert_eq!(
            summary(&port(width), &script),
            alloc::format!("TR0 E1 sync0:enabled:Arm:8000 TR{next} E{next} E{}", next + 1)
        );
    }
    // After pending bytes.
    assert_eq!(
        summary(
            &port(8),
            &alloc::format!("TFO {ENABLED}; drain; DE 26 04 02; TR TFO 40 00 90 00 00; DE 6a; drain")
        ),
        "sync0:enabled:Arm:8000 E6 TR7 E8 #0@6[0x4/0x7f]=2 sync7:overflow:Arm:9000 #1@8=vnt"
    );
}

#[test]
fn on_a_narrow_port_a_trigger_waits_for_no_tfo_value() {
    // In the gap, and instead of the second part.
    for script in [
        alloc::format!("TFO {ENABLED}; TR IE; IE; IE; drain; IE"),
        alloc::format!("TFO {ENABLED}; IE; TR IE; IE; drain; IE"),
    ] {
        let parameters = port(4);
        let wire = play(&parameters, &script);
        let trigger = if script.contains("; TR IE; IE; IE") { 1 } else { 2 };
        let mut words = Vec::from([alloc::string::String::from("E1"), "E2".into(), "E3".into()]);
        words.insert(trigger - 1, alloc::format!("TR{trigger}"));
        let expected = alloc::format!("{} sync0:enabled:Arm:8000 E14", words.join(" "));
        assert_eq!(format_log(&decode(&parameters, &wire)), expected);
    }
}

#[test]
fn lanes_carry_something_only_if_something_is_pending() {
    let parameters = port(16);
    let mut wire = play(&parameters, &alloc::format!("TFO {ENABLED}; drain"));
    // One byte and noise; noise only.
    wire.extend(cycle(&parameters, Pipestat::De, 0x106a));
    wire.extend(cycle(&parameters, Pipestat::Ie, 0x1010));
    wire.extend(cycle(&parameters, Pipestat::De, 0x6aea));
    assert_eq!(
        format_log(&decode(&parameters, &wire)),
        "sync0:enabled:Arm:8000 E4 #0@4=vnt E5 E6 #1@6=vnt #2@6=vnt"
    );
}

#[test]
fn with_latency_a_byte_stays_for_a_cycle() {
    let parameters = Parameters { fifo_latency: 1, ..Parameters::default() };
    let mut wire = play(&parameters, &alloc::format!("TFO {ENABLED}; drain"));
    wire.extend(cycle(&parameters, Pipestat::De, 0x10));
    wire.extend(cycle(&parameters, Pipestat::De, 0x6a));
    wire.extend(cycle(&parameters, Pipestat::Ie, 0x02));
    assert_eq!(format_log(&decode(&parameters, &wire)), "sync0:enabled:Arm:8000 E6 E7 #0@6=vnt E8 #1@7=0");
}

#[test]
fn td_and_wt_at_the_wrong_time_are_reported_once_for_a_run() {
    let default = Parameters::default();
    assert_eq!(
        summary(
            &default,
            &alloc::format!("TFO {ENABLED}; WT; TD; TD; IE; TD; drain; WT; WT; IE; WT; TD; TR WT; TD")
        ),
        "contradiction@0:4.0 E4 contradiction@0:10.0 sync0:enabled:Arm:8000 contradiction@1:18.0 E11 \
         contradiction@1:24.0 TR14"
    );
    // Empty cycles of cycle-accurate trace are no TFO.
    let accurate = Parameters { cycle_accurate: true, ..Parameters::default() };
    let mut wire = play(&accurate, &alloc::format!("TFO {ENABLED}; drain"));
    wire.extend(cycle(&accurate, Pipestat::Td, 0x0f));
    wire.extend(cycle(&accurate, Pipestat::Ie, 0));
    assert_eq!(format_log(&decode(&accurate, &wire)), "sync0:enabled:Arm:8000 E7");
}
