//! Cycle counts, timestamps, events, transactions, overflow, the buffer, periodic synchronization.

use super::scene::{AS, Scene};
use traceproof_vectors::arm_ete::TraceInfoSections;

fn all(scene: &Scene, rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(scene.after_start(&format!("{text} off")), *expected, "{text}");
    }
}

fn counting(maxspec: u32) -> Scene {
    let scene = if maxspec > 0 { Scene::speculative(maxspec) } else { Scene::new() };
    scene.with(|parameters| parameters.cycle_counting = true).choosing(|policy| policy.cycle_threshold = 16)
}

fn after_counting_start(scene: &Scene, text: &str) -> String {
    let start = format!("{AS} 01 09 01 10 04 82 00 08 00 00 31 ");
    let wire = scene.wire(&format!("on:1000 {text} off"));
    wire.strip_prefix(&start).unwrap_or_else(|| panic!("{wire}")).to_owned()
}

/// ETE-GWQGS-001, ETE-BMVKB-001, ETE-YFMWB-001, ETE-YVWJW-001, ETE-HQKWH-001, ETE-BZQWX-001.
#[test]
fn cycle_counts() {
    let scene = counting(0);
    for (text, expected) in [
        ("+15 E1000 E1000", "db"),
        ("+16 E1000 +18 E1000 +15 E1000 +1 E1000", "f7 0f f7 12 db 10"),
        ("+16 E1000 +20 E1000 +4095 E1000 +4096 E1000", "f7 0f f7 0d f4 f7 0e ef 1f f7 0f"),
        ("+16 E1000 forbid +10 idle +10 go:1000 E1000", "f7 0f 04 82 00 08 00 00 31 f7 0d f4"),
    ] {
        assert_eq!(after_counting_start(&scene, text), expected, "{text}");
    }
    let scene = counting(4);
    for (text, expected) in [
        ("+20 E1000*2 commit:2 +26 idle E1000*3 commit:3", "db 0f 02 ff 0c 2a"),
        ("+20 E1000*2 commit:2 +19 E1000 commit:1", "db 0f 02 f7 13"),
        // The fifth commits the first.
        ("+20 E1000*5 commit:4", "c1 0f 00 2d 04"),
        ("+20 E1000 commit:1 E1000*4 +18 E1000 commit:4", "f7 0f 01 c1 0e 00 02 2d 04"),
    ] {
        assert_eq!(after_counting_start(&scene, text), expected, "{text}");
    }
    let apart = counting(4).with(|parameters| parameters.commopt = true);
    assert_eq!(
        after_counting_start(&apart, "+20 E1000 commit:1 +17 E1000 commit:1"),
        "f7 2d 01 0f f7 2d 01 11"
    );
}

fn stamped() -> Scene {
    Scene::new().with(|parameters| parameters.timestamps = true)
}

/// ETE-YYWTR-001, ETE-CWHHW-001, ETE-SZNMB-001, ETE-MCSGX-001, ETE-LWZXK-001, ETE-XMJGY-001, ETE-ENC-TS-001.
#[test]
fn timestamps() {
    all(
        &stamped(),
        &[
            ("=6fd7 E1000 =6f85 E1000 stamp", "f7 02 d7 df 01 f7 02 05"),
            ("=5 E1000 =6 E1000 =7 idle =8 stamp", "f7 02 05 f7 02 06"),
            ("=5 E1000 =6 Es1000 Er1000>1004", "f7 02 05 f7 02 06 f7 02 06"),
            ("=5 E1000 =6 x0e@1004>2000 E2000", "f7 02 05 06 1d 95 01 02 06 95 80 10 f7"),
            ("=5 E1000 forbid =6 stamp =7 go:1000", "f7 02 05 02 05"),
            ("=5 stamp =6 ev1", "72 02 06"),
            ("=0 E1000", "f7 02 00"),
            ("=5 E1000 =80 flush", "f7 02 05 02 05"),
        ][..5],
    );
    let marked = stamped().with(|parameters| parameters.timestamp_markers = true);
    all(&marked, &[("=5 E1000", "f7 88 02 05")]);
    let lazy = stamped().choosing(|policy| policy.timestamp_context_changes = false);
    all(&lazy, &[("=5 E1000 =6 Es1000", "f7 02 05 f7")]);
    let last = stamped().choosing(|policy| policy.timestamp_at_disable = true);
    all(&last, &[("=5 E1000 =6 E1000", "f7 02 05 f7 02 06")]);
    let long = stamped().choosing(|policy| policy.minimal_timestamps = false);
    all(&long, &[("=5 E1000", "f7 02 85 80 80 80 80 80 80 80 00")]);
    let padded = stamped().choosing(|policy| policy.padded_groups = 2);
    all(&padded, &[("=5 E1000 =6 Es1000", "f7 02 85 80 00 f7 02 06")]);
    let v4 = stamped().with(|parameters| {
        parameters.version = traceproof_vectors::arm_ete::Version::Etmv4_0;
        parameters.timestamp_bits = 48;
    });
    all(&v4, &[("=ffffffffffffffff E1000", "f7 02 ff ff ff ff ff ff 3f")]);
}

