//! What a decoder must know before the first cycle; none of it is in the trace (GEN-001).

/// Configuration of one macrocell and its trace port. The default is ETMv2.0 on an 8-bit port with data address
/// and data value tracing, without Context ID, not cycle-accurate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parameters {
    /// Major architecture version (ETMIDR\[11:8\] plus one).
    pub architecture: Architecture,
    /// Minor architecture version (ETMIDR\[7:4\]); 2.1 adds Java state.
    pub minor: u8,
    /// Width of TRACEPKT in bits: 4, 8 or 16 (architectures 1 and 2).
    pub port_width: u8,
    /// Data values are traced (ETMCR\[2\]).
    pub data_value: bool,
    /// Data addresses are traced (ETMCR\[3\]).
    pub data_address: bool,
    /// Coprocessor register transfers are traced (ETMCR\[1\]). They are Normal Data packets with A = 0, so that a
    /// decoder without code cannot tell them from the later transfers of an LSM.
    pub monitor_cprt: bool,
    /// Executed direct branches output their address too (ETMCR\[8\]).
    pub branch_broadcast: bool,
    /// Bytes of a Context ID: 0, 1, 2 or 4 (ETMCR\[15:14\]).
    pub context_id_bytes: u8,
    /// Every cycle is captured (ETMCR\[12\]).
    pub cycle_accurate: bool,
    /// Cycles that a byte spends in an empty FIFO at least: 0 or 1 (PC-4).
    pub fifo_latency: u8,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            architecture: Architecture::V2,
            minor: 0,
            port_width: 8,
            data_value: true,
            data_address: true,
            monitor_cprt: false,
            branch_broadcast: false,
            context_id_bytes: 0,
            cycle_accurate: false,
            fifo_latency: 0,
        }
    }
}

impl Parameters {
    /// Whether Java state exists (architecture 2.1 and, later, others).
    #[must_use]
    pub const fn has_jazelle(&self) -> bool {
        self.minor >= 1
    }

    /// Whether data packets exist at all.
    #[must_use]
    pub const fn traces_data(&self) -> bool {
        self.data_value || self.data_address
    }

    /// The first parameter that no ETMv2 can have, with what is wrong with it.
    ///
    /// # Errors
    ///
    /// The parameter's name and the reason.
    pub const fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.minor > 1 {
            return Err(("minor", "must be 0 or 1"));
        }
        if !matches!(self.port_width, 4 | 8 | 16) {
            return Err(("port_width", "must be 4, 8 or 16"));
        }
        if !matches!(self.context_id_bytes, 0 | 1 | 2 | 4) {
            return Err(("context_id_bytes", "must be 0, 1, 2 or 4"));
        }
        if self.fifo_latency > 1 {
            return Err(("fifo_latency", "must be 0 or 1"));
        }
        Ok(())
    }
}

/// Major version of the trace protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Architecture {
    /// ETMv1: headerless packets, Address Packet Offset.
    V1,
    /// ETMv2: packet headers, C bit groups, Trace FIFO Offset.
    #[default]
    V2,
    /// ETMv3: one byte stream with P-headers.
    V3,
}

impl Architecture {
    /// The feature that a subject claims for it (see [`super::FEATURES`]).
    #[must_use]
    pub const fn feature(self) -> &'static str {
        match self {
            Self::V1 => "etmv1",
            Self::V2 => "etmv2",
            Self::V3 => "etmv3",
        }
    }
}

/// Instruction set state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Isa {
    /// ARM: words.
    #[default]
    Arm,
    /// Thumb: half-words.
    Thumb,
    /// Java: bytes.
    Jazelle,
}
