//! Which instructions are waypoints: section 4.7 of the sheet, each at 0x10000.

use super::*;
use crate::arm_pft::track::{Kind, Rules, Step, Track};
use InstructionSet::{A32, T32, ThumbEe};

fn step(set: InstructionSet, code: u32, barrier_waypoints: bool) -> Step {
    let halves =
        if set == A32 { [code as u16, (code >> 16) as u16] } else { [(code >> 16) as u16, code as u16] };
    let halves = if set != A32 && code >> 16 == 0 { &halves[1..] } else { &halves[..] };
    let rules = Rules { barrier_waypoints, fast_path: true };
    let track = Track::new(&thumb(0x1_0000, halves), set, rules);
    let step = track.step(track.find(0x1_0000));
    assert_eq!(usize::from(step.length), halves.len() * 2, "{code:08x}");
    step
}

/// The class of the sheet's section 4.1, and the target of a direct branch.
fn class(set: InstructionSet, code: u32) -> String {
    let step = step(set, code, false);
    let link = if step.link { "L" } else { "" };
    match step.kind {
        Kind::Missing => "missing".into(),
        Kind::Other if step.is_barrier(set, code) => "B".into(),
        Kind::Other => "O".into(),
        Kind::Indirect => format!("I{link}"),
        Kind::Near => format!("D{link} {:08X}", step.target),
        Kind::Far(isa) if isa == set.state() => format!("D{link} {:08X}", step.target),
        Kind::Far(isa) => format!("D{link} {:08X} {isa}", step.target),
    }
}

impl Step {
    /// A waypoint only if barriers are (PFT-CFG-008).
    fn is_barrier(&self, set: InstructionSet, code: u32) -> bool {
        let step = step(set, code, true);
        step.kind != self.kind && step.target == 0x1_0000 + u32::from(step.length)
    }
}

fn all(set: InstructionSet, table: &[(&str, &str)]) {
    for (codes, expected) in table {
        for code in codes.split(' ') {
            let code = u32::from_str_radix(code, 16).expect("hexadecimal");
            assert_eq!(class(set, code), *expected, "{code:08X}");
        }
    }
}

#[test]
fn a32_waypoints() {
    all(
        A32,
        &[
            ("EA000002 0A000002", "D 00010010"),
            ("EAFFFFFE", "D 00010000"),
            ("EB000003", "DL 00010014"),
            ("EBFFFFEF", "DL 0000FFC4"),
            ("FA00008C", "DL 00010238 t32"),
            ("FB00008C", "DL 0001023A t32"),
            ("E12FFF33", "IL"),
            ("E12FFF1E 112FFF13 E12FFF23", "I"),
            ("F8BD0A00 F9910A00 E160006E E8FD800F E1B0F00E E25EF004", "I"),
            ("E8BD8010 E49DF004 E59FF018 E79FF101 E1A0F00E E08FF102", "I"),
            ("E1600070 EF000000 E8BD4010 E7D1F002 E15F0000 E129F000 E328F201 E320F003 E1200070", "O"),
            ("EE11FF10 E1400070 E7F000F0 EEF1FA10 F1080080 F1010200", "O"),
            ("F57FF06F EE070F95", "D 00010004"),
            ("F57FF05F F57FF04F EE070F9A EE070FBA", "B"),
        ],
    );
}

#[test]
fn t32_waypoints() {
    all(
        T32,
        &[
            ("D0FB", "D 0000FFFA"),
            ("DD7F", "D 00010102"),
            ("E7FE", "D 00010000"),
            ("E001", "D 00010006"),
            ("B110", "D 00010008"),
            ("B9F7", "D 00010040"),
            ("BB00", "D 00010044"),
            ("4770 46F7 449F BD08", "I"),
            ("4798", "IL"),
            ("4685 BC08 DF00 DE00 BE00 BF30 BF20 BF08 C000 C200 C300 C400", "O"),
            ("F7F08000 F3878100 F7F0A000 F3BF8F2F", "O"),
            ("E83DC000 E9BDC000 F3DE8F04 F3DE8F00 F3C58F00", "I"),
            ("E8DFF001 E8DFF011 E8BD81F0 E91D8010 F85DFB04", "I"),
            ("F8D0F010 F85FF010 F8DFF010 F850F021", "I"),
            ("F000F805", "DL 0001000E"),
            ("F7FFFFFE", "DL 00010000"),
            ("F000E802", "DL 00010008 a32"),
            ("F000B805", "D 0001000E"),
            ("F7FFBFFE", "D 00010000"),
            ("F0008005", "D 0001000E"),
            ("F43FAFFB", "D 0000FFFA"),
            ("F3BF8F6F EE070F95", "D 00010004"),
            ("F3BF8F5F F3BF8F4F EE070F9A EE070FBA", "B"),
            // LEAVEX, ENTERX.
            ("F3BF8F0F", "D 00010004"),
            ("F3BF8F1F", "D 00010004 t32ee"),
            // LE, WLS and their like (PFT-WPT-027).
            ("F00FC001 F02FC001 F01FC001 F040C001 F000C001", "O"),
        ],
    );
}

#[test]
fn thumb_ee_waypoints() {
    all(
        ThumbEe,
        &[
            ("C000 C200", "I"),
            ("C300 C400 C700", "IL"),
            ("CA00", "O"),
            ("4770", "I"),
            ("F3BF8F0F", "D 00010004 t32"),
            ("F3BF8F1F", "D 00010004"),
            ("F000F805", "DL 0001000E"),
        ],
    );
}
