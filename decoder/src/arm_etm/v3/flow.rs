//! Packets -> events: instructions, synchronisation, cycles.

use alloc::format;

use traceproof_vectors::arm_etm::v3::{ExceptionInformation, VariableField};
use traceproof_vectors::arm_etm::{
    ArmEtm, CompressedAddress, Event, Isa, MissingReason, Packet, Parameters, Reason, VectorBase,
};
use traceproof_vectors::{Address32, DecoderState, Fault, FaultClass, Place, Program, Sink};

use super::address::{Encoding, InstructionAddress};
use super::atoms::{AtomTable, Atoms};
use super::clock::{Cycles, Timestamps};
use super::code::{Code, Kind, Leads, NOWHERE, Slot, Step};
use super::transfers::{Carrier, Transfers, incomplete};
use crate::arm_etm::vectors::number_at;

/// Turns packets into events, packet by packet.
///
/// It keeps a copy of the program, which it decodes for an instruction set when the trace first enters that; its size
/// does not depend on the trace.
#[derive(Clone, Debug)]
pub struct Flow {
    encoding: Encoding,
    cycle_accurate: bool,
    virtualization: bool,
    /// Exceptions have the numbers of ARMv7-M. Spec: ETM3-EXC-006.
    m_profile: bool,
    /// Where the exception vectors are.
    hivecs: VectorBase,
    /// A VMID packet follows each I-sync.
    vmid: bool,
    atom_table: AtomTable,
    code: Code,
    /// There was an I-sync since the latest search for an A-sync.
    synchronised: bool,
    /// The address of the latest I-sync or branch packet.
    base: InstructionAddress,
    next: Next,
    /// Where the code of `next` is, if that is known: with `Next::SecondHalf`, of the whole instruction.
    slot: Slot,
    /// State of the next instruction, or what it was when that was known.
    isa: Isa,
    /// Atoms reported.
    atoms: u64,
    /// There was no VMID packet since the latest I-sync, and that is not reported.
    vmid_owed: bool,
    cycles: Cycles,
    timestamps: Timestamps,
    transfers: Transfers,
}

/// The instruction of the next atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    At(u32),
    /// The second half-word of a 32-bit Thumb instruction that is two atoms.
    SecondHalf(u32),
    /// A branch packet has to supply it.
    Owed,
    /// Unknown, and that is not to be reported (again).
    Unknown,
}

/// The atoms of a P-header that are still to be reported.
struct Left {
    count: u8,
    /// Bit 0: the next one is E.
    executed: u16,
    /// W atoms before it.
    waits: u64,
    /// W atoms before each after it.
    between: u8,
}

impl Left {
    /// Whether the next one is E, and the W atoms before it.
    #[inline]
    fn next(&mut self) -> Option<(bool, u64)> {
        self.count = self.count.checked_sub(1)?;
        let next = (self.executed & 1 != 0, self.waits);
        self.executed >>= 1;
        self.waits = self.between.into();
        Some(next)
    }
}

impl Flow {
    /// What the next packet is decoded with, for people.
    #[must_use]
    pub fn shown(&self) -> DecoderState {
        let InstructionAddress { address, isa } = self.base;
        let next = match self.next {
            Next::At(address) => format!("{address:#x} {:?}", self.isa),
            Next::SecondHalf(address) => format!("{address:#x} {:?}, its second half-word", self.isa),
            Next::Owed => "a branch packet has to supply it".into(),
            Next::Unknown => "unknown".into(),
        };
        let state = DecoderState::default()
            .with("synchronised", if self.synchronised { "yes" } else { "no: waits for an I-sync" })
            .with("address base", format!("{address:#x} {isa:?}"))
            .with("next instruction", next)
            .with("atoms", self.atoms)
            .with("cycles since the latest instruction", self.cycles.waits)
            .with_hex("timestamp", self.timestamps.time());
        self.transfers.shown(state)
    }

    /// At the start of a stream.
    #[must_use]
    pub fn new(parameters: &Parameters, program: &Program) -> Self {
        Self {
            encoding: Encoding::new(parameters),
            cycle_accurate: parameters.cycle_accurate,
            virtualization: parameters.virtualization,
            m_profile: parameters.m_profile,
            hivecs: parameters.hivecs,
            vmid: parameters.vmid,
            atom_table: AtomTable::new(parameters.cycle_accurate),
            code: Code::new(program, parameters.thumb32_single),
            synchronised: false,
            base: InstructionAddress::default(),
            next: Next::Unknown,
            slot: NOWHERE,
            isa: Isa::Arm,
            atoms: 0,
            vmid_owed: false,
            cycles: Cycles::new(parameters),
            timestamps: Timestamps::new(parameters),
            transfers: Transfers::new(parameters),
        }
    }

