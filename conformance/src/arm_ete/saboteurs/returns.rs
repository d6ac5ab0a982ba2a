//! Return stacks that are wrong: the analyser has none, and gets the addresses that a wrong one has.

use traceproof_decoder::arm::{Destination, InstructionSet, ProgramMap, Stops};
use traceproof_decoder::arm_ete::Analyzer;
use traceproof_vectors::arm_ete::{ArmEte, Atoms, Event, Outcome, Packet, Parameters, SubIsa};
use traceproof_vectors::{Decoder, FaultClass, Program};

use super::decoder;
use super::layers::{self, Bug, Followed};
use crate::family::Saboteur;

pub(super) const ROWS: &[Saboteur<ArmEte>] = &[
    decoder(
        "return-stack-of-14",
        || returning(Wrong::OneEntryLess),
        "The return stack has 14 entries.",
        "ETE-XSVZC-001; 15 = the most that a field of four bits can say",
    ),
    decoder(
        "full-return-stack-refuses",
        || returning(Wrong::FullRefuses),
        "A full return stack keeps its oldest entries and takes no more.",
        "ETE-ZKTHK-001, ETE-XSVZC-001; an array with a bound",
    ),
    decoder(
        "combined-exception-pops",
        || returning(Wrong::CombinedExceptionPops),
        "A due pop is done before an exception with E = 10.",
        "ETE-DEC-RS-007; OpenCSD does so",
    ),
    decoder(
        "exception-pops-always",
        || returning(Wrong::ExceptionPops),
        "An exception pops whether a pop is due or not.",
        "ETE-DEC-RS-006, ETE-DEC-AN-002; it has a return address",
    ),
    decoder(
        "source-address-does-not-pop",
        || returning(Wrong::SourceAddressDoesNotPop),
        "No pop is done before a Source Address.",
        "ETE-DEC-RS-006; OpenCSD does so",
    ),
    decoder(
        "q-does-not-pop",
        || returning(Wrong::QDoesNotPop),
        "No pop is done before a Q element.",
        "ETE-DEC-RS-006; OpenCSD does so",
    ),
    decoder(
        "trace-info-loses-due-pop",
        || returning(Wrong::TraceInfoLosesDuePop),
        "Trace Info clears the return stack before a due pop.",
        "ETE-DEC-RS-003; OpenCSD does so",
    ),
    decoder(
        "trace-info-keeps-return-stack",
        || returning(Wrong::TraceInfoKeeps),
        "Trace Info does not clear the return stack.",
        "ETE-DEC-RS-003, ETE-SBZJB-001; it is no gap",
    ),
    decoder(
        "trace-on-keeps-return-stack",
        || returning(Wrong::TraceOnKeeps),
        "Trace On does not clear the return stack.",
        "ETE-DEC-RS-010; calls outlive what is not traced",
    ),
    decoder(
        "overflow-keeps-return-stack",
        || returning(Wrong::OverflowKeeps),
        "Discard and Overflow do not clear the return stack.",
        "ETE-DEC-RS-010; a Trace Info follows most of them",
    ),
    decoder(
        "missing-code-keeps-return-stack",
        || returning(Wrong::MissingCodeKeeps),
        "The return stack is kept where code is missing.",
        "ETE-DEC-RS-005; OpenCSD does so",
    ),
    decoder(
        "indirect-call-pops-first",
        || returning(Wrong::PopBeforePush),
        "An indirect branch with link pops before it pushes.",
        "ETE-DEC-RS-009, ETE-SLDXR-001; other trace architectures do so",
    ),
    decoder(
        "indirect-links-push-nothing",
        || returning(Wrong::IndirectCallsDoNotPush),
        "An indirect branch with link does not push.",
        "ETE-GMTBD-001, ETE-DEC-ISA-003; its target travels",
    ),
    decoder(
        "calls-after-trace-info-push",
        || returning(Wrong::AlwaysPushes),
        "Branches with link between Trace Info and its address push.",
        "ETE-DEC-RS-004; the address is known already",
    ),
    decoder(
        "not-taken-calls-push",
        || returning(Wrong::NotTakenCallsPush),
        "A branch with link pushes whatever its atom is.",
        "ETE-GMTBD-001, ETE-NYHFH-001; the K10 pseudocode does so",
    ),
    decoder(
        "source-address-does-not-push",
        || returning(Wrong::SourceAddressDoesNotPush),
        "A branch with link at a Source Address does not push.",
        "ETE-GMTBD-001; pushes belong to atoms",
    ),
    decoder(
        "address-does-not-cancel-pop",
        || returning(Wrong::AddressDoesNotCancel),
        "A Target Address leaves a pop due.",
        "ETE-MGHSB-001, ETE-XCKNM-001; the pop is decided at the branch",
    ),
    decoder(
        "address-pops",
        || returning(Wrong::AddressPops),
        "An indirect branch pops whether its address travels or not.",
        "ETE-MGHSB-001; returns and calls come in pairs",
    ),
    decoder(
        "empty-pop-fails",
        || returning(Wrong::EmptyPopFails),
        "A pop from an empty return stack costs synchronisation.",
        "ETE-DEC-RS-001; OpenCSD does so",
    ),
    decoder(
        "no-return-stack",
        || layers::with_parameters(|_| {}, |parameters| parameters.return_stack = false, |_, _| Box::new(())),
        "There is no return stack whatever TRCCONFIGR.RS reads.",
        "ETE-DEC-RS-002; an option that is not asked for",
    ),
    decoder(
        "return-stack-always",
        || layers::with_parameters(|_| {}, |parameters| parameters.return_stack = true, |_, _| Box::new(())),
        "The return stack is used whatever TRCCONFIGR.RS reads.",
        "ETE-DEC-RS-002; an option that is not asked for",
    ),
];