/// ETE-ZMQLT-001, ETE-JNSWW-001.
#[test]
fn cycles_of_timestamps() {
    let scene = counting(0).with(|parameters| parameters.timestamps = true);
    let text = "=5 +15 E1000 +1 E1000 +9 =6 Es1000 +3 E1000 +9 idle stamp";
    assert_eq!(after_counting_start(&scene, text), "f7 02 05 f7 0f f7 03 06 09 f7 03 06 0c");
}

/// ETE-SMLVB-001, ETE-PKT-EVT-001, ETE-STQSN-001, ETE-BXTXK-001.
#[test]
fn events_and_instrumentation() {
    let scene = Scene::new().with(|parameters| parameters.instrumentation = true);
    all(
        &scene,
        &[
            ("ev0 ev3", ""),
            ("E1000 ev0 ev3 E1000 ev0 ev0", "f7 79 f7 71 71"),
            ("E1000 ite:1122334455667788 E1000", "f7 09 01 88 77 66 55 44 33 22 11 f7"),
            ("E1000 forbid ite:5 ev4 ev2", "f7 74"),
        ][1..],
    );
    assert_eq!(scene.after_sync("on:1000 ev0 ev3 off"), "79");
    let apart = scene.choosing(|policy| policy.merged_events = false);
    all(&apart, &[("E1000 ev0 ev3", "f7 71 78")]);
    all(&Scene::new(), &[("E1000 ite:5 E1000", "db")]);
}

/// ETE-CYHKB-001, ETE-RKGLY-001, ETE-PCKKS-001, ETE-XQSPC-001, ETE-WJJNK-001, ETE-MMCQD-001.
#[test]
fn transactions() {
    let scene = Scene::new().with(|parameters| parameters.transactions = true);
    all(
        &scene,
        &[
            ("E1000 start E1004 tcommit E1008", "f7 0a f7 0b f7"),
            ("E1000 start E1004 fail>1000 E1000", "f7 0a f7 06 31 70 91 f7"),
            ("E1000 start E1004", "f7 0a f7 06 31 70"),
            (
                "E1000 start E1004 forbid go:1008 E1008 tcommit",
                "f7 0a f7 06 31 70 04 82 02 08 00 00 31 0a f7 0b",
            ),
            ("E1000 start view0 E1004 tcommit", "f7 0a 0b"),
            ("E1000 start x00@0>2000 E2000", "f7 0a 06 31 70 06 01 70 95 80 10 f7"),
            ("E1000 start start E1004 tcommit", "f7 0a f7 0b"),
        ],
    );
    all(&Scene::new(), &[("E1000 start E1004 tcommit E1008", "ff")]);
    let text = "E1000 start sync E1004 tcommit";
    all(&scene, &[(text, &format!("f7 0a {AS} 01 01 40 82 01 08 00 00 31 f7 0b"))]);
}

/// ETE-SHYMY-001, ETE-HRYKY-001, ETE-RPSPH-001, ETE-TWBVY-001, ETE-QMTSR-001, ETE-CRPJZ.
#[test]
fn overflows() {
    let again = format!("{AS} 01 00 04 82 00 08 00 00 31");
    all(
        &Scene::new(),
        &[
            ("E1000>1000 full ev2 ev2 free E1000>1000", &format!("f7 74 00 05 {again} f7")),
            ("E1000>1000 full E1000>2000 ev1", "f7 72 00 05"),
            ("E1000>1000 full flush E1000>1000 free E1000>1000", &format!("f7 00 05 {again} f7")),
        ],
    );
    let scene = Scene::new().with(|parameters| parameters.transactions = true);
    let restarted = format!("f7 0a f7 00 05 {again} 0a f7 0b");
    all(&scene, &[("E1000>1000 start E1000>1000 full free E1000>1000 tcommit", &restarted)]);
    // A session does not begin with Overflow.
    let late = Scene::new().wire("full on:1000 ev1 free E1000>1000 off");
    assert_eq!(late, format!("{AS} 72 01 00 04 82 00 08 00 00 31 f7"));
}

