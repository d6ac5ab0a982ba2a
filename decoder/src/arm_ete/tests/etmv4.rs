//! What only ETMv4 has: D-29, D-30, section B of the additions.

use traceproof_vectors::arm::Profile;

use super::*;

fn m() -> Parameters {
    Parameters { profile: Profile::Microcontroller, ..v4(Version::Etmv4_5) }
}

/// T32 code at 0x1000: `nop; b .`
fn thumb() -> Program {
    halves(0x1000, &[0xbf00, 0xe7fe])
}

/// Trace Info, Trace On, 0x1000 in T32 state.
const P_THUMB: &str = "01 00 04 83 00 10 00 00 20";

#[test]
fn exceptions_have_their_address_in_the_next_packet() {
    for (text, expected) in [
        ("06 91 30 | 96 01 | 2d 01", "1000? Exc520@1002P"),
        ("06 21 | 90 | 2d 01", "Exc16@1000"),
        ("06 1d | 83 01 10 00 00 21 | 2d 01", "1ns32 1000? Exc14@1002"),
        ("06 5c | 83 01 10 00 00 21 | 2d 01", "1ns32 Exc14@1002"),
        ("06 1d | 9b 7f ff ff ff | 2d 01", "Exc14@?"),
        ("06 1d | f7 2d 02", "missing-address@23.0 Exc14@?"),
        ("06 1d", ""),
    ] {
        let story = story(&m(), &thumb(), &format!("{P_THUMB} {text}"));
        let story = story.strip_prefix("Info On 0ns32").expect("the start").trim_start();
        assert_eq!(story, expected, "{text}");
    }
    let log =
        log_within(&DecoderLimits::default(), &m(), &thumb(), &format!("{P_THUMB} 06 91 30 | 96 01 | 2d 01"));
    let place = log
        .entries
        .iter()
        .find_map(|(place, entry)| matches!(entry, Entry::Event(Event::Exception { .. })).then_some(*place));
    assert_eq!(place.map(|place| place.byte), Some(21), "that of the packet 06");
    // ETMv4 of the A profile has the numbers of ETE.
    assert_eq!(
        story(&v4(Version::Etmv4_2), &branches(), &format!("{P} 06 01 90 06 21 | 90 2d 02")),
        "Info On 1ns64 Exc0@? Exc16@1000"
    );
}

/// ETE-V4-RET-001, A9, A6.
#[test]
fn returns() {
    let text = format!("{P_THUMB} 07 2d 01 f7 05 2d 02 f7");
    assert_eq!(story(&m(), &thumb(), &text), "Info On 0ns32 ERet 1000? 1002E FRet");
    let text = format!("{P} 07 f7 2d 01");
    assert_eq!(story(&v4(Version::Etmv4_2), &branches(), &text), "Info On 1ns64 ERet 1000E");
}

/// ETE-DEC-RS-006, reading `ete-return-packets-pop-nothing`.
#[test]
fn return_packets_pop_nothing() {
    // bl 0x1020; b .; at 0x1020 bx lr
    let mut code = [0xbf00_u16; 17];
    (code[0], code[1], code[2], code[16]) = (0xf000, 0xf80e, 0xe7fe, 0x4770);
    let calls = halves(0x1000, &code);
    let parameters = super::returns(Parameters { commopt: true, maxspec: 0, ..m() });
    for (text, expected) in [
        ("f7 f7 07 f7", "1000E 1020E ERet 1004E"),
        ("f7 f7 05 f7", "1000E 1020E FRet 1004E"),
        ("f7 f7 07 96 10 f7 f7", "1000E 1020E ERet 1020E 1004E"),
        ("f7 f7 05 96 10 f7 f7", "1000E 1020E FRet 1020E 1004E"),
        ("f7 05 f7 96 10 f7 f7", "1000E FRet 1020E 1004E"),
    ] {
        let story = story(&parameters, &calls, &format!("{P_THUMB} {text}"));
        assert_eq!(story, format!("Info On 0ns32 {expected}"), "{text}");
    }
}

/// D-30: depth 7, so that a Commit of 7 is possible, of 8 is not.
#[test]
fn data_synchronization_markers() {
    let loops = " 1000E".repeat(3);
    let after = format!("{loops} Dsm Dsm5{} 1000E Dsm", " 1000E".repeat(3));
    let text = format!("{P} 2b 25 2c 2d 07");
    assert_eq!(story(&v4(Version::Etmv4_2), &branches(), &text), format!("Info On 1ns64{after}"));
    let text = format!("{P} 2b 25 2c 2d 08");
    assert_eq!(story(&v4(Version::Etmv4_2), &branches(), &text), "Info On 1ns64 contradiction@24.0");
}

#[test]
fn resynchronization_waits_for_a_trace_info() {
    let text = format!("{P} f7 08 f7 71 2d 05 01 04 01 2d 01");
    assert_eq!(story(&v4(Version::Etmv4_2), &branches(), &text), "Info On 1ns64 1000E Ev0 Info");
}

#[test]
fn conditional_packets_have_no_events() {
    let text = format!("{P} 6d 05 42 5a 34 68 92 05 13 6f 71 6c 85 01 43 44 4e 70 71");
    assert_eq!(story(&v4(Version::Etmv4_4), &branches(), &text), "Info On 1ns64 Ev0");
}

/// D16: NSE is reserved.
#[test]
fn contexts_are_secure_or_not() {
    let text = "01 00 81 38 81 08 81 30";
    assert_eq!(
        story(&v4(Version::Etmv4_4), &branches(), text),
        "Info suspicious@15.3 0ns64 suspicious@17.3 0s32 0ns64"
    );
}

/// Loads and stores as P0 instructions; low-overhead loops of the M profile.
#[test]
fn p0_instructions_of_the_m_profile() {
    // ldr r0, [r1]; str r0, [r1]; nop; le .-6; b .
    let program = halves(0x1000, &[0x6808, 0x6008, 0xbf00, 0xf02f, 0xc805, 0xe7fe]);
    let story =
        |parameters: Parameters, text: &str| story(&parameters, &program, &format!("{P_THUMB} {text}"));
    let loads = Parameters { load_is_p0: true, ..m() };
    let stores = Parameters { store_is_p0: true, ..m() };
    let application = v4(Version::Etmv4_4);
    assert_eq!(story(m(), "f7 2d 01"), "Info On 0ns32 1000? 1002? 1004? 1006E");
    assert_eq!(story(loads, "f7 f7 2d 02"), "Info On 0ns32 1000E 1002? 1004? 1006E");
    assert_eq!(story(stores, "f7 f7 2d 02"), "Info On 0ns32 1000? 1002E 1004? 1006E");
    assert_eq!(story(application, "f7 2d 01"), "Info On 0ns32 1000? 1002? 1004? 1006? 100aE");
}
