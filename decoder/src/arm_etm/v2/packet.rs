//! FIFO bytes -> packets: the header map and what follows a header (6.4, 6.5).

use traceproof_vectors::arm_etm::{CompressedAddress, Isa, Packet, Parameters, Reason};
use traceproof_vectors::{Address32, FaultClass};

use super::conventions::{
    BRANCH_FIRST, Bits, TFO_JAZELLE, TFO_LSM, TFO_REASON, TFO_ZERO, byte_of_number, state,
};
use super::listener::{FifoByte, Listener};

/// C bit of a header, continue bit of an address byte.
const CONTINUE: u8 = 0x80;
/// Most bytes of a compressed address, of either kind.
const LONGEST_ADDRESS: u8 = 5;

const C: Bits = Bits::new("C", 7, 1);
const A: Bits = Bits::new("A", 5, 1);
const SS: Bits = Bits::new("SS", 2, 2);
/// The tag of a placeholder is not where that of its data is.
const LMO_TT: Bits = Bits::new("TT", 2, 2);
const LMD_TT: Bits = Bits::new("TT", 5, 2);

/// A kind of packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    BranchAddress,
    NormalData,
    LoadMissOccurred,
    LoadMissData,
    ValueNotTraced,
    ContextId,
    TraceFifoOffset,
}

/// The headers of one kind of packet: those that have `code` under `mask`.
struct Form {
    mask: u8,
    code: u8,
    kind: Kind,
}

/// Every header outside TFO packets that is not reserved. Spec: ETM2-HDR-001, ETM2-HDR-006 to 008 (6.4.1).
const FORMS: [Form; 6] = [
    Form { mask: 0x01, code: 0x01, kind: Kind::BranchAddress },
    Form { mask: 0x53, code: 0x02, kind: Kind::NormalData },
    Form { mask: 0x53, code: 0x50, kind: Kind::LoadMissOccurred },
    Form { mask: 0x13, code: 0x00, kind: Kind::LoadMissData },
    Form { mask: 0x7f, code: 0x6a, kind: Kind::ValueNotTraced },
    Form { mask: 0x7f, code: 0x6e, kind: Kind::ContextId },
];

/// [`FORMS`] by header byte.
const KINDS: [Option<Kind>; 256] = {
    let mut kinds = [None; 256];
    let mut header = 0;
    while header < kinds.len() {
        let mut form = 0;
        while form < FORMS.len() {
            if header as u8 & FORMS[form].mask == FORMS[form].code {
                kinds[header] = Some(FORMS[form].kind);
            }
            form += 1;
        }
        header += 1;
    }
    kinds
};

impl Kind {
    /// The bits of the header that carry information, in the order in which they travel.
    const fn fields(self) -> &'static [Bits] {
        match self {
            Self::BranchAddress => &[],
            Self::NormalData => &[SS, A, C],
            Self::LoadMissOccurred => &[LMO_TT, A, C],
            Self::LoadMissData => &[SS, LMD_TT, C],
            Self::ValueNotTraced | Self::ContextId => &[C],
            Self::TraceFifoOffset => &[TFO_JAZELLE, TFO_REASON, TFO_LSM],
        }
    }
}

/// Which headers there are at this point of the FIFO (6.5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderSpace {
    /// Packets of a cycle.
    Group,
    /// A TFO packet.
    TraceFifoOffset,
}

/// What can follow a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    DataAddress,
    /// So many bytes.
    Value(u8),
    /// So many bytes.
    ContextId(u8),
    InstructionAddress,
    BranchAddress,
}

/// What follows a header, in order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plan {
    parts: [Option<Part>; 3],
    next: usize,
}

impl Plan {
    /// The parts that are there, in this order.
    fn new(wanted: [Option<Part>; 3]) -> Self {
        let mut parts = [None; 3];
        for (to, part) in parts.iter_mut().zip(wanted.into_iter().flatten()) {
            *to = Some(part);
        }
        Self { parts, next: 0 }
    }

