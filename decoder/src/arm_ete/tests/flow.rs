//! Elements -> instructions: D-24 to D-28, D-35, section 6.3.

use super::*;

/// D-24 to D-28 and ETE-DEC-RS-001 to ETE-DEC-RS-011.
#[test]
fn the_return_stack_answers_where_no_address_comes() {
    let called = "1000E 1020? 1024E";
    let sync = format!("f7 f7 {ALIGN} 01 00 f7 82 10 08 00 00 31 f7");
    for (text, expected) in [
        ("f7 f7 f7 f7", "1004? 1008? 100cE 1040? 1044E"),
        (sync.as_str(), "Info 1004? 1008? 100cE 1ns64 1040? 1044E"),
        ("f7 f7 | b4 03 | f7", "1004? 1008? 100cE 1040? 1044E"),
        ("f7 f7 | ac 02 | 95 03 | f7", "1004? 1008? 100cE"),
        ("f7 f7 | af | 9a 00 20 00 00 f7 f7", "Q? 4000? 4004E"),
        ("f7 f7 | 06 46 90 | 9a 00 20 00 00 f7 f7", "Exc3@1000 4000? 4004E 1004? 1008? 100cE"),
        ("f7 f7 | 06 1d 95 03", "1004? 1008? Exc14@100c"),
        // PE Reset with an UNKNOWN Target Address, and without one.
        ("f7 f7 | 06 40 70 | 9a 00 20 00 00 f7 f7", "Exc0@? 4000? 4004E 1004? 1008? 100cE"),
        ("f7 f7 | 06 01 70 | 9a 00 20 00 00 f7 f7", "Exc0@? 4000? 4004E"),
        ("f7 f7 | 95 10 f7", "1040? 1044E"),
        ("f7 f7 0a f7", "Start"),
        // Trace On empties it.
        ("f7 f7 04 9a 00 20 00 00 f7 f7", "On 4000? 4004E"),
    ] {
        let story = after_p(&returns(c1()), &call(), text);
        assert_eq!(story, format!("{called} {expected}"), "{text}");
    }
    // Not enabled: the address stays undefined, and that is no fault.
    assert_eq!(after_p(&c1(), &call(), "f7 f7 f7 f7"), called);
}

#[test]
fn only_links_that_were_taken_at_first_are_pushed() {
    let returns = returns(c0(8));
    assert_eq!(after_p(&returns, &call(), "f7 f7 f7 2d 03"), "1000E 1020? 1024E 1004? 1008? 100cE");
    // Initially N, corrected (ETE-NYHFH-001); held and late.
    assert_eq!(after_p(&returns, &call(), "f6 30 f7 f7 2d 03"), "1000E 1020? 1024E");
    assert_eq!(after_p(&returns, &call(), "f6 2d 01 30 f7 f7 2d 02"), "1000N Mis 1020? 1024E");
    // Initially E, corrected to N: the entry stays (ETE-FFXPW-001).
    let wire = "f7 30 9a 00 20 00 00 f7 f7 2d 03";
    let expected = "1000N illegal-in-state@21.0 4000? 4004E 1004? 1008? 100cE";
    assert_eq!(after_p(&returns, &call(), wire), expected);
    // Cancelled (ETE-DEC-RS-011).
    assert_eq!(after_p(&returns, &call(), "f7 2e 01 9a 00 20 00 00 f7 f7 2d 02"), "4000? 4004E");
    // Between Trace Info and the address nothing is pushed (ETE-DEC-RS-004).
    assert_eq!(after_p(&returns, &call(), "01 00 f7 f7 f7 2d 03"), "Info 1000E 1020? 1024E");
    assert_eq!(after_p(&returns, &call(), "01 00 81 31 f7 f7 f7 2d 03"), "Info 1ns64 1000E 1020? 1024E");
    // BLR pushes, then pops that very entry (ETE-DEC-RS-009).
    let blr = words(&[(0x1000, &[BLR, NOP, LOOP])]);
    assert_eq!(after_p(&returns, &blr, "f7 f7 2d 02"), "1000E 1004? 1008E");
}