/// What is wrong with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    Nothing,
    /// It has 14 entries.
    OneEntryLess,
    /// A full one does not take more.
    FullRefuses,
    /// An exception with E = 10 pops.
    CombinedExceptionPops,
    /// An exception pops whether a pop is due or not.
    ExceptionPops,
    SourceAddressDoesNotPop,
    QDoesNotPop,
    TraceInfoLosesDuePop,
    TraceInfoKeeps,
    TraceOnKeeps,
    MissingCodeKeeps,
    /// A branch with link that is indirect pops before it pushes.
    PopBeforePush,
    IndirectCallsDoNotPush,
    /// Between Trace Info and address, too.
    AlwaysPushes,
    NotTakenCallsPush,
    SourceAddressDoesNotPush,
    /// An address leaves a pop due.
    AddressDoesNotCancel,
    /// It pops with the address that is there, and compares nothing.
    AddressPops,
    OverflowKeeps,
    EmptyPopFails,
}

/// The reference decoder with this return stack. With speculation or transactions it is right.
pub(super) fn returning(wrong: Wrong) -> Box<dyn Decoder<ArmEte>> {
    layers::with_parameters(
        |_| {},
        |parameters| parameters.return_stack &= !applies(parameters),
        move |parameters, program| {
            if applies(parameters) { Box::new(Returns::new(wrong, program)) } else { Box::new(()) }
        },
    )
}

/// Whether what is read takes effect at once, and there is a return stack.
const fn applies(parameters: &Parameters) -> bool {
    parameters.return_stack
        && parameters.maxspec == 0
        && !parameters.transactions
        && parameters.version.is_ete()
}

struct Returns {
    wrong: Wrong,
    code: ProgramMap,
    entries: Vec<(u64, SubIsa)>,
    is_due: bool,
    misses_context: bool,
    misses_address: bool,
    /// The latest P0 instruction is an indirect one, and nothing came after it.
    latest_is_indirect: Option<bool>,
}

const SETS: [InstructionSet; 3] = [InstructionSet::A32, InstructionSet::T32, InstructionSet::A64];

impl Returns {
    fn new(wrong: Wrong, program: &Program) -> Self {
        let stops = Stops { instruction_barriers: true, transaction_starts: true, ..Stops::default() };
        Self {
            wrong,
            code: ProgramMap::new(program, &SETS, stops),
            entries: Vec::new(),
            is_due: false,
            misses_context: true,
            misses_address: true,
            latest_is_indirect: None,
        }
    }

    fn push(&mut self, point: (u64, SubIsa)) {
        let most = if self.wrong == Wrong::OneEntryLess { 14 } else { 15 };
        if self.entries.len() == most {
            if self.wrong == Wrong::FullRefuses {
                return;
            }
            self.entries.remove(0);
        }
        self.entries.push(point);
    }

    fn pop_if_due(&mut self, followed: &mut Followed<'_>) {
        if core::mem::take(&mut self.is_due) {
            match self.entries.pop() {
                Some(point) => followed.insert(point),
                None if self.wrong == Wrong::EmptyPopFails => followed.lose(FaultClass::InvalidReference),
                None => {}
            }
        }
    }

    /// What a packet means before it is followed.
    fn before(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        let wrong = self.wrong;
        match *packet {
            Packet::Exception { with_target: true, .. } if wrong != Wrong::CombinedExceptionPops => {
                self.is_due = false;
            }
            Packet::Exception { number: 0x18, .. } => self.is_due = false,
            Packet::SourceAddress(_) if wrong == Wrong::SourceAddressDoesNotPop => {}
            Packet::Q { .. } if wrong == Wrong::QDoesNotPop => self.is_due = false,
            Packet::Exception { .. } => {
                self.is_due |= wrong == Wrong::ExceptionPops;
                self.pop_if_due(followed);
            }
            Packet::Atoms(_) | Packet::SourceAddress(_) | Packet::Q { .. } | Packet::TransactionStart => {
                self.pop_if_due(followed);
            }
            Packet::TraceInfo { .. } => {
                if wrong == Wrong::TraceInfoLosesDuePop {
                    self.is_due = false;
                }
                self.pop_if_due(followed);
                (self.misses_context, self.misses_address) = (true, true);
                if wrong != Wrong::TraceInfoKeeps {
                    self.entries.clear();
                }
            }
            Packet::TraceOn => self.gap(wrong == Wrong::TraceOnKeeps),
            Packet::Overflow | Packet::Discard => self.gap(wrong == Wrong::OverflowKeeps),
            _ => {}
        }
        if matches!(packet, Packet::TargetAddress { .. }) {
            if wrong == Wrong::AddressPops && self.is_due {
                self.entries.pop();
            }
            self.is_due &= wrong == Wrong::AddressDoesNotCancel;
        }
    }