    /// Spec: ETM2-TFO-006 (6.5.4), ETM2-TFO-021 (6.5.5; PC-6).
    fn tfo(context_id_bytes: u8, lsm: bool) -> Self {
        let under_lsm = lsm.then_some(Part::BranchAddress);
        Self::new([context_id(context_id_bytes), Some(Part::InstructionAddress), under_lsm])
    }

    #[inline]
    fn current(&self) -> Option<Part> {
        self.parts.get(self.next).copied().flatten()
    }
}

fn context_id(bytes: u8) -> Option<Part> {
    (bytes > 0).then_some(Part::ContextId(bytes))
}

/// Spec: ETM2-HDR-010 (6.4.1).
const fn value(ss: u8) -> Option<Part> {
    match ss {
        0 => None,
        1 => Some(Part::Value(1)),
        2 => Some(Part::Value(2)),
        _ => Some(Part::Value(4)),
    }
}

/// An incomplete packet.
#[derive(Clone, Copy, Debug)]
struct Open {
    kind: Kind,
    header: u8,
    plan: Plan,
    /// Bytes of the current part so far.
    received: u8,
    value: u32,
    context_id: u32,
    address: u32,
    compressed: CompressedAddress,
}

impl Open {
    /// Takes a byte after the header; of a branch address also the first one.
    #[inline]
    fn part<L: Listener>(
        &mut self,
        byte: FifoByte,
        has_jazelle: bool,
        listener: &mut L,
    ) -> Result<(), FaultClass> {
        let index = self.received;
        self.received += 1;
        let number = byte_of_number(index, byte.value);
        let done = match self.plan.current() {
            Some(Part::Value(bytes)) => {
                listener.field("value", byte, 0, 8);
                self.value |= number;
                self.received == bytes
            }
            Some(Part::ContextId(bytes)) => {
                listener.field("context_id", byte, 0, 8);
                self.context_id |= number;
                self.received == bytes
            }
            Some(Part::InstructionAddress) => {
                listener.field("address", byte, 0, 8);
                self.address |= number;
                self.received == 4
            }
            Some(Part::DataAddress) => data_address_byte(&mut self.compressed, byte, listener)?,
            Some(Part::BranchAddress) => {
                branch_address_byte(&mut self.compressed, byte, has_jazelle, listener)?
            }
            None => true,
        };
        if done {
            self.plan.next += 1;
            self.received = 0;
        }
        Ok(())
    }
}

/// Reads packets byte by byte; their lengths follow from header, parameters and continue bits (ETM2-HDR-005).
#[derive(Clone, Debug)]
pub(super) struct PacketReader {
    data_address: bool,
    data_value: bool,
    context_id_bytes: u8,
    has_jazelle: bool,
    tfo_jazelle: bool,
    open: Option<Open>,
}

impl PacketReader {
    pub(super) fn new(parameters: &Parameters) -> Self {
        Self {
            data_address: parameters.data_address,
            data_value: parameters.data_value,
            context_id_bytes: parameters.context_id_bytes,
            has_jazelle: parameters.has_jazelle(),
            tfo_jazelle: parameters.tfo_jazelle,
            open: None,
        }
    }

    /// Forgets a packet that is not whole.
    pub(super) fn drop_open(&mut self) {
        self.open = None;
    }

    /// Takes one byte; gives the packet that it completes. `space` counts for the first byte of a packet.
    ///
    /// # Errors
    ///
    /// What is wrong with this byte; the packet is dropped.
    #[inline]
    pub(super) fn read<L: Listener>(
        &mut self,
        space: HeaderSpace,
        byte: FifoByte,
        listener: &mut L,
    ) -> Result<Option<Packet>, FaultClass> {
        let Some(open) = &mut self.open else {
            let open = self.header(space, byte, listener)?;
            return Ok(self.keep(open));
        };
        if let Err(class) = open.part(byte, self.has_jazelle, listener) {
            self.open = None;
            return Err(class);
        }
        if open.plan.current().is_some() {
            return Ok(None);
        }
        let open = self.open.take();
        Ok(open.map(|open| self.whole(&open)))
    }

    /// Keeps a packet that has begun, unless it is whole already.
    fn keep(&mut self, open: Open) -> Option<Packet> {
        if open.plan.current().is_none() {
            return Some(self.whole(&open));
        }
        self.open = Some(open);
        None
    }

