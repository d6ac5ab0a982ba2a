//! PTM structures in the words of the messages.

use opencsd_sys as c;

use super::element::isa;
use crate::ptm::{Address, Body, Configuration, State};

pub(super) const fn configuration(configuration: &Configuration) -> c::ocsd_ptm_cfg {
    c::ocsd_ptm_cfg {
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

pub(super) fn body(packet: &c::ocsd_ptm_pkt) -> Body {
    match packet.type_ {
        c::_ocsd_ptm_pkt_type_PTM_PKT_NOTSYNC => Body::NotSynchronised,
        c::_ocsd_ptm_pkt_type_PTM_PKT_INCOMPLETE_EOT => Body::Incomplete,
        c::_ocsd_ptm_pkt_type_PTM_PKT_A_SYNC => Body::ASync,
        c::_ocsd_ptm_pkt_type_PTM_PKT_BRANCH_ADDRESS => Body::Branch {
            address: address(packet),
            isa: isa(packet.curr_isa),
            exception: (packet.exception.bits.present() != 0).then_some(packet.exception.number),
            state: state(packet),
            cycle_count: cycle_count(packet),
        },
        c::_ocsd_ptm_pkt_type_PTM_PKT_I_SYNC => Body::ISync {
            reason: packet.i_sync_reason,
            address: address(packet),
            isa: isa(packet.curr_isa),
            state: state(packet),
            context_id: (packet.context.__bindgen_anon_1.updated_c() != 0).then_some(packet.context.ctxtID),
            cycle_count: cycle_count(packet),
        },
        c::_ocsd_ptm_pkt_type_PTM_PKT_ATOM => {
            let bits = packet.atom.En_bits;
            let atom = |index: u8| if bits >> index & 1 == 1 { 'E' } else { 'N' };
            let atoms = (0..packet.atom.num.min(31)).map(atom).collect();
            Body::Atoms { atoms, cycle_count: cycle_count(packet) }
        }
        c::_ocsd_ptm_pkt_type_PTM_PKT_WPOINT_UPDATE => {
            Body::WaypointUpdate { address: address(packet), isa: isa(packet.curr_isa) }
        }
        c::_ocsd_ptm_pkt_type_PTM_PKT_TRIGGER => Body::Trigger,
        c::_ocsd_ptm_pkt_type_PTM_PKT_IGNORE => Body::Ignore,
        c::_ocsd_ptm_pkt_type_PTM_PKT_CONTEXT_ID => Body::ContextId { value: packet.context.ctxtID },
        c::_ocsd_ptm_pkt_type_PTM_PKT_VMID => Body::Vmid { value: packet.context.VMID },
        c::_ocsd_ptm_pkt_type_PTM_PKT_TIMESTAMP => Body::Timestamp {
            value: packet.timestamp,
            bits: packet.ts_update_bits,
            cycle_count: cycle_count(packet),
        },
        c::_ocsd_ptm_pkt_type_PTM_PKT_EXCEPTION_RET => Body::ExceptionReturn,
        c::_ocsd_ptm_pkt_type_PTM_PKT_BAD_SEQUENCE => Body::BadSequence { of: packet.err_type },
        c::_ocsd_ptm_pkt_type_PTM_PKT_RESERVED => Body::Reserved,
        kind => Body::Other { kind },
    }
}

const fn address(packet: &c::ocsd_ptm_pkt) -> Address {
    Address { value: packet.addr.val, bits: packet.addr.pkt_bits, known: packet.addr.valid_bits }
}

fn cycle_count(packet: &c::ocsd_ptm_pkt) -> Option<u32> {
    (packet.cc_valid != 0).then_some(packet.cycle_count)
}

fn state(packet: &c::ocsd_ptm_pkt) -> State {
    let bits = &packet.context.__bindgen_anon_1;
    State { ns: bits.curr_NS() != 0, hyp: bits.curr_Hyp() != 0, alt_isa: bits.curr_alt_isa() != 0 }
}
