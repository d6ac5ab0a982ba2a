//! The standard support packet of version 2.0.5.

use super::QualStatus;

/// Format 3 subformat 3 of an encoder of [version 2.0.5](super::Version::V2_0_5): fields, order and widths are fixed,
/// 42 bits in all (RVET5-PKT-001). Nothing in the packet distinguishes it from the support packet of version 2.0.
///
/// Every field but `ienable` and `qual_status` may be left out in files, and is 0 there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[allow(clippy::struct_excessive_bools, reason = "they are the bits of the packet")]
pub struct StandardSupport {
    /// Instruction trace is enabled.
    pub ienable: bool,
    /// 2 bits: 0 is branch trace, the only defined value (RVET5-PKT-002).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub encoder_mode: u8,
    /// Change of the filter qualification.
    pub qual_status: QualStatus,
    /// [`Mode::SequentiallyInferredJumps`](super::Mode::SequentiallyInferredJumps) is on.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub sijump: bool,
    /// [`Mode::ImplicitReturn`](super::Mode::ImplicitReturn) is on.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub implicit_return: bool,
    /// [`Mode::BranchPrediction`](super::Mode::BranchPrediction) is on.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub branch_predictor: bool,
    /// [`Mode::JumpTargetCache`](super::Mode::JumpTargetCache) is on.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub jump_target_cache: bool,
    /// [`Mode::ImplicitException`](super::Mode::ImplicitException) is on.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub implicit_except: bool,
    /// [`Mode::FullAddress`](super::Mode::FullAddress) is on.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub full_iaddress: bool,
    /// There is no periodic resynchronisation (RVET5-PKT-004).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub resync_disabled: bool,
    /// The encoder has the implicit return extension, whether the mode is on or not (RVET5-PKT-005).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub iret_ext: bool,
    /// 3 bits: `time` has 16 times as many bits; 0 = no `time`, 5 to 7 are reserved (RVET5-PKT-006).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub time_width: u8,
    /// 2 bits: width of the format 0 `subformat` field.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub f0s_width: u8,
    /// 3 bits: log2 of the number of return stack entries; 0 = no stack.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub return_stack_size: u8,
    /// 4 bits: size of the call counter; 0 = none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub call_counter_size: u8,
    /// 3 bits: log2 of the number of branch predictor entries; 0 = no predictor.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub bpred_size: u8,
    /// 3 bits: log2 of the number of jump target cache entries; 0 = no cache.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    pub cache_size: u8,
    /// Data trace is enabled.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub denable: bool,
    /// Data packets were lost.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub dloss: bool,
    /// The encoder has the data packets of [`DataLayout::MmaCas`](super::DataLayout::MmaCas) (RVET5-PKT-005).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub mmacas_ext: bool,
    /// Data packets have no addresses.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub noaddr: bool,
    /// Data packets have no data.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub nodata: bool,
    /// Data addresses are never differences.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub full_daddress: bool,
    /// Data are never compressed.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    pub full_data: bool,
    /// Vendor bits, bit 0 first, as many as [`Parameters::vendor_bits`](super::Parameters::vendor_bits) has
    /// (RVET5-PKT-009).
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "is_absent", with = "crate::notation::hex")
    )]
    #[cfg_attr(feature = "schema", schemars(with = "crate::notation::Hex"))]
    pub other: u64,
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_zero(value: &u8) -> bool {
    *value == 0
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_absent(value: &u64) -> bool {
    *value == 0
}