    fn gap(&mut self, keeps: bool) {
        (self.is_due, self.latest_is_indirect) = (false, None);
        if !keeps {
            self.entries.clear();
        }
    }

    /// The P0 instruction that these events end with.
    fn executed(&mut self, event: Event, packet: &Packet) {
        let Event::Instructions { first, end, count, isa, last } = event else { return };
        let Some(set) = InstructionSet::of(isa) else { return };
        let before = u32::try_from(count.saturating_sub(1)).ok();
        // Addresses of AArch32 have 32 bits.
        let within = |address: u64| if set == InstructionSet::A64 { address } else { address & 0xffff_ffff };
        let address = match set {
            InstructionSet::T32 => before.and_then(|before| self.after_instructions(set, first.0, before)),
            _ => Some(within(end.0.wrapping_sub(4))),
        };
        let instruction = address.and_then(|address| self.code.instruction(set, address));
        let Some(instruction) = instruction.filter(|_| last != Outcome::Passed) else { return };
        let taken = last == Outcome::Taken;
        let is_indirect = instruction.destination() == Destination::Elsewhere;
        let of_source = matches!(packet, Packet::SourceAddress(_));
        let pushes = instruction.class.has_link()
            && (taken || self.wrong == Wrong::NotTakenCallsPush)
            && (!self.misses_context && !self.misses_address || self.wrong == Wrong::AlwaysPushes)
            && !(of_source && self.wrong == Wrong::SourceAddressDoesNotPush)
            && !(is_indirect && self.wrong == Wrong::IndirectCallsDoNotPush)
            && !matches!(packet, Packet::Q { .. });
        self.latest_is_indirect = Some(is_indirect);
        self.is_due = taken && is_indirect;
        if pushes {
            let sub_isa = if set == InstructionSet::T32 { SubIsa::Is1 } else { SubIsa::Is0 };
            let point = (within(end.0), sub_isa);
            if self.wrong == Wrong::PopBeforePush && self.is_due && !self.entries.is_empty() {
                self.entries.insert(self.entries.len() - 1, point);
            } else {
                self.push(point);
            }
        }
    }

    /// The address after so many instructions.
    fn after_instructions(&self, set: InstructionSet, mut address: u64, instructions: u32) -> Option<u64> {
        for _ in 0..instructions.min(1 << 16) {
            address = address.wrapping_add(self.code.instruction(set, address)?.length.into());
        }
        Some(address)
    }

    /// What a packet means after it was followed.
    fn after(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        if matches!(packet, Packet::Q { .. } | Packet::Exception { .. }) {
            (self.is_due, self.latest_is_indirect) = (false, None);
        }
        if followed.has_fault() && self.wrong != Wrong::MissingCodeKeeps {
            self.gap(false);
        }
        let (mut context, mut address) = (false, false);
        match packet {
            Packet::Context(_) | Packet::ContextSame | Packet::Exception { context: Some(_), .. } => {
                context = true;
            }
            Packet::TargetAddress { context: with, .. } => (context, address) = (with.is_some(), true),
            Packet::Q { address: with, .. } => address = with.is_some(),
            _ => {}
        }
        address |= matches!(packet, Packet::Exception { with_target: true, address: Some(_), .. });
        self.misses_context &= !context;
        self.misses_address &= !address;
    }

    fn one(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        self.before(packet, followed);
        let already = followed.events().count();
        followed.packet(packet);
        let new: Vec<Event> = followed.events().skip(already).map(|event| *event).collect();
        for event in new {
            match event {
                Event::Mispredict => {
                    if self.latest_is_indirect == Some(true) {
                        self.is_due = !self.is_due;
                    }
                }
                event => self.executed(event, packet),
            }
        }
        self.after(packet, followed);
    }
}

impl Bug for Returns {
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        match *packet {
            Packet::Atoms(atoms) => {
                for taken in atoms.taken() {
                    self.one(&Packet::Atoms(Atoms::one(taken)), followed);
                }
            }
            Packet::Mispredict { atoms: Some(atoms) } => {
                self.follow(&Packet::Atoms(atoms), followed);
                self.one(&Packet::Mispredict { atoms: None }, followed);
            }
            _ => self.one(packet, followed),
        }
    }

    fn lose(&mut self, analyzer: &mut Analyzer) -> bool {
        analyzer.lose_synchronisation();
        (self.is_due, self.misses_context, self.misses_address) = (false, true, true);
        self.entries.clear();
        false
    }
}
