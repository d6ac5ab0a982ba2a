//! Every class of faults, and how decoding goes on.

use super::*;

/// The story after trace on at 0x8000, where `words` lie.
fn said(parameters: &Parameters, words: &[u32], wire: &str) -> String {
    let said = story(parameters, &arm(&[(0x8000, words)]), &format!("{ON} {wire}"));
    said.strip_prefix("On1").expect("on").trim_start().into()
}

#[test]
fn what_cannot_be_read_costs_synchronisation() {
    let plain = Parameters::default();
    let again = format!("{ALIGN} 84 0c {ON} 84");
    for (broken, at) in [("04", 13), ("80", 13), ("00 00 80", 13), ("00 00 00 00 00 42", 13)] {
        assert_eq!(
            said(&plain, &[LOOP], &format!("84 {broken} 0c 84 {again}")),
            format!("8000E reserved-encoding@{at}.0 On1 8000E")
        );
    }
    assert_eq!(said(&plain, &[LOOP], "84 81 40"), "8000E truncated@13.0");
    assert_eq!(said(&plain, &[LOOP], "84 00 00"), "8000E truncated@13.0");
    // Before the first I-sync faults that cost synchronisation are reported, others are not.
    let program = arm(&[(0x8000, &[LOOP])]);
    assert_eq!(
        story(&plain, &program, &format!("6e 3c 05 81 80 80 80 88 10 {ALIGN} {ON} 84")),
        "reserved-encoding@14.0 On1 8000E"
    );
}

#[test]
fn what_is_illegal_here_is_dropped() {
    let said = |parameters: &Parameters, wire| said(parameters, &[LOOP], wire);
    assert_eq!(said(&Parameters::default(), "6e 84"), "illegal-in-state@12.0 8000E");
    assert_eq!(said(&Parameters::default(), "3c 05 84"), "illegal-in-state@12.0 8000E");
    assert_eq!(said(&Parameters::v1_0(), "76 84"), "illegal-in-state@12.0 8000E");
    let m_profile = Parameters { m_profile: true, ..Parameters::v1_0() };
    assert_eq!(said(&m_profile, "76 84"), "ERet 8000E");
    assert_eq!(said(&Parameters::default(), "76 84"), "ERet 8000E");
}

/// Each with its byte and bit, in stream order, before the events.
#[test]
fn what_is_suspicious_goes_on() {
    let program = arm(&[(0x8000, &[LOOP])]);
    let plain = Parameters::default();
    let all = |parameters: &Parameters, wire: &str| story(parameters, &program, wire);
    // Low address bits, [0], AltISA, Hyp, [4], [7]: byte 7 and byte 11.
    assert_eq!(
        all(&plain, "08 02 80 00 00 b6 84"),
        "suspicious@7.1 suspicious@11.0 suspicious@11.1 suspicious@11.2 suspicious@11.4 suspicious@11.7 \
         On1 8000E"
    );
    assert_eq!(all(&virtualization(), "08 00 80 00 00 23 84"), "On1 8000hE");
    assert_eq!(
        all(&counting(0), "08 00 80 00 00 21 03 84"),
        "suspicious@12.0 suspicious@12.1 suspicious@12.7 +0=0 On1 +1=1 8000E"
    );
    assert_eq!(all(&counting(0), &format!("{ON} 80 c0 80 80 80 80")), "+0=0 On1 suspicious@17.7 +0=0 8000E");
    // A branch to itself with every oddity: fifth byte, exception information, cycle count.
    assert_eq!(
        all(&counting(0), &format!("{ON} 80 81 80 81 80 c8 e0 e0 83")),
        "+0=0 On1 suspicious@17.7 suspicious@18.5 suspicious@18.6 suspicious@19.5 suspicious@19.6 \
         suspicious@19.7 suspicious@20.0 suspicious@20.1 suspicious@20.7 +0=0 8000E"
    );
    assert_eq!(all(&plain, &format!("{ON} 81 80 40 0c")), "On1 suspicious@15.0 Exc6@8000>0");
    let m_profile = Parameters { m_profile: true, ..Parameters::default() };
    assert_eq!(all(&m_profile, &format!("{ON} 81 80 40 0c")), "On1 Exc6@8000>0");
    assert_eq!(all(&plain, &format!("{ON} 72 81 80 80 80 88")), "On1 suspicious@17.7 missing-outcome@12.0");
    let stamp = "42 80 80 80 80 80 80 c0";
    assert_eq!(all(&Parameters::v1_0(), &format!("{ON} {stamp}")), "On1 suspicious@19.6 suspicious@19.7 T0");
    assert_eq!(all(&plain, &format!("{ON} 42 80 80 80 80 80 80 40")), "On1 T?");
}

