//! Context ID, VMID, security state and Hyp mode: what is reported, and which code is seen.

use super::*;
use crate::arm_pft::code::Code;
use crate::arm_pft::state::State;
use crate::arm_pft::track::Rules;

#[test]
fn d14_contexts() {
    let parameters = Parameters { context_id_bytes: 2, ..virtualization() };
    let program = arm(&[(0x8000, &[NOP, 0xeaff_ffff, NOP, LOOP])]);
    assert_eq!(
        story(&parameters, &program, &format!("{ON} 34 12 84 6e 78 56 3c 09 84 6e 78 56")),
        "On1 8000? 8004E cid5678 vmid9 8008? 800cE cid5678"
    );
    let parameters = Parameters { context_id_bytes: 1, ..virtualization() };
    let program = arm(&[(0x8000, &[BX_LR]), (0x8020, &[LOOP])]);
    assert_eq!(
        story(&parameters, &program, &format!("{ON} 41 88 6e 42 3c 07 11 84")),
        "On1 8000E unexpected-discontinuity@13.0 cid42 vmid7 >8020 8020E"
    );
}

/// What an I-sync states (PFT-DEC-063, PFT-DEC-065, PFT-DEC-076).
#[test]
fn an_i_sync_states_everything() {
    let on = |parameters: &Parameters, text: &str| {
        let log = log(parameters, &Program::new(), text);
        let events: Vec<Event> = log.events().copied().collect();
        match events.as_slice() {
            [Event::TraceOn { address, isa, non_secure, hyp, context_id, .. }] => {
                format!("{isa} {address} {non_secure} {hyp} {context_id:x?}")
            }
            other => panic!("{other:?}"),
        }
    };
    let virtualized = Parameters { context_id_bytes: 4, ..virtualization() };
    assert_eq!(on(&virtualized, "08 28 63 03 c0 2b 78 56 34 12"), "a32 0xc0036328 true true Some(12345678)");
    assert_eq!(on(&Parameters::default(), "08 35 12 00 00 6d"), "t32ee 0x1234 true false None");
    assert_eq!(on(&Parameters::default(), "08 07 00 01 00 03"), "t32 0x10006 false false None");
    assert_eq!(on(&Parameters::default(), "08 06 00 01 00 05"), "a32 0x10004 false false None");
}

/// NOP and LOOP at 0x8000, as each space sees them: what is executed before the loop is how many NOPs.
fn spaces(sections: &[(&str, usize)]) -> Program {
    let mut program = Program::new();
    for &(space, nops) in sections {
        let words = core::iter::repeat_n(NOP, nops).chain([LOOP]);
        let bytes = words.flat_map(u32::to_le_bytes).collect();
        let section = Section::new(0x8000, bytes, "").in_space(space.parse().expect("a space"));
        program.insert(section).expect("clear");
    }
    program
}

/// How many instructions each waypoint took.
fn runs(parameters: &Parameters, program: &Program, text: &str) -> Vec<u64> {
    let log = log(parameters, program, text);
    assert_eq!(log.faults().count(), 0, "{text}");
    let counts = log.events().filter_map(|event| match event {
        Event::Instructions { count, .. } => Some(*count),
        _ => None,
    });
    counts.collect()
}

#[test]
fn code_is_seen_in_the_current_state() {
    let parameters = Parameters { context_id_bytes: 1, ..virtualization() };
    // Every branch leads back to 0x8000.
    let program = spaces(&[("secure", 0), ("non-secure", 1), ("non-secure el2", 2)]);
    let back = |state: &str| format!("81 80 41 {state}");
    let wire = format!("{ON} 41 {} {} {} {} 84", back("01"), back("81 20"), back("01"), back("00"));
    let said = log(&parameters, &program, &wire);
    let counts: Vec<u64> = said
        .events()
        .filter_map(|event| match event {
            Event::Instructions { count, .. } => Some(*count),
            _ => None,
        })
        .collect();
    // Without its second byte Hyp mode stays.
    assert_eq!(counts, [1, 2, 3, 3, 1]);
    let program = spaces(&[("any", 0), ("context=0x41", 1), ("context=0x42", 2)]);
    let wire = format!("{ON} 41 84 6e 42 84 84 6e 43 84 6e 41 84");
    // The second loop in Context 42 starts at the loop itself.
    let sync = "08 00 80 00 00 41";
    let wire_with_syncs = format!("{ON} 41 84 {sync} 42 84 {sync} 43 84 {sync} 41 84");
    assert_eq!(runs(&parameters, &program, &wire_with_syncs), [2, 3, 1, 2]);
    assert_eq!(log(&parameters, &program, &wire).faults().count(), 1, "no code after the loop in others");
    let program = spaces(&[("vmid=0x5", 0), ("vmid=0x6", 1)]);
    let sync = format!("{sync} 41");
    assert_eq!(runs(&parameters, &program, &format!("{sync} 3c 05 84 3c 06 {sync} 84 {sync} 84")), [1, 2, 2]);
}

/// What the trace says cannot make the views more than the program's own spaces.
#[test]
fn views_are_as_many_as_the_program_has_spaces() {
    let rules = Rules { barrier_waypoints: false, fast_path: true };
    let mut code = Code::new(&spaces(&[("any", 0), ("context=0x0", 1), ("context=0x1 vmid=0x0", 2)]), rules);
    let mut views: Vec<usize> =
        (0..1000_u32).map(|value| code.view(&State::START, Some(value), Some(value as u8))).collect();
    views.sort_unstable();
    views.dedup();
    // (0, 0), (1, other), (other, 0), (other, other).
    assert_eq!(views.len(), 4);
    let mut plain = Code::new(&spaces(&[("any", 0)]), rules);
    assert_eq!(plain.view(&State::START, Some(7), None), 0);
}
