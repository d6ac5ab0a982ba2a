//! One packet as a bit string: the layouts of ET 7.

use traceproof_vectors::riscv_etrace::{Packet, Parameters, ReportedAddress};

use super::bits::Bits;
use super::data::DataFields;
use super::standard_support;

/// The widths that the parameters give to the fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) iaddress_lsb: u32,
    pub(super) iaddress: u32,
    pub(super) address: u32,
    pub(super) privilege: u32,
    pub(super) time: u32,
    pub(super) context: u32,
    pub(super) ecause: u32,
    pub(super) irdepth: u32,
    /// `irets` travels in place of `irdepth`.
    pub(super) iret_ext: bool,
    pub(super) f0s: u32,
    pub(super) index: u32,
    pub(super) predictor: bool,
    pub(super) encoder_mode: u32,
    pub(super) ioptions: u32,
    pub(super) data_fields: bool,
    pub(super) doptions: u32,
    /// Vendor bits of the standard support packet, which there is in place of the other one.
    pub(super) standard: Option<u32>,
    pub(super) data: Option<DataFields>,
}

/// Width of `irets`. Spec: RVET5-PKT-012.
pub(super) const IRETS: u32 = 8;

/// The differentially coded flags at the end of formats 0 to 2. Spec: RVET-PKT-025 to 030 (ET 7.6).
#[derive(Clone, Copy, Default)]
pub(super) struct Status {
    pub(super) notify: bool,
    pub(super) updiscon: bool,
    pub(super) irreport: bool,
    pub(super) irdepth: u32,
    pub(super) irets: u8,
}

impl Status {
    /// The flags of a packet; format 0 subformat 1 has fewer of them.
    pub(super) const fn of(packet: &Packet) -> Self {
        match *packet {
            Packet::Address { notify, updiscon, irreport, irdepth, irets, .. }
            | Packet::Branch { notify, updiscon, irreport, irdepth, irets, .. }
            | Packet::BranchCount { notify, updiscon, irreport, irdepth, irets, .. } => {
                Self { notify, updiscon, irreport, irdepth, irets }
            }
            Packet::JumpTargetIndex { irreport, irdepth, irets, .. } => {
                Self { notify: false, updiscon: false, irreport, irdepth, irets }
            }
            _ => Self { notify: false, updiscon: false, irreport: false, irdepth: 0, irets: 0 },
        }
    }
}

/// Width of the `branch_map` that reports `branches` outcomes together with an address or index.
///
/// Spec: RVET-PKT-031 (ET 7.7), RVET-PKT-043 (ET 7.8).
pub(super) const fn branch_map_width(branches: u8) -> u32 {
    match branches {
        0 => 0,
        1 => 1,
        2..=3 => 3,
        4..=7 => 7,
        8..=15 => 15,
        _ => 31,
    }
}

