//! The settings of registers that only the macrocell needs to know, and which legal choices it makes.

use super::Architecture;

/// Sizes, periods and free choices of a macrocell. Each has the default of a plain one; a case states only what
/// it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Policy {
    /// Bytes that the FIFO holds: in ETMv2 up to [`MAX_FIFO_SIZE`](Self::MAX_FIFO_SIZE), in ETMv3 at least
    /// [`MIN_V3_FIFO_SIZE`](Self::MIN_V3_FIFO_SIZE).
    pub fifo_size: u8,
    /// ETMSYNCFR, at most [`MAX_SYNC_PERIOD`](Self::MAX_SYNC_PERIOD): what lies between synchronisations; 0 = none. Up
    /// to ETMv3.0 cycles (ETM2-SYN-001), from ETMv3.1 on bytes of generated trace (ETM3-SYN-015); see
    /// [`v3`](super::v3). A register allows 0 in ETMv3.5 only, and only values above the size of the FIFO
    /// (ETM3-SYN-016); the model takes any.
    pub sync_period: u32,
    /// Bytes that leave the FIFO in a cycle (ETMv3), at least 1.
    pub port_bytes: u8,
    /// Data packets are suppressed while fewer bytes than this are free in the FIFO (ETMv3); 0 = never.
    pub suppress_below: u8,
    /// Atoms are packed into as few P-headers as possible; otherwise one P-header for each (ETMv3, ETM3-PH-012).
    pub pack_atoms: bool,
    /// The cycle count of a non-periodic I-sync is inside it (header 70); otherwise it follows in a cycle count packet
    /// (ETMv3).
    pub count_in_sync: bool,
    /// How tags are given to load misses.
    pub tags: TagChoice,
    /// Tag 0 is given too; Table 6.2 does not reserve it (ETM2-LM-051).
    pub tag_zero: bool,
    /// Values travel in as few bytes as they need (ETM2-HDR-012); otherwise always in 4.
    pub minimal_values: bool,
    /// Addresses travel in as few bytes as they need; otherwise always in 5.
    pub minimal_addresses: bool,
    /// So many records (ETMv3: bytes) are lost before the capture begins, as with a capture buffer that overwrites its
    /// oldest content. Their packets are made all the same.
    pub capture_from: u64,
}

impl Policy {
    /// The largest FIFO whose fill a TFO value can express, b111 in the upper bits being reserved (PC-3, PC-7).
    pub const MAX_FIFO_SIZE: u8 = 111;

    /// The largest value of the 12 bits of ETMSYNCFR.
    pub const MAX_SYNC_PERIOD: u32 = 0xfff;

    /// The fewest bytes of FIFO that an ETMv3 can do with.
    pub const MIN_V3_FIFO_SIZE: u8 = 64;

    /// The first choice that no macrocell of this architecture can make, with what is wrong with it.
    ///
    /// # Errors
    ///
    /// The choice's name and the reason.
    pub const fn check(&self, architecture: Architecture) -> Result<(), (&'static str, &'static str)> {
        if self.fifo_size == 0 {
            return Err(("fifo_size", "must be 1 or more"));
        }
        if matches!(architecture, Architecture::V2) && self.fifo_size > Self::MAX_FIFO_SIZE {
            return Err(("fifo_size", "must be 1 to 111 in ETMv2"));
        }
        if matches!(architecture, Architecture::V3) && self.fifo_size < Self::MIN_V3_FIFO_SIZE {
            return Err(("fifo_size", "must be 64 or more in ETMv3"));
        }
        if self.port_bytes == 0 {
            return Err(("port_bytes", "must be 1 or more"));
        }
        Ok(())
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            fifo_size: 64,
            sync_period: 1024,
            port_bytes: 4,
            suppress_below: 0,
            pack_atoms: true,
            count_in_sync: true,
            tags: TagChoice::default(),
            tag_zero: false,
            minimal_values: true,
            minimal_addresses: true,
            capture_from: 0,
        }
    }
}

/// How tags are given to load misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TagChoice {
    /// The lowest one that is free.
    #[default]
    Lowest,
    /// The next free one after the one given last.
    RoundRobin,
}
