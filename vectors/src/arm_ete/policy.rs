//! What registers configure in a trace unit that only the trace unit needs to know, and which legal choices it makes.

use super::{Atoms, Parameters};

/// Which form of an address is sent (sheet 7.5). A form that cannot express the address gives way to the next larger
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AddressChoice {
    /// Exact match with the lowest matching entry, otherwise the shortest form.
    #[default]
    Shortest,
    /// The shortest form that is no exact match.
    NoExactMatch,
    /// Short forms have two bytes; no exact match.
    TwoBytes,
    /// 32 bits or more.
    #[cfg_attr(feature = "serde", serde(rename = "bits_32"))]
    Bits32,
    /// 64 bits; a Q element with address has no such form and takes 32 bits, or no address.
    #[cfg_attr(feature = "serde", serde(rename = "bits_64"))]
    Bits64,
}

/// Which sections a Trace Info packet has (ETE-PKT-TI-002: what is absent is 0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TraceInfoSections {
    /// Those that are not 0.
    #[default]
    Needed,
    /// INFO always, as units of ETMv4 do (A24); the others where they are not 0.
    Info,
    /// INFO, SPEC and CYCT always.
    All,
}

/// Sizes, periods and free choices of a trace unit. Each has the default of a plain one; a case states only what it
/// changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(clippy::struct_excessive_bools, reason = "one for each free choice")]
pub struct Policy {
    /// Bytes of trace between periodic synchronizations (TRCSYNCPR: 2^PERIOD); 0 = none.
    pub sync_period: u32,
    /// Periodic synchronization while ViewInst is inactive; otherwise it waits until tracing starts (sheet 7.2).
    pub sync_while_inactive: bool,
    /// P0 elements between a periodic Trace Info and its context and address, if there are as many (R_SVGNN, A1); 0 =
    /// they follow at once.
    pub sync_spacing: u8,
    /// Zero bytes of an A-sync, 11 or more (ETE-PKT-SYNC-003).
    pub sync_zeros: u16,
    /// Sections of Trace Info.
    pub trace_info: TraceInfoSections,
    /// Zero groups that follow the last needed byte of COMMIT, CANCEL, Q COUNT, SPEC, CYCT, COUNT and of a timestamp
    /// after Trace Info, up to the longest form (ETE-PKT-ENC-001, A24).
    pub padded_groups: u8,
    /// The most atoms of one packet, 1 to 24. Among the formats within it the one that covers most leading atoms is
    /// taken (sheet 7.10).
    pub atoms_per_packet: u8,
    /// Mispredict and Cancel packets of formats 2 and 3 carry the atoms before them where they can (sheet 5.8);
    /// otherwise atoms have packets of their own.
    pub atoms_in_mispredicts: bool,
    /// Cancels of 1 to 5 elements with Mispredict use formats 2 and 3; otherwise format 1.
    pub short_cancels: bool,
    /// Form of Target Address packets, and of the addresses of exceptions and Q elements.
    pub addresses: AddressChoice,
    /// Context and Target Address that are due together share a packet; it has 32 or 64 address bits. Otherwise the
    /// context comes first, in a packet of its own.
    pub combined_contexts: bool,
    /// A context that is due although it did not change is sent as `80`; otherwise in full.
    pub context_same: bool,
    /// A context is sent with every Target Address, changed or not (I_MHFJB).
    pub redundant_contexts: bool,
    /// VMID and Context ID travel with every context if they are traced; otherwise if they changed (ETE-PKT-CTX-002).
    pub explicit_ids: bool,
    /// After Trace On the context is sent even if it is that of the latest context packet (R_TJLYH).
    pub context_after_trace_on: bool,
    /// An exception whose Target Address is its preferred return address is sent with E = 10; otherwise the address has
    /// a packet of its own (sheet 5.6).
    pub combined_targets: bool,
    /// A changed context at the preferred return address travels in the exception packet (A2); otherwise before it.
    pub contexts_in_exceptions: bool,
    /// P0 instructions that are not taken are not traced, and the next taken one has a Source Address (R_TZZRH,
    /// R_DCHPQ); ETE only.
    pub source_addresses: bool,
    /// P0 instructions that one Q element replaces at most, in regions that permit it; 0 = no Q elements (R_FZTZP).
    pub q_blocks: u8,
    /// Q elements have a count, otherwise none where [`q_elements`](Parameters::q_elements) allows it.
    pub q_counts: bool,
    /// Q elements and their addresses share a packet where there is such a form; otherwise the address follows.
    pub q_addresses: bool,
    /// Entries of the return stack, 0 to 15 (R_HNDJJ); 0 = every indirect P0 instruction has an address.
    pub return_stack_depth: u8,
    /// A cancelled branch with link empties the return stack; otherwise its entry is removed (R_FVRPZ).
    pub cancel_empties_return_stack: bool,
    /// Commits that one packet merges at most, 1 or more, while nothing but P0 elements stands between them (R_ZHWDD).
    pub merged_commits: u16,
    /// Commit packets with a cycle count use the shortest format that fits; otherwise format 1.
    pub short_cycle_counts: bool,
    /// Cycles of which a count is sent at least (TRCCCCTLR.THRESHOLD), 1 to 4095.
    pub cycle_threshold: u16,
    /// Timestamps have as few bytes as they need; otherwise nine (ETE-PKT-TS-001).
    pub minimal_timestamps: bool,
    /// Context synchronization events request a timestamp (R_YYWTR).
    pub timestamp_context_changes: bool,
    /// A disable requests a timestamp, as a flush does (R_JLRQH, R_YYWTR); it precedes Discard. Otherwise none.
    pub timestamp_at_disable: bool,
    /// Events of consecutive steps that one packet merges, if their numbers ascend and nothing stands between them.
    pub merged_events: bool,
    /// At a flush and at the end, Ignore packets fill up to a multiple of so many bytes; 0 and 1 = none. Not before
    /// ETMv4.3.
    pub pad_to: u8,
    /// Bytes that the buffer holds; 0 = any number, so that it is full only where the stimulus says so. A step whose
    /// packets do not fit is lost whole, and all that follows it until the buffer is empty (sheet 4.6).
    pub fifo_bytes: u16,
    /// Bytes that leave the buffer in each step; 0 = all.
    pub port_bytes: u16,
    /// So many bytes are lost before the capture begins, as with a capture buffer that overwrites its oldest content.
    /// Their packets are made all the same.
    pub capture_from: u64,
}