    fn header<L: Listener>(
        &self,
        space: HeaderSpace,
        byte: FifoByte,
        listener: &mut L,
    ) -> Result<Open, FaultClass> {
        let header = byte.value;
        let read = match space {
            HeaderSpace::Group => {
                KINDS.get(usize::from(header)).copied().flatten().ok_or(FaultClass::ReservedEncoding)
            }
            HeaderSpace::TraceFifoOffset => self.tfo_header(header),
        };
        let planned = read.and_then(|kind| Ok((kind, self.plan(kind, header)?)));
        let (kind, plan) = planned.inspect_err(|_| listener.field("header", byte, 0, 8))?;
        for bits in kind.fields() {
            listener.field(bits.name, byte, bits.first, bits.width);
        }
        let compressed = CompressedAddress { bits: 0, bytes: 0 };
        let mut open =
            Open { kind, header, plan, received: 0, value: 0, context_id: 0, address: 0, compressed };
        if kind == Kind::BranchAddress {
            open.part(byte, self.has_jazelle, listener)?;
        }
        Ok(open)
    }

    /// Spec: ETM2-TFO-008, ETM2-TFO-009, ETM2-TFO-019 (6.5.3).
    fn tfo_header(&self, header: u8) -> Result<Kind, FaultClass> {
        if header & TFO_ZERO != 0 || (TFO_JAZELLE.any(header) && !self.tfo_jazelle) {
            return Err(FaultClass::ReservedEncoding);
        }
        Ok(Kind::TraceFifoOffset)
    }

    /// Spec: ETM2-ND-002 to 005, ETM2-LM-004, ETM2-LM-007, ETM2-LM-010, ETM2-VNT-001, ETM2-CTX-001, ETM2-CTX-002.
    fn plan(&self, kind: Kind, header: u8) -> Result<Plan, FaultClass> {
        let traces_data = self.data_address || self.data_value;
        let address = (A.any(header) && self.data_address).then_some(Part::DataAddress);
        let plan = match kind {
            Kind::BranchAddress => return Ok(Plan::new([Some(Part::BranchAddress), None, None])),
            Kind::TraceFifoOffset => return Ok(Plan::tfo(self.context_id_bytes, TFO_LSM.any(header))),
            Kind::ContextId => {
                let part = context_id(self.context_id_bytes).ok_or(FaultClass::IllegalInState)?;
                return Ok(Plan::new([Some(part), None, None]));
            }
            Kind::NormalData if self.data_value => Plan::new([address, value(SS.of(header)), None]),
            Kind::NormalData | Kind::LoadMissOccurred => Plan::new([address, None, None]),
            Kind::LoadMissData => Plan::new([value(SS.of(header)), None, None]),
            Kind::ValueNotTraced => Plan::default(),
        };
        if traces_data { Ok(plan) } else { Err(FaultClass::IllegalInState) }
    }

    /// The packet that is whole now.
    fn whole(&self, open: &Open) -> Packet {
        let header = open.header;
        let more = C.any(header);
        let first = A.any(header);
        let address = (open.compressed.bytes > 0).then_some(open.compressed);
        match open.kind {
            Kind::BranchAddress => Packet::BranchAddress(open.compressed),
            Kind::NormalData => {
                let value = self.data_value.then_some(open.value);
                Packet::NormalData { more, first, address, ss: SS.of(header), value }
            }
            Kind::LoadMissOccurred => {
                Packet::LoadMissOccurred { more, first, tag: LMO_TT.of(header), address }
            }
            Kind::LoadMissData => {
                let (tag, ss) = (LMD_TT.of(header), SS.of(header));
                Packet::LoadMissData { more, tag, ss, value: open.value }
            }
            Kind::ValueNotTraced => Packet::ValueNotTraced { more, first: false, address: None },
            Kind::ContextId => Packet::ContextId { more, value: open.context_id },
            Kind::TraceFifoOffset => Packet::TraceFifoOffset {
                reason: Reason::from_code(TFO_REASON.of(header)).unwrap_or(Reason::Periodic),
                jazelle: TFO_JAZELLE.any(header),
                context_id: (self.context_id_bytes > 0).then_some(open.context_id),
                address: Address32(open.address),
                under_lsm: address,
            },
        }
    }
}

