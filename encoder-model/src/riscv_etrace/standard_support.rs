//! The standard support packet of version 2.0.5: its fields, and what an encoder puts into them.

use traceproof_vectors::riscv_etrace::{
    DataLayout, DataOptions, Modes, Parameters, Policy, StandardSupport, SyncMode,
};

use super::bits::Bits;
use super::unencodable::{Checked, fits};

/// Bits of a packet with so many vendor bits. Spec: RVET5-PKT-001, RVET5-PKT-009.
pub(super) const fn width(vendor_bits: u32) -> u32 {
    42 + vendor_bits
}

/// The fields after `format` and `subformat` that have more than one bit, in the order of [`push`], with their widths.
const fn wide_fields(support: &StandardSupport) -> [(&'static str, u8, u32); 7] {
    [
        ("encoder_mode", support.encoder_mode, 2),
        ("time_width", support.time_width, 3),
        ("f0s_width", support.f0s_width, 2),
        ("return_stack_size", support.return_stack_size, 3),
        ("call_counter_size", support.call_counter_size, 4),
        ("bpred_size", support.bpred_size, 3),
        ("cache_size", support.cache_size, 3),
    ]
}

/// Appends everything after `format` and `subformat`. Spec: RVET5-PKT-001 to 003, RVET5-PKT-008, RVET5-PKT-009.
pub(super) fn push(bits: &mut Bits, support: &StandardSupport, vendor_bits: u32) {
    let [(_, encoder_mode, mode_width), sizes @ ..] = wide_fields(support);
    bits.push_bit(support.ienable);
    bits.push(encoder_mode.into(), mode_width);
    bits.push(support.qual_status as u64, 2);
    bits.push_bit(support.sijump);
    bits.push_bit(support.implicit_return);
    bits.push_bit(support.branch_predictor);
    bits.push_bit(support.jump_target_cache);
    bits.push_bit(support.implicit_except);
    bits.push_bit(support.full_iaddress);
    bits.push_bit(support.resync_disabled);
    bits.push_bit(support.iret_ext);
    for (_, value, width) in sizes {
        bits.push(value.into(), width);
    }
    bits.push_bit(support.denable);
    bits.push_bit(support.dloss);
    bits.push_bit(support.mmacas_ext);
    bits.push_bit(support.noaddr);
    bits.push_bit(support.nodata);
    bits.push_bit(support.full_daddress);
    bits.push_bit(support.full_data);
    bits.push(support.other, vendor_bits);
}

/// Whether every value fits its field.
pub(super) fn check(support: &StandardSupport, vendor_bits: u32) -> Checked {
    for (field, value, width) in wide_fields(support) {
        fits(field, value.into(), width)?;
    }
    fits("other", support.other, vendor_bits)
}

/// What an encoder puts into every packet. Spec: RVET5-PKT-004 to 007.
pub(super) fn constant_part(parameters: &Parameters, policy: &Policy) -> StandardSupport {
    StandardSupport {
        resync_disabled: policy.sync_mode == SyncMode::Off,
        iret_ext: parameters.iret_ext,
        time_width: (parameters.time_width() / 16) as u8,
        f0s_width: parameters.f0s_width_p,
        return_stack_size: parameters.return_stack_size_p,
        call_counter_size: parameters.call_counter_size_p,
        bpred_size: parameters.bpred_size_p,
        cache_size: parameters.cache_size_p,
        mmacas_ext: parameters.data.is_some_and(|data| data.layout == DataLayout::MmaCas),
        other: policy.other,
        ..StandardSupport::default()
    }
}

/// The packet with the modes and data options in force. Spec: RVET5-PKT-003.
pub(super) const fn with_options(
    constant: StandardSupport,
    modes: Modes,
    data: DataOptions,
) -> StandardSupport {
    StandardSupport {
        sijump: modes.sijump,
        implicit_return: modes.implicit_return,
        branch_predictor: modes.branch_prediction,
        jump_target_cache: modes.jump_target_cache,
        implicit_except: modes.implicit_exception,
        full_iaddress: modes.full_address,
        noaddr: data.no_address,
        nodata: data.no_data,
        full_daddress: data.full_address,
        full_data: data.full_data,
        ..constant
    }
}

/// The modes that a packet announces.
pub(super) const fn modes(support: &StandardSupport) -> Modes {
    Modes {
        implicit_return: support.implicit_return,
        implicit_exception: support.implicit_except,
        full_address: support.full_iaddress,
        jump_target_cache: support.jump_target_cache,
        branch_prediction: support.branch_predictor,
        sijump: support.sijump,
    }
}

/// The data options that a packet announces.
pub(super) const fn data_options(support: &StandardSupport) -> DataOptions {
    DataOptions {
        no_address: support.noaddr,
        no_data: support.nodata,
        full_address: support.full_daddress,
        full_data: support.full_data,
    }
}
