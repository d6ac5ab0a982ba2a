//! Commit, Cancel, Mispredict (sheet 7.7).

use super::scene::Scene;

fn all(scene: &Scene, rows: &[(&str, &str)]) {
    for (text, expected) in rows {
        assert_eq!(scene.after_start(&format!("{text} off")), *expected, "{text}");
    }
}

/// ETE-QNLYJ-001, ETE-YKLRM-002, ETE-ENC-CMT-001, ETE-ENC-CMT-002, ETE-ENC-END-001.
#[test]
fn commits() {
    all(
        &Scene::speculative(8),
        &[
            ("E1000>2000 N2000 commit:1", "d9 2d 01 00 03"),
            ("E1000>2000 commit:1 N2000 commit:1", "f7 2d 01 f6 2d 01"),
            ("E1000>2000 x0e@2004>3000 commit:2", "f7 06 1d 95 81 10 2d 02"),
            ("E1000>2000 view0 E2000*2 commit:1", "f7 2d 01"),
            ("E1000>2000 view0 E2000*20", "f7 00 03"),
            ("E1000*10 commit:8", "c6 2d 08"),
        ],
    );
    let merged = |count| Scene::speculative(8).choosing(|policy| policy.merged_commits = count);
    let three = "E1000 commit:1 E1000 commit:1 E1000 commit:1";
    all(&merged(3), &[(three, "ff 2d 03"), ("E1000 commit:1 ev0 E1000 commit:1", "f7 2d 01 71 f7 2d 01")]);
    all(&merged(2), &[(three, "db 2d 02 f7 2d 01")]);
    // What the second element commits, no packet does.
    let one = Scene::speculative(1).choosing(|policy| policy.merged_commits = 4);
    all(&one, &[("E1000 commit:1 E1000 commit:1", "db 2d 01")]);
}

/// ETE-HYCXR-001, ETE-PKT-CAN-001 to ETE-PKT-CAN-003, ETE-PKT-MIS-001, D-02.
#[test]
fn cancels_and_mispredicts() {
    let scene = Scene::speculative(8);
    all(
        &scene,
        &[
            (
                "E1000>2000 N200c cancel:1>2000 x0e@2000>4000 E4000 commit:3",
                "d9 2e 01 06 1d 95 80 10 95 80 20 f7 2d 03",
            ),
            ("N1000 mis>2000 commit:1", "33 2d 01"),
            ("E1000>2000 E2000>3000 mis>2004 commit:2", "32 2d 02"),
            ("N1000 E1004>2000 cancel:1>1004 mis>3000 commit:1", "f6 35 2d 01"),
            ("N1000 E1004>2000 E2000>3000 E3000>4000 cancel:3>1004 mis>5000 commit:1", "fe 3b 2d 01"),
            ("N1000*2 cancel:1>1004 mis>5000 commit:1", "f6 37 2d 01"),
            ("E1000*7 cancel:6>1004 mis>1004 commit:1", "c3 2f 06 2d 01"),
            ("E1000 N1000*3 cancel:3>1004 mis>1004 commit:1", "f9 f6 3a 2d 01"),
            ("E1000>2000 commit:1 mis>1004", "f7 2d 01 30"),
            ("E1000>2000 mis>1004 mis>2000 commit:1", "31 30 2d 01"),
            ("E1000*3 cancel:1>1004 cancel:1>1004 commit:1", "ff 2e 01 2e 01 2d 01"),
            ("E1000*3 commit:1 cancel:1>1004 commit:1", "ff 2d 01 2e 01 2d 01"),
        ],
    );
    let long = scene.clone().choosing(|policy| policy.short_cancels = false);
    all(&long, &[("N1000 E1004>2000 cancel:1>1004 mis>3000 commit:1", "da 2f 01 2d 01")]);
    let apart = scene.choosing(|policy| policy.atoms_in_mispredicts = false);
    all(
        &apart,
        &[
            ("E1000>2000 E2000>3000 mis>2004 commit:2", "db 30 2d 02"),
            ("N1000 E1004>2000 cancel:1>1004 mis>3000 commit:1", "da 34 2d 01"),
            ("N1000 E1004>2000 E2000 cancel:2>1004 mis>3000 commit:1", "fe 38 2d 01"),
        ],
    );
    let padded = Scene::speculative(8).choosing(|policy| policy.padded_groups = 1);
    all(&padded, &[("E1000*2 cancel:1>1004 commit:1", "db 2e 81 00 2d 81 00")]);
}

