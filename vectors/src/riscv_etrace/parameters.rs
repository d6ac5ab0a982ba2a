//! What a decoder must know before the first packet: discovery attributes (ET 10) and static facts.

use alloc::vec;
use alloc::vec::Vec;

use super::{DataOption, DataParameters, Version};
use crate::Address;

/// The constants of one encoder, by the specification's parameter names, and the modes it starts in.
///
/// The defaults are those that ET 10.1 prescribes for attributes that cannot be discovered, for a 32-bit
/// hart with compressed instructions. Widths are in bits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parameters {
    /// Release of the specification that the encoder follows (not discoverable; reading
    /// `standard-support-needs-a-setting`).
    pub version: Version,
    /// The implicit return extension is implemented: packets carry `irets` where others carry `irdepth`, whatever the
    /// mode (RVET5-PKT-011). Needs [`Version::V2_0_5`].
    pub iret_ext: bool,
    /// Width of `other`, the vendor bits of the standard support packet, which no packet announces. What follows them
    /// has no effect (RVET5-DEC-003).
    pub vendor_bits: u8,
    /// While a standard support packet announces `resync_disabled`, synchronisation packets in the running trace keep
    /// return stack, predictor and jump target cache: the other answer to a question that ET leaves open (reading
    /// `resync-disabled-keeps-state`).
    pub resync_disabled_keeps_state: bool,
    /// Register width of the hart; decides which compressed encodings are jumps (not discoverable).
    pub xlen: Xlen,
    /// The hart has Zcmp and Zcmt, whose encodings take the place of `c.fsdsp` (not discoverable).
    pub zcmp_zcmt: bool,
    /// Architecture version; 0 is the only one.
    pub arch_p: u8,
    /// log2 of the number of branch predictor entries; 0 = no predictor.
    pub bpred_size_p: u8,
    /// log2 of the number of jump target cache entries; 0 = no cache.
    pub cache_size_p: u8,
    /// log2 of the number of calls that the nested call counter counts; 0 = none.
    pub call_counter_size_p: u8,
    /// The call counter has `call_counter_size_p` bits, so it counts to one below that power of two: the other answer
    /// to a question that ET leaves open (not discoverable; readings `call-counter-is-a-power-of-two` and
    /// `call-counter-fits-irdepth`).
    pub call_counter_fits_irdepth: bool,
    /// Width of `context`.
    pub context_width_p: u8,
    /// Width of `time`.
    pub time_width_p: u8,
    /// Width of `ecause`.
    pub ecause_width_p: u8,
    /// Width of the format 0 `subformat` field.
    pub f0s_width_p: u8,
    /// Lowest address bit that is traced: 1 with compressed instructions, 2 without.
    pub iaddress_lsb_p: u8,
    /// Width of instruction addresses, and of `tval`.
    pub iaddress_width_p: u8,
    /// No packet has a `context` field.
    pub nocontext_p: bool,
    /// No packet has a `time` field.
    pub notime_p: bool,
    /// Width of `privilege`.
    pub privilege_width_p: u8,
    /// log2 of the number of return address stack entries; 0 = no stack.
    pub return_stack_size_p: u8,
    /// The hart supplies `sijump`.
    pub sijump_p: bool,
    /// Width of `itype`: 3 or 4.
    pub itype_width_p: u8,
    /// Most instructions retired in one block; more than 1 selects block retirement (`iretire` in half-words).
    pub retires_p: u8,
    /// Layout of the implementation-defined parts of the support packet (not discoverable).
    pub support: SupportLayout,
    /// Modes in force before the first support packet.
    pub modes: Modes,
    /// Trap handler addresses, needed for implicit exception mode (not discoverable).
    pub trap_vectors: Option<TrapVectors>,
    /// How packets are framed in the byte stream.
    pub encapsulation: Encapsulation,
    /// Data trace; absent = none, or none of it is wanted: a decoder skips data packets.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub data: Option<DataParameters>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            version: Version::default(),
            iret_ext: false,
            vendor_bits: 0,
            resync_disabled_keeps_state: false,
            xlen: Xlen::Rv32,
            zcmp_zcmt: false,
            arch_p: 0,
            bpred_size_p: 0,
            cache_size_p: 0,
            call_counter_size_p: 0,
            call_counter_fits_irdepth: false,
            context_width_p: 1,
            time_width_p: 1,
            ecause_width_p: 4,
            f0s_width_p: 0,
            iaddress_lsb_p: 1,
            iaddress_width_p: 32,
            nocontext_p: true,
            notime_p: true,
            privilege_width_p: 2,
            return_stack_size_p: 0,
            sijump_p: false,
            itype_width_p: 4,
            retires_p: 1,
            support: SupportLayout::default(),
            modes: Modes::default(),
            trap_vectors: None,
            encapsulation: Encapsulation::default(),
            data: None,
        }
    }
}

