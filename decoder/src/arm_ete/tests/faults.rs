//! Faults and warnings, their places, and what they cost.

use alloc::vec;

use traceproof_vectors::FaultClass;
use traceproof_vectors::arm_ete::{Atoms, Packet};

use super::packets::packets;
use super::*;
use crate::arm_ete::Analyzer;

fn limits() -> DecoderLimits {
    DecoderLimits::default()
}

#[test]
fn commits_and_cancels_of_too_many() {
    let sync = format!("{ALIGN} {P} f7 2d 01");
    let after = "Info On 1ns64 1000E";
    for text in
        ["2d 01", "f7 2d 02", "2e 01", "f7 2e 02", "f7 2f 02", "f7 f7 3a", "34", "f7 0c 10", "0e 02 05", "14"]
    {
        let story = after_p(&c0(8), &branches(), &format!("{text} {sync}"));
        let byte = 21 + bytes(text).iter().take_while(|byte| **byte == 0xf7).count();
        assert_eq!(story, format!("contradiction@{byte}.0 {after}"), "{text}");
    }
    // Atoms of the packet come first; what was held is dropped, the cycle total begins again.
    assert_eq!(after_p(&c0(1), &branches(), "f7 3b"), "1000E contradiction@22.0");
    let text = format!("0e 00 05 2d 01 {ALIGN} {P} 0e 00 05");
    assert_eq!(after_p(&c0(8), &branches(), &text), "+5=5 contradiction@24.0 Info On 1ns64 +5=5");
    // The search begins at the header: the zeros of the packet belong to the A-sync.
    let text = format!("0e 82 00 00 {} 71", "00 00 00 00 00 00 00 00 00 80");
    assert_eq!(after_p(&c0(8), &branches(), &text), "contradiction@21.0 Ev0");
}

#[test]
fn synchronisation_is_lost() {
    let after = "Info On 1ns64 1000E";
    let text = format!("f7 05 f7 80 {ALIGN} {P} f7");
    assert_eq!(after_p(&c1(), &branches(), &text), format!("1000E reserved-encoding@22.0 {after}"));
    // Nothing is known afterwards: context, address, return stack, transaction, what was held.
    let text = format!("f7 0a f7 05 {ALIGN} 01 00 90 f7 2d 01 0b");
    assert_eq!(after_p(&c0(8), &branches(), &text), "reserved-encoding@24.0 Info Commit");
    assert_eq!(after_p(&c1(), &branches(), "f7 9a 00"), "1000E truncated@22.0");
}

#[test]
fn flow_is_lost() {
    let code = words(&[(0x1000, &[NOP, NOP, NOP, LOOP_IF]), (0x2000, &[0, 0x0001_0000])]);
    // No code.
    assert_eq!(
        after_p(&c1(), &code, "fa 9a 01 08 00 00 f7"),
        "1000? 1004? 1008? 100cN no-code@21.0[1010] 1004? 1008? 100cE"
    );
    // IS1 in AArch64 state.
    assert_eq!(after_p(&c1(), &code, "96 02 f7 90 f7"), "unsupported-mode@23.0 unsupported-mode@25.0");
    // Instructions for one element.
    let within = |steps, text: &str| {
        story_within(&limits().with_steps(steps), &c1(), &code, &format!("01 00 04 82 00 08 00 00 31 {text}"))
    };
    assert_eq!(within(4, "f7 f7"), "Info On 1ns64 1000? 1004? 1008? 100cE 100cE");
    assert_eq!(within(3, "f7 f7"), "Info On 1ns64 1000? 1004? 1008? limit@21.0");
    assert_eq!(within(0, "f7"), "Info On 1ns64 limit@21.0");
    assert_eq!(within(2, "06 1d 95 02"), "Info On 1ns64 1000? 1004? Exc14@1008");
    assert_eq!(within(2, "06 1d 95 03"), "Info On 1ns64 1000? 1004? limit@21.0 Exc14@100c");
    assert_eq!(within(2, "b4 01"), "Info On 1ns64 1000? 1004E");
    assert_eq!(within(2, "b4 02"), "Info On 1ns64 1000? 1004? limit@21.0");
    assert_eq!(within(2, "ac 02"), "Info On 1ns64 1000? 1004?");
    assert_eq!(within(2, "ac 03"), "Info On 1ns64 1000? 1004? limit@21.0");
}