/// ETE-BDFDQ-001, ETE-HLRZJ-001, ETE-I_HVWCN: what a decoder knows after a Cancel.
#[test]
fn state_after_a_cancel() {
    all(
        &Scene::speculative(8),
        &[
            // The context of the cancelled path is void.
            (
                "E1000>1000 Er1000>2000u E2000u>3000u cancel:2>1000 E1000>1000 commit:2",
                "db 82 00 10 00 00 30 f7 2e 02 81 31 f7 2d 02",
            ),
            // That before it is not, and the address stands.
            ("Ei1000>2000 E2000>3000 cancel:1>2000 E2000>1000 commit:2", "f7 95 80 10 f7 2e 01 f7 2d 02"),
            // The address of the exception's handler is not needed any more.
            (
                "E1000>2000 x0e@2000>4000 cancel:1>2000 E2000>1000 commit:2",
                "f7 06 1d 95 80 10 2e 01 f7 2d 02",
            ),
            // Tracing went on at another place meanwhile.
            (
                "E1000>1000 E1000>2000 view0 E2000>3000 view1 E3000>4000 cancel:1>2000 E2000>1000 commit:3",
                "db 04 82 00 18 00 00 31 f7 2e 01 95 80 10 f7 2d 03",
            ),
            // An indirect branch that is taken after all has no return address.
            ("Ni1000>1004 mis>2000 E2000 commit:2", "33 95 80 10 f7 2d 02"),
            ("Ei1000>2000 mis>1004 E1004 commit:2", "31 f7 2d 02"),
        ],
    );
}

/// ETE-FVRPZ-001, ETE-YMRGB-001, ETE-FFXPW-001, ETE-NYHFH-001, ETE-ZCCBS-001, ETE-DEC-RS-011.
#[test]
fn return_stack_and_speculation() {
    let scene = Scene::speculative(8).with(|parameters| parameters.return_stack = true);
    let rows = [
        // A cancelled return is undone.
        ("El1000>2000 Ei2004>1004 cancel:1>2000 Ei2004>1004 E1004 commit:3", "db 2e 01 db 2d 03"),
        // A cancelled call, too.
        ("E1000>1000 El1000>2000 cancel:1>1000 Ei1000>1004 E1004 commit:3", "db 2e 01 f7 95 01 f7 2d 03"),
        ("El1000>2000 Ei2004>1004 redirect>3000 E3000 Ei3008>1004 E1004 commit:5", "db 95 80 18 ff 2d 05"),
        // A return that is not taken after all leaves its entry.
        ("El1000>2000 Ei2004>1004 mis>2008 Ei2008>1004 E1004 commit:4", "32 db 2d 04"),
        // A call that is not taken after all stays on the stack; one that is taken after all never was on it.
        ("El1000>2000 mis>1004 Ei1008>1004 E1004 commit:3", "31 db 2d 03"),
        // A wrong path after a return that was predicted rightly, and one that was not.
        (
            "El1000>2000 El2000>3000 N3000 E3004>4000 cancel:1>5000 mis>5000 Ei5000>2004 Ei2004>1004 E1004 commit:6",
            "fb 35 ff 2d 06",
        ),
        (
            "El1000>2000 Ei2004>1004 E1008>3000 cancel:1>2008 mis>2008 Ei2008>1004 E1004 commit:4",
            "f7 36 db 2d 04",
        ),
        ("Nl1000 mis>2000 Ei2000>1004 E1004 commit:3", "33 f7 95 01 f7 2d 03"),
    ];
    all(&scene, &rows);
    let emptied = scene.choosing(|policy| policy.cancel_empties_return_stack = true);
    let text = "El1000>2000 El2000>3000 cancel:1>2000 Ei2004>1004 E1004 commit:3";
    all(&emptied, &[(text, "db 2e 01 f7 95 01 f7 2d 03")]);
    all(
        &emptied.choosing(|policy| policy.cancel_empties_return_stack = false),
        &[(text, "db 2e 01 db 2d 03")],
    );
}

/// ETE-NTMMM-001: what was left out has a Source Address, and its correction none but that.
#[test]
fn source_addresses_and_speculation() {
    let scene = Scene::speculative(8).choosing(|policy| policy.source_addresses = true);
    all(
        &scene,
        &[
            ("N1000 mis>2000 E2000 commit:2", "b0 f7 2d 02"),
            ("E1000>1000 N1000 E1008>2000 cancel:1>1004 E1008>2000 commit:2", "f7 b4 02 2e 01 b0 2d 02"),
            ("E1000>1000 N1000 E1008>2000 mis>100c E100c commit:2", "f7 b4 02 2e 01 b4 03 2d 02"),
        ],
    );
}

/// D-22, D-23, ETE-CTLXL-001, ETE-DEC-TRX-005.
#[test]
fn transactions_and_speculation() {
    let scene = Scene::speculative(8).with(|parameters| parameters.transactions = true);
    all(
        &scene,
        &[
            ("E1000>1004 start E1004 tcommit E1008 commit:4", "f7 0a f7 0b f7 2d 04"),
            // The Start is cancelled, and TSTART with it.
            ("E1000 E1004 start N1008 E100c cancel:4>1004 mis>1008 E1008 commit:2", "db 0a f6 3d f7 2d 02"),
            ("E1000 start E1004 cancel:1>1004 E1004 tcommit commit:3", "f7 0a f7 2e 01 f7 0b 2d 03"),
            (
                "E1000 E1004 start E1008 cancel:3>1004 mis>1004 E1004>1008 start commit:3",
                "db 0a 3b f7 0a 2d 03 06 31 70",
            ),
        ],
    );
    let not_p0 = scene.with(|parameters| parameters.commtrans = true);
    all(
        &not_p0,
        &[("E1000 E1004 start N1008 E100c cancel:3>1004 mis>1008 E1008 commit:2", "db 0a f6 3b f7 2d 02")],
    );
}