impl Parameters {
    /// Width of every `address` field: `iaddress_width_p - iaddress_lsb_p`.
    #[must_use]
    pub const fn address_width(&self) -> u32 {
        (self.iaddress_width_p as u32).saturating_sub(self.iaddress_lsb_p as u32)
    }

    /// Width of the `time` field: 0 when `notime_p`.
    #[must_use]
    pub const fn time_width(&self) -> u32 {
        if self.notime_p { 0 } else { self.time_width_p as u32 }
    }

    /// Width of the `context` field: 0 when `nocontext_p`.
    #[must_use]
    pub const fn context_width(&self) -> u32 {
        if self.nocontext_p { 0 } else { self.context_width_p as u32 }
    }

    /// Width of the `irdepth` field. Spec: RVET-PKT-028 (ET 7.6).
    #[must_use]
    pub const fn irdepth_width(&self) -> u32 {
        self.return_stack_size_p as u32
            + (self.return_stack_size_p > 0) as u32
            + self.call_counter_size_p as u32
    }

    /// Mask of the `iaddress_width_p` low bits.
    #[must_use]
    pub const fn address_mask(&self) -> u64 {
        if self.iaddress_width_p >= 64 { u64::MAX } else { (1 << self.iaddress_width_p) - 1 }
    }

    /// The first parameter that no hardware can have, with what is wrong with it.
    ///
    /// Bounds are those of the fields that hold the values here: nothing is wider than 64 bits.
    ///
    /// # Errors
    ///
    /// The parameter's name and the reason.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let rules: [(&'static str, bool, &'static str); 16] = [
            ("arch_p", self.arch_p == 0, "only architecture version 0 exists"),
            ("iaddress_width_p", (1..=64).contains(&self.iaddress_width_p), "must be 1 to 64"),
            (
                "iaddress_lsb_p",
                self.iaddress_lsb_p <= 2 && self.iaddress_lsb_p < self.iaddress_width_p,
                "must be 0 to 2 and below iaddress_width_p",
            ),
            ("context_width_p", (1..=64).contains(&self.context_width_p), "must be 1 to 64"),
            ("time_width_p", (1..=64).contains(&self.time_width_p), "must be 1 to 64"),
            ("ecause_width_p", (1..=64).contains(&self.ecause_width_p), "must be 1 to 64"),
            ("privilege_width_p", (1..=4).contains(&self.privilege_width_p), "must be 1 to 4"),
            ("f0s_width_p", self.f0s_width_p <= 3, "must be 0 to 3"),
            (
                "f0s_width_p",
                self.f0s_width_p > 0 || self.bpred_size_p == 0 || self.cache_size_p == 0,
                "must not be 0 when predictor and jump target cache both exist (RVET-PKT-037)",
            ),
            ("bpred_size_p", self.bpred_size_p <= 15, "must be 0 to 15"),
            ("cache_size_p", self.cache_size_p <= 15, "must be 0 to 15"),
            ("return_stack_size_p", self.return_stack_size_p <= 15, "must be 0 to 15"),
            ("call_counter_size_p", self.call_counter_size_p <= 15, "must be 0 to 15"),
            ("itype_width_p", matches!(self.itype_width_p, 3 | 4), "must be 3 or 4"),
            ("retires_p", self.retires_p >= 1, "must be at least 1"),
            ("support", self.support.width() <= 64, "must not be wider than 64 bits"),
        ];
        match rules.into_iter().find(|(_, holds, _)| !holds) {
            Some((parameter, _, reason)) => Err((parameter, reason)),
            None => {
                self.check_version()?;
                self.encapsulation.check()?;
                self.data.as_ref().map_or(Ok(()), |data| {
                    data.check()?;
                    self.encapsulation.check_data(data.source)
                })
            }
        }
    }
}

/// Register width of the hart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Xlen {
    /// RV32.
    #[default]
    Rv32,
    /// RV64.
    Rv64,
}

/// A run-time mode that a support packet announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Mode {
    /// Returns whose call was traced are not reported (ET 3.2.5).
    ImplicitReturn,
    /// Trap handler addresses are not reported (ET 3.2.3).
    ImplicitException,
    /// Addresses are absolute instead of differences (ET 3.2.2).
    FullAddress,
    /// Repeated jump targets are reported by index (ET 3.2.7).
    JumpTargetCache,
    /// Correctly predicted branches are counted (ET 3.2.6).
    BranchPrediction,
    /// Jumps after `lui`/`auipc` are not reported (ET 3.2.4).
    SequentiallyInferredJumps,
    /// Bits that mean "addresses are differences", in layouts that have one.
    DeltaAddress,
}

