//! P0 elements that are counted wrongly: Commits and Cancels are translated into what they mean to a decoder that does.

use std::collections::VecDeque;

use traceproof_decoder::arm_ete::Analyzer;
use traceproof_vectors::Decoder;
use traceproof_vectors::arm::Profile;
use traceproof_vectors::arm_ete::{ArmEte, Atoms, Packet, Parameters, VariableField};

use super::layers::{self, Bug, Followed};

/// How many P0 elements a packet is taken for, given how many it is.
pub(super) type Weigh = fn(&Packet, usize) -> usize;

/// How they are counted.
#[derive(Clone, Copy)]
pub(super) struct Counting {
    pub(super) weigh: Weigh,
    /// The most that are uncommitted, given MAXSPEC.
    pub(super) most: fn(u64) -> u64,
    /// A Cancel takes those from before the start first.
    pub(super) unseen_first: bool,
}

/// As the specification says.
pub(super) const RIGHT: Counting =
    Counting { weigh: |_, count| count, most: |most| most, unseen_first: false };

/// Exceptions of ETMv4 have their address in another packet, so that a Commit cannot follow them at once. The greatest
/// MAXSPEC is what the decoder within gets, so that it commits nothing by itself.
const fn speculates(parameters: &Parameters) -> bool {
    parameters.maxspec > 0 && parameters.maxspec < u32::MAX && parameters.version.is_ete()
}

/// The reference decoder that counts so. Without speculation, and of ETMv4, it is right.
pub(super) fn counting(counting: Counting) -> Box<dyn Decoder<ArmEte>> {
    layers::with_parameters(
        |_| {},
        |parameters| {
            if speculates(parameters) {
                parameters.maxspec = u32::MAX;
            }
        },
        move |parameters, _| {
            let held = Held::new(parameters);
            if speculates(parameters) { Box::new(Counted { counting, held }) } else { Box::new(()) }
        },
    )
}

/// The P0 elements that are uncommitted.
#[derive(Clone, Debug)]
pub(super) struct Held {
    parameters: Parameters,
    /// Whether each is counted, whether it is one, and the index of its packet.
    elements: VecDeque<(bool, bool, u64)>,
    pub(super) unseen: u64,
    /// As far as implied commits are concerned: SPEC of a Trace Info counts (ETE-DEC-TI-001).
    depth: u64,
    started: bool,
}

/// A number of 32 bits.
pub(super) const fn number(bits: u64) -> VariableField {
    VariableField { bits, bytes: 5 }
}

/// What a packet commits and cancels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Resolution {
    pub(super) atoms: Option<Atoms>,
    pub(super) commit: u64,
    pub(super) cancel: u64,
    pub(super) mispredict: bool,
}

impl Resolution {
    pub(super) fn of(packet: &Packet, parameters: &Parameters) -> Self {
        let value = |field: VariableField| field.bits & 0xffff_ffff;
        let none = Self::default();
        let large = (u64::from(parameters.maxspec) + 1).saturating_sub(16);
        match *packet {
            Packet::Commit(count) => Self { commit: value(count), ..none },
            Packet::CycleCount1 { commit, .. } => Self { commit: commit.map_or(0, value), ..none },
            _ if parameters.commopt && Self::is_cycle_count(packet) => none,
            Packet::CycleCount2 { large: false, commit, .. } => {
                Self { commit: u64::from(commit) + 1, ..none }
            }
            Packet::CycleCount2 { commit, .. } if parameters.maxspec >= 15 => {
                Self { commit: large + u64::from(commit), ..none }
            }
            Packet::CycleCount2 { commit, .. } => Self {
                commit: (u64::from(parameters.maxspec) + u64::from(commit)).saturating_sub(15),
                ..none
            },
            Packet::CycleCount3 { commit, .. } => Self { commit: u64::from(commit) + 1, ..none },
            Packet::Cancel1 { count, mispredict } => Self { cancel: value(count), mispredict, ..none },
            Packet::Cancel2 { atoms } => Self { atoms, cancel: 1, mispredict: true, ..none },
            Packet::Cancel3 { atom, count } => {
                let atoms = atom.then(|| Atoms::one(true));
                Self { atoms, cancel: count.into(), mispredict: true, ..none }
            }
            Packet::Mispredict { atoms } => Self { atoms, mispredict: true, ..none },
            _ => none,
        }
    }

    pub(super) const fn is_cycle_count(packet: &Packet) -> bool {
        matches!(packet, Packet::CycleCount1 { .. } | Packet::CycleCount2 { .. } | Packet::CycleCount3 { .. })
    }
}

/// How many P0 elements a packet is.
pub(super) fn p0_elements(packet: &Packet, parameters: &Parameters) -> usize {
    match *packet {
        Packet::Atoms(atoms) => atoms.len(),
        Packet::UnnumberedDataSyncMarker(atoms) => atoms.into(),
        Packet::Exception { number: 0x18, .. } => 0,
        Packet::ExceptionReturn => usize::from(parameters.profile == Profile::Microcontroller),
        Packet::TransactionStart => usize::from(!parameters.commtrans),
        Packet::Exception { .. }
        | Packet::ExceptionV4 { .. }
        | Packet::SourceAddress(_)
        | Packet::Q { .. }
        | Packet::FunctionReturn => 1,
        _ => 0,
    }
}

