//! Worked examples D-01 to D-08 and D-12, D-13, D-15 to D-17 of the sheet's additions.

use super::*;

fn vectors(main: &[u32]) -> Program {
    let returns =
        [LOOP, 0xe1b0_f00e, 0xe1b0_f00e, 0xe25e_f004, 0xe25e_f008, 0xe160_006e, 0xe25e_f004, 0xe25e_f004];
    arm(&[(0, &returns), (0x8000, main), (0x2_0008, &[0xe1b0_f00e])])
}

/// The story after trace on at 0x8000, for each row.
fn rows(parameters: &Parameters, program: &Program, rows: &[(&str, &str)]) {
    for (wire, expected) in rows {
        let said = story(parameters, program, &format!("{ON} {wire}"));
        assert_eq!(said, format!("On1 {expected}"), "{wire}");
    }
}

#[test]
fn d01_exceptions() {
    let program = vectors(&[NOP, NOP, NOP, LOOP]);
    rows(
        &Parameters::default(),
        &program,
        &[
            ("72 03 85 80 40 14 85 80 01 76 84", "8000? 8004? Exc10@8008>8 8E ERet 8008? 800cE"),
            ("72 03 83 80 40 12 85 80 01 76 84", "8000? 8004? Exc9@8008>4 4E ERet 8008? 800cE"),
            ("72 01 87 80 40 16 83 80 01 76 84", "8000? Exc11@8004>c cE ERet 8004? 8008? 800cE"),
            ("89 80 40 18 81 80 01 76 84", "Exc12@8000>10 10E ERet 8000? 8004? 8008? 800cE"),
            ("72 01 89 80 40 18 83 80 01 76 84", "8000? Exc12@8004>10 10E ERet 8004? 8008? 800cE"),
            ("72 03 89 80 40 08", "8000? 8004? Exc4@8008>10"),
            (
                "8d 80 40 1c 8f 40 1e 0d 76 81 80 01 76 84",
                "Exc14@8000>18 Exc15@18>1c 1cE ERet 18E ERet 8000? 8004? 8008? 800cE",
            ),
            ("81 80 40 10 84", "Exc8@8000>0 0E"),
            ("72 03 81 80 80 80 48 02 08 08 80 00 00 61 84", "8000? 8004? Exc1@8008>0 On3 8008? 800cE"),
            ("89 80 40 1a", "Exc13@8000>10"),
            ("89 80 40 80 01", "suspicious@15.0 Exc16@8000>10"),
            ("89 80 40 9e 1f", "suspicious@15.0 Exc511@8000>10"),
        ],
    );
    for (wire, expected) in [
        (
            "72 03 85 80 44 04 85 80 41 01 76 84",
            "On1 8000n? 8004n? Exc2@8008>20008 20008E ERet 8008n? 800cnE",
        ),
        (
            "72 03 8b 80 40 87 20 85 80 41 81 00 76 84",
            "On1 8000n? 8004n? Exc3@8008>14nh 14nhE ERet 8008n? 800cnE",
        ),
    ] {
        assert_eq!(story(&virtualization(), &program, &format!("{ON_NS} {wire}")), expected, "{wire}");
    }
}

/// D-01: an exception within an exception handler; ThumbEE.
#[test]
fn d01_nested_and_thumb_ee() {
    let handler = arm(&[(0x10, &[0xe25e_f008, 0, NOP, NOP, 0xe25e_f004]), (0x8000, &[NOP, LOOP])]);
    rows(
        &Parameters::default(),
        &handler,
        &[(
            "72 01 8d 80 40 1c 72 0d 89 40 18 0f 76 83 80 01 76 84",
            "8000? Exc14@8004>18 18? Exc12@1c>10 10E ERet 1c? 20E ERet 8004E",
        )],
    );
    let code = with_thumb(thumb(0x3000, &[0xbf00, 0xc302, 0xbf00, 0xe7fe]), 0x2ff8, &[0x4770]);
    assert_eq!(
        story(&Parameters::default(), &code, "08 01 30 00 00 25 72 01 f9 5f 4a 85 60 40 84"),
        "On1 3000x? Exc5@3002>2ff8x 2ff8xE 3004x? 3006xE"
    );
}