/// R_HGDNB: reported before the next P0 element, unless it is corrected.
#[test]
fn unconditional_instructions_that_were_not_taken() {
    let code = words(&[(0x1000, &[LOOP, RET, LOOP_IF])]);
    for (text, expected) in [
        ("f6", "1000N"),
        ("f6 f7", "1000N illegal-in-state@21.0 1004E"),
        ("d8 f6", "1000N illegal-in-state@21.0 1004N illegal-in-state@21.0 1008N"),
        ("f6 30 f7", "1000N Mis 1000E"),
        ("f6 30 30 f7", "1000N Mis Mis illegal-in-state@21.0 1004E"),
        ("f6 71 06 1d 90", "1000N Ev0 illegal-in-state@21.0 Exc14@1000"),
        ("f6 00 03 82 00 08 00 00 31 f7", "1000N Dis 1ns64 1000E"),
    ] {
        assert_eq!(after_p(&c1(), &code, text), expected, "{text}");
    }
}

/// Each with the byte and bit; what can be read is believed.
#[test]
fn warnings() {
    let all = c0(8);
    let off = Parameters::default();
    let off_v4 = Parameters { timestamp_bits: 48, commopt: false, ..Parameters::etmv4(Version::Etmv4_5) };
    for (parameters, text, expected) in [
        (&all, "01 10", "suspicious@22.4 Info"),
        (&all, "01 04 80 80 80 80 10", "suspicious@27.4 Info"),
        (&all, "01 04 05", "suspicious@21.0 Info"),
        (&all, "01 09 01 80 20", "suspicious@25.5 Info"),
        (&all, "01 01 3e", "Info"),
        (&all, "03 05 80 80 40", "suspicious@25.6 T5/0b"),
        (&all, "f7 2d 81 80 80 80 10", "suspicious@27.4 1000E"),
        (&all, "f7 0e 81 80 80 80 20 80 80 80", "suspicious@27.4 suspicious@30.6 1000E +?=0"),
        (&all, "9a 80 88 00 00", "suspicious@22.7 suspicious@23.7"),
        (&all, "06 9d 9a 80 08 00 00 2d 01", "suspicious@22.7 suspicious@24.7 Exc14@1000"),
        (&all, "06 35 90 2d 01", "suspicious@22.1 Exc26@1000"),
        (&all, "81 35", "suspicious@22.2 1ns64"),
        (&all, "09 05 00 00 00 00 00 00 00 00", "suspicious@22.2 Iel1=0"),
        (&off, "2d 01", "suspicious@21.0 contradiction@21.0"),
        (&off, "0a 0b", "suspicious@21.0 Start suspicious@22.0 Commit"),
        (&off, "12", "suspicious@21.0 +2=2"),
        (&off, "30", ""),
        (&off_v4, "20 05", "suspicious@21.0 Dsm0 suspicious@22.0 FRet"),
        (&off_v4, "42 00 07 43", "suspicious@21.0 suspicious@22.0 suspicious@24.0"),
        (&off_v4, "02 80 80 80 80 80 80 40", "suspicious@21.0 T281474976710656"),
        (&off_v4, "81 f1", "illegal-in-state@22.6 illegal-in-state@22.7 1ns64"),
        (&off_v4, "06 9d c0 90", "suspicious@23.6 Exc14@1000"),
    ] {
        assert_eq!(after_p(parameters, &branches(), text), expected, "{text}");
    }
    // Before the first Trace Info there are none.
    assert_eq!(story(&off, &branches(), "2d 05 0a 12 71"), "Ev0");
    let uncounted = Parameters { q_elements: QElements::Count, ..c1() };
    assert_eq!(after_p(&uncounted, &branches(), "af"), "suspicious@21.0 Q?");
}