    /// Resets to the start of a stream.
    pub fn reset(&mut self) {
        self.forget();
        self.atoms = 0;
        self.transfers.reset();
    }

    /// Atoms reported so far.
    #[must_use]
    pub fn atoms(&self) -> u64 {
        self.atoms
    }

    fn forget(&mut self) {
        self.synchronised = false;
        self.base = InstructionAddress::default();
        (self.next, self.isa) = (Next::Unknown, Isa::Arm);
        self.vmid_owed = false;
        self.cycles.forget();
        self.timestamps.forget();
    }

    /// Synchronisation is lost at `place`.
    pub fn lose_synchronisation<S: Sink<ArmEtm> + ?Sized>(&mut self, place: Place, sink: &mut S) {
        self.forget();
        self.transfers.clear(place, MissingReason::SynchronisationLost, sink);
    }

    /// The stream ends at `place`.
    pub fn end<S: Sink<ArmEtm> + ?Sized>(&mut self, place: Place, sink: &mut S) {
        self.transfers.clear(place, MissingReason::End, sink);
    }

    /// Takes a packet; `place` is its first bit. Its faults are those after which decoding continues.
    #[inline]
    pub fn packet<S: Sink<ArmEtm> + ?Sized>(&mut self, place: Place, packet: &Packet, sink: &mut S) {
        match *packet {
            Packet::PHeader(header) => self.p_header(place, header, sink),
            Packet::BranchAddress(address) => self.branch(place, address, None, sink),
            _ => self.other(place, packet, sink),
        }
    }

    /// Spec: ETM3-PH-011, ETM3-PH-013, ETM3-SYN-007 (7.3.1).
    #[inline]
    fn p_header<S: Sink<ArmEtm> + ?Sized>(&mut self, place: Place, header: u8, sink: &mut S) {
        if !self.synchronised {
            return;
        }
        let half = self.transfers.part(place, sink);
        if self.vmid_owed {
            // ETM3-VMID-001, ETM3-VMID-004 (7.3.7)
            self.vmid_owed = false;
            sink.fault(&Fault::new(FaultClass::Contradiction, place));
        }
        incomplete(place, half, sink);
        let Atoms { leading, between, count, executed } = self.atom_table.of(header);
        let waits = self.cycles.waits.saturating_add(leading.into());
        if count == 0 {
            self.cycles.waits = waits;
            return;
        }
        self.cycles.waits = 0;
        let mut atoms = Left { count, executed, waits, between };
        loop {
            self.walk(place, &mut atoms, sink);
            let Some((executed, waits)) = atoms.next() else { break };
            let cycles = self.cycle_accurate.then_some(waits);
            self.atom(place, executed, cycles, sink);
        }
    }

    /// Takes atoms while their instructions lead to near ones.
    #[inline]
    fn walk<S: Sink<ArmEtm> + ?Sized>(&mut self, place: Place, atoms: &mut Left, sink: &mut S) {
        let Next::At(mut address) = self.next else { return };
        let isa = self.isa;
        let track = self.code.track(isa);
        let mut slot = self.slot;
        let before = atoms.count;
        while atoms.count > 0 {
            let Step { taken, length, kind } = track.step(slot);
            if kind != Kind::Near {
                break;
            }
            let Some((executed, waits)) = atoms.next() else { break };
            let cycles = self.cycle_accurate.then_some(waits);
            sink.event(place, &Event::Atom { address: Some(Address32(address)), isa, executed, cycles });
            let bytes = if executed { taken } else { length.into() };
            address = address.wrapping_add_signed(bytes);
            slot = track.walk(slot, bytes);
        }
        self.atoms += u64::from(before - atoms.count);
        (self.next, self.slot) = (Next::At(address), slot);
    }

    /// Any atom.
    fn atom<S: Sink<ArmEtm> + ?Sized>(
        &mut self,
        place: Place,
        executed: bool,
        cycles: Option<u64>,
        sink: &mut S,
    ) {
        let isa = self.isa;
        let address = match self.next {
            Next::At(address) => {
                self.step(place, address, executed, sink);
                Some(address)
            }
            Next::SecondHalf(address) => {
                self.second_half(address, executed);
                Some(address)
            }
            Next::Owed => {
                sink.fault(&Fault::new(FaultClass::MissingAddress, place));
                self.next = Next::Unknown;
                None
            }
            Next::Unknown => None,
        };
        self.atoms += 1;
        sink.event(place, &Event::Atom { address: address.map(Address32), isa, executed, cycles });
    }