impl Policy {
    /// The first choice that no trace unit with these parameters can make, with what is wrong with it.
    ///
    /// # Errors
    ///
    /// The choice's name and the reason.
    pub const fn check(&self, parameters: &Parameters) -> Result<(), (&'static str, &'static str)> {
        if self.sync_zeros < 11 {
            return Err(("sync_zeros", "must be 11 or more"));
        }
        if self.atoms_per_packet == 0 || self.atoms_per_packet > Atoms::MOST {
            return Err(("atoms_per_packet", "must be 1 to 24"));
        }
        if self.source_addresses && !parameters.version.is_ete() {
            return Err(("source_addresses", "needs ETE"));
        }
        if self.return_stack_depth > Parameters::RETURN_STACK_DEPTH {
            return Err(("return_stack_depth", "must be 0 to 15"));
        }
        if self.merged_commits == 0 {
            return Err(("merged_commits", "must be 1 or more"));
        }
        if self.cycle_threshold == 0 || self.cycle_threshold > 0xfff {
            return Err(("cycle_threshold", "must be 1 to 4095"));
        }
        Ok(())
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            sync_period: 4096,
            sync_while_inactive: false,
            sync_spacing: 0,
            sync_zeros: 11,
            trace_info: TraceInfoSections::Needed,
            padded_groups: 0,
            atoms_per_packet: Atoms::MOST,
            atoms_in_mispredicts: true,
            short_cancels: true,
            addresses: AddressChoice::Shortest,
            combined_contexts: true,
            context_same: true,
            redundant_contexts: false,
            explicit_ids: false,
            context_after_trace_on: true,
            combined_targets: true,
            contexts_in_exceptions: false,
            source_addresses: false,
            q_blocks: 0,
            q_counts: true,
            q_addresses: true,
            return_stack_depth: Parameters::RETURN_STACK_DEPTH,
            cancel_empties_return_stack: false,
            merged_commits: 1,
            short_cycle_counts: true,
            cycle_threshold: 1,
            minimal_timestamps: true,
            timestamp_context_changes: true,
            timestamp_at_disable: false,
            merged_events: true,
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
    use crate::arm_ete::Version;

    #[test]
    fn what_no_trace_unit_can_do_is_refused() {
        let policy = Policy { source_addresses: true, ..Policy::default() };
        assert_eq!(policy.check(&Parameters::default()), Ok(()));
        let v4 = Parameters::etmv4(Version::Etmv4_4);
        assert_eq!(Policy::default().check(&v4), Ok(()));
        assert_eq!(policy.check(&v4).map_err(|(name, _)| name), Err("source_addresses"));
        for (policy, name) in [
            (Policy { sync_zeros: 10, ..policy }, "sync_zeros"),
            (Policy { atoms_per_packet: 0, ..policy }, "atoms_per_packet"),
            (Policy { atoms_per_packet: 25, ..policy }, "atoms_per_packet"),
            (Policy { return_stack_depth: 16, ..policy }, "return_stack_depth"),
            (Policy { merged_commits: 0, ..policy }, "merged_commits"),
            (Policy { cycle_threshold: 0, ..policy }, "cycle_threshold"),
            (Policy { cycle_threshold: 4096, ..policy }, "cycle_threshold"),
        ] {
            assert_eq!(policy.check(&Parameters::default()).map_err(|(name, _)| name), Err(name));
        }
    }
}