#[test]
fn d02_to_d05_return_stack() {
    let nested = [0xeb00_0002, LOOP, NOP, NOP, 0xe1a0_400e, 0xeb00_0001, 0xe12f_ff14, NOP, BX_LR];
    let program = arm(&[(0x8000, &nested)]);
    let whole = "8000E 8010? 8014E 8020E 8018E 8004E";
    for depth in [1, 2, 16, 255] {
        rows(&returns(depth), &program, &[("90 03 84", whole)]);
    }
    for depth in [2, 16] {
        rows(&returns(depth), &program, &[("a0 84", whole)]);
    }
    let empty = "8000E 8010? 8014E 8020E 8018E invalid-reference@12.0";
    rows(&returns(1), &program, &[("a0 84", empty)]);
    // D-03: overflow.
    let program = arm(&[(0x8000, &[0xeb00_0002, LOOP, NOP, NOP, 0x1bff_fffe, BX_LR])]);
    let calls = format!("8000E{}", " 8010E".repeat(16));
    let back = " 8014E".repeat(16);
    rows(
        &returns(16),
        &program,
        &[
            ("84 c0 c0 c0 84 e0 c0 c0 88 03 84", &format!("{calls} 8010N{back} 8014E 8004E")),
            ("84 c0 c0 c0 84 e0 c0 c0 90 84", &format!("{calls} 8010N{back} 8014E invalid-reference@20.0")),
        ],
    );
    let deeper = format!("{calls} 8010N{back} 8014E 8004E");
    rows(&returns(17), &program, &[("84 c0 c0 c0 84 e0 c0 c0 90 84", &deeper)]);
    // D-04: a branch packet although the top entry matches. D-05: nothing to take.
    let program = arm(&[(0x8000, &[0xe12f_ff33, LOOP, NOP, NOP, BX_LR])]);
    rows(&returns(16), &program, &[("09 03 84", "8000E 8010E 8004E")]);
    let program = arm(&[(0x8000, &[BX_LR, NOP, NOP, NOP, 0xeb00_0000, LOOP, BX_LR])]);
    let said = "8000E invalid-reference@12.0 >8010 8010E 8018E 8014E";
    rows(&returns(16), &program, &[("88 09 90", said)]);
    rows(&Parameters::default(), &program, &[("88", "8000E unexpected-discontinuity@12.0")]);
}

/// D-06: this decoder keeps its stack over a periodic I-sync, and empties it at others.
#[test]
fn d06_return_stack_over_syncs() {
    let program = arm(&[(0x8000, &[0xeb00_03ff, LOOP]), (0x9004, &[BX_LR])]);
    let over = |sync| story(&returns(16), &program, &format!("{ON} 84 {ALIGN} {sync} 84 84"));
    assert_eq!(over("08 04 90 00 00 01"), "On1 8000E On0 9004E 8004E");
    assert_eq!(over("08 04 90 00 00 41"), "On1 8000E On2 9004E invalid-reference@25.0");
}

/// BLX (register) takes an entry before it makes one (PFT-DEC-039).
#[test]
fn link_pops_first() {
    let program = arm(&[(0x8000, &[0xeb00_0002, LOOP, NOP, NOP, 0xe12f_ff33, LOOP])]);
    rows(&returns(16), &program, &[("88", "8000E 8010E")]);
    rows(&returns(16), &program, &[("90", "8000E 8010E 8004E")]);
}

#[test]
fn d07_waypoint_updates() {
    let program = arm(&[(0x8000, &[NOP, NOP, NOP, LOOP])]);
    let said = "8000? 8004? 8008? missing-outcome@12.0";
    rows(
        &Parameters::default(),
        &program,
        &[("72 01 72 03 84", "8000? 8004? 8008? 800cE"), ("72 07 84", said)],
    );
    let before = story(&Parameters::default(), &program, "08 04 80 00 00 21 72 01 84 08 00 80 00 00 01");
    assert_eq!(before, "On1 8004? 8008? missing-outcome@12.0 On0");
    let inside = thumb(0x1_0000, &[0xf3af, 0x8000, 0xbf00, 0xe7fe]);
    let said = story(&Parameters::default(), &inside, "08 01 00 01 00 21 72 03");
    assert_eq!(said, "On1 10000t? 10004t? missing-outcome@12.0");
    let mut long = [NOP; 1101];
    long[1100] = LOOP;
    let program = arm(&[(0x8000, &long)]);
    for wire in ["72 97 11 84", "72 81 10 84"] {
        let said = story(&Parameters::default(), &program, &format!("{ON} {wire}"));
        assert!(said.ends_with(" 912c? 9130E") && said.split(' ').count() == 1102, "{said}");
    }
}

