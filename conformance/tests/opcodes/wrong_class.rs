//! Decoders of ARM that take encodings of each sweep for instructions of another class.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use traceproof_conformance::family::FamilyRules;
use traceproof_conformance::{Run, Subject};
use traceproof_decoder::{arm_ete, arm_etm, arm_pft};
use traceproof_vectors::arm_ete::ArmEte;
use traceproof_vectors::arm_etm::ArmEtm;
use traceproof_vectors::arm_pft::ArmPft;
use traceproof_vectors::{self as vectors, Capabilities, Program, Protocol, Refusal, Section, Sink};

use super::sweeps::judged;

/// An instruction that it takes the encoding for.
#[derive(Clone, Copy)]
enum Wrong {
    Nop,
    /// Through a register.
    Jump,
    /// The same with link.
    Call,
}

/// Which encodings it takes for another one.
#[derive(Clone, Copy)]
enum Which {
    /// The first one of each sweep, one in its middle, and the last one.
    Three,
    /// Those whose text begins so.
    Named(&'static str),
}

/// The reference decoder, with another program than it is given.
struct Mistaken<P, D> {
    decoder: D,
    wrong: Wrong,
    which: Which,
    family: PhantomData<P>,
}

/// Bytes of an instruction set: a call, a jump, `nop`, and the three instructions as long as a row.
struct Code {
    call: &'static [u8],
    jump: &'static [u8],
    nop: &'static [u8],
}

const SETS: [Code; 3] = [
    Code { call: &[2, 0, 0, 0x94], jump: &[0, 2, 0x1f, 0xd6], nop: &[0x1f, 0x20, 3, 0xd5] },
    Code { call: &[0, 0, 0, 0xeb], jump: &[0x1c, 0xff, 0x2f, 0xe1], nop: &[0, 0, 0xa0, 0xe1] },
    Code { call: &[0, 0xf0, 1, 0xf8], jump: &[0x60, 0x47], nop: &[0xc0, 0x46] },
];

/// `br x16`, `blr x16`; `bx r12`, `blx r12`; of T32 in 16 bits, and `ldr.w pc, [r12]`.
fn replacement(set: usize, length: usize, wrong: Wrong) -> &'static [u8] {
    match (set, length, wrong) {
        (0, _, Wrong::Nop) => SETS[0].nop,
        (0, _, Wrong::Jump) => SETS[0].jump,
        (0, _, Wrong::Call) => &[0, 2, 0x3f, 0xd6],
        (1, _, Wrong::Nop) => SETS[1].nop,
        (1, _, Wrong::Jump) => SETS[1].jump,
        (1, _, Wrong::Call) => &[0x3c, 0xff, 0x2f, 0xe1],
        (_, 2, Wrong::Nop) => SETS[2].nop,
        (_, 2, Wrong::Jump) => SETS[2].jump,
        (_, 2, Wrong::Call) => &[0xe0, 0x47],
        (_, _, Wrong::Nop) => &[0xaf, 0xf3, 0, 0x80],
        (..) => &[0xdc, 0xf8, 0, 0xf0],
    }
}

/// The section of a row as the wrong decoder sees it.
fn changed(section: &Section, wrong: Wrong) -> Vec<u8> {
    let mut bytes = section.bytes.clone();
    let begins = |code: &Code| bytes.starts_with(code.nop) || bytes.starts_with(code.call);
    let set = SETS.iter().position(begins).expect("a nop or a call first");
    let Code { call, jump, nop } = &SETS[set];
    let before = if bytes.starts_with(call) { call.len() + jump.len() + nop.len() } else { nop.len() };
    let row = bytes.len() - before - jump.len();
    // Four `nop`s follow what makes instructions conditional.
    let length = if row > 4 { row - 4 * nop.len() } else { row };
    bytes[before..before + length].copy_from_slice(replacement(set, length, wrong));
    bytes
}

impl<P: Protocol, D: vectors::Decoder<P>> vectors::Decoder<P> for Mistaken<P, D> {
    fn capabilities(&self) -> Capabilities {
        self.decoder.capabilities()
    }

    fn begin(&mut self, parameters: &P::Parameters, program: &Program) -> Result<(), Refusal> {
        let is_row = |section: &&Section| section.name != "target";
        let rows: Vec<_> = program.sections().iter().filter(is_row).map(|row| row.address).collect();
        let three = [rows.first(), rows.get(rows.len() / 2), rows.last()];
        let mut seen = Program::new();
        for section in program.sections() {
            let is_meant = match self.which {
                Which::Three => three.contains(&Some(&section.address)),
                Which::Named(name) => section.name.starts_with(name),
            };
            let bytes = if is_meant { changed(section, self.wrong) } else { section.bytes.clone() };
            seen.insert(Section::new(section.address, bytes, section.name.clone())).expect("as before");
        }
        self.decoder.begin(parameters, &seen)
    }

