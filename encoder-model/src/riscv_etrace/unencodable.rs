//! Which packets cannot travel, and why.

use core::fmt;

use traceproof_vectors::riscv_etrace::{Modes, Packet, ReportedAddress};

use super::packet::{Layout, Status, branch_map_width};
use super::standard_support;

/// A packet that has no representation under the given parameters and modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnencodablePacket {
    /// Index of the packet in the list, 0 for a single one.
    pub index: usize,
    /// The field at fault, by its name in ET 7; `payload` for the packet as a whole.
    pub field: &'static str,
    /// What is wrong with it.
    pub defect: Defect,
}

/// What is wrong with a field of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// The value needs more bits than the field has.
    TooWide,
    /// An address or a difference is not a multiple of 2^`iaddress_lsb_p`.
    Unaligned,
    /// The packet has a field that does not travel with these parameters, modes or other fields.
    Unexpected,
    /// The packet lacks a field that travels.
    Missing,
    /// A difference in full address mode, or an address in delta address mode.
    WrongAddressMode,
    /// The value is reserved.
    Reserved,
    /// The payload is longer than an encapsulated packet has room for (RVET-ENCAP-006, EN 2.1.4).
    TooLong,
    /// The encapsulation is not one that this model knows, or does not allow what the policy asks for.
    UnsupportedEncapsulation,
}

impl fmt::Display for UnencodablePacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let defect = match self.defect {
            Defect::TooWide => "does not fit its field",
            Defect::Unaligned => "is not aligned to iaddress_lsb_p",
            Defect::Unexpected => "does not travel here",
            Defect::Missing => "is missing",
            Defect::WrongAddressMode => "is not of the address mode in force",
            Defect::Reserved => "has a reserved value",
            Defect::TooLong => "is longer than a packet has room for",
            Defect::UnsupportedEncapsulation => "needs an encapsulation that is not supported",
        };
        write!(f, "packet {}: `{}` {defect}", self.index, self.field)
    }
}

impl core::error::Error for UnencodablePacket {}

