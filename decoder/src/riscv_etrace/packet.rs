//! Payload -> packet: the field layouts of ET 7.

use traceproof_vectors::riscv_etrace::{Modes, Packet, Parameters, QualStatus, ReportedAddress};
use traceproof_vectors::{Address, Fault, FaultClass, Place, Refusal};

use super::Payload;
use super::bits::{Fields, Observer, map_width};
use super::fast_path::short_packets::{ShortPacket, ShortPackets};
use super::modes::{Announcements, check};
use super::standard_support;

/// Reads packets one after the other and follows the modes that support packets announce.
#[derive(Clone, Debug)]
pub struct PacketReader {
    widths: Widths,
    announcements: Announcements,
    modes: Modes,
    /// Absent where support packets have the layout of version 2.0.
    vendor_bits: Option<u8>,
    /// Absent: every packet is read field by field.
    short_packets: Option<ShortPackets>,
}

/// Field widths in bits that the parameters fix.
#[derive(Clone, Copy, Debug)]
struct Widths {
    privilege: u32,
    time: u32,
    context: u32,
    ecause: u32,
    /// `iaddress_width_p`, also the width of `tval`.
    iaddress: u32,
    address: u32,
    address_shift: u32,
    /// Of the last field of formats 0, 1 and 2.
    returns: u32,
    /// That field is `irets`, not `irdepth`.
    irets: bool,
    f0s: u32,
    /// `cache_size_p`, the width of `index`; 0 = no cache.
    index: u32,
    has_predictor: bool,
}

/// Width of `irets`. Spec: RVET5-PKT-012.
const IRETS: u32 = 8;

/// The differentially coded bits after an address or a branch map (RVET-PKT-025 to 029).
#[derive(Clone, Copy, Default)]
struct Status {
    notify: bool,
    updiscon: bool,
    irreport: bool,
    irdepth: u32,
    irets: u8,
}

