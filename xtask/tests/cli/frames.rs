//! `decode` of a source in the frames of a CoreSight formatter.

use std::fs;
use std::path::Path;

use super::commands::{run, text};

const PARAMETERS: &str = "architecture = 'v3'\nminor = 4\ndata_value = false\ndata_address = false\n\
    alternative_branches = true\nthumb32_single = true\nm_profile = true\n";

/// Five bytes that belong to no frame, then a frame (DDI 0314 9.6.1) with source 2: A-sync, I-sync at 0x8100, two
/// P-headers with an E atom each. Bytes 8 and 10 lend their bit 0 to byte 15.
const PORT: [u8; 21] = [
    0x00, 0x00, 0x00, 0x00, 0x00, // what is left of an earlier frame
    0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x08, 0x20, 0x01, 0x80, 0x00, 0x00, 0x84, 0x84, 0x30,
];

#[test]
fn a_source_is_taken_out_of_frames() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("text").to_owned();
    fs::write(path("etm.toml"), PARAMETERS).expect("writable");
    fs::write(path("port.bin"), PORT).expect("writable");
    let parameters = path("etm.toml");
    let port = path("port.bin");
    let decode = |more: &[&str]| {
        run(&[&["decode", "--family", "arm-etm", "--parameters", &parameters][..], more, &[&port]].concat())
    };

    let source = decode(&["--trace-id", "2", "--first-frame", "5", "--format", "jsonl"]);
    assert_eq!(source.status.code(), Some(0), "{}", text(&source.stderr));
    assert_eq!(text(&source.stderr), "trace ID 0x02: 14 bytes in frames from byte 5\n");
    let packets: Vec<String> = text(&source.stdout)
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["packet"].to_string())
        .collect();
    let header = r#"{"p_header":"0x84"}"#;
    assert_eq!(packets.len(), 4, "{packets:?}");
    assert!(packets[0].contains("alignment_sync") && packets[1].contains("0x8101"), "{packets:?}");
    assert_eq!(packets[2..], [header, header]);

    let other = decode(&["--trace-id", "0x10", "--first-frame", "5"]);
    assert_eq!((other.status.code(), text(&other.stdout)), (Some(0), String::new()));
    assert!(
        text(&other.stderr).ends_with("not decoded: trace ID 0x02: 14 bytes\n"),
        "{}",
        text(&other.stderr)
    );
    // The byte of the place counts what comes before the first frame.
    let cut = decode(&["--trace-id", "2", "--first-frame", "6"]);
    assert_eq!(cut.status.code(), Some(1));
    assert!(
        text(&cut.stdout).contains("frames of the buffer: truncated at packet 0, byte 6"),
        "{}",
        text(&cut.stdout)
    );
    for wrong in
        [&["--trace-id", "0x80"][..], &["--first-frame", "5"], &["--trace-id", "2", "--first-frame", "22"]]
    {
        assert_eq!(decode(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

/// The captures of a trace port in asynchronous serial form: 8N1 bytes of a pin, frames separated by idle gaps.
#[test]
fn captures_of_cortex_m3_open_as_they_are() {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/sigrok-arm-trace");
    if !captures.is_dir() {
        eprintln!("NOTICE: {} is not there; no trace port of a Cortex-M3 is decoded", captures.display());
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let parameters = directory.path().join("etm.toml").to_str().expect("text").to_owned();
    fs::write(&parameters, PARAMETERS).expect("writable");
    let capture = |name: &str| captures.join(name).to_str().expect("text").to_owned();
    let code = format!("0x08000000:{}", capture("stm32f105.code-0x08000000.bin"));
    for (name, more, about, code, packets) in [
        ("stm32f105", &["--section", code.as_str()][..], "760 bytes in frames from byte 0", 0, 664),
        // It ends inside a frame.
        ("lpc1769", &[], "43664 bytes in frames from byte 5", 1, 32_623),
    ] {
        let port = capture(&format!("{name}.uart"));
        let arguments = ["decode", "--family", "arm-etm", "--trace-id", "2", "--parameters", &parameters];
        let decoded =
            run(&[&arguments[..], more, &["--layer", "packets", "--format", "jsonl", &port]].concat());
        assert_eq!(decoded.status.code(), Some(code), "{name}: {}", text(&decoded.stderr));
        assert!(
            text(&decoded.stderr).starts_with(&format!("trace ID 0x02: {about}\n")),
            "{}",
            text(&decoded.stderr)
        );
        let is_packet = |line: &&str| {
            serde_json::from_str::<serde_json::Value>(line).expect("JSON").get("packet").is_some()
        };
        assert_eq!(text(&decoded.stdout).lines().filter(is_packet).count(), packets, "{name}");
    }
}
