//! ETMv3 structures in the words of the messages.

use opencsd_sys as c;

use super::element::isa;
use crate::etmv3::{Address, Body, Configuration, Exception, State};

pub(super) const fn configuration(configuration: &Configuration) -> c::ocsd_etmv3_cfg {
    c::ocsd_etmv3_cfg {
        reg_idr: configuration.etmidr,
        reg_ctrl: configuration.etmcr,
        reg_ccer: configuration.etmccer,
        reg_trc_id: configuration.etmtraceidr,
        arch_ver: c::_ocsd_arch_version_ARCH_V7,
        core_prof: if configuration.m_profile {
            c::_ocsd_core_profile_profile_CortexM
        } else {
            c::_ocsd_core_profile_profile_CortexA
        },
    }
}

pub(super) fn body(packet: &c::ocsd_etmv3_pkt) -> Body {
    let data = &packet.data.__bindgen_anon_1;
    // The library keeps data addresses where it keeps instruction addresses.
    let data_address = (data.update_addr() != 0).then(|| address(packet));
    match packet.type_ {
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_NOTSYNC => Body::NotSynchronised,
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_INCOMPLETE_EOT => Body::Incomplete,
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_A_SYNC => Body::ASync,
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_BRANCH_ADDRESS => Body::Branch {
            address: address(packet),
            isa: isa(packet.curr_isa),
            exception: exception(&packet.exception),
            state: (packet.context.__bindgen_anon_1.updated() != 0).then(|| state(&packet.context)),
        },
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_CYCLE_COUNT => Body::CycleCount { count: packet.cycle_count },
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_I_SYNC | c::_ocsd_etmv3_pkt_type_ETM3_PKT_I_SYNC_CYCLE => {
            i_sync(packet, data_address)
        }
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_TRIGGER => Body::Trigger,
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_P_HDR => {
            let bits = packet.atom.En_bits;
            let atom = |index: u8| if bits >> index & 1 == 1 { 'E' } else { 'N' };
            let atoms = (0..packet.atom.num.min(31)).map(atom).collect();
            Body::PHeader { format: packet.p_hdr_fmt, atoms, cycles: packet.cycle_count }
        }
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_STORE_FAIL => Body::StoreFailed,
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_OOO_DATA => {
            Body::OutOfOrderData { tag: tag(packet), value: packet.data.value }
        }
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_OOO_ADDR_PLC => {
            Body::OutOfOrderPlaceholder { tag: tag(packet), address: data_address }
        }
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_NORM_DATA => {
            let value = (data.update_dval() != 0).then_some(packet.data.value);
            Body::NormalData { address: data_address, value }
        }
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_DATA_SUPPRESSED => Body::DataSuppressed,
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_VAL_NOT_TRACED => Body::ValueNotTraced { address: data_address },
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_IGNORE => Body::Ignore,
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_CONTEXT_ID => Body::ContextId { value: packet.context.ctxtID },
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_VMID => Body::Vmid { value: packet.context.VMID },
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_EXCEPTION_ENTRY => Body::ExceptionEntry,
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_EXCEPTION_EXIT => Body::ExceptionExit,
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_TIMESTAMP => {
            Body::Timestamp { value: packet.timestamp, bits: packet.ts_update_bits }
        }
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_BAD_SEQUENCE => Body::BadSequence { of: packet.err_type },
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_BAD_TRACEMODE => Body::BadTraceMode { of: packet.err_type },
        c::_ocsd_etmv3_pkt_type_ETM3_PKT_RESERVED => Body::Reserved,
        kind => Body::Other { kind },
    }
}

fn i_sync(packet: &c::ocsd_etmv3_pkt, next: Option<Address>) -> Body {
    let info = &packet.isync_info.__bindgen_anon_1;
    let present = info.no_address() == 0;
    Body::ISync {
        reason: packet.isync_info.reason,
        // With a second address the first one is overwritten.
        address: (present && next.is_none()).then(|| address(packet)),
        isa: isa(packet.curr_isa),
        state: state(&packet.context),
        context_id: (packet.context.__bindgen_anon_1.updated_c() != 0).then_some(packet.context.ctxtID),
        cycle_count: (info.has_cycle_count() != 0).then_some(packet.cycle_count),
        load_store_in_progress: next.is_some(),
        next,
    }
}

const fn address(packet: &c::ocsd_etmv3_pkt) -> Address {
    Address { value: packet.addr.val, bits: packet.addr.pkt_bits, known: packet.addr.valid_bits }
}

fn tag(packet: &c::ocsd_etmv3_pkt) -> u8 {
    (packet.data.__bindgen_anon_1.ooo_tag() & 3) as u8
}

fn exception(exception: &c::ocsd_etmv3_excep) -> Option<Exception> {
    (exception.bits.present() != 0).then(|| Exception {
        number: exception.number,
        kind: exception.type_,
        cancelled: exception.bits.cancel() != 0,
        resume: (exception.bits.cm_resume() & 15) as u8,
    })
}

fn state(context: &c::etmv3_context_t) -> State {
    let bits = &context.__bindgen_anon_1;
    State { ns: bits.curr_NS() != 0, hyp: bits.curr_Hyp() != 0, alt_isa: bits.curr_alt_isa() != 0 }
}