    /// An atom at `address`: what follows it.
    #[inline]
    fn step<S: Sink<ArmEtm> + ?Sized>(&mut self, place: Place, address: u32, executed: bool, sink: &mut S) {
        let mut step = self.code.track(self.isa).step(self.slot);
        if step.kind == Kind::Missing {
            self.slot = self.code.search(InstructionAddress { address, isa: self.isa });
            step = self.code.track(self.isa).step(self.slot);
        }
        match step.kind {
            Kind::Missing => {
                if !self.code.is_empty() {
                    let address = Some(Address32(address).into());
                    sink.fault(&Fault::new(FaultClass::NoCode, place).with_address(address));
                }
                self.next = Next::Unknown;
            }
            Kind::Halves(_) => self.next = Next::SecondHalf(address.wrapping_add(2)),
            Kind::Near => self.follow(address, step, Leads::Near, executed),
            Kind::Away(leads) => self.follow(address, step, leads, executed),
        }
    }

    /// The second atom of an instruction, at `address`, does what the instruction does.
    #[cold]
    fn second_half(&mut self, address: u32, executed: bool) {
        let step = self.code.track(self.isa).step(self.slot);
        if let Kind::Halves(leads) = step.kind {
            self.follow(address.wrapping_sub(2), step, leads, executed);
        }
    }

    /// Goes on after the instruction at `address`.
    #[inline]
    fn follow(&mut self, address: u32, step: Step, leads: Leads, executed: bool) {
        let taken = address.wrapping_add_signed(step.taken);
        let bytes = match leads {
            _ if !executed => step.length.into(),
            Leads::Near => step.taken,
            Leads::Far(isa) => {
                (self.next, self.isa) = (Next::At(taken), isa);
                self.slot = self.code.find(InstructionAddress { address: taken, isa });
                return;
            }
            Leads::Somewhere => {
                self.next = Next::Owed;
                return;
            }
        };
        self.next = Next::At(address.wrapping_add_signed(bytes));
        self.slot = self.code.track(self.isa).walk(self.slot, bytes);
    }

    /// Sets the place of execution. In Java state no atom has an address.
    #[inline]
    fn arrive(&mut self, target: InstructionAddress) {
        self.base = target;
        self.isa = target.isa;
        self.next = if target.isa == Isa::Jazelle { Next::Unknown } else { Next::At(target.address) };
        self.slot = self.code.find(target);
    }

    /// Spec: ETM3-BR-011, ETM3-BR-015, ETM3-EXC-007 (7.3.5).
    #[inline]
    fn branch<S: Sink<ArmEtm> + ?Sized>(
        &mut self,
        place: Place,
        address: CompressedAddress,
        exception: Option<ExceptionInformation>,
        sink: &mut S,
    ) {
        let target = self.encoding.branch(self.base, address, exception);
        self.branch_to(place, target, exception, sink);
    }

    #[inline]
    fn branch_to<S: Sink<ArmEtm> + ?Sized>(
        &mut self,
        place: Place,
        target: InstructionAddress,
        exception: Option<ExceptionInformation>,
        sink: &mut S,
    ) {
        if !self.synchronised {
            self.base = target;
            return;
        }
        let half = self.transfers.part(place, sink);
        incomplete(place, half, sink);
        if exception.is_some_and(|exception| loses_data(exception, self.m_profile)) {
            self.transfers.excuse();
        }
        self.arrive(target);
        let exception = exception.map(|information| ExceptionInformation {
            hyp: information.hyp.map(|hyp| hyp && self.virtualization),
            ..information
        });
        let InstructionAddress { address, isa } = target;
        sink.event(place, &Event::BranchTo { address: Address32(address), isa, exception });
    }

    /// Packets that are neither atoms nor plain branches.
    fn other<S: Sink<ArmEtm> + ?Sized>(&mut self, place: Place, packet: &Packet, sink: &mut S) {
        match *packet {
            Packet::Ignore => return,
            Packet::NormalData { .. }
            | Packet::LoadMissOccurred { .. }
            | Packet::LoadMissData { .. }
            | Packet::ValueNotTraced { .. }
            | Packet::StoreFailed
            | Packet::DataSuppressed => {
                if self.synchronised {
                    self.transfers.packet(Carrier { place, when: self.atoms }, packet, sink);
                }
                return;
            }
            Packet::ExceptionBranch { address, information } => {
                self.branch(place, address, Some(information), sink);
                return;
            }
            Packet::InByteExceptionBranch { address, exception } => {
                let target = self.encoding.in_byte_exception(self.base, address);
                // ETM3-EXC-014
                let number = match exception.code {
                    0 => number_at(self.hivecs, target.address),
                    _ => exception.number(),
                };
                let cancel = exception.cancel;
                let information = ExceptionInformation { number, cancel, ..Default::default() };
                self.branch_to(place, target, Some(information), sink);
                return;
            }
            _ => {}
        }
        let half = self.transfers.part(place, sink);
        if let Packet::InstructionSync { .. } = packet {
            self.instruction_sync(place, half, packet, sink);
        } else {
            incomplete(place, half, sink);
            self.aside(place, packet, sink);
        }
    }

