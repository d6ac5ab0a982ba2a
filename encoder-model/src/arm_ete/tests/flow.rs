//! Atoms, addresses, contexts, exceptions, the return stack.

use super::scene::Scene;
use traceproof_vectors::arm_ete::{AddressChoice, Parameters, QElements, Version};

fn with_stack() -> Scene {
    Scene::new().with(|parameters| parameters.return_stack = true)
}

fn all(scene: &Scene, rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(scene.after_start(&format!("{text} off")), *expected, "{text}");
    }
}

/// ETE-ENC-ATM-001, ETE-ENC-ATM-002: sheet 7.10.
#[test]
fn most_atoms_of_a_packet() {
    all(
        &Scene::new(),
        &[
            ("E1000>1000*30", "d4 c2"),
            ("N1000>1000*6", "d5 f6"),
            ("E1000 N1000 E1000 N1000 E1000", "d7"),
            ("E1000*3 N1000", "e0"),
            ("E1000*23 N1000*2", "f4 f6"),
            ("N1000 E1000*5", "f5 f7"),
            ("E1000*2 N1000 E1000", "fb f7"),
            ("N1000*2 E1000*2", "fc f7"),
        ],
    );
    let single = Scene::new().choosing(|policy| policy.atoms_per_packet = 1);
    all(&single, &[("E1000*2 N1000", "f7 f7 f6")]);
    let few = Scene::new().choosing(|policy| policy.atoms_per_packet = 3);
    all(&few, &[("E1000*4 N1000", "ff d9"), ("N1000*2", "d8")]);
}

/// D-11, D-14 and sheet 7.5.
#[test]
fn forms_of_addresses() {
    let text = "Ei1000>1204 Ei1204>1000 Ei1000>1000 E1000";
    let rows = [
        (AddressChoice::Shortest, "f7 95 81 09 f7 91 f7 90 f7"),
        (AddressChoice::NoExactMatch, "f7 95 81 09 f7 95 80 08 f7 95 00 f7"),
        (AddressChoice::TwoBytes, "f7 95 81 09 f7 95 80 08 f7 95 80 08 f7"),
        (AddressChoice::Bits32, "f7 9a 01 09 00 00 f7 9a 00 08 00 00 f7 9a 00 08 00 00 f7"),
    ];
    for (choice, expected) in rows {
        all(&Scene::new().choosing(|policy| policy.addresses = choice), &[(text, expected)]);
    }
    let longest = Scene::new().choosing(|policy| policy.addresses = AddressChoice::Bits64);
    let expected = "04 85 00 08 00 00 00 00 00 00 31 f7 9d 01 09 00 00 00 00 00 00 f7";
    assert_eq!(longest.after_sync("on:1000 Ei1000>1204 E1204 off"), expected);
    let far = "Ei1000>ffff000008080400 Ei400>ffff000008080410 Ei410>ffff000008080210 E210";
    all(&Scene::new(), &[(far, "f7 9d 00 02 08 08 00 00 ff ff f7 95 04 f7 95 84 01 f7")]);
}

/// ETE-FSWRC-001, ETE-DEC-ISA-001: T32 addresses have a bit more, and `AArch32` addresses 32 bits.
#[test]
fn instruction_sets() {
    let scene = Scene::new();
    assert_eq!(
        scene.after_sync("on:1000t Ei1000t>1002t Ei1002t>1004w E1004w>1004w off"),
        "04 83 00 10 00 00 21 f7 96 01 f7 95 01 f7"
    );
    assert_eq!(
        scene.after_sync("on:1000 Er1000>ffffffff00002000w E2000w>2000w off"),
        "04 82 00 08 00 00 31 f7 82 00 10 00 00 21 f7"
    );
    let narrow = Parameters { address_bytes: 4, ..Parameters::etmv4(Version::Etmv4_0) };
    let narrow = Scene { parameters: narrow, ..Scene::new() };
    let narrow = narrow.choosing(|policy| policy.addresses = AddressChoice::Bits64);
    assert_eq!(
        narrow.after_sync("on:1000w Ei1000w>2000w E2000w>2000w off"),
        "04 82 00 08 00 00 21 f7 9a 00 10 00 00 f7"
    );
}

fn with_ids() -> Scene {
    Scene::new().with(|parameters| {
        parameters.context_ids = true;
        parameters.vmids = true;
    })
}