#[test]
fn missing_code_empties_the_return_stack() {
    let program = words(&[(0x1000, &[0x9400_0400, NOP, LOOP]), (0x4000, &[NOP, RET])]);
    let story = after_p(&returns(c1()), &program, "f7 | f7 | 9a 00 20 00 00 | f7 | f7");
    assert_eq!(story, "1000E no-code@22.0[2000] 4000? 4004E");
}

/// 6.3, R_PJFBL, A19, A26, I_YHQGL.
#[test]
fn exceptions_end_walks() {
    let program = words(&[(0x1000, &[NOP, LOOP_IF, RET, ISB, NOP])]);
    for (text, expected) in [
        ("06 1d 95 05", "1000? 1004? 1008? 100c? 1010? Exc14@1014"),
        ("06 1d 90 f7", "Exc14@1000"),
        ("06 1d 9a 00 00 00 00", "Exc14@0"),
        // IMPLEMENTATION DEFINED: goes on at the return address.
        ("06 21 95 01 f7", "1000? Exc16@1004 1004E"),
        ("06 1d 95 01 f7 90 f7", "1000? Exc14@1004 1004E"),
        ("06 1d 95 08", "1000? 1004? 1008? 100c? 1010? no-code@21.0[1014] Exc14@1020"),
        ("06 21 95 08 f7", "1000? 1004? 1008? 100c? 1010? no-code@21.0[1014] Exc16@1020"),
        // Nothing is known.
        ("04 06 1d 95 05", "On Exc14@1014"),
        ("04 90 06 1d 95 01", "On 1000? Exc14@1004"),
        ("01 00 04 90 06 1d 95 01", "Info On Exc14@4"),
    ] {
        assert_eq!(after_p(&c1(), &program, text), expected, "{text}");
    }
}

/// R_VDRPP, R_YJHMV.
#[test]
fn source_addresses_pass_what_was_not_taken() {
    let program = words(&[(0x1000, &[NOP, LOOP_IF, LOOP_IF, ISB, NOP, NOP])]);
    for (text, expected) in [
        ("b4 02 f7", "1000? 1004? 1008E 1008E"),
        ("b4 03 b4 08", "1000? 1004? 1008? 100cE 1010? 1014? no-code@23.0[1018]"),
        ("b4 04 f7", "1000? 1004? 1008? 100c? 1010E"),
        ("b4 02 b4 00 f7 90 f7", "1000? 1004? 1008E no-code@23.0[1000] 1000? 1004E"),
        ("04 b4 02", "On"),
    ] {
        assert_eq!(after_p(&c1(), &program, text), expected, "{text}");
    }
    // The link pushes.
    let story = after_p(&returns(c1()), &call(), "b0 f7 f7");
    assert_eq!(story, "1000E 1020? 1024E 1004? 1008? 100cE");
}

/// K10, ETE-DEC-Q-001, D-35.
#[test]
fn counted_paths_are_followed_as_far_as_they_are_certain() {
    let program = words(&[
        (0x1000, &[NOP, ISB, 0x1400_0003, NOP, NOP, NOP, LOOP_IF, NOP]),
        (0x2000, &[NOP, RET]),
        (0x3000, &[0x9400_0400]),
        (0x4000, &[RET]),
    ]);
    for (text, expected) in [
        ("ac 01 95 03 f7", "1000? 100c? 1010? 1014? 1018E"),
        ("ac 02", "1000? 1004?"),
        ("ac 03", "1000? 1004? 1008E"),
        ("ac 04 f7", "1000? 1004? 1008E 1014?"),
        ("ac 05", "1000? 1004? 1008E 1014? 1018?"),
        ("ac 85 01", "1000? 1004? 1008E 1014? 1018? Q128"),
        ("ac 00", "Q?"),
        ("af 80 90 f7", "Q? 1ns64 1000? 1004E"),
        ("a2 ff 01 f7", "1000? 1004? 1008E 1014? 1018? Q250 no-code@24.0[0]"),
        ("9a 00 10 00 00 ac 03", "2000? 2004? Q1"),
        // The link of a counted path is not pushed, its return does not pop.
        ("9a 00 18 00 00 ac 02 9a 01 10 00 00 f7 f7", "3000E 4000? 2004E"),
        ("04 ac 07 af", "On Q7 Q?"),
        ("9a 01 18 00 00 ac 02", "no-code@26.0[3004]"),
    ] {
        assert_eq!(after_p(&returns(c1()), &program, text), expected, "{text}");
    }
}

