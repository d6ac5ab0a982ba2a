//! What registers configure in a PTM that only the PTM needs to know, and which legal choices it makes.

use super::{Atoms, Parameters};

/// Sizes, periods and free choices of a PTM. Each has the default of a plain one; a case states only what it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Policy {
    /// Bytes of trace between periodic synchronisations (ETMSYNCFR, PFT-CFG-015); 0 = none.
    pub sync_period: u32,
    /// Instruction packets that stand between A-sync and I-sync, and between I-sync and the full timestamp, of one
    /// synchronisation, if there are as many (4.11, PFT-ENC-043, PFT-ENC-057); 0 = adjacent.
    pub sync_spacing: u8,
    /// The most atoms of one packet, 1 to 5; cycle-accurate packets have one (4.2, PFT-ENC-007).
    pub atoms_per_packet: u8,
    /// Held atoms are sent before a trigger packet, so that the trigger stands where it occurred.
    pub flush_before_trigger: bool,
    /// Held atoms are sent before the A-sync; otherwise only before the I-sync (PFT-ENC-008).
    pub flush_before_alignment_sync: bool,
    /// Held atoms are sent at WFI and WFE (4.9).
    pub flush_at_wait: bool,
    /// The fewest bytes of a branch or waypoint address, 1 to 5 (PFT-ENC-023, PFT-PKT-072); 1 = as few as possible.
    pub min_address_bytes: u8,
    /// Exception information bytes in every branch of two or more address bytes; otherwise where they are needed
    /// (PFT-ENC-027).
    pub always_exception_information: bool,
    /// The second exception information byte wherever the first is; otherwise where it is needed (PFT-PKT-071,
    /// PFT-ENC-064).
    pub always_second_exception_byte: bool,
    /// A waypoint update before a waypoint that lies more than 4096 bytes beyond the target of the waypoint before
    /// (4.5.5, PFT-ENC-021).
    pub long_block_updates: bool,
    /// Cycles go into timestamps, too; otherwise their count is 0 (PFT-ENC-058). PFTv1.0 silicon does so.
    pub cycles_in_timestamps: bool,
    /// Timestamps have as few bytes as they need; otherwise they are always full (PFT-ENC-053).
    pub minimal_timestamps: bool,
    /// A full timestamp follows the I-sync with which the trace begins; otherwise the first one that is requested is
    /// full (PFT-ENC-052).
    pub timestamp_at_start: bool,
    /// Traced ISB, exceptions and exception returns request a timestamp (2.4, 4.14).
    pub timestamp_waypoints: bool,
    /// Entries of the return stack, 0 to those of a decoder (PFT-ENC-032, PFT-ENC-060); 0 = every indirect branch is a
    /// packet.
    pub return_stack_depth: u8,
    /// ISB is a branch address packet with branch broadcasting; otherwise an atom (4.6).
    pub broadcast_isb: bool,
    /// The VMID follows each I-sync, if it is traced (PFT-ENC-062).
    pub vmid_after_sync: bool,
    /// At a flush and at the end, Ignore packets fill up to a multiple of so many bytes; 0 and 1 = none.
    pub pad_to: u8,
    /// Bytes that the FIFO holds; 0 = any number, so that it is full only where the stimulus says so. A step whose
    /// packets do not fit is lost whole, and all that follows it until the FIFO is empty (4.8).
    pub fifo_bytes: u16,
    /// Bytes that leave the FIFO in each step; 0 = all.
    pub port_bytes: u16,
    /// So many bytes are lost before the capture begins, as with a capture buffer that overwrites its oldest content.
    /// Their packets are made all the same.
    pub capture_from: u64,
}

impl Policy {
    /// A block is long beyond so many bytes (4.5.5).
    pub const LONG_BLOCK: u32 = 4096;

    /// The first choice that no PTM with these parameters can make, with what is wrong with it.
    ///
    /// # Errors
    ///
    /// The choice's name and the reason.
    pub const fn check(&self, parameters: &Parameters) -> Result<(), (&'static str, &'static str)> {
        if self.atoms_per_packet == 0 || self.atoms_per_packet > Atoms::MOST {
            return Err(("atoms_per_packet", "must be 1 to 5"));
        }
        if self.min_address_bytes == 0 || self.min_address_bytes > 5 {
            return Err(("min_address_bytes", "must be 1 to 5"));
        }
        if parameters.return_stack && self.return_stack_depth > parameters.return_stack_depth {
            return Err(("return_stack_depth", "must not exceed that of the parameters"));
        }
        Ok(())
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            sync_period: 1024,
            sync_spacing: 0,
            atoms_per_packet: Atoms::MOST,
            flush_before_trigger: true,
            flush_before_alignment_sync: true,
            flush_at_wait: true,
            min_address_bytes: 1,
            always_exception_information: false,
            always_second_exception_byte: false,
            long_block_updates: true,
            cycles_in_timestamps: false,
            minimal_timestamps: true,
            timestamp_at_start: false,
            timestamp_waypoints: true,
            return_stack_depth: Parameters::DEFAULT_RETURN_STACK_DEPTH,
            broadcast_isb: false,
            vmid_after_sync: true,
            pad_to: 0,
            fifo_bytes: 0,
            port_bytes: 0,
            capture_from: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_ptm_can_do_is_refused() {
        let parameters = Parameters { return_stack: true, return_stack_depth: 8, ..Parameters::default() };
        let policy = Policy { return_stack_depth: 8, ..Policy::default() };
        assert_eq!(policy.check(&parameters), Ok(()));
        assert_eq!(Policy::default().check(&Parameters::default()), Ok(()));
        for (policy, name) in [
            (Policy { atoms_per_packet: 0, ..policy }, "atoms_per_packet"),
            (Policy { atoms_per_packet: 6, ..policy }, "atoms_per_packet"),
            (Policy { min_address_bytes: 0, ..policy }, "min_address_bytes"),
            (Policy { min_address_bytes: 6, ..policy }, "min_address_bytes"),
            (Policy { return_stack_depth: 9, ..policy }, "return_stack_depth"),
        ] {
            assert_eq!(policy.check(&parameters).map_err(|(name, _)| name), Err(name));
        }
    }
}
