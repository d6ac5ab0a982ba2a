//! Faults of broken or impossible captures: classes, places, and how decoding goes on.

use alloc::vec::Vec;

use traceproof_vectors::arm_etm::v2::Pipestat;
use traceproof_vectors::arm_etm::{Architecture, Parameters};
use traceproof_vectors::{Decoder as _, Entry, Log, Program, Refusal};

use super::{ENABLED, cycle, data_summary, decode, format_log, play, port, summary};
use crate::arm_etm::{Decoder, dissect};

/// What is reported of a group in the cycle after synchronisation (byte 13), with a load miss pending, and of a second
/// synchronisation and a group.
fn group(parameters: &Parameters, group: &str) -> alloc::string::String {
    data_summary(parameters, &alloc::format!("DE 54; DE {group}; drain; TFO 20 00 90 00 00; drain; DE 02"))
}

#[test]
fn reserved_headers_lose_synchronisation() {
    let mut reserved = 0;
    for header in (0..=u8::MAX).step_by(2) {
        let rest = header & 0x7f;
        let legal = matches!(
            rest,
            0x00 | 0x04
                | 0x08
                | 0x0c
                | 0x20
                | 0x24
                | 0x28
                | 0x2c
                | 0x40
                | 0x44
                | 0x48
                | 0x4c
                | 0x60
                | 0x64
                | 0x68
                | 0x6c
                | 0x50
                | 0x54
                | 0x58
                | 0x5c
                | 0x70
                | 0x74
                | 0x78
                | 0x7c
                | 0x02
                | 0x06
                | 0x0a
                | 0x0e
                | 0x22
                | 0x26
                | 0x2a
                | 0x2e
                | 0x6a
                | 0x6e
        );
        if !legal {
            reserved += 1;
            let reported = group(&Parameters::default(), &alloc::format!("{header:02x}"));
            assert_eq!(
                reported, "#0@6=miss1 reserved-encoding@2:15.0 #0!lost sync8:enabled:Arm:9000 #1@14=0",
                "{header:#04x}"
            );
        }
    }
    assert_eq!(reserved, 60);
}

#[test]
fn reserved_tfo_headers_lose_synchronisation() {
    let default = Parameters::default();
    let java = Parameters { minor: 1, tfo_jazelle: true, ..Parameters::default() };
    let without = Parameters { tfo_jazelle: false, ..java };
    for header in 0..=u8::MAX {
        for (parameters, zeros) in [(&default, 0x1f), (&without, 0x1f), (&java, 0x0f)] {
            let reported = summary(parameters, &alloc::format!("TFO {header:02x} 00 80 00 00 01; drain; IE"));
            let reserved = header & zeros != 0;
            assert_eq!(
                reported.starts_with("reserved-encoding@0:3.0"),
                reserved,
                "{header:#04x}: {reported}"
            );
            assert_eq!(reported.contains("sync0"), !reserved, "{header:#04x}: {reported}");
        }
    }
}

#[test]
fn packets_that_these_parameters_exclude_lose_synchronisation() {
    let neither = Parameters { data_value: false, data_address: false, ..Parameters::default() };
    for header in ["02", "54", "24", "6a"] {
        let script = alloc::format!("DE {header}; TFO 20 00 90 00 00; drain; DE 01");
        assert_eq!(
            data_summary(&neither, &script),
            "illegal-in-state@1:13.0 sync7:enabled:Arm:9000 branch13:Arm:9000",
            "{header}"
        );
    }
    assert_eq!(
        group(&Parameters::default(), "6e"),
        "#0@6=miss1 illegal-in-state@2:15.0 #0!lost sync8:enabled:Arm:9000 #1@14=0"
    );
}

#[test]
fn addresses_have_no_sixth_byte() {
    let default = Parameters::default();
    let java = Parameters { minor: 1, ..Parameters::default() };
    let lost = |class: &str, byte: u32, cycle: u32| {
        alloc::format!(
            "#0@6=miss1 {class}@2:{byte}.0 #0!lost sync{cycle}:enabled:Arm:9000 #1@{}=0",
            cycle + 6
        )
    };
    for byte in ["80", "10", "f0", "18"] {
        let packet = alloc::format!("22 80 80 80 80 {byte}");
        assert_eq!(group(&default, &packet), lost("overlong", 25, 13), "{byte}");
        let packet = alloc::format!("74 80 80 80 80 {byte}");
        assert_eq!(group(&default, &packet), lost("overlong", 25, 13), "{byte}");
    }
    // Bit 6 is the exception bit.
    for byte in ["00", "07", "40", "47", "60", "7f", "88", "c8", "ff", "20", "3f"] {
        let packet = alloc::format!("81 80 80 80 {byte}");
        assert_eq!(group(&default, &packet), lost("reserved-encoding", 23, 12), "{byte}");
        let reported = group(&java, &packet);
        assert_eq!(
            reported.contains("branch7:Jazelle"),
            ["20", "3f", "60", "7f"].contains(&byte),
            "{reported}"
        );
    }
    // The current address in a TFO packet with an LSM in progress is a branch address.
    assert_eq!(
        summary(&default, "TFO a0 00 80 00 00 08; drain; IE; TFO 20 00 90 00 00; drain"),
        "reserved-encoding@0:13.0 sync8:enabled:Arm:9000"
    );
}