/// TSTART, ISB, WFx; FEAT_CMPBR, BC.cond, pointer authentication, ERET (sheet 6.4).
#[test]
fn p0_instructions_of_a64() {
    let waits = Parameters { wfx_is_p0: true, ..c1() };
    for (word, name) in [(0xd523_3060, "tstart"), (ISB, "isb")] {
        let program = words(&[(0x1000, &[word, LOOP])]);
        assert_eq!(after_p(&c1(), &program, "f7 f7"), "1000E 1004E", "{name}");
    }
    for (word, name) in
        [(0xd503_205f, "wfe"), (0xd503_207f, "wfi"), (0xd503_1003, "wfet"), (0xd503_1023, "wfit")]
    {
        let program = words(&[(0x1000, &[word, LOOP])]);
        assert_eq!(after_p(&waits, &program, "f7 f7"), "1000E 1004E", "{name}");
        assert_eq!(after_p(&c1(), &program, "f7"), "1000? 1004E", "{name}");
    }
    for (word, name) in [
        (0x5400_0050, "bc.eq"),
        (0x7401_0040, "cbgt"),
        (0x7401_8040, "cbbgt"),
        (0x7401_c040, "cbhgt"),
        (0x7500_0040, "cbgt #0"),
        (0xb400_0040, "cbz"),
        (0x3600_0040, "tbz"),
    ] {
        let program = words(&[(0x1000, &[word, LOOP, LOOP])]);
        assert_eq!(after_p(&c1(), &program, "d9"), "1000E 1008N", "{name}");
        assert_eq!(after_p(&c1(), &program, "f6 f7"), "1000N 1004E", "{name}");
    }
    for (word, link) in [
        (0xd61f_0020, false),
        (0xd63f_0020, true),
        (0xd65f_0bff, false),
        (0xd65f_0fff, false),
        (0xd65f_0be3, false),
        (0x5500_001f, false),
        (0x5520_005f, false),
        (0xd61f_083f, false),
        (0xd63f_0c3f, true),
        (0xd71f_0820, false),
        (0xd73f_0c20, true),
        (0xd69f_03e0, false),
        (0xd69f_0bff, false),
        (0xd69f_0fff, false),
        (0xd6ff_03e0, false),
    ] {
        let program = words(&[(0x1000, &[word, LOOP]), (0x2000, &[RET])]);
        let expected = if link { "1000E 2000E 1004E" } else { "1000E 2000E" };
        assert_eq!(after_p(&returns(c1()), &program, "f7 9a 00 10 00 00 f7 f7"), expected, "{word:#x}");
    }
    for word in [0xd400_0001, 0xd503_307f, 0xd460_0000, 0xd6bf_03e0, 0xd503_225f, 0xd50b_72e0, 0xd503_30ff] {
        let program = words(&[(0x1000, &[word, LOOP])]);
        assert_eq!(after_p(&c1(), &program, "f7"), "1000? 1004E", "{word:#x}");
    }
}