/// On M profile exception 1 is no entry to Debug state.
#[test]
fn numbers_of_the_m_profile_are_its_own() {
    let wire = "81 80 80 80 48 02 84";
    assert_eq!(said(&Parameters::default(), &[LOOP], wire), "Exc1@8000>0");
    let m_profile = Parameters { m_profile: true, ..Parameters::default() };
    assert_eq!(said(&m_profile, &[LOOP], wire), "Exc1@8000>0 no-code@18.0[0]");
}

#[test]
fn branches_that_contradict_the_code_are_believed() {
    let plain = Parameters::default();
    // B 8010, ISB, DMB (a waypoint only if so configured), LOOP.
    let words = [0xea00_0002, 0xf57f_f06f, 0xf57f_f05f, LOOP, LOOP];
    assert_eq!(said(&plain, &words, "09 84"), "8000E 8010E");
    assert_eq!(said(&plain, &words, "03 05"), "8000E contradiction@12.0 8004E");
    assert_eq!(said(&plain, &words, "03 07"), "8000E contradiction@12.0 8004E contradiction@13.0");
    let barriers = Parameters { barrier_waypoints: true, ..Parameters::default() };
    let to_barrier = "8000E contradiction@12.0 8008E";
    assert_eq!(said(&barriers, &words, "05 07"), to_barrier);
    assert_eq!(said(&barriers, &words, "05 03"), format!("{to_barrier} contradiction@13.0"));
    assert_eq!(said(&barriers, &words, "05 86 84"), "8000E contradiction@12.0 8008N 800cE");
    assert_eq!(said(&plain, &words, "05 84"), "8000E contradiction@12.0 8008? 800cE");
    // To the right address in another instruction set.
    assert_eq!(said(&plain, &words, "89 80 82 80 10"), "8000E contradiction@12.0");
}

/// Once per gap; a branch address ends it, a waypoint update does not (PFT-ERR-006 to PFT-ERR-010,
/// PFT-DEC-079).
#[test]
fn where_no_code_is_the_flow_is_lost() {
    let plain = Parameters::default();
    assert_eq!(
        said(&plain, &[NOP], "c0 84 72 41 01 84"),
        "8000? no-code@12.0[8004] >8000 8000? no-code@17.0[8004]"
    );
    assert_eq!(said(&plain, &[NOP], "01"), "8000? no-code@12.0[8004] >8000");
    assert_eq!(said(&plain, &[NOP], "72 03 8d 80 40 1c"), "8000? no-code@12.0[8004] Exc14@?>18");
    assert_eq!(said(&plain, &[], "84 09 84 11"), "no-code@12.0[8000] >8010 no-code@14.0[8010] >8020");
    // The update is the base of the next address all the same.
    assert_eq!(said(&plain, &[], "84 72 81 80 02 05"), "no-code@12.0[8000] >10008");
    // Half of an instruction; misaligned code.
    let half = thumb(0x8000, &[0xbf00, 0xf000]);
    assert_eq!(story(&plain, &half, "08 01 80 00 00 21 84"), "On1 8000t? no-code@12.0[8002]");
    let odd = thumb(0x8002, &[0xe1a0, 0xeaff, 0xfffe, 0xe7fe]);
    assert_eq!(story(&plain, &odd, &format!("{ON} 84")), "On1 no-code@12.0[8000]");
}