#[test]
fn d08_instruction_sets() {
    let program = arm(&[(0x8000, &[NOP, 0xfa00_003d, LOOP])]);
    let program = with_thumb(program, 0x8100, &[0xbf00, 0x4770]);
    rows(&Parameters::default(), &program, &[("84 05 84", "8000? 8004E 8100t? 8102tE 8008E")]);
    let code = thumb(0x1_0000, &[0xbf08, 0xf000, 0xe802, 0xe7fe, 0, 0xe1a0, 0xfffe, 0xeaff]);
    let said = |wire| story(&Parameters::default(), &code, &format!("08 01 00 01 00 21 {wire}"));
    assert_eq!(said("86 84"), "On1 10000t? 10002tN 10006tE");
    assert_eq!(said("84 84"), "On1 10000t? 10002tE 10008? 1000cE");
    let code = thumb(0x1_0000, &[0x4770, 0, 0, 0xe7fe]);
    let said = story(&Parameters::default(), &code, "08 01 00 01 00 21 87 80 84 80 10 84");
    assert_eq!(said, "On1 10000tE 10006tE");
}

/// LEAVEX and ENTERX are direct (PFT-WPT-020); ThumbEE without exception information.
#[test]
fn thumb_ee_state() {
    let code = thumb(0x1_0000, &[0xf3bf, 0x8f1f, 0xc302, 0x4770, 0xf3bf, 0x8f0f, 0x4770]);
    let said = |wire| story(&returns(2), &code, &format!("08 01 00 01 00 21 {wire}"));
    // ENTERX; HBL, whose branch address says ThumbEE; LEAVEX; BX, whose address is in the last state,
    // ThumbEE.
    assert_eq!(said("84 89 40 40 84 05 84"), "On1 10000tE 10004xE 10008xE 1000ctE 10004xE");
    // HBL made an entry, which BX takes back.
    let said = |wire| story(&returns(2), &code, &format!("08 05 00 01 00 25 {wire}"));
    assert_eq!(said("8d 40 40 84 84"), "On1 10004xE 1000cxE 10006xE invalid-reference@16.0");
    // One byte keeps ThumbEE, five bytes without information are Thumb.
    let said = |wire| story(&Parameters::default(), &code, &format!("08 05 00 01 00 25 {wire}"));
    assert_eq!(said("07 09"), "On1 10004xE 10006xE");
    assert_eq!(said("87 80 84 80 10 09"), "On1 10004xE 10006tE");
}

#[test]
fn d12_cycle_counts_through_gaps() {
    let program = arm(&[(0x8000, &[NOP]), (0x18, &[LOOP])]);
    assert_eq!(
        story(&counting(0), &program, &format!("{ON} 84 b2 8c c8 01 8d 80 00 04 94")),
        "+1=1 On1 +12=13 8000? no-code@13.0[8004] +3=16 +18=34 +1=35 >18 +5=40 18E"
    );
    let program = arm(&[(0x8000, &[LOOP])]);
    let wire = format!("{ON} a8 8c 08 00 80 00 00 41 90 88 08 00 80 00 00 61 bc 84");
    let v1_1 = "+10=10 On1 +3=13 8000E On2 +2=15 8000E On3 +1=16 8000E";
    assert_eq!(story(&counting(0), &program, &wire), v1_1);
    let v1_0 = "+10=10 On1 +3=13 8000E +4=17 On2 +2=19 8000E +15=34 On3 +1=35 8000E";
    let parameters = Parameters { cycle_accurate: true, ..Parameters::v1_0() };
    assert_eq!(story(&parameters, &program, &wire), v1_0);
}

#[test]
fn d13_overflow_with_trigger() {
    let program = arm(&[(0x8000, &[LOOP]), (0x9000, &[NOP, LOOP])]);
    rows(
        &Parameters::default(),
        &program,
        &[("84 0c 08 00 90 00 00 41 72 01 84", "8000E Trigger On2 9000? 9004E")],
    );
}

#[test]
fn d15_periodic_checks() {
    let program = arm(&[(0x8000, &[LOOP, LOOP]), (0x9004, &[LOOP])]);
    let check = |sync| story(&context(1), &program, &format!("{ON} 41 84 {ALIGN} {sync}"));
    let mismatch = "On1 8000E On0 contradiction@20.0";
    for sync in
        ["08 04 80 00 00 01 41", "08 00 80 00 00 09 41", "08 01 80 00 00 01 41", "08 00 80 00 00 01 42"]
    {
        assert_eq!(check(sync), mismatch);
    }
    assert_eq!(check("08 00 80 00 00 01 41"), "On1 8000E On0");
    assert_eq!(check("08 04 80 00 00 69 42"), "On1 8000E On3");
    assert_eq!(check("08 04 80 00 00 01 41 84"), format!("{mismatch} 8004E"));
    let program = arm(&[(0x8000, &[BX_LR]), (0x9004, &[LOOP])]);
    rows(
        &Parameters::default(),
        &program,
        &[
            ("88 08 04 90 00 00 01 84", "8000E unexpected-discontinuity@12.0 On0 9004E"),
            ("81 80 80 80 48 02 08 04 90 00 00 01 84", "Exc1@8000>0 On0 9004E"),
        ],
    );
}