/// D-32, ETE-BDFDQ-001, ETE-HXNXF-001, ETE-PKT-CTX-002.
#[test]
fn contexts_where_they_change() {
    let start = "04 82 00 08 00 00 f1 09 00 00 00 05 00 00 00";
    let text = "on:1000kv E1000>2000kv cx:0v E2000v>2000v cx:0hv E2000>2000hv off";
    assert_eq!(with_ids().after_sync(text), format!("{start} f7 81 b1 00 00 00 00 f7 81 32 f7"));
    let explicit = with_ids().choosing(|policy| policy.explicit_ids = true);
    assert_eq!(
        explicit.after_sync(text),
        format!("{start} f7 81 f1 09 00 00 00 00 00 00 00 f7 81 f2 09 00 00 00 00 00 00 00 f7")
    );
    let untraced = Scene::new();
    assert_eq!(untraced.after_sync(text), "04 82 00 08 00 00 31 db 81 32 f7");
    let separate = Scene::new().choosing(|policy| policy.combined_contexts = false);
    assert_eq!(separate.after_sync("on:1000 E1000 off"), "04 81 31 95 80 08 f7");
    assert_eq!(separate.after_sync("on:1000uwS E1000uw off"), "04 80 95 80 08 f7");
    let full = separate.clone().choosing(|policy| policy.context_same = false);
    assert_eq!(full.after_sync("on:1000uwS E1000uw off"), "04 81 00 95 80 08 f7");
    let redundant = separate.choosing(|policy| policy.redundant_contexts = true);
    assert_eq!(redundant.after_sync("on:1000 Ei1000>2000 E2000 off"), "04 81 31 95 80 08 f7 80 95 80 10 f7");
}

/// ETE-WGSCJ and sheet 5.6: PRA, E = 10, contexts.
#[test]
fn exceptions() {
    let rows = [
        ("x0e@1004>4000 E4000", "06 1d 95 01 95 80 20 f7"),
        ("Ei1000>2000 x02@2000>4000 E4000", "f7 06 44 95 80 10 95 80 20 f7"),
        ("Ei1000>2000 x0e@2008>4000 E4000", "f7 95 80 10 06 1d 95 02 95 80 20 f7"),
        ("Er1000>2000u x0e@2004u>4000 E4000", "f7 82 00 10 00 00 30 06 1d 95 01 82 00 20 00 00 31 f7"),
        ("x00@0>3000S E3000", "06 01 70 82 00 18 00 00 11 f7"),
        ("x01@1004>0 E1004 run:1004 E1004", "06 03 95 01 04 82 01 08 00 00 31 f7"),
        ("x10@1004>1004 E1004", "06 21 95 01 f7"),
        ("x10@1004>2000 E2000", "06 21 95 01 95 80 10 f7"),
        ("x05@1004>2000 x18@1004>2000 E1000", "f7"),
    ];
    all(&Scene::new(), &rows);
    let apart = Scene::new().choosing(|policy| policy.combined_targets = false);
    all(&apart, &[("Ei1000>2000 x02@2000>4000 E4000", "f7 95 80 10 06 05 90 95 80 20 f7")]);
    let within = Scene::new().choosing(|policy| policy.contexts_in_exceptions = true);
    all(
        &within,
        &[
            ("Er1000>2000u x0e@2004u>4000 E4000", "f7 95 80 10 06 1d 82 01 10 00 00 30 82 00 20 00 00 31 f7"),
            ("Er1000>2000u x0e@2000u>4000 E4000", "f7 06 5c 82 00 10 00 00 30 82 00 20 00 00 31 f7"),
        ],
    );
}

/// D-29, ETE-V4-EXC-002, ETE-V4-RET-001.
#[test]
fn exceptions_of_etmv4() {
    let v4 = Scene { parameters: Parameters::etmv4(Version::Etmv4_2), ..Scene::new() };
    all(
        &v4,
        &[
            ("x0e@1004>4000 E4000", "06 1d 95 01 95 80 20 f7"),
            ("Ei1000>2000 x02@2000>4000 E4000", "f7 06 44 95 80 10 95 80 20 f7"),
            ("x00@1004>3000 E3000", "06 01 91 95 80 18 f7"),
            ("Er1000>2000 E2000", "f7 07 95 80 10 f7"),
            ("Em1000>1004 E1004", "db"),
        ],
    );
    let m_profile = v4.with(|parameters| {
        parameters.profile = traceproof_vectors::arm::Profile::Microcontroller;
        parameters.return_stack = true;
    });
    let text = "on:1000t El1000t>2000t x208@2002t>3000t Er3000t>2002t Ei2006t>1004t E1004t>1004t off";
    assert_eq!(
        m_profile.after_sync(text),
        "04 83 00 10 00 00 21 f7 06 91 10 96 81 20 96 80 30 f7 07 91 f7 96 82 10 f7"
    );
}

/// ETE-HFCTC-001, ETE-QHSBN-001, ETE-ZKTHK-001, ETE-SLDXR-001, ETE-WRXCW-001, ETE-MHYFV-001.
#[test]
fn return_stack() {
    all(
        &with_stack(),
        &[
            ("El1000>2000 Ei2004>1004 E1004", "ff"),
            ("El1000>2000 Ei2004>1008 E1008", "db 95 02 f7"),
            // The match does not consider who popped it: a later return finds it.
            ("El1000>2000 Ei2004>1008 Ei1008>1004 E1004", "db 95 02 db"),
            ("Eil1000>1004 Ei1008>1004 E1004", "db 95 01 f7"),
            ("El1000>2000 Er2004>1004 E1004", "ff"),
            ("El1000>2000 view0 view1 Ei2004>1004 E1004", "f7 04 82 00 10 00 00 31 f7 95 81 08 f7"),
        ],
    );
    let shallow = with_stack().choosing(|policy| policy.return_stack_depth = 1);
    all(&shallow, &[("El1000>2000 El2000>3000 Ei3004>2004 Ei2008>1004 E1004", "c0 95 01 f7")]);
    let none = Scene::new();
    all(&none, &[("El1000>2000 Ei2004>1004 E1004", "db 95 01 f7")]);
    let broadcast = with_stack().with(|parameters| parameters.branch_broadcast = true);
    all(
        &broadcast,
        &[
            ("Eb1000>2000 E2000>2000", "f7 95 80 10 f7"),
            ("Elb1000>2000 Ei2004>1004 E1004", "f7 95 80 10 f7 95 81 08 f7"),
            ("El1000>2000 Elb2000>3000 Ei3000>1004 E1004", "db 95 80 18 f7 95 81 08 f7"),
            ("El1000>2000 Eib2000>1004 E1004", "db 95 01 f7"),
        ],
    );
}

