//! What a decoder must know before the first byte; none of it is in the trace (PFT-CFG-012).

/// Configuration of one PTM. The default is PFTv1.1 without cycle counts, Context ID, return stack and timestamps;
/// timestamps would have 64 bits of natural binary.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parameters {
    /// Minor architecture version, ETMIDR\[7:4\]: 0 = PFTv1.0, 1 = PFTv1.1 (PFT-CFG-009).
    pub minor: u8,
    /// ETMCR\[12\]: cycle counts are present (PFT-CFG-002). Changes the length of packets.
    pub cycle_accurate: bool,
    /// Bytes of a Context ID: 0, 1, 2 or 4 (ETMCR\[15:14\], PFT-CFG-001). Changes the length of packets.
    pub context_id_bytes: u8,
    /// ETMCR\[8\]: every taken branch is traced with a branch address packet (4.6). No packet looks different
    /// (PFT-CFG-011).
    pub branch_broadcast: bool,
    /// ETMCR\[28\]: the PTM sends timestamps. A decoder reads them whatever this says (PFT-CFG-014).
    pub timestamps: bool,
    /// Bits of a timestamp: 48, or 64 if ETMCCER\[29\] = 1 (PFT-CFG-005). Changes the length of packets.
    pub timestamp_bits: u8,
    /// ETMCCER\[28\]: timestamps are natural binary, otherwise Gray code (PFT-CFG-006).
    pub timestamp_binary: bool,
    /// ETMCR\[29\]: an E atom of an indirect branch takes its target from the return stack (PFT-CFG-013).
    pub return_stack: bool,
    /// Entries of a decoder's return stack, at least as many as the PTM has (reading `pft-return-stack-of-16`,
    /// PFT-DEC-042).
    pub return_stack_depth: u8,
    /// ETMCR\[30\]: VMID packets (PFT-CFG-010).
    pub vmid: bool,
    /// ETMCCER\[26\]: Virtualization Extensions; Hyp bits and VMID packets mean something (PFT-CFG-010).
    pub virtualization: bool,
    /// ETMCCER\[24\]: DMB and DSB are waypoints (PFT-CFG-008).
    pub barrier_waypoints: bool,
    /// ETMCCER\[25\]: DMB and DSB request a timestamp (2.4, 4.14). Only encoders need it.
    pub barrier_timestamps: bool,
    /// The processor is of the M profile: its exception numbers, and exception returns by special values (4.5.10).
    pub m_profile: bool,
    /// The program uses ThumbEE state, which not every processor has (ID_PFR0\[15:12\], DDI 0406). A decoder reads AltISA
    /// whatever this says: no packet looks different.
    pub thumbee: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            minor: 1,
            cycle_accurate: false,
            context_id_bytes: 0,
            branch_broadcast: false,
            timestamps: false,
            timestamp_bits: 64,
            timestamp_binary: true,
            return_stack: false,
            return_stack_depth: Self::DEFAULT_RETURN_STACK_DEPTH,
            vmid: false,
            virtualization: false,
            barrier_waypoints: false,
            barrier_timestamps: false,
            m_profile: false,
            thumbee: false,
        }
    }
}

impl Parameters {
    /// PFTv1.0 as it is without options: timestamps have 48 bits of Gray code (PFT-CFG-005 to PFT-CFG-007).
    #[must_use]
    pub fn v1_0() -> Self {
        Self { minor: 0, timestamp_bits: 48, timestamp_binary: false, ..Self::default() }
    }

    /// Entries of a decoder's return stack where nothing else is known (PFT-DEC-042).
    pub const DEFAULT_RETURN_STACK_DEPTH: u8 = 16;

    /// Whether exception return packets exist: in PFTv1.1, and on the M profile (4.5.10, PFT-ENC-041).
    #[must_use]
    pub const fn has_exception_returns(&self) -> bool {
        self.minor >= 1 || self.m_profile
    }