impl PacketReader {
    /// A reader at the start of a stream.
    ///
    /// # Errors
    ///
    /// When no hardware can have these parameters.
    pub fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        check(parameters)?;
        let widths = Widths {
            privilege: u32::from(parameters.privilege_width_p),
            time: parameters.time_width(),
            context: parameters.context_width(),
            ecause: u32::from(parameters.ecause_width_p),
            iaddress: u32::from(parameters.iaddress_width_p),
            address: parameters.address_width(),
            address_shift: u32::from(parameters.iaddress_lsb_p),
            returns: if parameters.iret_ext { IRETS } else { parameters.irdepth_width() },
            irets: parameters.iret_ext,
            f0s: u32::from(parameters.f0s_width_p),
            index: u32::from(parameters.cache_size_p),
            has_predictor: parameters.bpred_size_p > 0,
        };
        let announcements = Announcements::new(parameters);
        let short_packets =
            ShortPackets::new(widths.address, widths.address_shift, widths.returns, widths.irets);
        let mut reader = Self {
            widths,
            modes: announcements.initial(),
            announcements,
            vendor_bits: parameters.has_standard_support().then_some(parameters.vendor_bits),
            short_packets: Some(short_packets),
        };
        reader.reset();
        Ok(reader)
    }

    /// The same reader, but it reads every packet field by field, which takes longer.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        Self { short_packets: None, ..self }
    }

    /// Back to the modes before the first support packet.
    pub fn reset(&mut self) {
        self.enter(self.announcements.initial());
    }

    /// These modes are in force from here on.
    fn enter(&mut self, modes: Modes) {
        self.modes = modes;
        if let Some(short_packets) = &mut self.short_packets {
            short_packets.set_full_address(modes.full_address);
        }
    }

    /// The modes in force.
    #[must_use]
    pub const fn modes(&self) -> Modes {
        self.modes
    }

    /// Reads one packet. `place` is the first bit of its payload.
    ///
    /// # Errors
    ///
    /// * `ReservedEncoding` at the field: `subformat` of format 0, or `branch_fmt` 1 (RVET-DEC-044), or `time_width` of
    ///   a standard support packet (RVET5-DEC-002);
    /// * `IllegalInState`: a format 0 packet for which no mode is on, at its first bit, or at its `subformat` if only
    ///   that one's mode is off (RVET-DEC-044);
    /// * `Overlong` after the last field: whole bytes left over, or filling that does not copy the top bit
    ///   (RVET-PKT-003). Not of standard support packets (RVET5-DEC-003).
    #[inline]
    pub fn read(&mut self, place: Place, payload: &Payload) -> Result<Packet, Fault> {
        match self.read_short(payload) {
            Some(packet) => Ok(packet),
            None => self.read_by_fields(place, payload),
        }
    }

    /// [`read`](Self::read) for short packets; `None` for others and for faults.
    #[inline(always)]
    pub(super) fn read_short(&self, payload: &Payload) -> Option<Packet> {
        Some(self.read_word(payload.short()?, payload.received_bits())?.packet())
    }

    /// [`read_short`](Self::read_short) for `received` bits and copies of their top bit, in one shape for both formats.
    #[inline(always)]
    pub(super) fn read_word(&self, word: i64, received: u32) -> Option<ShortPacket> {
        self.short_packets.as_ref()?.read(word, received)
    }

    /// [`read`](Self::read) for any packet. A function of its own, to keep its code away from that of short packets.
    #[inline(never)]
    fn read_by_fields(&mut self, place: Place, payload: &Payload) -> Result<Packet, Fault> {
        self.read_observed(place, payload, &mut ())
    }

    /// As [`read`](Self::read), and passes every field to `observer`.
    #[inline]
    pub(super) fn read_observed<O: Observer>(
        &mut self,
        place: Place,
        payload: &Payload,
        observer: &mut O,
    ) -> Result<Packet, Fault> {
        if payload.is_short() {
            self.read_fields(&mut Fields::<O, true>::new(payload, place, observer))
        } else {
            self.read_long(&mut Fields::new(payload, place, observer))
        }
    }

    /// Rare, so its code stays out of the way.
    #[cold]
    fn read_long<O: Observer>(&mut self, fields: &mut Fields<'_, O, false>) -> Result<Packet, Fault> {
        self.read_fields(fields)
    }

    #[inline(always)]
    fn read_fields<O: Observer, const SHORT: bool>(
        &mut self,
        fields: &mut Fields<'_, O, SHORT>,
    ) -> Result<Packet, Fault> {
        // Spec: RVET-PKT-009 (ET 7).
        match fields.take("format", 2) {
            0 => self.extension(fields),
            1 => self.branch(fields),
            2 => self.address(fields),
            _ => {
                let packet = self.synchronisation(fields)?;
                if !matches!(packet, Packet::StandardSupport(_)) {
                    fields.finish()?;
                }
                if let Some(modes) = self.announcements.modes(&packet) {
                    self.enter(modes);
                }
                Ok(packet)
            }
        }
    }

    /// Format 3. Spec: RVET-PKT-010 (ET 7.1), RVET5-DEC-001.
    fn synchronisation<O: Observer, const SHORT: bool>(
        &self,
        fields: &mut Fields<'_, O, SHORT>,
    ) -> Result<Packet, Fault> {
        Ok(match (fields.take("subformat", 2), self.vendor_bits) {
            (0, _) => {
                let branch = fields.flag("branch");
                let (privilege, time, context) = self.situation(fields);
                Packet::Start { branch, privilege, time, context, address: Address(self.absolute(fields)) }
            }
            (1, _) => self.trap(fields),
            (2, _) => {
                let (privilege, time, context) = self.situation(fields);
                Packet::Context { privilege, time, context }
            }
            (_, Some(bits)) => Packet::StandardSupport(standard_support::read(fields, bits.into())?),
            (_, None) => self.support(fields),
        })
    }

    /// Format 3 subformat 1. Spec: RVET-PKT-016 to 019 (ET 7.3).
    fn trap<O: Observer, const SHORT: bool>(&self, fields: &mut Fields<'_, O, SHORT>) -> Packet {
        let branch = fields.flag("branch");
        let (privilege, time, context) = self.situation(fields);
        let ecause = fields.take("ecause", self.widths.ecause);
        let interrupt = fields.flag("interrupt");
        let thaddr = fields.flag("thaddr");
        let implicit = thaddr && self.modes.implicit_exception;
        let address = (!implicit).then(|| self.absolute(fields));
        let tval = (!interrupt).then(|| fields.take("tval", self.widths.iaddress));
        Packet::Trap {
            branch,
            privilege,
            time,
            context,
            ecause,
            interrupt,
            thaddr,
            address: address.map(Address),
            tval,
        }
    }

    /// Format 3 subformat 3. Spec: RVET-PKT-021, RVET-PKT-022 (ET 7.5).
    fn support<O: Observer, const SHORT: bool>(&self, fields: &mut Fields<'_, O, SHORT>) -> Packet {
        let layout = self.announcements.layout();
        let ienable = fields.flag("ienable");
        let encoder_mode = fields.take("encoder_mode", u32::from(layout.encoder_mode_width)) as u8;
        let qual_status = qual_status(fields.take("qual_status", 2));
        let ioptions = fields.take("ioptions", layout.ioptions.len() as u32) as u32;
        let (denable, dloss, doptions) = if layout.data_fields {
            let width = u32::from(layout.doptions_width);
            (fields.flag("denable"), fields.flag("dloss"), fields.take("doptions", width) as u32)
        } else {
            (false, false, 0)
        };
        Packet::Support { ienable, encoder_mode, qual_status, ioptions, denable, dloss, doptions }
    }

    /// Format 2. Spec: RVET-PKT-024 (ET 7.6).
    fn address<O: Observer, const SHORT: bool>(
        &self,
        fields: &mut Fields<'_, O, SHORT>,
    ) -> Result<Packet, Fault> {
        let (address, Status { notify, updiscon, irreport, irdepth, irets }) = self.reported(fields);
        fields.finish()?;
        Ok(Packet::Address { address, notify, updiscon, irreport, irdepth, irets })
    }

    /// Format 1. Spec: RVET-PKT-031, RVET-PKT-032 (ET 7.7).
    fn branch<O: Observer, const SHORT: bool>(
        &self,
        fields: &mut Fields<'_, O, SHORT>,
    ) -> Result<Packet, Fault> {
        let branches = fields.take("branches", 5) as u8;
        let width = if branches == 0 { 31 } else { map_width(branches) };
        let branch_map = fields.take("branch_map", width) as u32;
        let (address, status) = if branches == 0 {
            (None, Status::default())
        } else {
            let (address, status) = self.reported(fields);
            (Some(address), status)
        };
        fields.finish()?;
        let Status { notify, updiscon, irreport, irdepth, irets } = status;
        Ok(Packet::Branch { branches, branch_map, address, notify, updiscon, irreport, irdepth, irets })
    }

    /// Format 0. Spec: RVET-PKT-036 to 044 (ET 7.8).
    fn extension<O: Observer, const SHORT: bool>(
        &self,
        fields: &mut Fields<'_, O, SHORT>,
    ) -> Result<Packet, Fault> {
        let counts = self.modes.branch_prediction && self.widths.has_predictor;
        let indexes = self.modes.jump_target_cache && self.widths.index > 0;
        if !counts && !indexes {
            return Err(fields.fault(FaultClass::IllegalInState, 0));
        }
        let bit = fields.position();
        let subformat =
            if self.widths.f0s == 0 { u64::from(!counts) } else { fields.take("subformat", self.widths.f0s) };
        match subformat {
            0 if counts => self.branch_count(fields),
            1 if indexes => self.jump_target_index(fields),
            0 | 1 => Err(fields.fault(FaultClass::IllegalInState, bit)),
            _ => Err(fields.fault(FaultClass::ReservedEncoding, bit)),
        }
    }

    /// Format 0 subformat 0. Spec: RVET-PKT-039 to 041 (ET 7.8).
    fn branch_count<O: Observer, const SHORT: bool>(
        &self,
        fields: &mut Fields<'_, O, SHORT>,
    ) -> Result<Packet, Fault> {
        let branch_count = fields.take("branch_count", 32) as u32;
        let bit = fields.position();
        let branch_fmt = fields.take("branch_fmt", 2) as u8;
        let (address, status) = match branch_fmt {
            0 => (None, Status::default()),
            1 => return Err(fields.fault(FaultClass::ReservedEncoding, bit)),
            _ => {
                let (address, status) = self.reported(fields);
                (Some(address), status)
            }
        };
        fields.finish()?;
        let Status { notify, updiscon, irreport, irdepth, irets } = status;
        Ok(Packet::BranchCount {
            branch_count,
            branch_fmt,
            address,
            notify,
            updiscon,
            irreport,
            irdepth,
            irets,
        })
    }

    /// Format 0 subformat 1. Spec: RVET-PKT-042 to 044 (ET 7.8).
    fn jump_target_index<O: Observer, const SHORT: bool>(
        &self,
        fields: &mut Fields<'_, O, SHORT>,
    ) -> Result<Packet, Fault> {
        let index = fields.take("index", self.widths.index) as u32;
        let branches = fields.take("branches", 5) as u8;
        let branch_map = fields.take("branch_map", map_width(branches)) as u32;
        // Relative to the top bit of the map as it travels, or to `branches[4]`, which is 0 where there is no map.
        let (irreport, irdepth, irets) = self.implicit_return(fields);
        fields.finish()?;
        Ok(Packet::JumpTargetIndex { index, branches, branch_map, irreport, irdepth, irets })
    }

    /// `privilege`, `time`, `context`.
    #[inline]
    fn situation<O: Observer, const SHORT: bool>(
        &self,
        fields: &mut Fields<'_, O, SHORT>,
    ) -> (u8, Option<u64>, Option<u64>) {
        let privilege = fields.take("privilege", self.widths.privilege) as u8;
        let time = (self.widths.time > 0).then(|| fields.take("time", self.widths.time));
        let context = (self.widths.context > 0).then(|| fields.take("context", self.widths.context));
        (privilege, time, context)
    }

    /// An absolute byte address. Spec: RVET-PKT-015 (ET 7.2).
    #[inline(always)]
    fn absolute<O: Observer, const SHORT: bool>(&self, fields: &mut Fields<'_, O, SHORT>) -> u64 {
        fields.take("address", self.widths.address) << self.widths.address_shift
    }

    /// The address of formats 0, 1 and 2 with what follows it. Spec: RVET-PKT-024 to 027 (ET 7.6).
    #[inline(always)]
    fn reported<O: Observer, const SHORT: bool>(
        &self,
        fields: &mut Fields<'_, O, SHORT>,
    ) -> (ReportedAddress, Status) {
        let value = self.absolute(fields);
        let address = if self.modes.full_address {
            ReportedAddress::Full(value)
        } else {
            let unused = 64 - self.widths.iaddress;
            ReportedAddress::Delta(((value << unused) as i64) >> unused)
        };
        let (notify, updiscon) = (fields.change("notify"), fields.change("updiscon"));
        let (irreport, irdepth, irets) = self.implicit_return(fields);
        (address, Status { notify, updiscon, irreport, irdepth, irets })
    }

    /// `irreport`, and `irdepth` or `irets`. Spec: RVET-PKT-027 to 030 (ET 7.6.3), RVET5-PKT-011 to 014.
    #[inline(always)]
    fn implicit_return<O: Observer, const SHORT: bool>(
        &self,
        fields: &mut Fields<'_, O, SHORT>,
    ) -> (bool, u32, u8) {
        let irreport = fields.change("irreport");
        let name = if self.widths.irets { "irets" } else { "irdepth" };
        let value = fields.take(name, self.widths.returns) as u32;
        match (irreport, self.widths.irets) {
            (false, _) => (false, 0, 0),
            (true, false) => (true, value, 0),
            (true, true) => (true, 0, value as u8),
        }
    }
}

/// Spec: RVET-PKT-022 (ET 7.5).
pub(super) const fn qual_status(value: u64) -> QualStatus {
    match value {
        0 => QualStatus::NoChange,
        1 => QualStatus::EndedRep,
        2 => QualStatus::TraceLost,
        _ => QualStatus::EndedNtr,
    }
}
