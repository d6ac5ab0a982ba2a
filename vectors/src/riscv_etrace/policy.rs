//! What an encoder was told by its control fields, and which legal choices it makes.

/// Control fields that only the encoder needs to know, and its free choices. Each has the default of a
/// plain encoder; a case states only what it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Policy {
    /// `trTeInstSyncMode`: what the resynchronisation timer counts.
    pub sync_mode: SyncMode,
    /// `trTeInstSyncMax`: resynchronise when the count reaches 2^(value + 4).
    pub sync_max: u8,
    /// How an interrupt directly behind an updiscon, or as first traced item, is reported.
    pub interrupt_report: InterruptReport,
    /// How many redundant bytes payloads keep.
    pub compression: Compression,
    /// Send a second support packet with `ienable` = 0 when tracing is switched off.
    pub support_at_disable: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            sync_mode: SyncMode::Off,
            sync_max: 0,
            interrupt_report: InterruptReport::default(),
            compression: Compression::default(),
            support_at_disable: false,
        }
    }
}

/// What the resynchronisation timer counts (ET 2, `trTeInstSyncMode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SyncMode {
    /// No periodic resynchronisation.
    #[default]
    Off,
    /// Trace packets.
    Packets,
    /// Cycles of the ingress port.
    Cycles,
    /// Retired half-words.
    HalfWords,
}

/// How an interrupt is reported that is taken directly behind an updiscon or as first traced item.
///
/// ET 7.3.1 states the rule for exceptions only; both forms decode to the same execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum InterruptReport {
    /// One packet for the handler, `thaddr` = 1 (RVET-ENC-081).
    #[default]
    Handler,
    /// As for exceptions: `thaddr` = 0, then format 3 subformat 0 for the handler.
    Separate,
}

/// How many redundant bytes payloads keep (RVET-PKT-004 to 006).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Compression {
    /// None: every packet is as short as it can be.
    #[default]
    Minimal,
    /// Only what must be compressed is (formats 1 and 2); the others keep their full length.
    Mandatory,
}