/// D-13, ETE-DCHPQ-001, ETE-TZZRH-001, ETE-NZTGQ-001.
#[test]
fn source_addresses() {
    let scene = with_stack().choosing(|policy| policy.source_addresses = true);
    all(
        &scene,
        &[
            ("E1000 N1004 E1014>1000 E1000", "f7 b4 05 f7"),
            ("N1000 N1004 Ei1008>2000 N2000 E2004>2004", "b4 02 95 80 10 b4 01"),
            ("N1000 x0e@1008>4000 E4000", "06 1d 95 02 95 80 20 f7"),
            ("N1000 El1008>2000 Ei2000>100c E100c", "b4 02 db"),
        ],
    );
}

/// Where tracing stops after instructions that were left out, and starts again.
#[test]
fn source_addresses_and_gaps() {
    let scene = Scene::new().choosing(|policy| policy.source_addresses = true);
    let expected = "04 82 01 08 00 00 31 f7";
    assert_eq!(scene.after_sync("on:1000 N1000 view0 view1 E1004>1004 off"), expected);
}

/// D-35, ETE-WHLPS-001, ETE-JBYXC-001, ETE-LZLDH-001, ETE-GVLKJ-001.
#[test]
fn q_elements() {
    let scene = with_stack()
        .with(|parameters| parameters.q_elements = QElements::Any)
        .choosing(|policy| policy.q_blocks = 2);
    all(
        &scene,
        &[
            ("q1 E1000>2000 E2000>3000 E3000>4000 q0 E4000", "a5 80 18 0a a5 80 20 05 f7"),
            ("q1 E1000>2000 x0e@2004>4000 E4000", "a5 80 10 05 06 1d 95 01 95 80 20 a5 01 05"),
            ("q1 Es1000>1004 cx:0u E1004>1004u", "a5 01 05 81 30 a0 05"),
            ("E1000>1000 q1 El1000>2000 E2000>1000 q0 Ei1000>1004 E1004", "f7 a0 0a f7 95 01 f7"),
            ("q1 E1000>ffff000000001000 q0 E0", "ac 05 9d 00 08 00 00 00 00 ff ff f7"),
        ],
    );
    let apart = scene.clone().choosing(|policy| policy.q_addresses = false);
    all(&apart, &[("q1 E1000>2000 q0 E2000", "ac 05 95 80 10 f7")]);
    let uncounted = scene.choosing(|policy| policy.q_counts = false);
    all(&uncounted, &[("q1 E1000>2000 q0 E2000", "af 95 80 10 f7")]);
    let counted = uncounted.with(|parameters| parameters.q_elements = QElements::Count);
    all(&counted, &[("q1 E1000>2000 q0 E2000", "a5 80 10 05 f7")]);
}

/// ETE-LMLSN-001, ETE-TJLYH-001, ETE-RXMJF-001, ETE-DLPYX-001.
#[test]
fn gaps() {
    let rows = [
        ("E1000>1000 view0 E1000>2000 view1 E2000", "f7 04 82 00 10 00 00 31 f7"),
        ("E1000>1000 forbid E1000>2000 x0e@2004>3000 go:2000 E2000", "f7 04 82 00 10 00 00 31 f7"),
        ("x0e@1004>3000 forbid go:1004 E1004", "06 1d 95 01 04 82 01 08 00 00 31 f7"),
        ("view1 E1000>1000", "f7"),
        ("view0 view1 E1000>1000", "04 82 00 08 00 00 31 f7"),
    ];
    // The first Trace On of each row but the last is before its start.
    for (text, expected) in &rows[..4] {
        assert_eq!(Scene::new().after_start(&format!("{text} off")), *expected, "{text}");
    }
    assert_eq!(Scene::new().after_sync("on:1000 view0 view1 E1000>1000 off"), rows[4].1);
    let kept = Scene::new().choosing(|policy| policy.context_after_trace_on = false);
    all(&kept, &[("E1000>1000 view0 E1000>2000 view1 E2000", "f7 04 95 80 10 f7")]);
    all(&kept, &[("E1000>1000 view0 E1000>2000u view1 E2000u>2000u", "f7 04 82 00 10 00 00 30 f7")]);
}