pub(super) type Checked = Result<(), (&'static str, Defect)>;

impl Layout {
    /// Whether `packet` can travel unchanged.
    ///
    /// # Errors
    ///
    /// The first field at fault and its defect.
    pub(super) fn check(&self, packet: &Packet, modes: Modes) -> Checked {
        let status = Status::of(packet);
        match *packet {
            Packet::Data(packet) => match &self.data {
                Some(fields) => fields.check(&packet),
                None => Err(("payload", Defect::Unexpected)),
            },
            Packet::Start { .. }
            | Packet::Trap { .. }
            | Packet::Context { .. }
            | Packet::Support { .. }
            | Packet::StandardSupport(_) => self.check_synchronisation(packet, modes),
            Packet::Address { address, .. } => self.check_report(Some(address), status, modes),
            Packet::Branch { branches, branch_map, address, .. } => {
                fits("branches", branches.into(), 5)?;
                let width = if branches == 0 { 31 } else { branch_map_width(branches) };
                fits("branch_map", branch_map.into(), width)?;
                present("address", address.is_some(), branches != 0)?;
                self.check_report(address, status, modes)
            }
            Packet::BranchCount { branch_count: _, branch_fmt, address, .. } => {
                // Without a subformat field the supported option determines what a format 0 packet is. Spec:
                // RVET-PKT-038 (ET 7.8.1).
                if self.f0s == 0 && !self.predictor {
                    return Err(("subformat", Defect::Unexpected));
                }
                if !matches!(branch_fmt, 0 | 2 | 3) {
                    return Err(("branch_fmt", Defect::Reserved));
                }
                present("address", address.is_some(), branch_fmt != 0)?;
                self.check_report(address, status, modes)
            }
            Packet::JumpTargetIndex { index, branches, branch_map, .. } => {
                if self.f0s == 0 && self.index == 0 {
                    return Err(("subformat", Defect::Unexpected));
                }
                fits("index", index.into(), self.index)?;
                fits("branches", branches.into(), 5)?;
                fits("branch_map", branch_map.into(), branch_map_width(branches))?;
                self.check_irreport(status)
            }
        }
    }

    /// Format 3.
    fn check_synchronisation(&self, packet: &Packet, modes: Modes) -> Checked {
        match *packet {
            Packet::Start { branch: _, privilege, time, context, address } => {
                self.check_origin(privilege, time, context)?;
                self.check_address(address.0)
            }
            Packet::Trap {
                branch: _,
                privilege,
                time,
                context,
                ecause,
                interrupt,
                thaddr,
                address,
                tval,
            } => {
                self.check_origin(privilege, time, context)?;
                fits("ecause", ecause, self.ecause)?;
                present("address", address.is_some(), !(modes.implicit_exception && thaddr))?;
                present("tval", tval.is_some(), !interrupt)?;
                address.map_or(Ok(()), |address| self.check_address(address.0))?;
                tval.map_or(Ok(()), |tval| fits("tval", tval, self.iaddress))
            }
            Packet::Context { privilege, time, context } => self.check_origin(privilege, time, context),
            Packet::Support {
                ienable: _,
                encoder_mode,
                qual_status: _,
                ioptions,
                denable,
                dloss,
                doptions,
            } => {
                if self.standard.is_some() {
                    return Err(("payload", Defect::Unexpected));
                }
                fits("encoder_mode", encoder_mode.into(), self.encoder_mode)?;
                fits("ioptions", ioptions.into(), self.ioptions)?;
                if self.data_fields {
                    return fits("doptions", doptions.into(), self.doptions);
                }
                absent("denable", denable)?;
                absent("dloss", dloss)?;
                absent("doptions", doptions != 0)
            }
            Packet::StandardSupport(support) => match self.standard {
                Some(vendor_bits) => standard_support::check(&support, vendor_bits),
                None => Err(("payload", Defect::Unexpected)),
            },
            _ => Ok(()),
        }
    }

    fn check_origin(&self, privilege: u8, time: Option<u64>, context: Option<u64>) -> Checked {
        fits("privilege", privilege.into(), self.privilege)?;
        present("time", time.is_some(), self.time > 0)?;
        present("context", context.is_some(), self.context > 0)?;
        fits("time", time.unwrap_or(0), self.time)?;
        fits("context", context.unwrap_or(0), self.context)
    }

    fn check_address(&self, address: u64) -> Checked {
        self.check_alignment(address)?;
        fits("address", address, self.iaddress)
    }

    fn check_alignment(&self, address: u64) -> Checked {
        if address & ((1 << self.iaddress_lsb) - 1) == 0 {
            Ok(())
        } else {
            Err(("address", Defect::Unaligned))
        }
    }

    fn check_report(&self, address: Option<ReportedAddress>, status: Status, modes: Modes) -> Checked {
        let Some(address) = address else {
            absent("notify", status.notify)?;
            absent("updiscon", status.updiscon)?;
            absent("irreport", status.irreport)?;
            absent("irets", status.irets != 0)?;
            return absent("irdepth", status.irdepth != 0);
        };
        match address {
            ReportedAddress::Full(_) | ReportedAddress::Delta(_)
                if modes.full_address != matches!(address, ReportedAddress::Full(_)) =>
            {
                return Err(("address", Defect::WrongAddressMode));
            }
            ReportedAddress::Full(address) => self.check_address(address)?,
            ReportedAddress::Delta(delta) => {
                self.check_alignment(delta as u64)?;
                let unused = 64 - self.iaddress.min(64);
                if (delta << unused) >> unused != delta {
                    return Err(("address", Defect::TooWide));
                }
            }
        }
        self.check_irreport(status)
    }

    /// Spec: RVET-PKT-029 (ET 7.6), RVET5-PKT-011.
    fn check_irreport(&self, status: Status) -> Checked {
        let Status { irreport, irdepth, irets, .. } = status;
        absent("irdepth", irdepth != 0 && (self.iret_ext || !irreport))?;
        absent("irets", irets != 0 && !(self.iret_ext && irreport))?;
        fits("irdepth", irdepth.into(), self.irdepth)
    }
}

pub(super) const fn fits(field: &'static str, value: u64, width: u32) -> Checked {
    if width >= 64 || value >> width == 0 { Ok(()) } else { Err((field, Defect::TooWide)) }
}

pub(super) const fn present(field: &'static str, is: bool, should: bool) -> Checked {
    match (is, should) {
        (true, false) => Err((field, Defect::Unexpected)),
        (false, true) => Err((field, Defect::Missing)),
        _ => Ok(()),
    }
}

const fn absent(field: &'static str, is: bool) -> Checked {
    present(field, is, false)
}