impl Layout {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            iaddress_lsb: parameters.iaddress_lsb_p.into(),
            iaddress: parameters.iaddress_width_p.into(),
            address: parameters.address_width(),
            privilege: parameters.privilege_width_p.into(),
            time: parameters.time_width(),
            context: parameters.context_width(),
            ecause: parameters.ecause_width_p.into(),
            irdepth: parameters.irdepth_width(),
            iret_ext: parameters.iret_ext,
            f0s: parameters.f0s_width_p.into(),
            index: parameters.cache_size_p.into(),
            predictor: parameters.bpred_size_p > 0,
            encoder_mode: parameters.support.encoder_mode_width.into(),
            ioptions: u32::try_from(parameters.support.ioptions.len()).unwrap_or(u32::MAX),
            data_fields: parameters.support.data_fields,
            doptions: parameters.support.doptions_width.into(),
            standard: parameters.has_standard_support().then(|| parameters.vendor_bits.into()),
            data: DataFields::new(parameters),
        }
    }

    /// Bits of the longest packet that these widths and options can produce. Spec: ET 7.
    pub(super) fn longest_packet(&self) -> u32 {
        let origin = self.privilege + self.time + self.context;
        let count = if self.iret_ext { IRETS } else { self.irdepth };
        let status = 3 + count;
        let start = 5 + origin + self.address;
        let exception = 5 + origin + self.ecause + 2 + self.address + self.iaddress;
        let options = 3 + self.encoder_mode + self.ioptions;
        let data_options = if self.data_fields { 2 + self.doptions } else { 0 };
        let support = self.standard.map_or(4 + options + data_options, standard_support::width);
        let branch = 2 + 5 + 31 + self.address + status;
        let predicted = if self.predictor { 2 + self.f0s + 32 + 2 + self.address + status } else { 0 };
        let index = if self.index > 0 { 2 + self.f0s + self.index + 5 + 31 + 1 + count } else { 0 };
        let data = self.data.map_or(0, |data| data.longest_packet());
        [start, exception, support, branch, predicted, index, data].into_iter().max().unwrap_or(0)
    }

    /// The fields of `packet` in table order. Values wider than their field lose their top bits; optional
    /// fields travel where the packet has them.
    pub(super) fn pack(&self, packet: &Packet) -> Bits {
        if let (Packet::Data(packet), Some(fields)) = (packet, &self.data) {
            return fields.pack(packet);
        }
        let mut bits = Bits::default();
        bits.push(packet.format().unwrap_or_default().into(), 2);
        let status = Status::of(packet);
        match *packet {
            // Without data trace; `check` refuses it.
            Packet::Data(_) => {}
            Packet::Start { .. }
            | Packet::Trap { .. }
            | Packet::Context { .. }
            | Packet::Support { .. }
            | Packet::StandardSupport(_) => self.push_synchronisation(&mut bits, packet),
            // Spec: RVET-PKT-024 (ET 7.6).
            Packet::Address { address, .. } => self.push_report(&mut bits, address, status),
            Packet::Branch { branches, branch_map, address, .. } => {
                bits.push(branches.into(), 5);
                match address {
                    // Spec: RVET-PKT-031 (ET 7.7).
                    Some(address) => {
                        bits.push(branch_map.into(), branch_map_width(branches));
                        self.push_report(&mut bits, address, status);
                    }
                    // Spec: RVET-PKT-032 (ET 7.7).
                    None => bits.push(branch_map.into(), 31),
                }
            }
            Packet::BranchCount { branch_count, branch_fmt, address, .. } => {
                // Spec: RVET-PKT-036, RVET-PKT-039 to 041 (ET 7.8).
                bits.push(0, self.f0s);
                bits.push(branch_count.into(), 32);
                bits.push(branch_fmt.into(), 2);
                if let Some(address) = address {
                    self.push_report(&mut bits, address, status);
                }
            }
            Packet::JumpTargetIndex { index, branches, branch_map, .. } => {
                // Spec: RVET-PKT-042 to 044 (ET 7.8). `irreport` is relative to the bit before it, which is
                // the top bit of the map or, without a map, of `branches`.
                bits.push(1, self.f0s);
                bits.push(index.into(), self.index);
                bits.push(branches.into(), 5);
                bits.push(branch_map.into(), branch_map_width(branches));
                self.push_irreport(&mut bits, status);
            }
        }
        bits
    }

    /// Format 3 after its `format`.
    fn push_synchronisation(&self, bits: &mut Bits, packet: &Packet) {
        match *packet {
            Packet::Start { branch, privilege, time, context, address } => {
                // Spec: RVET-PKT-011 (ET 7.2).
                bits.push(0, 2);
                bits.push_bit(branch);
                self.push_origin(bits, privilege, time, context);
                self.push_address(bits, address.0);
            }
            Packet::Trap { branch, privilege, time, context, ecause, interrupt, thaddr, address, tval } => {
                // Spec: RVET-PKT-016 to 019 (ET 7.3).
                bits.push(1, 2);
                bits.push_bit(branch);
                self.push_origin(bits, privilege, time, context);
                bits.push(ecause, self.ecause);
                bits.push_bit(interrupt);
                bits.push_bit(thaddr);
                if let Some(address) = address {
                    self.push_address(bits, address.0);
                }
                if let Some(tval) = tval {
                    bits.push(tval, self.iaddress);
                }
            }
            Packet::Context { privilege, time, context } => {
                // Spec: RVET-PKT-020 (ET 7.4).
                bits.push(2, 2);
                self.push_origin(bits, privilege, time, context);
            }
            Packet::Support { ienable, encoder_mode, qual_status, ioptions, denable, dloss, doptions } => {
                // Spec: RVET-PKT-021 (ET 7.5).
                bits.push(3, 2);
                bits.push_bit(ienable);
                bits.push(encoder_mode.into(), self.encoder_mode);
                bits.push(qual_status as u64, 2);
                bits.push(ioptions.into(), self.ioptions);
                if self.data_fields {
                    bits.push_bit(denable);
                    bits.push_bit(dloss);
                    bits.push(doptions.into(), self.doptions);
                }
            }
            Packet::StandardSupport(support) => {
                bits.push(3, 2);
                standard_support::push(bits, &support, self.standard.unwrap_or(0));
            }
            _ => {}
        }
    }

    fn push_origin(&self, bits: &mut Bits, privilege: u8, time: Option<u64>, context: Option<u64>) {
        bits.push(privilege.into(), self.privilege);
        bits.push(time.unwrap_or(0), self.time);
        bits.push(context.unwrap_or(0), self.context);
    }

    /// Spec: RVET-PKT-015 (ET 7.2).
    fn push_address(&self, bits: &mut Bits, address: u64) {
        bits.push(address >> self.iaddress_lsb, self.address);
    }

    /// Address and status bits of formats 0.0, 1 and 2.
    fn push_report(&self, bits: &mut Bits, address: ReportedAddress, status: Status) {
        let address = match address {
            ReportedAddress::Delta(delta) => delta as u64,
            ReportedAddress::Full(address) => address,
        };
        self.push_address(bits, address);
        bits.push_bit(bits.last() ^ status.notify);
        bits.push_bit(bits.last() ^ status.updiscon);
        self.push_irreport(bits, status);
    }

    /// Spec: RVET-PKT-029 (ET 7.6), RVET5-PKT-011 to 014.
    fn push_irreport(&self, bits: &mut Bits, status: Status) {
        let before = bits.last();
        bits.push_bit(before ^ status.irreport);
        let unreported = if before { u64::MAX } else { 0 };
        let (count, width) =
            if self.iret_ext { (status.irets.into(), IRETS) } else { (status.irdepth.into(), self.irdepth) };
        bits.push(if status.irreport { count } else { unreported }, width);
    }
}