    /// Value bytes of a full timestamp: 7 for 48 bits, 9 for 64 (4.14, PFT-PKT-061, PFT-PKT-062).
    #[must_use]
    pub const fn full_timestamp_bytes(&self) -> u8 {
        if self.timestamp_bits == 64 { 9 } else { 7 }
    }

    /// The first parameter that no PTM can have, with what is wrong with it.
    ///
    /// # Errors
    ///
    /// The parameter's name and the reason.
    ///
    /// Spec: PFT-CFG-001, PFT-CFG-004 to PFT-CFG-007, PFT-CFG-009, PFT-CFG-010.
    pub const fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.minor > 1 {
            return Err(("minor", "must be 0 or 1"));
        }
        if !matches!(self.context_id_bytes, 0 | 1 | 2 | 4) {
            return Err(("context_id_bytes", "must be 0, 1, 2 or 4"));
        }
        if !matches!(self.timestamp_bits, 48 | 64) {
            return Err(("timestamp_bits", "must be 48 or 64"));
        }
        if self.return_stack_depth == 0 {
            return Err(("return_stack_depth", "must be 1 or more"));
        }
        if self.return_stack && self.branch_broadcast {
            return Err(("return_stack", "excludes branch_broadcast"));
        }
        if self.minor == 0 && self.timestamp_bits != 48 {
            return Err(("timestamp_bits", "must be 48 in PFTv1.0"));
        }
        if self.minor == 0 && self.timestamp_binary {
            return Err(("timestamp_binary", "needs PFTv1.1"));
        }
        if self.minor == 0 && self.virtualization {
            return Err(("virtualization", "needs PFTv1.1"));
        }
        if self.vmid && !self.virtualization {
            return Err(("vmid", "needs virtualization"));
        }
        if self.m_profile && self.virtualization {
            return Err(("m_profile", "excludes virtualization"));
        }
        if self.m_profile && self.thumbee {
            return Err(("m_profile", "excludes thumbee"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_ptm_can_be_is_refused() {
        let v1_1 = Parameters::default;
        for (parameters, name) in [
            (Parameters { minor: 2, ..v1_1() }, "minor"),
            (Parameters { context_id_bytes: 3, ..v1_1() }, "context_id_bytes"),
            (Parameters { timestamp_bits: 32, ..v1_1() }, "timestamp_bits"),
            (Parameters { return_stack_depth: 0, ..v1_1() }, "return_stack_depth"),
            (Parameters { return_stack: true, branch_broadcast: true, ..v1_1() }, "return_stack"),
            (Parameters { timestamp_bits: 64, ..Parameters::v1_0() }, "timestamp_bits"),
            (Parameters { timestamp_binary: true, ..Parameters::v1_0() }, "timestamp_binary"),
            (Parameters { virtualization: true, ..Parameters::v1_0() }, "virtualization"),
            (Parameters { vmid: true, ..v1_1() }, "vmid"),
            (Parameters { m_profile: true, virtualization: true, ..v1_1() }, "m_profile"),
            (Parameters { m_profile: true, thumbee: true, ..v1_1() }, "m_profile"),
        ] {
            assert_eq!(parameters.check().map_err(|(name, _)| name), Err(name));
        }
    }

    #[test]
    fn what_a_ptm_can_be_is_accepted() {
        let everything = Parameters {
            cycle_accurate: true,
            context_id_bytes: 4,
            timestamps: true,
            return_stack: true,
            return_stack_depth: 1,
            vmid: true,
            virtualization: true,
            barrier_waypoints: true,
            barrier_timestamps: true,
            thumbee: true,
            ..Parameters::default()
        };
        let microcontroller = Parameters { m_profile: true, ..Parameters::v1_0() };
        for parameters in
            [Parameters::default(), Parameters::v1_0(), everything.clone(), microcontroller.clone()]
        {
            assert_eq!(parameters.check(), Ok(()));
        }
        assert_eq!((everything.full_timestamp_bytes(), microcontroller.full_timestamp_bytes()), (9, 7));
        assert!(microcontroller.has_exception_returns() && !Parameters::v1_0().has_exception_returns());
    }
}