    fn push(&mut self, bytes: &[u8], sink: &mut dyn Sink<P>) {
        self.decoder.push(bytes, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink<P>) {
        self.decoder.finish(sink);
    }

    fn reset(&mut self) {
        self.decoder.reset();
    }
}

/// The ids of sweeps that fail, and of those that pass.
fn outcome<P: FamilyRules, D>(filter: &str, which: Which, wrong: Wrong) -> [BTreeSet<String>; 2]
where
    D: vectors::Decoder<P> + Default + 'static,
{
    let subject = Subject::new("mistaken", "1").with_decoder::<P>(move || {
        let decoder = D::default();
        Box::new(Mistaken { decoder, wrong, which, family: PhantomData })
    });
    let run: Run = judged(&subject, filter);
    let failed: BTreeSet<String> = run.failed().map(|case| case.id.clone()).collect();
    let ids = run.cases.iter().map(|case| case.id.clone()).filter(|id| id.contains("-opcodes-"));
    let passed = ids.filter(|id| !failed.contains(id)).collect();
    [failed, passed]
}

/// Classes whose instructions lead straight on: taken for `nop`, only ETMv1 shows it, by their data.
const STRAIGHT: [&str; 9] = [
    "-other-",
    "-dsb-",
    "-dmb-",
    "-wait-event-",
    "-wait-interrupt-",
    "-if-then-",
    "-supervisor-call-",
    "-hypervisor-call-",
    "-monitor-call-",
];

/// Every sweep fails if encodings are taken for a jump, or for `nop` if they are none, but those of `untold`.
fn every_sweep_tells<P: FamilyRules, D>(untold: fn(&str) -> bool)
where
    D: vectors::Decoder<P> + Default + 'static,
{
    let filter = format!("{}/opcodes/*", P::ID.name());
    let [_, not_by_nop] = outcome::<P, D>(&filter, Which::Three, Wrong::Nop);
    let [_, not_by_jump] = outcome::<P, D>(&filter, Which::Three, Wrong::Jump);
    let is_straight = |id: &str| {
        let is_shown = ["-v1-", "-wfx-is-p0-", "-barrier-waypoints-"].iter().any(|mode| id.contains(mode));
        let is_isb_of_v3 = id.contains("-v3-") && id.contains("-isb-");
        is_isb_of_v3 || !is_shown && STRAIGHT.iter().any(|class| id.contains(class))
    };
    let unnoticed: Vec<_> = not_by_nop.iter().filter(|id| !is_straight(id) && !untold(id)).collect();
    assert!(unnoticed.is_empty(), "as nop: {unnoticed:?}");
    let unnoticed: Vec<_> = not_by_jump.intersection(&not_by_nop).filter(|id| !untold(id)).collect();
    assert!(unnoticed.is_empty(), "as a jump: {unnoticed:?}");
}

/// A decoder goes over a call to the return address of its exception, whatever it is.
#[test]
fn every_sweep_of_ete_tells_a_wrong_class() {
    every_sweep_tells::<ArmEte, arm_ete::Decoder>(|id| id.contains("-call-"));
}

#[test]
fn every_sweep_of_pft_tells_a_wrong_class() {
    every_sweep_tells::<ArmPft, arm_pft::Decoder>(|_| false);
}

/// The address of an indirect branch or exception always travels: only data tell such a class, and only in ETMv1.
#[test]
fn every_sweep_of_etm_tells_a_wrong_class() {
    every_sweep_tells::<ArmEtm, arm_etm::Decoder>(|id| {
        let has_data = id.contains("-v1-") && (id.contains("-load-") || id.contains("-other-"));
        let travels = |class: &&str| id.contains(class);
        !has_data && ADDRESS_TRAVELS.iter().any(travels)
    });
}

/// Classes of ETM whose target is in a packet.
const ADDRESS_TRAVELS: [&str; 9] = [
    "-register-",
    "-jazelle-",
    "-load-",
    "-data-processing-",
    "-table-",
    "-return-rfe-",
    "-exception-return-",
    "-supervisor-call-",
    "-return-data-processing-",
];

/// Without a return stack a call is a jump like others.
#[test]
fn only_the_return_stack_tells_calls_from_jumps() {
    let jump = |filter: &str| outcome::<ArmPft, arm_pft::Decoder>(filter, Which::Named("blx"), Wrong::Jump);
    let [failed, passed] = jump("arm_pft/opcodes/a32/register-link-*");
    assert!(failed.is_empty() && !passed.is_empty());
    let [failed, _] = jump("arm_pft/opcodes/return-stack/a32/register-link-*");
    assert!(!failed.is_empty());
    let call = |filter: &str| outcome::<ArmEte, arm_ete::Decoder>(filter, Which::Named("br"), Wrong::Call);
    let [failed, passed] = call("arm_ete/opcodes/a64/register-1");
    assert!(failed.is_empty() && !passed.is_empty());
    let [failed, _] = call("arm_ete/opcodes/return-stack/a64/register-1");
    assert!(!failed.is_empty());
}