    /// Packets that do not change the flow.
    fn aside<S: Sink<ArmEtm> + ?Sized>(&mut self, place: Place, packet: &Packet, sink: &mut S) {
        let when = self.atoms;
        let event = match *packet {
            Packet::Trigger => Event::Trigger { when },
            Packet::ContextId { value, .. } => Event::ContextId { when, value },
            Packet::Vmid(value) => {
                self.vmid_owed = false;
                Event::Vmid { when, value }
            }
            Packet::Timestamp { clock_change, value } => {
                Event::Timestamp { value: self.timestamps.received(value), clock_change }
            }
            Packet::CycleCount(count) if self.synchronised => Event::Gap { cycles: self.cycles.count(count) },
            Packet::ExceptionExit if self.synchronised => Event::ExceptionReturn { when },
            Packet::ExceptionEntry if self.synchronised => Event::ExceptionEntry { when },
            // An A-sync; anything that is not reported before the first I-sync.
            _ => return,
        };
        sink.event(place, &event);
    }

    /// Spec: ETM3-ISY-005 to 009, ETM3-ISY-013, ETM3-CC-003 to 005 (7.10.5, 7.14.2).
    fn instruction_sync<S: Sink<ArmEtm> + ?Sized>(
        &mut self,
        place: Place,
        half: Option<u64>,
        packet: &Packet,
        sink: &mut S,
    ) {
        let Packet::InstructionSync {
            cycle_count,
            context_id,
            reason,
            jazelle,
            non_secure,
            alt_isa,
            hyp,
            address,
            under_lsm,
        } = *packet
        else {
            return;
        };
        let full = address.map(|bits| self.encoding.full(bits.0, jazelle, alt_isa));
        let current =
            full.map(|full| under_lsm.map_or(full, |address| self.encoding.branch(full, address, None)));
        if reason == Reason::Periodic && full.is_some_and(|full| self.contradicts(full)) {
            let address = full.map(|full| Address32(full.address).into());
            sink.fault(&Fault::new(FaultClass::Contradiction, place).with_address(address));
        }
        incomplete(place, half, sink);
        self.gap(place, reason, cycle_count, sink);
        self.transfers.synchronise(reason, !self.synchronised);
        self.synchronised = true;
        self.vmid_owed = self.vmid;
        match current {
            // A periodic one may stand between the halves of an instruction.
            Some(current) if self.next == Next::SecondHalf(current.address) && reason == Reason::Periodic => {
                self.base = current;
            }
            Some(current) => self.arrive(current),
            None => (self.next, self.isa) = (Next::Unknown, if jazelle { Isa::Jazelle } else { Isa::Arm }),
        }
        let in_progress = full.filter(|_| under_lsm.is_some());
        let sync = Event::InstructionSync {
            reason,
            address: current.map(|current| current.address).map(Address32),
            isa: self.isa,
            non_secure,
            hyp: hyp && self.virtualization,
            context_id,
            in_progress: in_progress.map(|full| full.address).map(Address32),
        };
        sink.event(place, &sync);
        if let Some(InstructionAddress { address, isa }) = in_progress {
            self.atoms += 1;
            let address = (isa != Isa::Jazelle).then_some(address);
            sink.event(
                place,
                &Event::Atom { address: address.map(Address32), isa, executed: true, cycles: None },
            );
        }
    }

    /// Whether the next instruction is known to be another one.
    fn contradicts(&self, reported: InstructionAddress) -> bool {
        match self.next {
            Next::At(address) | Next::SecondHalf(address) => {
                self.synchronised && (InstructionAddress { address, isa: self.isa }) != reported
            }
            Next::Owed | Next::Unknown => false,
        }
    }

    fn gap<S: Sink<ArmEtm> + ?Sized>(
        &mut self,
        place: Place,
        reason: Reason,
        count: Option<VariableField>,
        sink: &mut S,
    ) {
        if let Some(cycles) = self.cycles.synchronise(reason, count) {
            sink.event(place, &Event::Gap { cycles });
        }
    }
}

/// Whether out-of-order data of earlier instructions may never come after this exception: an asynchronous abort, or a
/// reset. The BusFault of ARMv7-M may be one; its number does not say whether it is.
///
/// Spec: ETM3-EXC-017 (4.6.4), ETM3-EXC-005, ETM3-EXC-006.
const fn loses_data(exception: ExceptionInformation, m_profile: bool) -> bool {
    const ASYNCHRONOUS_ABORT: u16 = 4;
    const RESET: u16 = 8;
    const RESET_OF_V7M: u16 = 17;
    const BUS_FAULT: u16 = 21;
    if m_profile {
        matches!(exception.number, RESET_OF_V7M | BUS_FAULT)
    } else {
        matches!(exception.number, ASYNCHRONOUS_ABORT | RESET)
    }
}