/// Instructions may lie in several sections (PFT-WPT-029), and around the end of the address space
/// (PFT-WPT-025).
#[test]
fn code_goes_on_across_borders() {
    let mut program = thumb(0x8000, &[0xbf00, 0xf3af]);
    program = with_thumb(program, 0x8004, &[0x8000, 0xe7fe]);
    let plain = Parameters::default();
    assert_eq!(story(&plain, &program, "08 01 80 00 00 21 84"), "On1 8000t? 8002t? 8006tE");
    let program = arm(&[(0xffff_fff8, &[NOP, NOP]), (0, &[NOP, LOOP])]);
    let end = "08 f8 ff ff ff 21";
    assert_eq!(story(&plain, &program, &format!("{end} 84")), "On1 fffffff8? fffffffc? 0? 4E");
    let update = story(&plain, &program, &format!("{end} 72 01 88"));
    assert_eq!(update, "On1 fffffff8? fffffffc? 0? 4E 4E".replacen(" 4E 4E", " missing-outcome@12.0", 1));
    let update = story(&plain, &program, &format!("{end} 72 81 80 80 80 08 88"));
    assert_eq!(update, "On1 fffffff8? fffffffc? 0? 4E 4E");
    // Code above the end is out of reach.
    let program = arm(&[(0xffff_fffc, &[NOP, LOOP])]);
    assert_eq!(story(&plain, &program, "08 fc ff ff ff 21 84"), "On1 fffffffc? no-code@12.0[0]");
    // A branch around the end.
    let program = arm(&[(0xffff_fffc, &[0xea00_0000]), (4, &[0xeaff_fffc])]);
    assert_eq!(story(&plain, &program, "08 fc ff ff ff 21 90"), "On1 fffffffcE 4E fffffffcE");
}

#[test]
fn jazelle_state_has_no_code() {
    let plain = Parameters::default();
    // BX to Jazelle 0x12345679; an atom; a short branch, which stays there; back by an I-sync.
    assert_eq!(
        said(&plain, &[BX_LR, LOOP], "f3 d9 a2 a3 22 84 84 03 03 08 04 80 00 00 21 84"),
        "8000E unsupported-mode@17.0 >12345641j unsupported-mode@20.0 >12345641j On1 8004E"
    );
}

#[test]
fn a_walk_has_a_limit() {
    let words = [NOP, NOP, NOP, LOOP];
    let wire = bytes(&format!("{ALIGN} {ON} 90 84"));
    let update = bytes(&format!("{ALIGN} {ON} 72 05 84"));
    let said = |steps, wire: &[u8]| {
        let mut decoder = Decoder::default();
        decoder.set_limits(&limited(steps));
        let program = arm(&[(0x8000, &words)]);
        decoder.begin(&Parameters::default(), &program).expect("possible");
        let mut log = Log::<ArmPft>::default();
        decoder.push(wire, &mut log);
        let events: Vec<String> = log.events().map(|event| word(&program, event)).collect();
        let faults: Vec<String> = log.faults().map(fault_word).collect();
        format!("{} {}", events.join(" "), faults.join(" "))
    };
    assert_eq!(said(3, &wire), "On1 8000? 8004? 8008? 800cE 800cE 800cE 800cE ");
    assert_eq!(said(2, &wire), "On1 8000? 8004? limit@12.0");
    assert_eq!(said(0, &wire), "On1 limit@12.0");
    assert_eq!(said(3, &update), "On1 8000? 8004? 8008? 800cE ");
    assert_eq!(said(2, &update), "On1 8000? 8004? limit@12.0");
}
