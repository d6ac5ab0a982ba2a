//! Which modes are in force: those of the parameters, then those that support packets announce (ET 7.5).

use traceproof_vectors::Refusal;
use traceproof_vectors::riscv_etrace::{Mode, Modes, Packet, Parameters, SupportLayout};

use super::standard_support;

/// Reads what support packets announce. Spec: RVET-DEC-025 (ET 7.5).
#[derive(Clone, Debug, Default)]
pub(super) struct Announcements {
    /// Modes in force before the first support packet, and those for which the layout has no bit.
    initial: Modes,
    layout: SupportLayout,
}

impl Announcements {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self { initial: parameters.modes, layout: parameters.support.clone() }
    }

    /// Modes in force before the first support packet.
    pub(super) const fn initial(&self) -> Modes {
        self.initial
    }

    pub(super) const fn layout(&self) -> &SupportLayout {
        &self.layout
    }

    /// The modes that a packet announces; `None` if it is no support packet.
    pub(super) fn modes(&self, packet: &Packet) -> Option<Modes> {
        match packet {
            Packet::Support { ioptions, .. } => Some(self.read(*ioptions)),
            Packet::StandardSupport(packet) => Some(standard_support::modes(packet)),
            _ => None,
        }
    }

    /// The modes that these option bits announce.
    fn read(&self, ioptions: u32) -> Modes {
        let mut modes = self.initial;
        for (bit, mode) in self.layout.ioptions.iter().enumerate() {
            let on = ioptions.checked_shr(bit as u32).unwrap_or(0) & 1 != 0;
            match mode {
                Mode::ImplicitReturn => modes.implicit_return = on,
                Mode::ImplicitException => modes.implicit_exception = on,
                Mode::FullAddress => modes.full_address = on,
                Mode::JumpTargetCache => modes.jump_target_cache = on,
                Mode::BranchPrediction => modes.branch_prediction = on,
                Mode::SequentiallyInferredJumps => modes.sijump = on,
                // The complement of `FullAddress`, which layouts with this bit have too.
                Mode::DeltaAddress => {}
            }
        }
        modes
    }
}

/// Refuses parameters that no hardware can have, and those that the packet types cannot hold.
pub(super) fn check(parameters: &Parameters) -> Result<(), Refusal> {
    parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
    let SupportLayout { encoder_mode_width, ref ioptions, doptions_width, .. } = parameters.support;
    if encoder_mode_width > 8 || ioptions.len() > 32 || doptions_width > 32 {
        return Err(Refusal::invalid(
            "support",
            "encoder_mode has at most 8, ioptions and doptions at most 32 bits",
        ));
    }
    Ok(())
}