#[test]
fn d16_timestamps() {
    let program = Program::new();
    let full = "42 ff 80 80 80 80 80 80 80 00";
    let said = |parameters: &Parameters, wire: &str| story(parameters, &program, &format!("{ON} {wire}"));
    let v1_1 = Parameters::default();
    assert_eq!(said(&v1_1, &format!("{full} 42 80 01")), "On1 T127 T128");
    assert_eq!(said(&v1_1, "42 80 80 80 80 80 80 80 01"), "On1 T?");
    let max = "42 ff ff ff ff ff ff ff ff ff";
    let all = format!("{max} 46 80 80 80 80 80 80 80 80 00 42 80 80 80 80 80 80 80 01");
    assert_eq!(said(&v1_1, &all), format!("On1 T{} T0R T{}", u64::MAX, 1_u64 << 49));
    // Errors of the flow leave the time alone, those of packets do not.
    let flow = format!("{full} 84 42 05 04 {ALIGN} {ON} 42 05");
    assert_eq!(said(&v1_1, &flow), "On1 T127 no-code@22.0[8000] T5 reserved-encoding@25.0 On1 T?");
    let binary = Parameters { timestamp_bits: 48, ..Parameters::default() };
    let wire = "42 ff ff ff ff ff ff 00 42 80 80 80 80 80 80 01";
    assert_eq!(said(&binary, wire), format!("On1 T{} T{}", (1_u64 << 42) - 1, 1_u64 << 42));
    let gray = Parameters::v1_0();
    assert_eq!(said(&gray, "42 c0 80 80 80 80 80 00 42 c0 01"), "On1 T127 T128");
    assert_eq!(said(&gray, "42 9c 84 80 80 80 80 00 42 1d"), "On1 T1000 T1001");
    let last = "42 80 80 80 80 80 80 10 42 80 80 80 80 80 80 30";
    assert_eq!(said(&gray, last), format!("On1 T{} T{}", (1_u64 << 47) - 1, 1_u64 << 47));
}

#[test]
fn d17_broadcast_and_security() {
    let words = [0xea00_0002, NOP, NOP, NOP, 0x0aff_fffa, 0xf57f_f06f, LOOP];
    let parameters = Parameters { branch_broadcast: true, ..Parameters::default() };
    rows(&parameters, &arm(&[(0x8000, &words)]), &[("09 86 0d 84", "8000E 8010N 8014E 8018E")]);
    let words = [0xee01_0f11, 0x0aff_fffd, 0xea00_0000, NOP, LOOP];
    let program = arm(&[(0x8000, &words)]);
    rows(&Parameters::default(), &program, &[("86 89 40 01 84", "8000? 8004N 8008E 8010nE")]);
}

/// Readings `pft-return-stack-over-exceptions`, `pft-packets-before-an-exception`; an entry has a security state
/// (PFT-DEC-036).
#[test]
fn what_the_return_stack_keeps() {
    let handler: (u64, &[u32]) = (0x18, &[0xe25e_f004]);
    let called = [0xeb00_0002, LOOP, NOP, NOP, NOP, BX_LR];
    rows(
        &returns(16),
        &arm(&[handler, (0x8000, &called)]),
        &[("84 8d 80 40 1c 89 80 01 76 88", "8000E Exc14@8010>18 18E ERet 8010? 8014E 8004E")],
    );
    let to_non_secure = [0xeb00_0002, LOOP, NOP, NOP, BX_LR, NOP, NOP, NOP, BX_LR];
    rows(
        &returns(16),
        &arm(&[(0x8000, &to_non_secure)]),
        &[("84 91 80 41 01 88", "8000E 8010E 8020nE 8004E")],
    );
    let program = arm(&[handler, (0x8000, &[NOP, LOOP])]);
    let wire = format!("{ON} 41 72 01 0c 42 05 6e 42 3c 07 8d 80 40 1c 84");
    assert_eq!(
        story(&Parameters { context_id_bytes: 1, ..virtualization() }, &program, &wire),
        "On1 8000? Trigger T? cid42 vmid7 Exc14@8004>18 18E unexpected-discontinuity@26.0"
    );
}