/// DecoderLimits::speculation: the element too many stays, the others become unseen.
#[test]
fn too_many_elements() {
    let within = |parameters: &Parameters, text: &str| {
        let story =
            story_within(&limits().with_speculation(3), parameters, &branches(), &format!("{P} {text}"));
        String::from(story.strip_prefix("Info On 1ns64").expect("P").trim_start())
    };
    let unlimited = c0(u32::MAX);
    assert_eq!(within(&unlimited, "fb 2d 03"), "1000E 1000E 1000N");
    assert_eq!(within(&unlimited, "fb f7"), "limit@22.0");
    // Three are unseen now; the address is undefined.
    assert_eq!(within(&unlimited, "fb f7 2d 04"), "limit@22.0");
    assert_eq!(within(&unlimited, "fb f7 2d 05"), "limit@22.0 contradiction@23.0");
    assert_eq!(within(&unlimited, "fb f7 90 f7 2d 05"), "limit@22.0 1000E");
    assert_eq!(within(&unlimited, "f7 71 72 74 f7"), "Ev0 Ev1 limit@24.0 Ev2");
    assert_eq!(within(&unlimited, "f7 81 30 71 f7 90 f7 2d 03"), "Ev0 0ns64 limit@25.0 1000E");
    assert_eq!(within(&c0(3), "d4"), " 1000E".repeat(21).trim_start());
    // With transactions.
    assert_eq!(within(&c1(), "0a fb"), "Start");
    assert_eq!(within(&c1(), "0a fb 0b"), "Start 1000E 1000E 1000N Commit");
    assert_eq!(within(&c1(), "0a fb 71 06 31 70"), "Start limit@23.0 Ev0 Fail");
    assert_eq!(within(&c1(), "0a 71 fb 90 f7 0b"), "Start Ev0 limit@23.0 1000E Commit");
}

/// Memory is bounded where atoms come and nothing commits them, and where a transaction never ends
/// (DecoderLimits::speculation, ETE-DEC-ERR-002): of each element over the limit the others are dropped with a fault.
#[test]
fn uncommitted_atoms_are_bounded() {
    const MOST: u64 = 100;
    const ATOMS: u64 = 20_000;
    // An element too many stays; so one fault for each further 100.
    const FAULTS: u64 = (ATOMS - 1) / MOST;
    // E; 23 E and N.
    for (parameters, begin, atoms) in [
        (c0(u32::MAX), String::from(P), vec![Atoms::one(true); ATOMS as usize]),
        (c0(u32::MAX), String::from(P), vec![Atoms::new(&[true; 20]).expect("20"); ATOMS as usize / 20]),
        (c1(), format!("{P} 0a"), vec![Atoms::one(false); ATOMS as usize]),
    ] {
        for is_fast in [true, false] {
            let limits = limits().with_speculation(MOST as u32);
            let mut analyzer = Analyzer::new(&parameters, &branches(), &limits);
            if !is_fast {
                analyzer = analyzer.without_fast_path();
            }
            let mut log = Log::<ArmEte>::default();
            for packet in packets(&parameters, &begin) {
                assert!(analyzer.packet(Place::default(), &packet, &mut log).is_continue());
            }
            let events = log.events().count();
            for atoms in &atoms {
                let packet = Packet::Atoms(*atoms);
                assert!(analyzer.packet(Place::default(), &packet, &mut log).is_continue());
                assert!(analyzer.queue.elements() + analyzer.transaction.elements() <= MOST);
                // A vector that grows has at most twice as much memory as it needed.
                assert!(analyzer.queue.capacity() + analyzer.transaction.capacity() <= 3 * MOST as usize);
            }
            assert_eq!(log.events().count(), events, "nothing is committed");
            assert_eq!(log.faults().count() as u64, FAULTS);
            assert!(log.faults().all(|fault| fault.class == FaultClass::Limit));
        }
    }
}
