//! The latest state that the trace has stated: what addresses and states are sent relative to (4.5.4, B.2.1).

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::{CompressedAddress, ExceptionInformation, Policy, State};

use super::address::{LONGEST, compress, fewest_bytes};

/// AltISA in the sixth byte of a waypoint update (reading `pft-waypoint-update-sixth-byte`).
const ALT_ISA_OF_UPDATE: u8 = 1 << 6;

/// A branch address as it travels.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentBranch {
    pub(super) address: CompressedAddress,
    pub(super) exception: Option<ExceptionInformation>,
}

/// The latest state, and the choices that it is sent with.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastState {
    state: State,
    /// Address and instruction set of a waypoint update since then. Whether they are the base now is open, so
    /// addresses are sent that are right either way.
    update: Option<(u32, InstructionSet)>,
    min_bytes: u8,
    always_information: bool,
    always_second_byte: bool,
}

impl LastState {
    pub(super) fn new(policy: &Policy) -> Self {
        Self {
            state: State::default(),
            update: None,
            min_bytes: policy.min_address_bytes,
            always_information: policy.always_exception_information,
            always_second_byte: policy.always_second_exception_byte,
        }
    }

    pub(super) const fn state(&self) -> State {
        self.state
    }

    /// An I-sync stated this.
    pub(super) const fn set(&mut self, state: State) {
        self.state = state;
        self.update = None;
    }

    /// Security state or Hyp mode are not what the trace has stated.
    ///
    /// Spec: PFT-ENC-027, 064 (4.12).
    pub(super) const fn differs_in_security(&self, state: State) -> bool {
        self.state.non_secure != state.non_secure || self.state.hyp != state.hyp
    }

    /// The branch to `target`; it becomes the last state. `number` is 0 without exception.
    ///
    /// Spec: PFT-ENC-023 to 028, 064 (4.5.4).
    pub(super) fn branch(&mut self, target: State, number: u16, min_bytes: u8) -> SentBranch {
        let thumb_ee = |isa| isa == InstructionSet::T32Ee;
        let needs_information = number != 0
            || self.differs_in_security(target)
            || thumb_ee(self.state.isa)
            || thumb_ee(target.isa);
        let fewest = if needs_information { 2 } else { 1 };
        let bytes = self.bytes(target.address.0, target.isa).max(min_bytes).max(fewest);
        let information = needs_information || self.always_information && bytes > 1;
        let second = number > 0xf || self.state.hyp != target.hyp || self.always_second_byte;
        let exception = information.then_some(ExceptionInformation {
            number,
            alt_isa: thumb_ee(target.isa),
            non_secure: target.non_secure,
            hyp: second.then_some(target.hyp),
            reserved: 0,
        });
        self.set(target);
        SentBranch { address: compress(target.isa, target.address.0, bytes), exception }
    }

    /// The waypoint update that names the instruction at `address`, and its sixth byte.
    ///
    /// Spec: PFT-PKT-052, 054 (4.5.5).
    pub(super) fn update(&mut self, address: u32, isa: InstructionSet) -> (CompressedAddress, Option<u8>) {
        let bytes = self.bytes(address, isa);
        self.update = Some((address, isa));
        let sixth = bytes == LONGEST && isa == InstructionSet::T32Ee;
        (compress(isa, address, bytes), sixth.then_some(ALT_ISA_OF_UPDATE))
    }

    /// As few bytes as are right relative to every base. Spec: PFT-ENC-024, 026 (10.2).
    fn bytes(&self, address: u32, isa: InstructionSet) -> u8 {
        let from = |(base, base_isa): (u32, InstructionSet)| {
            if base_isa == isa { fewest_bytes(isa, address, base) } else { LONGEST }
        };
        let stated = from((self.state.address.0, self.state.isa));
        stated.max(self.update.map_or(1, from)).max(self.min_bytes)
    }
}
