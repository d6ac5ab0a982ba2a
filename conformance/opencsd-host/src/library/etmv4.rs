//! ETMv4 and ETE structures in the words of the messages.

use opencsd_sys as c;

use crate::etmv4::{Address, Body, Configuration, Context, Form, Profile};

pub(super) fn etmv4_configuration(configuration: &Configuration) -> c::ocsd_etmv4_cfg {
    let (arch_ver, core_prof) = processor(configuration.profile);
    c::ocsd_etmv4_cfg {
        reg_idr0: configuration.trcidr0,
        reg_idr1: configuration.trcidr1,
        reg_idr2: configuration.trcidr2,
        reg_idr8: configuration.trcidr8,
        reg_idr9: 0,
        reg_idr10: 0,
        reg_idr11: 0,
        reg_idr12: 0,
        reg_idr13: 0,
        reg_configr: configuration.trcconfigr,
        reg_traceidr: configuration.trctraceidr,
        arch_ver,
        core_prof,
    }
}

pub(super) fn ete_configuration(configuration: &Configuration) -> c::ocsd_ete_cfg {
    let (arch_ver, core_prof) = processor(configuration.profile);
    c::ocsd_ete_cfg {
        reg_idr0: configuration.trcidr0,
        reg_idr1: configuration.trcidr1,
        reg_idr2: configuration.trcidr2,
        reg_idr8: configuration.trcidr8,
        reg_devarch: configuration.trcdevarch,
        reg_configr: configuration.trcconfigr,
        reg_traceidr: configuration.trctraceidr,
        arch_ver,
        core_prof,
    }
}

const fn processor(profile: Profile) -> (c::ocsd_arch_version_t, c::ocsd_core_profile_t) {
    match profile {
        Profile::A => (c::_ocsd_arch_version_ARCH_AA64, c::_ocsd_core_profile_profile_CortexA),
        Profile::R => (c::_ocsd_arch_version_ARCH_V8, c::_ocsd_core_profile_profile_CortexR),
        Profile::V7M => (c::_ocsd_arch_version_ARCH_V7, c::_ocsd_core_profile_profile_CortexM),
        Profile::V8M => (c::_ocsd_arch_version_ARCH_V8, c::_ocsd_core_profile_profile_CortexM),
    }
}

pub(super) fn body(packet: &c::ocsd_etmv4_i_pkt) -> Body {
    match packet.type_ {
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_NOTSYNC => Body::NotSynchronised,
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_INCOMPLETE_EOT => Body::Incomplete,
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_BAD_SEQUENCE => Body::BadSequence { of: packet.err_type },
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_RESERVED => Body::Reserved,
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_RESERVED_CFG => Body::ReservedForConfiguration,
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_ASYNC => Body::ASync,
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_DISCARD => Body::Discard,
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_OVERFLOW => Body::Overflow,
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_TRACE_ON => Body::TraceOn,
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_FUNC_RET => Body::FunctionReturn,
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_EXCEPT_RTN => Body::ExceptionReturn,
        c::_ocsd_etmv4_i_pkt_type_ETE_PKT_I_TRANS_ST => Body::TransactionStart,
        c::_ocsd_etmv4_i_pkt_type_ETE_PKT_I_TRANS_COMMIT => Body::TransactionCommit,
        c::_ocsd_etmv4_i_pkt_type_ETE_PKT_I_TRANS_FAIL => Body::TransactionFailure,
        c::_ocsd_etmv4_i_pkt_type_ETE_PKT_I_PE_RESET => Body::PeReset,
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_IGNORE => Body::Ignore,
        c::_ocsd_etmv4_i_pkt_type_ETE_PKT_I_TS_MARKER => Body::TimestampMarker,
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_NUM_DS_MKR => {
            Body::NumberedDataSyncMarker { number: packet.dsm_val }
        }
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_UNNUM_DS_MKR => {
            Body::UnnumberedDataSyncMarker { atoms: packet.dsm_val }
        }
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_EVENT => Body::Event { bits: packet.event_val },
        c::_ocsd_etmv4_i_pkt_type_ETE_PKT_I_ITE => {
            Body::Instrumentation { el: packet.ite_pkt.el, value: packet.ite_pkt.value }
        }
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_COMMIT => Body::Commit { count: packet.commit_elements },
        kind => resolved(packet, kind),
    }
}

