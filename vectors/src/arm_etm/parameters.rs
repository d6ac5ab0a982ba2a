//! What a decoder must know before the first cycle; none of it is in the trace (ETM-GEN-001).

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
    /// decoder without code cannot distinguish them from the later transfers of an LSM.
    pub monitor_cprt: bool,
    /// Executed direct branches output their address too (ETMCR\[8\]).
    pub branch_broadcast: bool,
    /// Bytes of a Context ID: 0, 1, 2 or 4 (ETMCR\[15:14\]).
    pub context_id_bytes: u8,
    /// Every cycle is captured (ETMCR\[12\]).
    pub cycle_accurate: bool,
    /// Cycles that a byte spends in an empty FIFO at least: 0 or 1 (PC-4; architectures 1 and 2).
    pub fifo_latency: u8,
    /// ETMIDR\[20\]: branch packets in the alternative encoding (ETMv3.4 and later; ETM-GEN-004).
    pub alternative_branches: bool,
    /// ETMIDR\[18\]: a 32-bit Thumb instruction is one traced instruction, otherwise two.
    pub thumb32_single: bool,
    /// ETMIDR\[16\]: an LDM with PC transfers the PC first.
    pub load_pc_first: bool,
    /// ETMCR\[20\]: no instruction trace; I-sync packets have no address (ETMv3.1 and later).
    pub data_only: bool,
    /// ETMCR\[19\]: with `monitor_cprt`, coprocessor register transfers are traced only where ViewData is active
    /// (ETMv3.0 and later).
    pub filter_cprt: bool,
    /// ETMCR\[28\]: timestamps (ETMv3.5).
    pub timestamps: bool,
    /// ETMCCER\[29\]: bits of a timestamp, 48 or 64.
    pub timestamp_bits: u8,
    /// ETMCCER\[28\] = 0: timestamps are in Gray code.
    pub timestamp_gray: bool,
    /// ETMCR\[30\]: VMID packets (ETMv3.5).
    pub vmid: bool,
    /// ETMCCER\[26\]: Virtualization Extensions; Hyp bits mean something.
    pub virtualization: bool,
    /// The processor is of the M profile: exception numbers and exception entry (ETMv3.4 and later).
    pub m_profile: bool,
    /// The stream is that of a bare trace port with TRACECTL (ETMv3), see [`v3`](super::v3).
    pub bare_port: bool,
    /// Where the exception vectors are (ETMv1, ETMv2; ETMv3 only for an exception inside byte 5 with code 0). Constant
    /// in a run (ETM1-EXC-007).
    pub hivecs: VectorBase,
    /// The header of a TFO packet has a J bit (PC-2b; ETMv2.1).
    pub tfo_jazelle: bool,
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
            alternative_branches: false,
            thumb32_single: true,
            load_pc_first: false,
            data_only: false,
            filter_cprt: false,
            timestamps: false,
            timestamp_bits: 64,
            timestamp_gray: false,
            vmid: false,
            virtualization: false,
            m_profile: false,
            bare_port: false,
            hivecs: VectorBase::Low,
            tfo_jazelle: false,
        }
    }
}

impl Parameters {
    /// Whether Java state exists: ETMv1.3, ETMv2.1, every ETMv3.
    #[must_use]
    pub const fn has_jazelle(&self) -> bool {
        match self.architecture {
            Architecture::V1 => self.minor >= 3,
            Architecture::V2 => self.minor >= 1,
            Architecture::V3 => true,
        }
    }

    /// Whether data packets exist at all.
    #[must_use]
    pub const fn traces_data(&self) -> bool {
        self.data_value || self.data_address
    }

    /// The first parameter that no macrocell of this architecture can have, with what is wrong with it.
    ///
    /// # Errors
    ///
    /// The parameter's name and the reason.
    pub const fn check(&self) -> Result<(), (&'static str, &'static str)> {
        match self.architecture {
            Architecture::V1 if self.minor > 3 => return Err(("minor", "must be 0 to 3")),
            Architecture::V2 if self.minor > 1 => return Err(("minor", "must be 0 or 1")),
            Architecture::V3 if self.minor > 5 => return Err(("minor", "must be 0 to 5")),
            _ => {}
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
        if !matches!(self.timestamp_bits, 48 | 64) {
            return Err(("timestamp_bits", "must be 48 or 64"));
        }
        if self.tfo_jazelle && !(matches!(self.architecture, Architecture::V2) && self.minor >= 1) {
            return Err(("tfo_jazelle", "needs ETMv2.1"));
        }
        self.check_v3()
    }

    /// Options that came with a version of ETMv3.
    const fn check_v3(&self) -> Result<(), (&'static str, &'static str)> {
        let minor = match self.architecture {
            Architecture::V3 => self.minor as i8,
            Architecture::V1 | Architecture::V2 => -1,
        };
        if self.filter_cprt && minor < 0 {
            return Err(("filter_cprt", "needs ETMv3"));
        }
        if self.bare_port && minor < 0 {
            return Err(("bare_port", "needs ETMv3"));
        }
        if self.data_only && minor < 1 {
            return Err(("data_only", "needs ETMv3.1"));
        }
        if self.alternative_branches && minor < 4 {
            return Err(("alternative_branches", "needs ETMv3.4"));
        }
        if self.m_profile && minor < 4 {
            return Err(("m_profile", "needs ETMv3.4"));
        }
        if self.timestamps && minor < 5 {
            return Err(("timestamps", "needs ETMv3.5"));
        }
        if self.vmid && minor < 5 {
            return Err(("vmid", "needs ETMv3.5"));
        }
        if self.virtualization && minor < 5 {
            return Err(("virtualization", "needs ETMv3.5"));
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

/// Where the table of exception vectors is: the level of HIVECS (VINITHI) of the processor (4.5.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum VectorBase {
    /// At 0x00000000.
    #[default]
    Low,
    /// At 0xFFFF0000.
    High,
    /// At one of the two.
    Unknown,
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
    /// ThumbEE: half-words (ETMv3.3 and later).
    ThumbEe,
    /// Java: bytes.
    Jazelle,
}
