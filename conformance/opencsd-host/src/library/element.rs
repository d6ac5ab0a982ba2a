//! Generic elements in the words of the messages.

use opencsd_sys as c;

use crate::element::{Context, Element, ElementKind, Isa, LastInstruction, Security};

/// How many instructions a range has; 0 for other elements.
pub(super) fn instructions(element: &c::ocsd_generic_trace_elem) -> u32 {
    match element.elem_type {
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_INSTR_RANGE
        | c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH => {
            // SAFETY: the number is what ranges keep in the union.
            unsafe { element.__bindgen_anon_2.num_instr_range }
        }
        _ => 0,
    }
}

pub(super) fn element(
    byte: u32,
    source: u8,
    element: &c::ocsd_generic_trace_elem,
    text: Option<String>,
) -> Element {
    // SAFETY: both arms of this union are plain bits.
    let flags = unsafe { element.__bindgen_anon_1.__bindgen_anon_1 };
    let timed = element.elem_type == c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_TIMESTAMP;
    Element {
        byte,
        source,
        kind: kind(element),
        cycles: (flags.has_cc() != 0).then_some(element.cycle_count),
        timestamp: (timed || flags.has_ts() != 0).then_some(element.timestamp),
        text,
    }
}

fn kind(element: &c::ocsd_generic_trace_elem) -> ElementKind {
    // SAFETY: both arms of this union are plain bits.
    let flags = unsafe { element.__bindgen_anon_1.__bindgen_anon_1 };
    let payload = &element.__bindgen_anon_2;
    let (isa, start, end) = (isa(element.isa), element.st_addr, element.en_addr);
    match element.elem_type {
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_NO_SYNC => {
            // SAFETY: this is what the type of element keeps in the union, here and below.
            ElementKind::NoSync { reason: unsafe { payload.unsync_eot_info } }
        }
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_TRACE_ON => {
            // SAFETY: as above.
            ElementKind::TraceOn { reason: unsafe { payload.trace_on_reason } }
        }
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_EO_TRACE => {
            // SAFETY: as above.
            ElementKind::EndOfTrace { reason: unsafe { payload.unsync_eot_info } }
        }
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_PE_CONTEXT => {
            ElementKind::Context(context(isa, &element.context))
        }
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_INSTR_RANGE => {
            let last = LastInstruction {
                executed: flags.last_instr_exec() != 0,
                conditional: flags.last_instr_cond() != 0,
                size: (flags.last_instr_sz() & 7) as u8,
                kind: element.last_i_type,
                subtype: element.last_i_subtype,
            };
            ElementKind::Range { isa, start, end, instructions: instructions(element), last }
        }
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH => {
            ElementKind::RangeWithoutPath { isa, start, end, instructions: instructions(element) }
        }
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_ADDR_NACC => ElementKind::NoMemory { address: start },
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN => ElementKind::AddressUnknown,
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_EXCEPTION => ElementKind::Exception {
            // SAFETY: as above.
            number: unsafe { payload.exception_number },
            return_address: (flags.excep_ret_addr() != 0).then_some(end),
            data_marker: flags.excep_data_marker() != 0,
        },
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_EXCEPTION_RET => ElementKind::ExceptionReturn,
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_TIMESTAMP => {
            ElementKind::Timestamp { frequency_change: flags.cpu_freq_change() != 0 }
        }
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_CYCLE_COUNT => ElementKind::CycleCount,
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_EVENT => {
            // SAFETY: as above.
            let event = unsafe { payload.trace_event };
            ElementKind::Event { kind: event.ev_type, number: event.ev_number }
        }
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_SYNC_MARKER => {
            // SAFETY: as above.
            ElementKind::Marker { kind: unsafe { payload.sync_marker }.type_ }
        }
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_MEMTRANS => {
            // SAFETY: as above.
            ElementKind::Transaction { kind: unsafe { payload.mem_trans } }
        }
        c::_ocsd_gen_trc_elem_t_OCSD_GEN_TRC_ELEM_INSTRUMENTATION => {
            // SAFETY: as above.
            let written = unsafe { payload.sw_ite };
            ElementKind::Instrumentation { exception_level: written.el, value: written.value }
        }
        kind => ElementKind::Other { kind },
    }
}

fn context(isa: Isa, context: &c::ocsd_pe_context) -> Context {
    let valid = &context.__bindgen_anon_1;
    let level = u8::try_from(context.exception_level).ok();
    Context {
        isa,
        security: match context.security_level {
            c::_ocsd_sec_level_ocsd_sec_secure => Security::Secure,
            c::_ocsd_sec_level_ocsd_sec_root => Security::Root,
            c::_ocsd_sec_level_ocsd_sec_realm => Security::Realm,
            _ => Security::NonSecure,
        },
        exception_level: level.filter(|_| valid.el_valid() != 0),
        context_id: (valid.ctxt_id_valid() != 0).then_some(context.context_id),
        vmid: (valid.vmid_valid() != 0).then_some(context.vmid),
    }
}

pub(super) const fn isa(isa: c::ocsd_isa) -> Isa {
    match isa {
        c::_ocsd_isa_ocsd_isa_arm => Isa::Arm,
        c::_ocsd_isa_ocsd_isa_thumb2 => Isa::Thumb,
        c::_ocsd_isa_ocsd_isa_aarch64 => Isa::Aarch64,
        c::_ocsd_isa_ocsd_isa_tee => Isa::ThumbEe,
        c::_ocsd_isa_ocsd_isa_jazelle => Isa::Jazelle,
        c::_ocsd_isa_ocsd_isa_custom => Isa::Custom,
        _ => Isa::Unknown,
    }
}
