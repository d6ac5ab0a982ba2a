//! The crate's payloads in the words of the contract.

use riscv_etrace::packet::ext::{BranchKind, Extension};
use riscv_etrace::packet::payload::{AddressInfo, InstructionTrace};
use riscv_etrace::packet::sync::{Context, QualStatus as Status, Synchronization};
use riscv_etrace::packet::unit::{ReferenceDOptions, ReferenceIOptions};
use traceproof_vectors::Address;
use traceproof_vectors::riscv_etrace::{Packet, Parameters, QualStatus, ReportedAddress};

/// Translates the crate's payload. `full`: addresses are absolute.
///
/// The crate drops `irreport` where `irdepth` has no bits (RVET-PKT-027), so the flag is read as clear there.
pub(super) fn packet(payload: &InstructionTrace, parameters: &Parameters, full: bool) -> Packet {
    let reported = |info: &AddressInfo| Reported::new(info, parameters, full);
    let status = |info: Option<&AddressInfo>| info.map(reported).unwrap_or_default();
    match payload {
        InstructionTrace::Synchronization(sync) => synchronisation(sync, parameters),
        InstructionTrace::Address(info) => {
            let Reported { address, notify, updiscon, irreport, irdepth } = reported(info);
            let address = address.unwrap_or(ReportedAddress::Full(0));
            Packet::Address { address, notify, updiscon, irreport, irdepth, irets: 0 }
        }
        InstructionTrace::Branch(branch) => {
            let Reported { address, notify, updiscon, irreport, irdepth } = status(branch.address.as_ref());
            Packet::Branch {
                branches: if address.is_some() { branch.branch_map.count() } else { 0 },
                branch_map: branch.branch_map.raw_map(),
                address,
                notify,
                updiscon,
                irreport,
                irdepth,
                irets: 0,
            }
        }
        InstructionTrace::Extension(Extension::BranchCount(count)) => {
            let branch_fmt = match count.kind {
                BranchKind::NoAddr => 0,
                BranchKind::Addr(_) => 2,
                BranchKind::AddrFail(_) => 3,
            };
            let Reported { address, notify, updiscon, irreport, irdepth } = status(count.kind.address_info());
            let branch_count = count.branch_count;
            Packet::BranchCount {
                branch_count,
                branch_fmt,
                address,
                notify,
                updiscon,
                irreport,
                irdepth,
                irets: 0,
            }
        }
        InstructionTrace::Extension(Extension::JumpTargetIndex(jump)) => Packet::JumpTargetIndex {
            index: narrow(jump.index),
            branches: jump.branch_map.count(),
            branch_map: jump.branch_map.raw_map(),
            irreport: jump.irdepth.is_some(),
            irdepth: jump.irdepth.map_or(0, narrow),
            irets: 0,
        },
    }
}

/// The fields that formats 0, 1 and 2 share.
#[derive(Default)]
struct Reported {
    address: Option<ReportedAddress>,
    notify: bool,
    updiscon: bool,
    irreport: bool,
    irdepth: u32,
}

impl Reported {
    fn new(info: &AddressInfo, parameters: &Parameters, full: bool) -> Self {
        let unused = 64_u32.saturating_sub(parameters.iaddress_width_p.into());
        let address = if full {
            ReportedAddress::Full(info.address.cast_unsigned() & parameters.address_mask())
        } else {
            ReportedAddress::Delta(info.address << unused >> unused)
        };
        Self {
            address: Some(address),
            notify: info.notify,
            updiscon: info.updiscon,
            irreport: info.irdepth.is_some(),
            irdepth: info.irdepth.map_or(0, narrow),
        }
    }
}

fn narrow(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn synchronisation(sync: &Synchronization, parameters: &Parameters) -> Packet {
    let fields = |context: &Context| {
        let value = (!parameters.nocontext_p).then_some(context.context);
        (u8::from(context.privilege), context.time.filter(|_| !parameters.notime_p), value)
    };
    match sync {
        Synchronization::Start(start) => {
            let (privilege, time, context) = fields(&start.ctx);
            let address = start.address & parameters.address_mask();
            Packet::Start { branch: start.branch, privilege, time, context, address: Address(address) }
        }
        Synchronization::Trap(trap) => {
            let (privilege, time, context) = fields(&trap.ctx);
            Packet::Trap {
                branch: trap.branch,
                privilege,
                time,
                context,
                ecause: trap.info.ecause.into(),
                interrupt: trap.info.is_interrupt(),
                thaddr: trap.thaddr,
                address: Some(Address(trap.address & parameters.address_mask())),
                tval: trap.info.tval,
            }
        }
        Synchronization::Context(context) => {
            let (privilege, time, context) = fields(context);
            Packet::Context { privilege, time, context }
        }
        Synchronization::Support(support) => Packet::Support {
            ienable: support.ienable,
            // The only mode that the crate knows.
            encoder_mode: 0,
            qual_status: match support.qual_status {
                Status::NoChange => QualStatus::NoChange,
                Status::EndedRep => QualStatus::EndedRep,
                Status::TraceLost => QualStatus::TraceLost,
                Status::EndedNtr => QualStatus::EndedNtr,
            },
            ioptions: ioptions(support.ioptions),
            denable: support.denable,
            dloss: support.dloss,
            doptions: doptions(support.doptions),
        },
    }
}

/// Flags as bits, the first in bit 0.
fn bits(flags: &[bool]) -> u32 {
    flags.iter().rev().fold(0, |bits, flag| bits << 1 | u32::from(*flag))
}

fn ioptions(options: ReferenceIOptions) -> u32 {
    bits(&[
        options.implicit_return,
        options.implicit_exception,
        options.full_address,
        options.jump_target_cache,
        options.branch_prediction,
    ])
}

fn doptions(options: ReferenceDOptions) -> u32 {
    bits(&[options.no_address, options.no_data, options.full_address, options.full_data])
}