/// The set of run-time modes in force. All off = delta address mode, the only mandatory one (RVET-ENC-032).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Modes {
    /// [`Mode::ImplicitReturn`].
    pub implicit_return: bool,
    /// [`Mode::ImplicitException`].
    pub implicit_exception: bool,
    /// [`Mode::FullAddress`].
    pub full_address: bool,
    /// [`Mode::JumpTargetCache`].
    pub jump_target_cache: bool,
    /// [`Mode::BranchPrediction`].
    pub branch_prediction: bool,
    /// [`Mode::SequentiallyInferredJumps`].
    pub sijump: bool,
}

/// Layout of the support packet's implementation-defined fields (ET 7.5).
///
/// The default is that of the reference models: 1-bit `encoder_mode`, 5 `ioptions`, 4-bit `doptions`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SupportLayout {
    /// Width of `encoder_mode`.
    pub encoder_mode_width: u8,
    /// What the bits of `ioptions` mean, bit 0 first.
    pub ioptions: Vec<Mode>,
    /// `denable`, `dloss` and `doptions` are present.
    pub data_fields: bool,
    /// Width of `doptions`.
    pub doptions_width: u8,
    /// What the bits of `doptions` mean, bit 0 first; bits that have no name here mean nothing.
    pub doptions: Vec<DataOption>,
}

impl SupportLayout {
    /// Width of everything after `format` and `subformat`.
    #[must_use]
    pub fn width(&self) -> usize {
        let data = if self.data_fields { 2 + self.doptions_width as usize } else { 0 };
        3 + self.encoder_mode_width as usize + self.ioptions.len() + data
    }
}

impl Default for SupportLayout {
    fn default() -> Self {
        Self {
            encoder_mode_width: 1,
            ioptions: vec![
                Mode::ImplicitReturn,
                Mode::ImplicitException,
                Mode::FullAddress,
                Mode::JumpTargetCache,
                Mode::BranchPrediction,
            ],
            data_fields: true,
            doptions_width: 4,
            doptions: vec![
                DataOption::NoAddress,
                DataOption::NoData,
                DataOption::FullAddress,
                DataOption::FullData,
            ],
        }
    }
}

/// Where trap handlers start, for implicit exception mode (ET 3.2.3; privileged ISA `mtvec`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrapVectors {
    /// Byte address of the handler of exceptions, and of interrupts unless `vectored`.
    pub base: Address,
    /// Interrupts go to `base + 4 * cause`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub vectored: bool,
}

/// How packets are framed in the byte stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Encapsulation {
    /// The ratified packet encapsulation (EN 2).
    Normal(NormalEncapsulation),
    /// The messages of the Siemens infrastructure (ET 13).
    Siemens(SiemensMessaging),
    /// The bytes of ATDATA in the order in which they travel, least significant first (ET 13): a header byte and the
    /// payload. The source is on ATID, outside the stream; there is neither timestamp nor type.
    Atb,
}

impl Default for Encapsulation {
    fn default() -> Self {
        Self::Normal(NormalEncapsulation::default())
    }
}

impl Encapsulation {
    /// What [`Parameters::check`] requires of the constants of a transport.
    fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let (bits, source) = match self {
            Self::Normal(normal) if normal.timestamp_bytes > 8 => {
                return Err(("timestamp_bytes", "must be 0 to 8"));
            }
            Self::Normal(normal) if normal.type_bits > 8 => return Err(("type_bits", "must be 0 to 8")),
            Self::Normal(normal)
                if normal.block_bytes > 0 && normal.block_bytes < normal.longest_packet() =>
            {
                return Err(("block_bytes", "must hold the longest packet"));
            }
            Self::Normal(normal) => (normal.src_id_bits, normal.src_id),
            Self::Siemens(siemens) => (siemens.source_bits, siemens.source),
            Self::Atb => (0, 0),
        };
        if bits > 16 {
            return Err(("src_id_bits", "must be 0 to 16"));
        }
        if u32::from(source) >> bits != 0 {
            return Err(("src_id", "must fit src_id_bits"));
        }
        Ok(())
    }
}