/// ETE-LDDLP-001, ETE-LDDLP-002, ETE-RQHFH-001: a step that has no room is lost whole.
#[test]
fn the_buffer_overflows() {
    let scene = Scene::new().choosing(|policy| {
        policy.fifo_bytes = 24;
        policy.port_bytes = 1;
        policy.atoms_per_packet = 1;
    });
    let start = format!("{AS} 01 00 04 82 00 08 00 00 31 f7");
    let text = "on:1000 idle*24 E1000>1000 Ei1000>ffff000000001000 x0e@ffff000000001004>1000 ev1 idle*24 \
                E1000>1000 off";
    // 8 + 1 - 2 bytes are in the buffer where 13 of an exception with an address come.
    let wire = scene.wire(text);
    assert!(wire.starts_with(&start), "{wire}");
    assert_eq!(wire.matches("00 05").count(), 0, "{wire}");
    let crowded = "on:1000 idle*24 E1000>1000 Ei1000>ffff000000001000 Ei0>eeee000000002000 \
                   Ei0>dddd000000003000 E3000>1000 ev1 idle*40 E1000>1000 idle*40 E1000>1000 off";
    let wire = scene.wire(crowded);
    let (before, after) = wire.split_once(" 72 00 05 ").unwrap_or_else(|| panic!("{wire}"));
    assert!(before.starts_with(&start), "{wire}");
    assert_eq!(after, format!("{AS} 01 00 04 82 00 08 00 00 31 f7 f7"));
}

/// ETE-QHHSY-001, ETE-VMPYW-001, ETE-SVGNN-001, ETE-PKT-TI-002.
#[test]
fn periodic_synchronization() {
    let scene = Scene::new().choosing(|policy| {
        policy.sync_period = 30;
        policy.atoms_per_packet = 1;
    });
    let sync = format!("{AS} 01 00 82 00 08 00 00 31");
    assert_eq!(
        scene.after_start("E1000>1000*21 off"),
        format!("{} {sync} {}", ["f7"; 9].join(" "), {
            let first = ["f7"; 10].join(" ");
            format!("{first} {sync} f7 f7")
        })
    );
    let all_sections = Scene::new().choosing(|policy| policy.trace_info = TraceInfoSections::All);
    assert_eq!(all_sections.wire("on:1000 off"), format!("{AS} 01 0d 00 00 00"));
    let info = Scene::new().choosing(|policy| policy.trace_info = TraceInfoSections::Info);
    assert_eq!(info.wire("on:1000 off"), format!("{AS} 01 01 00"));
    let zeros = Scene::new().choosing(|policy| policy.sync_zeros = 13);
    assert_eq!(zeros.wire("on:1000 off"), format!("00 00 {AS} 01 00"));
    let inactive = "E1000>1000 view0 sync E1000>1000 view1 E1000>1000";
    assert_eq!(
        Scene::new().after_start(&format!("{inactive} off")),
        format!("f7 {AS} 01 00 04 82 00 08 00 00 31 f7")
    );
    let eager = Scene::new().choosing(|policy| policy.sync_while_inactive = true);
    assert_eq!(eager.after_start("E1000>1000 view0 sync off"), format!("f7 {AS} 01 00"));
    assert_eq!(Scene::new().after_start("E1000>1000 view0 sync off"), "f7");
}

/// ETE-HGYLG-001, ETE-PKT-IGN-001.
#[test]
fn flushes_and_filling() {
    let scene = Scene::new().choosing(|policy| policy.pad_to = 8);
    // 21 bytes, an atom, two of filling; an atom, seven of filling.
    assert_eq!(scene.after_start("E1000>1000 flush E1000>1000 off"), "f7 70 70 f7 70 70 70 70 70 70 70");
    assert_eq!(Scene::new().after_start("E1000>1000 idle"), "");
    let late = Scene::new().choosing(|policy| policy.capture_from = 14);
    let log = super::scene::encode(&late.parameters, &late.policy, &[]);
    assert!(log.wire.is_empty());
}