#[test]
fn tfo_values_must_be_there() {
    let default = Parameters::default();
    let rows = |parameters: &Parameters, rows: &[(Pipestat, u16)]| {
        let mut wire = play(parameters, &alloc::format!("TFO {ENABLED}; drain; DE 54; drain"));
        for &(status, packet) in rows {
            wire.extend(cycle(parameters, status, packet));
        }
        wire.extend(cycle(parameters, Pipestat::Ie, 0));
        let reported = format_log(&decode(parameters, &wire));
        alloc::string::String::from(reported.strip_prefix("sync0:enabled:Arm:8000 ").expect("synchronised"))
    };
    let (td, tr, ie) = (Pipestat::Td, Pipestat::Tr, Pipestat::Ie);
    let missed = "E6 #0@6=miss1";
    assert_eq!(rows(&default, &[(td, 0x4f)]), alloc::format!("{missed} reserved-encoding@2:15.0 #0!lost"));
    assert_eq!(
        rows(&default, &[(tr, 0x06)]),
        alloc::format!("{missed} TR7 reserved-encoding@2:15.0 #0!lost")
    );
    for (status, packet, odd) in [(ie, 0x10, "E8"), (ie, 0x0f, "E8"), (td, 0x00, "contradiction@2:16.0")] {
        assert_eq!(
            rows(&default, &[(tr, 0x07), (status, packet)]),
            alloc::format!("{missed} TR7 {odd} reserved-encoding@2:17.0 #0!lost")
        );
    }
    // A second trigger has its own replaced status on TRACEPKT; the value must be in the cycle after it.
    assert_eq!(
        rows(&default, &[(tr, 0x07), (tr, 0x00)]),
        alloc::format!("{missed} TR7 TR8 E8 E9 reserved-encoding@2:19.0 #0!lost")
    );
    // The value of a TFO on a narrow port is cut short by another TFO.
    let narrow = port(4);
    assert!(rows(&narrow, &[(td, 0x01), (tr, 0x07)]).ends_with("reserved-encoding@2:33.0 #0!lost"));
}

#[test]
fn bits_that_are_always_0_are_framing() {
    for width in [4, 8, 16] {
        let parameters = port(width);
        let mut wire = play(&parameters, &alloc::format!("TFO {ENABLED}; drain; DE 54; DE 26; drain"));
        let broken = wire.len();
        wire.extend(cycle(&parameters, Pipestat::Ie, 0));
        wire[broken] |= 0x80;
        wire.extend(play(&parameters, &alloc::format!("IE; TFO {ENABLED}; drain")));
        let reported = format_log(&decode(&parameters, &wire));
        let expected = alloc::format!("framing@2:{broken}.4 #0!lost sync");
        assert!(reported.contains(&expected), "{width}: {reported}");
    }
    // Before synchronisation too, and on TRACEPKT of a narrow port.
    assert_eq!(format_log(&decode(&port(4), &[7, 0x20, 0x10, 0])), "framing@0:1.4 framing@0:2.4");
    assert_eq!(format_log(&decode(&port(8), &[7, 0x20, 0xf0])), "truncated@0:2.0");
}

#[test]
fn the_queue_has_a_limit() {
    let parameters = Parameters { fifo_latency: 1, ..Parameters::default() };
    let mut wire = play(&parameters, &alloc::format!("TFO {ENABLED}; drain"));
    // TR: the FIFO delivers nothing.
    for _ in 0..128 {
        wire.extend(cycle(&parameters, Pipestat::Tr, u16::from(Pipestat::Dw.code())));
    }
    wire.extend(cycle(&parameters, Pipestat::Ie, 0));
    let reported = format_log(&decode(&parameters, &wire));
    assert!(reported.ends_with("TR132 TR133 limit@1:266.0"), "{reported}");
    assert!(!reported.contains('E'));
    // TFO packets are limited too.
    let wire: Vec<_> = core::iter::repeat_n([7, 0x01], 200).flatten().collect();
    assert_eq!(format_log(&decode(&Parameters::default(), &wire)), "limit@0:254.0 open@128");
}

#[test]
fn other_architectures_and_impossible_parameters_are_refused() {
    let begin = |parameters: &Parameters| Decoder::default().begin(parameters, &Program::new());
    for (architecture, feature) in [(Architecture::V1, "etmv1"), (Architecture::V3, "etmv3")] {
        let parameters = Parameters { architecture, ..Parameters::default() };
        let refused = super::Decoder::default().begin(&parameters, &Program::new());
        assert_eq!(refused, Err(Refusal::unsupported(feature)));
    }
    assert!(dissect(&[7, 1], &port(3), &Program::new()).is_empty());
    let refused = begin(&port(5)).expect_err("no such port");
    assert!(matches!(refused, Refusal::Invalid { parameter: "port_width", .. }));
    let mut log = Log::default();
    Decoder::default().push(&[7, 1, 0x10], &mut log);
    assert!(log.entries.is_empty());
}

#[test]
fn finishing_twice_says_nothing_new() {
    let mut decoder = Decoder::default();
    decoder.begin(&Parameters::default(), &Program::new()).expect("supported");
    let mut log = Log::default();
    let wire = play(&Parameters::default(), &alloc::format!("TFO {ENABLED}; drain; DE 54 "));
    decoder.push(&wire, &mut log);
    decoder.push(&[7], &mut log);
    decoder.finish(&mut log);
    let reported = format_log(&log);
    assert!(reported.ends_with("truncated@2:14.0 #0!end"), "{reported}");
    decoder.finish(&mut log);
    assert_eq!(format_log(&log), reported);
    decoder.reset();
    let mut again = Log::default();
    decoder.push(&wire, &mut again);
    let packets = |log: &Log<_>| {
        log.entries
            .iter()
            .filter(|(_, entry)| matches!(entry, Entry::Packet(_)))
            .map(|(place, _)| *place)
            .collect()
    };
    let (first, second): (Vec<_>, Vec<_>) = (packets(&log), packets(&again));
    assert_eq!(first, second);
}
