//! The standard support packet of version 2.0.5: its fields, what they announce, and where they contradict the
//! parameters.

use traceproof_vectors::riscv_etrace::{DataLayout, DataOptions, Modes, Packet, Parameters, StandardSupport};
use traceproof_vectors::{Fault, FaultClass};

use super::bits::{Fields, Observer};
use super::packet::qual_status;

/// Bits of fields. Spec: RVET5-PKT-001.
mod bit {
    pub(super) const SIJUMP: u32 = 9;
    pub(super) const IMPLICIT_RETURN: u32 = 10;
    pub(super) const BRANCH_PREDICTOR: u32 = 11;
    pub(super) const JUMP_TARGET_CACHE: u32 = 12;
    pub(super) const IMPLICIT_EXCEPT: u32 = 13;
    pub(super) const IRET_EXT: u32 = 16;
    pub(super) const TIME_WIDTH: u32 = 17;
    pub(super) const F0S_WIDTH: u32 = 20;
    pub(super) const RETURN_STACK_SIZE: u32 = 22;
    pub(super) const CALL_COUNTER_SIZE: u32 = 25;
    pub(super) const BPRED_SIZE: u32 = 29;
    pub(super) const CACHE_SIZE: u32 = 32;
    pub(super) const MMACAS_EXT: u32 = 37;
}

/// A unit of `time_width`, in bits, and its greatest value that is not reserved. Spec: RVET5-PKT-006.
const TIME_UNIT: u32 = 16;
const MOST_TIME_UNITS: u8 = 4;

/// Whether this is a support packet of either version.
pub(super) const fn is_support(packet: &Packet) -> bool {
    matches!(packet, Packet::Support { .. } | Packet::StandardSupport(_))
}

/// Reads the fields after `subformat`. What follows the declared vendor bits means nothing, so the caller need not look
/// at it. Spec: RVET5-PKT-001 to 009, RVET5-DEC-003.
///
/// # Errors
///
/// `ReservedEncoding` at `time_width` (RVET5-DEC-002).
pub(super) fn read<O: Observer, const SHORT: bool>(
    fields: &mut Fields<'_, O, SHORT>,
    vendor_bits: u32,
) -> Result<StandardSupport, Fault> {
    let mut number = |name, width| fields.take(name, width) as u8;
    let packet = StandardSupport {
        ienable: number("ienable", 1) != 0,
        encoder_mode: number("encoder_mode", 2),
        qual_status: qual_status(number("qual_status", 2).into()),
        sijump: number("sijump", 1) != 0,
        implicit_return: number("implicit_return", 1) != 0,
        branch_predictor: number("branch_predictor", 1) != 0,
        jump_target_cache: number("jump_target_cache", 1) != 0,
        implicit_except: number("implicit_except", 1) != 0,
        full_iaddress: number("full_iaddress", 1) != 0,
        resync_disabled: number("resync_disabled", 1) != 0,
        iret_ext: number("iret_ext", 1) != 0,
        time_width: number("time_width", 3),
        f0s_width: number("f0s_width", 2),
        return_stack_size: number("return_stack_size", 3),
        call_counter_size: number("call_counter_size", 4),
        bpred_size: number("bpred_size", 3),
        cache_size: number("cache_size", 3),
        denable: number("denable", 1) != 0,
        dloss: number("dloss", 1) != 0,
        mmacas_ext: number("mmacas_ext", 1) != 0,
        noaddr: number("noaddr", 1) != 0,
        nodata: number("nodata", 1) != 0,
        full_daddress: number("full_daddress", 1) != 0,
        full_data: number("full_data", 1) != 0,
        other: fields.take("other", vendor_bits),
    };
    if packet.time_width > MOST_TIME_UNITS {
        return Err(fields.fault(FaultClass::ReservedEncoding, bit::TIME_WIDTH));
    }
    Ok(packet)
}

/// The modes that it announces. Spec: RVET5-PKT-003.
pub(super) const fn modes(packet: &StandardSupport) -> Modes {
    Modes {
        implicit_return: packet.implicit_return,
        implicit_exception: packet.implicit_except,
        full_address: packet.full_iaddress,
        jump_target_cache: packet.jump_target_cache,
        branch_prediction: packet.branch_predictor,
        sijump: packet.sijump,
    }
}

/// The bit of the mode that needs this parameter.
pub(super) fn mode_bit(parameter: &str) -> u32 {
    match parameter {
        "return_stack_size_p" | "itype_width_p" => bit::IMPLICIT_RETURN,
        "bpred_size_p" => bit::BRANCH_PREDICTOR,
        "cache_size_p" => bit::JUMP_TARGET_CACHE,
        "trap_vectors" => bit::IMPLICIT_EXCEPT,
        _ => bit::SIJUMP,
    }
}

/// The options of data trace that it announces. Spec: RVET5-PKT-001.
pub(super) const fn data_options(packet: &StandardSupport) -> DataOptions {
    DataOptions {
        no_address: packet.noaddr,
        no_data: packet.nodata,
        full_address: packet.full_daddress,
        full_data: packet.full_data,
    }
}

/// What the parameters say that the packet repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    iret_ext: bool,
    time_width: u32,
    f0s_width: u8,
    return_stack_size: u8,
    call_counter_size: u8,
    bpred_size: u8,
    cache_size: u8,
    /// Absent where data trace is not followed.
    mmacas_ext: Option<bool>,
}

impl Declared {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            iret_ext: parameters.iret_ext,
            time_width: parameters.time_width(),
            f0s_width: parameters.f0s_width_p,
            return_stack_size: parameters.return_stack_size_p,
            call_counter_size: parameters.call_counter_size_p,
            bpred_size: parameters.bpred_size_p,
            cache_size: parameters.cache_size_p,
            mmacas_ext: parameters.data.map(|data| data.layout == DataLayout::MmaCas),
        }
    }

    /// The bits of fields that contradict the parameters, which stay in force.
    ///
    /// Spec: RVET5-PKT-005 to 007, RVET5-DEC-004.
    pub(super) fn contradictions(&self, packet: &StandardSupport) -> impl Iterator<Item = u32> + use<> {
        let time_width = TIME_UNIT * u32::from(packet.time_width);
        let mmacas_ext = self.mmacas_ext.is_none_or(|declared| declared == packet.mmacas_ext);
        [
            (bit::IRET_EXT, self.iret_ext == packet.iret_ext),
            (bit::TIME_WIDTH, self.time_width == time_width),
            (bit::F0S_WIDTH, self.f0s_width == packet.f0s_width),
            (bit::RETURN_STACK_SIZE, self.return_stack_size == packet.return_stack_size),
            (bit::CALL_COUNTER_SIZE, self.call_counter_size == packet.call_counter_size),
            (bit::BPRED_SIZE, self.bpred_size == packet.bpred_size),
            (bit::CACHE_SIZE, self.cache_size == packet.cache_size),
            (bit::MMACAS_EXT, mmacas_ext),
        ]
        .into_iter()
        .filter_map(|(bit, agrees)| (!agrees).then_some(bit))
    }
}