/// A32 and T32: state changes, addresses of 32 bits.
#[test]
fn aarch32() {
    // 8000: nop; blx 8010; 8008: bx lr; 8010: T32 nop; bl 8020; bx lr; 8020: pop {pc}
    let mut program = words(&[(0x8000, &[0xe320_f000, 0xfa00_0001, 0xe12f_ff1e])]);
    let thumb = [0xbf00_u16, 0xf000, 0xf805, 0x4770, 0xbf00, 0xbf00, 0xbf00, 0xbf00, 0xbd00];
    let code = thumb.iter().flat_map(|half| half.to_le_bytes()).collect();
    program.insert(Section::new(0x8010, code, "")).expect("free");
    let start = "01 00 04 82 00 40 00 00 20";
    let story = |text: &str| story(&returns(c1()), &program, &format!("{start} {text}"));
    let expected = "Info On 0ns32 8000? 8004E 8010? 8012E 8020E 8016E 8008E";
    assert_eq!(story("f7 f7 f7 f7 f7"), expected);
    // A return address inside an instruction: it was not executed.
    assert_eq!(story("96 08 06 1d 96 0a"), "Info On 0ns32 8010? Exc14@8014");
    assert_eq!(story("9b 0a 80 00 00 06 1d 96 08"), "Info On 0ns32 Exc14@8010");
    // The upper half of an address means nothing.
    let high = "01 00 04 85 00 40 00 00 01 00 00 00 20 | f7";
    assert_eq!(super::story(&c1(), &program, high), "Info On 0ns32 8000? 8004E");
}

#[test]
fn code_is_looked_up_in_its_space() {
    let mut program = Program::new();
    for (space, word) in [("secure el1", LOOP_IF), ("non-secure el1", NOP), ("realm el1", RET)] {
        let code = [word, LOOP].iter().flat_map(|word| word.to_le_bytes()).collect();
        let section = Section::new(0x1000, code, space).in_space(space.parse().expect("a space"));
        program.insert(section).expect("free");
    }
    for (context, expected) in [
        ("11", "1s64 1000E"),
        ("31", "1ns64 1000? 1004E"),
        ("39", "1realm64 1000E"),
        ("19", "1root64 no-code@22.0[1000]"),
        ("30", "0ns64 no-code@22.0[1000]"),
    ] {
        let log = log_within(
            &DecoderLimits::default(),
            &c1(),
            &program,
            &format!("01 00 04 81 {context} 9a 00 08 00 00 f7"),
        );
        let words: Vec<String> = log
            .entries
            .iter()
            .filter_map(|(_, entry)| match entry {
                Entry::Packet(_) => None,
                Entry::Event(Event::Instructions { count: 2, .. }) => Some("1000? 1004E".into()),
                Entry::Event(Event::Instructions { .. }) => Some("1000E".into()),
                Entry::Event(event) => Some(word(&program, event)),
                Entry::Fault(fault) => Some(fault_word(fault)),
            })
            .collect();
        assert_eq!(words.join(" "), format!("Info On {expected}"));
    }
}

/// 8.5: context and address are both needed, in any order.
#[test]
fn context_and_address_are_needed() {
    for (text, expected) in [
        ("01 00 04 f7 81 31 f7 9a 00 08 00 00 f7", "Info On 1ns64 1000E"),
        ("01 00 04 9a 00 08 00 00 81 31 f7", "Info On 1ns64 1000E"),
        // An atom without context makes the address undefined.
        ("01 00 04 9a 00 08 00 00 f7 81 31 f7", "Info On 1ns64"),
        // The context stays over Trace On, unless a Trace Info, Discard or Overflow comes.
        ("01 00 82 00 08 00 00 31 04 90 f7", "Info 1ns64 On 1000E"),
        ("01 00 82 00 08 00 00 31 01 00 04 9a 00 08 00 00 f7", "Info 1ns64 Info On"),
        ("01 00 82 00 08 00 00 31 00 03 90 f7", "Info 1ns64 Dis"),
        ("01 00 82 00 08 00 00 31 00 03 82 00 08 00 00 31 f7", "Info 1ns64 Dis 1ns64 1000E"),
        // They stay over a Trace Info.
        ("01 00 82 00 08 00 00 31 01 00 f7", "Info 1ns64 Info 1000E"),
    ] {
        assert_eq!(story(&c1(), &branches(), text), expected, "{text}");
    }
}