impl Encapsulation {
    /// What [`Parameters::check`] requires of a transport that carries data trace, with a `srcID` of its own or
    /// without. Spec: RVET-DATA-001, RVET-ENCAP-017 (ET 8, EN 3.3).
    fn check_data(&self, own_source: Option<u16>) -> Result<(), (&'static str, &'static str)> {
        let (source_bits, source, type_bits) = match self {
            Self::Normal(normal) => (normal.src_id_bits, normal.src_id, normal.type_bits),
            Self::Siemens(siemens) => (siemens.source_bits, siemens.source, 2),
            Self::Atb => (0, 0, 0),
        };
        match own_source {
            None if type_bits == 0 => {
                Err(("type_bits", "must be at least 1, or data trace must have a source of its own"))
            }
            Some(own) if own == source => Err(("data.source", "must differ from that of instruction trace")),
            Some(own) if u32::from(own) >> source_bits != 0 => Err(("data.source", "must fit src_id_bits")),
            _ => Ok(()),
        }
    }
}

/// Constants of the ratified encapsulation (EN 2.1). By default a packet is one header byte and the payload.
///
/// The packet is one bit string, least significant bit first: header, `srcID`, timestamp, type, payload, padding. A
/// stream may carry packets of several sources; they have the same widths. A decoder skips null packets, packets whose
/// `srcID` is neither [`src_id`](Self::src_id) nor that of data trace, and data trace where [`Parameters::data`] is
/// absent: they cause nothing. [`Place::packet`](crate::Place::packet) counts all of them but the null packets. Types
/// that are neither instruction nor data trace are [`ReservedEncoding`](crate::FaultClass::ReservedEncoding).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NormalEncapsulation {
    /// Width of `srcID`, 0 to 16 (`trTeSrcBits`; 0 also with `trTeInhibitSrc`).
    pub src_id_bits: u8,
    /// `trTeSrcID`: the source that an encoder is, and that a decoder follows.
    pub src_id: u16,
    /// Bytes of a timestamp where `extend` is 1, 0 to 8. It is independent of the field `time` of packets (EN 3.2).
    pub timestamp_bytes: u8,
    /// Width of `type`, 0 to 8. The type of instruction trace is 0, that of data trace 1 (EN 3.3).
    pub type_bits: u8,
    /// Byte boundaries are known to the receiver, so a synchronisation sequence may end with either null packet and
    /// null packets may have a `flow` (EN 2.2, 2.3).
    pub framed: bool,
    /// What fills the last byte.
    pub padding: Padding,
    /// The first byte of the stream starts a packet. Otherwise a decoder enters at an unknown place: it skips
    /// everything before the first packet after N null bytes, without fault (RVET-ENCAP-016, EN 2.3).
    pub synchronised: bool,
    /// The stream lies in memory in blocks of so many bytes, and the first byte of every block starts a packet: what
    /// would cross the border between two goes to the next one, after padding of null packets; 0 = no blocks (ET 7, EN
    /// 2.3). A packet across a border is [`Framing`](crate::FaultClass::Framing), and the next block starts anew.
    pub block_bytes: u32,
    /// Offset of the first border in the stream, if it does not start at one.
    pub first_block: u32,
}

impl NormalEncapsulation {
    /// Bytes of the longest packet: header, whole bytes of `srcID`, timestamp, and what `length` can count (EN 2.1.5).
    const fn longest_packet(&self) -> u32 {
        1 + self.src_id_bits as u32 / 8 + self.timestamp_bytes as u32 + 31
    }
}

impl Default for NormalEncapsulation {
    fn default() -> Self {
        Self {
            src_id_bits: 0,
            src_id: 0,
            timestamp_bytes: 0,
            type_bits: 0,
            framed: false,
            padding: Padding::Sign,
            synchronised: true,
            block_bytes: 0,
            first_block: 0,
        }
    }
}

/// What fills the last byte where type bits, or `srcID` bits beyond whole bytes, shift the payload (EN 2.1.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Padding {
    /// Copies of the payload's top bit: the payload is everything after the type (RVET-ENCAP-022).
    #[default]
    Sign,
    /// Anything: the payload is as many whole bytes as fit after the type, what is beyond means nothing.
    Arbitrary,
}

/// Constants of the Siemens messages (ET 13): header, source, timestamp if `extend` is 1, type, payload, laid out as in
/// [`NormalEncapsulation`]. The type has 2 bits: 2 is instruction trace, 3 data trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiemensMessaging {
    /// Width of the source, 0 to 16; 6 shares one byte with the type.
    pub source_bits: u8,
    /// The source that an encoder is, and that a decoder follows.
    pub source: u16,
    /// Messages may have a timestamp of 16 bits.
    pub timestamp: bool,
}

impl Default for SiemensMessaging {
    fn default() -> Self {
        Self { source_bits: 6, source: 0, timestamp: false }
    }
}