impl Held {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            parameters: parameters.clone(),
            elements: VecDeque::new(),
            unseen: 0,
            depth: 0,
            started: false,
        }
    }

    pub(super) const fn is_started(&self) -> bool {
        self.started
    }

    /// How many of them were seen.
    pub(super) fn len(&self) -> u64 {
        self.elements.len() as u64
    }

    /// Takes a packet; returns the index of the oldest packet of which it cancels elements.
    pub(super) fn take(&mut self, packet: &Packet, index: u64) -> Option<u64> {
        let resolution = Resolution::of(packet, &self.parameters);
        if let Some(atoms) = resolution.atoms {
            self.take(&Packet::Atoms(atoms), index);
        }
        self.commit(resolution.commit);
        let cancelled =
            self.elements.iter().rev().take(resolution.cancel as usize).next_back().map(|last| last.2);
        self.cancel(resolution.cancel, false);
        let count = p0_elements(packet, &self.parameters);
        self.add(packet, count, count, index);
        if count > 0 {
            self.commit_implied(self.parameters.maxspec.into());
        }
        cancelled
    }

    /// Elements of a packet: so many, taken for so many.
    fn add(&mut self, packet: &Packet, count: usize, taken_for: usize, index: u64) {
        match *packet {
            Packet::TraceInfo { speculation, .. } => {
                self.depth = speculation.map_or(0, |field| field.bits & 0xffff_ffff);
                if !core::mem::replace(&mut self.started, true) {
                    self.unseen = self.depth;
                }
            }
            Packet::Discard | Packet::Overflow => {
                self.elements.clear();
                (self.unseen, self.depth) = (0, 0);
            }
            _ if self.started => {
                let elements = (0..count.max(taken_for)).map(|at| (at < taken_for, at < count, index));
                self.elements.extend(elements);
                self.depth += taken_for as u64;
            }
            _ => {}
        }
    }

    /// Commits those above the most that can be uncommitted; returns how many real ones.
    fn commit_implied(&mut self, most: u64) -> u64 {
        let counted = self.elements.iter().filter(|(counted, ..)| *counted).count() as u64;
        let implied = self.depth.saturating_sub(most);
        let real = self.commit(implied.min(self.unseen + counted));
        self.depth = self.depth.min(most);
        real
    }

    /// Commits so many; returns how many real ones.
    fn commit(&mut self, count: u64) -> u64 {
        if count == 0 {
            return 0;
        }
        self.depth = self.depth.saturating_sub(count);
        let unseen = count.min(self.unseen);
        self.unseen -= unseen;
        let (mut left, mut real) = (count - unseen, unseen);
        while let Some(&(counted, is_real, _)) = self.elements.front() {
            if left == 0 && counted {
                break;
            }
            left -= u64::from(counted);
            real += u64::from(is_real);
            self.elements.pop_front();
        }
        real + left
    }

    /// Cancels so many; returns how many real ones that were seen, and how many that were not.
    fn cancel(&mut self, count: u64, unseen_first: bool) -> (u64, u64) {
        self.depth = self.depth.saturating_sub(count);
        let first = if unseen_first { count.min(self.unseen) } else { 0 };
        let (mut left, mut real) = (count - first, 0);
        while left > 0
            && let Some((counted, is_real, _)) = self.elements.pop_back()
        {
            left -= u64::from(counted);
            real += u64::from(is_real);
        }
        let last = left.min(self.unseen - first);
        self.unseen -= first + last;
        (real + (left - last), first + last)
    }
}

struct Counted {
    counting: Counting,
    held: Held,
}

impl Counted {
    /// An element more, and what it commits.
    fn add(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        followed.packet(packet);
        let count = p0_elements(packet, &self.held.parameters);
        let taken_for = (self.counting.weigh)(packet, count);
        self.held.add(packet, count, taken_for, 0);
        let most = (self.counting.most)(self.held.parameters.maxspec.into());
        if taken_for > 0 {
            let real = self.held.commit_implied(most);
            commit(real, followed);
        }
    }
}

fn commit(count: u64, followed: &mut Followed<'_>) {
    if count > 0 {
        followed.silent(&Packet::Commit(number(count)));
    }
}

impl Bug for Counted {
    fn follow(&mut self, packet: &Packet, followed: &mut Followed<'_>) {
        let resolution = Resolution::of(packet, &self.held.parameters);
        if resolution == Resolution::default() {
            return self.add(packet, followed);
        }
        let Resolution { atoms, commit: committed, cancel, mispredict } = resolution;
        if let Some(atoms) = atoms {
            self.add(&Packet::Atoms(atoms), followed);
        }
        let real = self.held.commit(committed);
        let is_large = matches!(packet, Packet::CycleCount2 { large: true, .. });
        if committed > 0 && (real != committed || is_large) {
            commit(real, followed);
            if Resolution::is_cycle_count(packet) {
                followed.packet(&count_alone(packet));
            }
            return;
        }
        let (real, unseen) = self.held.cancel(cancel, self.counting.unseen_first);
        if atoms.is_none() && (!self.counting.unseen_first || unseen == 0) && real + unseen == cancel {
            return followed.packet(packet);
        }
        if self.counting.unseen_first {
            commit(unseen, followed);
        }
        let left = if self.counting.unseen_first { real } else { real + unseen };
        if left > 0 {
            followed.packet(&Packet::Cancel1 { count: number(left), mispredict: false });
        }
        if mispredict {
            followed.packet(&Packet::Mispredict { atoms: None });
        }
    }

    fn lose(&mut self, analyzer: &mut Analyzer) -> bool {
        analyzer.lose_synchronisation();
        self.held = Held::new(&self.held.parameters);
        false
    }
}

/// A cycle count without its commit.
pub(super) const fn count_alone(packet: &Packet) -> Packet {
    let count = match *packet {
        Packet::CycleCount1 { count, .. } => count,
        Packet::CycleCount2 { count, .. } | Packet::CycleCount3 { count, .. } => {
            Some(VariableField { bits: count as u64, bytes: 3 })
        }
        _ => None,
    };
    Packet::CycleCount1 { commit: Some(number(0)), count }
}