/// Spec: ETM2-BR-001, ETM2-BR-002, ETM2-BR-008 (6.7; PC-5).
fn branch_address_byte<L: Listener>(
    address: &mut CompressedAddress,
    byte: FifoByte,
    has_jazelle: bool,
    listener: &mut L,
) -> Result<bool, FaultClass> {
    let index = address.bytes;
    let (bits, first) = match index {
        0 => (BRANCH_FIRST, 0),
        _ => (Bits::new("address", 0, 7), 7 * u32::from(index) - 1),
    };
    listener.field(bits.name, byte, bits.first, bits.width);
    listener.field("c", byte, 7, 1);
    let last = index + 1 == LONGEST_ADDRESS;
    let legal = match (index, last) {
        (0, _) => byte.value & 1 != 0,
        (_, true) => match state(byte.value) {
            Some((Isa::Jazelle, _)) => has_jazelle,
            Some(_) => true,
            None => false,
        },
        _ => true,
    };
    if !legal {
        return Err(FaultClass::ReservedEncoding);
    }
    address.bits |= u64::from(bits.of(byte.value)) << first;
    address.bytes += 1;
    Ok(last || byte.value & CONTINUE == 0)
}

/// Spec: ETM2-DA-001, ETM2-DA-007 (6.4.2).
fn data_address_byte<L: Listener>(
    address: &mut CompressedAddress,
    byte: FifoByte,
    listener: &mut L,
) -> Result<bool, FaultClass> {
    let index = address.bytes;
    let last = index + 1 == LONGEST_ADDRESS;
    let payload = if last { byte.value } else { byte.value & !CONTINUE };
    listener.field("address", byte, 0, 7);
    listener.field("c", byte, 7, 1);
    if last && payload > 0x0f {
        return Err(FaultClass::Overlong);
    }
    address.bits |= u64::from(payload) << (7 * u32::from(index));
    address.bytes += 1;
    Ok(last || byte.value & CONTINUE == 0)
}

/// Whether a packet is the last one of its cycle; a TFO packet is by itself. Spec: ETM2-CB-003 (6.4.1).
pub(super) const fn ends_group(packet: &Packet) -> bool {
    match *packet {
        Packet::NormalData { more, .. }
        | Packet::LoadMissOccurred { more, .. }
        | Packet::LoadMissData { more, .. }
        | Packet::ValueNotTraced { more, .. }
        | Packet::ContextId { more, .. } => !more,
        // Branch addresses and TFO packets; there are no others here.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Whether a header has the pattern, e.g. `X0X1XX00`; letters stand for any bit.
    fn has_pattern(header: u8, pattern: &str) -> bool {
        pattern.bytes().enumerate().all(|(index, bit)| match bit {
            b'0' => header >> (7 - index) & 1 == 0,
            b'1' => header >> (7 - index) & 1 == 1,
            _ => true,
        })
    }

    #[test]
    fn the_header_map_is_complete_and_has_no_overlaps() {
        let patterns = [
            ("cXXXXXX1", Some(Kind::BranchAddress)),
            ("C0A0SS10", Some(Kind::NormalData)),
            ("C1A1TT00", Some(Kind::LoadMissOccurred)),
            ("CTT0SS00", Some(Kind::LoadMissData)),
            ("C1101010", Some(Kind::ValueNotTraced)),
            ("C1101110", Some(Kind::ContextId)),
            ("X0X1XX00", None),
            ("X0X1XX10", None),
            ("X10XXX10", None),
            ("X1100X10", None),
            ("X111XX10", None),
        ];
        for header in 0..=u8::MAX {
            let found: Vec<_> =
                patterns.iter().filter(|(pattern, _)| has_pattern(header, pattern)).map(|x| x.1).collect();
            assert_eq!(found, [KINDS[usize::from(header)]], "{header:#04x}");
        }
        assert_eq!(KINDS.iter().filter(|kind| kind.is_none()).count(), 60);
    }
}
