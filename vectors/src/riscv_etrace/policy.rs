//! The control fields of an encoder, and which legal choices it makes.

use alloc::vec::Vec;

use super::{DataPolicy, Filter, Timestamps, Triggers};

/// Control fields that only the encoder needs to know, and its free choices. Each has the default of a
/// plain encoder; a case states only what it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Policy {
    /// What one of these lets pass is traced; empty = everything. The filter signals of the port apply in addition.
    pub filters: Vec<Filter>,
    /// What the triggers of the hart do.
    pub triggers: Triggers,
    /// Which packets have a timestamp of the transport.
    pub timestamps: Timestamps,
    /// `trTeInstSyncMode`: what the resynchronisation timer counts.
    pub sync_mode: SyncMode,
    /// `trTeInstSyncMax`: resynchronise when the count reaches 2^(value + 4).
    pub sync_max: u8,
    /// How an interrupt directly after an updiscon, or as first traced item, is reported.
    pub interrupt_report: InterruptReport,
    /// How many redundant bytes payloads keep.
    pub compression: Compression,
    /// Send a second support packet with `ienable` = 0 when tracing is switched off.
    pub support_at_disable: bool,
    /// Set `updiscon` at a final instruction that is an updiscon target, and end with `ended_rep`.
    pub updiscon_at_end: bool,
    /// Null packets of the encapsulation.
    pub idle: Idle,
    /// `flow` of every packet, 0 to 3; in null packets it is 0 unless byte boundaries are known (RVET-ENCAP-012).
    pub flow: u8,
    /// Whether the payload is filled to whole bytes before or after source and type bits are prepended.
    pub payload_alignment: PayloadAlignment,
    /// Vendor bits of standard support packets; no more than [`vendor_bits`](super::Parameters::vendor_bits).
    #[cfg_attr(feature = "serde", serde(with = "crate::notation::hex"))]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub other: u64,
    /// `irets` of the target of a correctly predicted return that is reported for another reason (RVET5-ENC-007).
    pub predicted_return: PredictedReturn,
    /// How many implicit returns go unreported at most (RVET5-ENC-005).
    pub irets_limit: IretsLimit,
    /// Choices of data trace.
    pub data: DataPolicy,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            filters: Vec::new(),
            triggers: Triggers::default(),
            timestamps: Timestamps::default(),
            sync_mode: SyncMode::Off,
            sync_max: 0,
            interrupt_report: InterruptReport::default(),
            compression: Compression::default(),
            support_at_disable: false,
            updiscon_at_end: false,
            idle: Idle::default(),
            flow: 0,
            payload_alignment: PayloadAlignment::default(),
            other: 0,
            predicted_return: PredictedReturn::default(),
            irets_limit: IretsLimit::default(),
            data: DataPolicy::default(),
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

/// How an interrupt is reported that is taken directly after an updiscon or as first traced item.
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

/// Which null packets an encoder puts into the stream (EN 2.2, 2.3). None by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Idle {
    /// Null packets before every normal packet: all but the last are idles (RVET-ENCAP-015).
    pub null_packets: u16,
    /// A synchronisation sequence of N + 1 null packets precedes the first normal packet and of every `sync_period`-th
    /// one after it, in place of `null_packets` if it is longer; 0 = never (RVET-ENCAP-013).
    pub sync_period: u32,
    /// The last null packet before a normal packet.
    pub last: LastNull,
}

/// The last null packet before a normal packet (RVET-ENCAP-014, RVET-ENCAP-015).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LastNull {
    /// `null.alignment`, which streams without known byte boundaries need.
    #[default]
    Alignment,
    /// `null.idle`.
    Idle,
}

/// When a payload that source or type bits shift is filled to whole bytes; both are valid streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PayloadAlignment {
    /// Before: a payload is whole bytes in itself (ET 7).
    #[default]
    Before,
    /// After: only as many payload bits as are significant are put after the type, and then the last byte is filled.
    After,
}

/// Whether `irets` counts a correctly predicted return whose target is reported for another reason.
///
/// The text has arguments for both, and only the first leaves no doubt which return is meant (reading
/// `irets-counts-the-predicted-return`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PredictedReturn {
    /// It does.
    #[default]
    Counted,
    /// It counts those before.
    NotCounted,
}

/// How many implicit returns since the latest branch or report go unreported at most (reading `irets-limit-is-255`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum IretsLimit {
    /// 255: the target of the 256th is reported, with `irets` 255.
    #[default]
    At255,
    /// 254: the target of the 255th is reported, with `irets` 254.
    At254,
}
