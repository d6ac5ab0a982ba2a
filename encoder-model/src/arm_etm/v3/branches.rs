//! Branch packets: which address bytes, and when exception information.

use traceproof_vectors::arm_etm::v3::ExceptionInformation;
use traceproof_vectors::arm_etm::{BranchTarget, CompressedAddress, Isa, Packet, Parameters};

/// Bytes of an uncompressed address.
const LONGEST: u8 = 5;

/// Security state and Hyp mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Levels {
    pub(super) non_secure: bool,
    pub(super) hyp: bool,
}

/// The latest place and state of execution in the trace.
///
/// Spec: ETM3-BR-011, ETM3-ISY-008 (7.3.5).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BranchBase {
    address: u32,
    isa: Isa,
    levels: Levels,
}

/// What branch packets depend on and never changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct BranchRules {
    alternative: bool,
    virtualization: bool,
    m_profile: bool,
    minimal: bool,
}

impl BranchRules {
    pub(super) const fn new(parameters: &Parameters, minimal: bool) -> Self {
        Self {
            alternative: parameters.alternative_branches,
            virtualization: parameters.virtualization,
            m_profile: parameters.m_profile,
            minimal,
        }
    }

    /// Address bits of a packet of so many bytes, fewer than 5.
    ///
    /// Spec: ETM3-BR-007, 010 (7.3.5): in the alternative scheme a last byte after the first has one bit less.
    const fn width(&self, bytes: u8) -> u32 {
        let width = 7 * bytes as u32 - 1;
        if self.alternative && bytes > 1 { width - 1 } else { width }
    }

    /// The fewest bytes for an address in a state, or `None` if the address itself demands 5 bytes.
    ///
    /// Spec: ETM3-BR-012, 014 (7.3.5).
    fn fewest(&self, base: &BranchBase, address: u32, isa: Isa) -> Option<u8> {
        let changed = (base.address ^ address) >> shift(isa);
        (1..LONGEST)
            .find(|&bytes| changed >> self.width(bytes) == 0)
            .filter(|_| self.minimal && isa == base.isa)
    }

    fn compressed(&self, address: u32, isa: Isa, bytes: u8) -> CompressedAddress {
        let full = u64::from(address >> shift(isa));
        let bits = if bytes < LONGEST {
            full & ((1 << self.width(bytes)) - 1)
        } else {
            full | 1 << (u32::BITS - shift(isa))
        };
        CompressedAddress { bits, bytes }
    }
}

impl BranchBase {
    /// An I-sync says where execution is.
    pub(super) const fn set(&mut self, address: u32, isa: Isa, levels: Levels) {
        *self = Self { address, isa, levels };
    }

    /// The address under a load or store in progress, which has no exception information.
    pub(super) fn current(&mut self, rules: &BranchRules, address: u32, isa: Isa) -> CompressedAddress {
        let bytes = rules.fewest(self, address, isa).unwrap_or(LONGEST);
        (self.address, self.isa) = (address, isa);
        rules.compressed(address, isa, bytes)
    }

    /// The packet of a branch or exception; it becomes the base.
    ///
    /// Spec: ETM3-BR-005, 009, 012, ETM3-EXC-001 to 003, 007, 010, 011 (7.3.5).
    pub(super) fn branch(&mut self, rules: &BranchRules, target: &BranchTarget, levels: Levels) -> Packet {
        let BranchTarget { address, isa, exception, .. } = *target;
        let halfwords = matches!(isa, Isa::Thumb | Isa::ThumbEe);
        let reported_alt = self.isa == Isa::ThumbEe;
        let hyp_changes = rules.virtualization && levels.hyp != self.levels.hyp;
        let informs = exception.is_some()
            || levels.non_secure != self.levels.non_secure
            || hyp_changes
            || (halfwords && reported_alt != (isa == Isa::ThumbEe));
        let fewest = rules.fewest(self, address.0, isa);
        let bytes = match (informs, rules.alternative) {
            (false, _) => fewest,
            (true, true) => fewest.map(|bytes| bytes.max(2)),
            (true, false) => None,
        };
        let packet_address = rules.compressed(address.0, isa, bytes.unwrap_or(LONGEST));
        let levels = Levels { hyp: self.levels.hyp != hyp_changes, ..levels };
        *self = Self { address: address.0, isa, levels };
        if !informs {
            return Packet::BranchAddress(packet_address);
        }
        let exception = exception.unwrap_or_default();
        let number = exception.number & if rules.m_profile { 0x1ff } else { 0xf };
        let information = ExceptionInformation {
            number,
            cancel: exception.cancel,
            alt_isa: isa == Isa::ThumbEe,
            non_secure: levels.non_secure,
            hyp: (hyp_changes || number > 0xf).then_some(levels.hyp),
            resume: exception.resume.filter(|_| rules.m_profile).map(|count| count & 0xf),
        };
        Packet::ExceptionBranch { address: packet_address, information }
    }
}

/// Spec: ETM3-BR-002 (7.3.5): instruction addresses travel shifted right by so many bits.
const fn shift(isa: Isa) -> u32 {
    match isa {
        Isa::Arm => 2,
        Isa::Thumb | Isa::ThumbEe => 1,
        Isa::Jazelle => 0,
    }
}