/// Packets with more than one field.
fn resolved(packet: &c::ocsd_etmv4_i_pkt, kind: u32) -> Body {
    // SAFETY: both arms of this union are plain bits.
    let valid = unsafe { packet.pkt_valid.bits };
    // Without its bit a value is not initialised.
    let threshold = if valid.cc_thresh_valid() != 0 { packet.cc_threshold } else { 0 };
    match kind {
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_TRACE_INFO => Body::TraceInfo {
            // SAFETY: as above. The upper half is the library's own.
            info: unsafe { packet.trace_info.val } & 0xffff,
            key: if valid.p0_key_valid() != 0 { packet.p0_key } else { 0 },
            speculation: if valid.spec_depth_valid() != 0 { packet.curr_spec_depth } else { 0 },
            threshold,
        },
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_TIMESTAMP => Body::Timestamp {
            value: packet.ts.timestamp,
            bits: packet.ts.bits_changed,
            count: (valid.cc_valid() != 0).then_some(packet.cycle_count),
        },
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_EXCEPT => Body::Exception {
            number: packet.exception_info.exceptionType() as u16,
            interpretation: packet.exception_info.addr_interp() as u8,
            fault_pending: packet.exception_info.m_fault_pending() != 0,
        },
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_CCNT_F1
        | c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_CCNT_F2
        | c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_CCNT_F3 => Body::CycleCount {
            commit: (valid.commit_elem_valid() != 0).then_some(packet.commit_elements),
            count: packet.cycle_count,
            threshold,
        },
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_CANCEL_F1
        | c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_CANCEL_F1_MISPRED
        | c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_MISPREDICT
        | c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_CANCEL_F2
        | c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_CANCEL_F3 => Body::Cancel {
            count: packet.cancel_elements,
            atoms: atoms(packet),
            mispredict: kind != c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_CANCEL_F1,
        },
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_CTXT => Body::Context { context: context(packet) },
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_ADDR_CTXT_L_32IS0
        | c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_ADDR_CTXT_L_32IS1
        | c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_ADDR_CTXT_L_64IS0
        | c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_ADDR_CTXT_L_64IS1 => {
            Body::Address { address: address(packet, false), context: context(packet) }
        }
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_ADDR_MATCH => {
            Body::Address { address: address(packet, true), context: None }
        }
        c::_ocsd_etmv4_i_pkt_type_ETE_PKT_I_SRC_ADDR_MATCH => {
            Body::SourceAddress { address: address(packet, true) }
        }
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_ADDR_S_IS0
            ..=c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_ADDR_L_64IS1 => {
            Body::Address { address: address(packet, false), context: None }
        }
        c::_ocsd_etmv4_i_pkt_type_ETE_PKT_I_SRC_ADDR_S_IS0
            ..=c::_ocsd_etmv4_i_pkt_type_ETE_PKT_I_SRC_ADDR_L_64IS1 => {
            Body::SourceAddress { address: address(packet, false) }
        }
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_Q => {
            let q = &packet.Q_pkt;
            let has_address = q.__bindgen_anon_1.addr_present() != 0;
            Body::Q {
                address: has_address.then(|| address(packet, q.__bindgen_anon_1.addr_match() != 0)),
                count: (q.__bindgen_anon_1.count_present() != 0).then_some(q.q_count),
            }
        }
        c::_ocsd_etmv4_i_pkt_type_ETM4_PKT_I_ATOM_F6..=0xff => Body::Atoms { atoms: atoms(packet) },
        kind => Body::Other { kind },
    }
}

fn atoms(packet: &c::ocsd_etmv4_i_pkt) -> String {
    let atom = |index: u8| if packet.atom.En_bits >> index & 1 == 1 { 'E' } else { 'N' };
    (0..packet.atom.num.min(31)).map(atom).collect()
}

fn address(packet: &c::ocsd_etmv4_i_pkt, is_match: bool) -> Address {
    let form = if is_match {
        Form::ExactMatch(packet.addr_exact_match_idx)
    } else {
        Form::Bits(packet.v_addr.pkt_bits)
    };
    Address { value: packet.v_addr.val, is1: packet.v_addr_ISA == 1, form }
}

fn context(packet: &c::ocsd_etmv4_i_pkt) -> Option<Context> {
    let bits = &packet.context.__bindgen_anon_1;
    (bits.updated() != 0).then(|| Context {
        el: bits.EL() as u8,
        sf: bits.SF() != 0,
        ns: bits.NS() != 0,
        nse: bits.NSE() != 0,
        vmid: (bits.updated_v() != 0).then_some(packet.context.VMID),
        context_id: (bits.updated_c() != 0).then_some(packet.context.ctxtID),
    })
}
