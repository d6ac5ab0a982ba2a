//! Parameters in the crate's words.

use std::num::NonZeroU8;

use riscv_etrace::packet::unit::ReferenceIOptions;
use riscv_etrace::{config, packet};
use traceproof_vectors::Refusal;
use traceproof_vectors::riscv_etrace::{
    Encapsulation, Modes, NormalEncapsulation, Parameters, SupportLayout,
};

/// The version that this adaptor is written for and built with.
pub const VERSION: &str = "0.10.0";

/// The parameters in the types of the crate.
///
/// # Errors
///
/// When the crate has no word for one of them.
pub fn parameters(parameters: &Parameters) -> Result<config::Parameters, Refusal> {
    let Modes { implicit_exception, jump_target_cache, branch_prediction, .. } = parameters.modes;
    for (needed, feature) in [
        (implicit_exception, "implicit_exception"),
        (jump_target_cache, "jump_target_cache"),
        (branch_prediction, "branch_prediction"),
    ] {
        if needed {
            return Err(Refusal::unsupported(feature));
        }
    }
    packet_parameters(parameters)
}

/// As [`parameters`], for packets alone: they exist in modes that the tracer refuses.
///
/// # Errors
///
/// When the crate has no word for one of them.
pub(super) fn packet_parameters(parameters: &Parameters) -> Result<config::Parameters, Refusal> {
    parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
    for (needed, feature) in [
        (parameters.call_counter_fits_irdepth, "reading call-counter-fits-irdepth"),
        (parameters.has_standard_support(), "standard_support"),
        (parameters.ecause_width_p > 16, "ecause of more than 16 bits"),
        // Custom layouts need the crate's private bit reader.
        (parameters.support != SupportLayout::default(), "support layouts other than the reference model's"),
        (
            transport(parameters).is_none(),
            "transports other than the ratified encapsulation, entered at its first byte",
        ),
    ] {
        if needed {
            return Err(Refusal::unsupported(feature));
        }
    }
    let width = |parameter, value| {
        NonZeroU8::new(value).ok_or_else(|| Refusal::invalid(parameter, "must be at least 1"))
    };
    Ok(config::Parameters {
        cache_size_p: parameters.cache_size_p,
        call_counter_size_p: parameters.call_counter_size_p,
        context_width_p: width("context_width_p", parameters.context_width_p)?,
        time_width_p: width("time_width_p", parameters.time_width_p)?,
        ecause_width_p: width("ecause_width_p", parameters.ecause_width_p)?,
        f0s_width_p: parameters.f0s_width_p,
        iaddress_lsb_p: parameters.iaddress_lsb_p,
        iaddress_width_p: width("iaddress_width_p", parameters.iaddress_width_p)?,
        nocontext_p: parameters.nocontext_p,
        notime_p: parameters.notime_p,
        privilege_width_p: width("privilege_width_p", parameters.privilege_width_p)?,
        return_stack_size_p: parameters.return_stack_size_p,
        // For the crate this is the mode, not the ability.
        sijump_p: parameters.modes.sijump,
    })
}

/// The encapsulation, if the adaptor reads all of it: packets from the first byte on, not framed, not in blocks of
/// memory, filled with copies of the sign.
pub(super) fn transport(parameters: &Parameters) -> Option<NormalEncapsulation> {
    let Encapsulation::Normal(normal) = parameters.encapsulation else { return None };
    let NormalEncapsulation { src_id_bits, src_id, timestamp_bytes, type_bits, .. } = normal;
    let plain = NormalEncapsulation { src_id_bits, src_id, timestamp_bytes, type_bits, ..Default::default() };
    (normal == plain).then_some(normal)
}

/// The crate's reader and writer of packets.
pub(super) fn packets(parameters: &Parameters, translated: &config::Parameters) -> packet::Builder {
    let normal = transport(parameters).unwrap_or_default();
    packet::builder()
        .with_params(translated)
        .with_hart_index_width(normal.src_id_bits)
        .with_timestamp_width(normal.timestamp_bytes)
        .with_trace_type_width(normal.type_bits)
}

/// Modes as option bits.
pub(super) const fn options(modes: Modes) -> ReferenceIOptions {
    ReferenceIOptions {
        implicit_return: modes.implicit_return,
        implicit_exception: modes.implicit_exception,
        full_address: modes.full_address,
        jump_target_cache: modes.jump_target_cache,
        branch_prediction: modes.branch_prediction,
    }
}
