//! TFO packets: where they start, what they carry, and what is kept or forgotten.

use traceproof_vectors::arm_etm::Parameters;
use traceproof_vectors::arm_etm::v2::{Cycle, Pipestat};

use super::{ENABLED, cycle, data_summary, decode, format_log, play, port, summary};

#[test]
fn nothing_is_reported_before_the_first_tfo() {
    let default = Parameters::default();
    let mut wire = cycle(&default, Pipestat::De, 0x10);
    wire.extend(cycle(&default, Pipestat::Wt, 0x6a));
    wire.extend(cycle(&default, Pipestat::Tr, u16::from(Pipestat::Tr.code())));
    // Reserved TFO value.
    wire.extend(cycle(&default, Pipestat::Td, 0x1f));
    wire.extend(play(&default, &alloc::format!("TFO {ENABLED}; drain")));
    assert_eq!(format_log(&decode(&default, &wire)), "TR2 sync4:enabled:Arm:8000");
}

#[test]
fn bytes_before_the_first_tfo_packet_are_skipped() {
    // The cycle of the second TFO; on a 4-bit port it follows a whole byte.
    for (width, second, tail) in [(4, 15, "drain 1; "), (8, 7, ""), (16, 5, "")] {
        let parameters = port(width);
        let script = alloc::format!(
            "TFO {ENABLED}; drain; DE 22 80 80 80 80 04; {tail}TFO 00 10 80 00 00; IE; DE 24 55; drain; IE"
        );
        let all = play(&parameters, &script);
        let log = decode(&parameters, &all);
        assert_eq!(log.faults().count(), 0, "{width}: {}", format_log(&log));
        // Cut off before the second TFO, the rest reports the same.
        let reported = format_log(&decode(&parameters, &all[second * Cycle::size(&parameters)..]));
        assert!(reported.starts_with("E1 E2 sync0:periodic:Arm:8010 E0 ignored1@2 E"), "{width}: {reported}");
    }
}

#[test]
fn the_largest_value_counts_111_bytes() {
    let default = Parameters::default();
    let mut wire = cycle(&default, Pipestat::Td, 0xfd);
    for _ in 0..111 {
        wire.extend(cycle(&default, Pipestat::Ie, 0x10));
    }
    for byte in super::bytes(ENABLED) {
        wire.extend(cycle(&default, Pipestat::Wt, u16::from(byte)));
    }
    let log = decode(&default, &wire);
    assert!(format_log(&log).ends_with("E110 E111 sync0:enabled:Arm:8000"));
}

#[test]
fn what_a_tfo_packet_keeps_and_what_it_forgets() {
    let known = "DE 74 84 80 80 80 04; drain";
    let next = "DE 06 01; drain; DE 26 08 02; drain";
    assert_eq!(
        data_summary(&Parameters::default(), &alloc::format!("{known}; TFO 00 00 80 00 00; drain; {next}")),
        "#0@6[0x40000004]=miss1 sync12:periodic:Arm:8000 #1@18[0x40000008]=1 #2@20[0x40000008]=2 #0!end"
    );
    for (header, reason) in [("20", "enabled"), ("40", "overflow"), ("60", "debug")] {
        assert_eq!(
            data_summary(
                &Parameters::default(),
                &alloc::format!("{known}; TFO {header} 00 80 00 00; drain; {next}")
            ),
            alloc::format!(
                "#0@6[0x40000004]=miss1 sync12:{reason}:Arm:8000 #1@18=1 #2@20[0x8/0x7f]=2 #0!end"
            )
        );
    }
}

#[test]
fn a_coprocessor_transfer_may_stand_where_no_address_is() {
    let parameters = Parameters { monitor_cprt: true, ..Parameters::default() };
    assert_eq!(
        data_summary(&parameters, "DE 22 80 80 80 80 04; drain; DE 02; DE 22 04; drain"),
        "#0@6[0x40000000]=0 #1@12=0 #2@13[0x40000004]=0"
    );
}

#[test]
fn a_tfo_is_right_about_where_its_packet_starts() {
    let default = Parameters::default();
    let start = alloc::format!("TFO {ENABLED}; drain; DE 74 84 80 80 80 04; drain");
    let tfo = |value: u16, bytes: &str| {
        let mut wire = play(&default, &start);
        // Two groups, of which one byte leaves at once.
        wire.extend(cycle(&default, Pipestat::De, 0x26));
        wire.extend(cycle(&default, Pipestat::Td, value));
        wire.extend(cycle(&default, Pipestat::De, u16::from(super::bytes(bytes)[0])));
        for byte in &super::bytes(bytes)[1..] {
            wire.extend(cycle(&default, Pipestat::Wt, u16::from(*byte)));
        }
        format_log(&decode(&default, &wire))
    };
    let before = "sync0:enabled:Arm:8000 E6 #0@6[0x40000004]=miss1 E12 E14";
    // As it should be: two more bytes of data, the packet, the last group.
    assert_eq!(
        tfo(0x21, "08 02 00 10 80 00 00 06 03"),
        alloc::format!(
            "{before} #1@12[0x40000008]=2 sync13:periodic:Arm:8010 E13 #2@14[0x4000000c]=3 #0!end"
        )
    );
    // Too early: the packet cuts a data packet.
    assert_eq!(
        tfo(0x11, "08 00 10 80 00 00 06 03"),
        alloc::format!("{before} contradiction@3:31.0 #0!lost sync13:periodic:Arm:8010 E13 #1@14=3")
    );
    // Too late: a byte belongs to nothing.
    assert_eq!(
        tfo(0x31, "08 02 7e 00 10 80 00 00 06 03"),
        alloc::format!(
            "{before} #1@12[0x40000008]=2 contradiction@3:35.0 #0!lost sync13:periodic:Arm:8010 E13 #2@14=3"
        )
    );
}

#[test]
fn a_group_that_goes_on_is_cut_by_a_tfo_packet() {
    let default = Parameters::default();
    let mut wire = play(&default, &alloc::format!("TFO {ENABLED}; drain"));
    for (status, packet) in [
        (Pipestat::De, 0xea),
        (Pipestat::Td, 0x01),
        (Pipestat::Wt, 0x20),
        (Pipestat::Wt, 0x00),
        (Pipestat::Wt, 0x90),
        (Pipestat::Wt, 0x00),
        (Pipestat::Wt, 0x00),
    ] {
        wire.extend(cycle(&default, status, packet));
    }
    assert_eq!(
        format_log(&decode(&default, &wire)),
        "sync0:enabled:Arm:8000 E6 #0@6=vnt contradiction@2:17.0 sync7:enabled:Arm:9000"
    );
}

#[test]
fn a_capture_may_end_anywhere() {
    let default = Parameters::default();
    let script = alloc::format!(
        "TFO {ENABLED}; IE; DE 74 80 82 80 80 02; IE; DE 26 40 42; drain; DW 2c 01 00 fe ca; drain"
    );
    let wire = play(&default, &script);
    assert_eq!(format_log(&decode(&default, &wire[..2])), "open@0");
    assert_eq!(format_log(&decode(&default, &wire[..4])), "E1 open@0");
    assert_eq!(format_log(&decode(&default, &wire[..11])), "E1 E2 E3 E4 truncated@0:10.0 open@0");
    assert_eq!(format_log(&decode(&default, &wire[..12])), "E1 E2 E3 E4 sync0:enabled:Arm:8000 open@2");
    assert_eq!(
        format_log(&decode(&default, &wire[..30])),
        "E1 E2 E3 E4 sync0:enabled:Arm:8000 #0@2[0x20000100]=miss1 #1@4[0x20000140]=42 #0!end"
    );
    // Every cut reports a prefix of the whole, then what is open.
    let whole = format_log(&decode(&default, &wire));
    for length in 0..wire.len() {
        let reported = format_log(&decode(&default, &wire[..length]));
        let end = [" truncated", "truncated", " open", "open", " #0!end"];
        let beginning = end
            .iter()
            .fold(reported.as_str(), |reported, end| reported.split(end).next().unwrap_or(reported));
        assert!(whole.starts_with(beginning), "{length}: {reported}");
        assert_eq!(reported.contains("truncated"), length % 2 == 1, "{length}: {reported}");
    }
    assert_eq!(summary(&port(4), &script).matches("cafe0001").count(), 1);
}
