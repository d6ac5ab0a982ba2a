//! The state that packets are relative to, and how it may be kept wrongly.

use traceproof_vectors::Address;
use traceproof_vectors::arm_ete::{AddressField, ContextField, Packet, Parameters, SubIsa, VariableField};

/// What packets are relative to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct History {
    /// Newest first.
    pub(super) addresses: [(u64, SubIsa); 3],
    pub(super) context: ContextField,
    pub(super) timestamp: u64,
    vmids: bool,
    context_ids: bool,
    /// A Trace Info came.
    started: bool,
}

/// A wrong state.
#[derive(Clone, Copy)]
pub(super) struct Deviation {
    /// Changes a packet that is spelled out, given the state before it and the packet as it travelled.
    pub(super) spell: fn(&History, &Packet, &mut Packet),
    /// Changes the state after a packet, given that before it.
    pub(super) after: fn(&mut History, &History, &Packet),
}

/// None.
pub(super) const NONE: Deviation = Deviation { spell: |_, _, _| {}, after: |_, _, _| {} };

pub(super) const fn bits_64((address, sub_isa): (u64, SubIsa)) -> AddressField {
    AddressField::Bits64 { sub_isa, bits: Address(address), reserved: 0 }
}

/// The address of a packet, and whether it is an exception without one.
pub(super) fn address_of(packet: &mut Packet) -> Option<&mut AddressField> {
    match packet {
        Packet::TargetAddress { address, .. } | Packet::SourceAddress(address) => Some(address),
        Packet::Q { address, .. } | Packet::Exception { address, .. } => address.as_mut(),
        _ => None,
    }
}

pub(super) fn context_of(packet: &mut Packet) -> Option<&mut ContextField> {
    match packet {
        Packet::Context(context) => Some(context),
        Packet::TargetAddress { context, .. } | Packet::Exception { context, .. } => context.as_mut(),
        _ => None,
    }
}

impl History {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let (vmids, context_ids) = (parameters.vmid_bytes > 0, parameters.context_id_bytes > 0);
        Self { vmids, context_ids, ..Self::default() }
    }

    /// The address that a field stands for.
    pub(super) fn point(&self, field: AddressField) -> (u64, SubIsa) {
        let [(newest, _), ..] = self.addresses;
        let low = |sub_isa| if sub_isa == SubIsa::Is0 { 3 } else { 1 };
        match field {
            AddressField::ExactMatch(index) => {
                self.addresses.get(usize::from(index)).copied().unwrap_or_default()
            }
            AddressField::Short { sub_isa, bits, bytes } => {
                let width = (if bytes == 1 { 7 } else { 15 }) + if sub_isa == SubIsa::Is0 { 2 } else { 1 };
                (newest & !((1 << width) - 1) & !low(sub_isa) | u64::from(bits.0), sub_isa)
            }
            AddressField::Bits32 { sub_isa, bits, .. } => {
                (newest & !0xffff_ffff | u64::from(bits.0), sub_isa)
            }
            AddressField::Bits64 { sub_isa, bits, .. } => (bits.0, sub_isa),
        }
    }

    fn complete(&self, context: &mut ContextField) {
        let before = self.context;
        context.vmid = context.vmid.or_else(|| self.vmids.then(|| before.vmid.unwrap_or(0)));
        context.context_id =
            context.context_id.or_else(|| self.context_ids.then(|| before.context_id.unwrap_or(0)));
    }

    /// A packet, spelled out.
    pub(super) fn spelled(&self, packet: &Packet) -> Packet {
        let mut spelled = *packet;
        if let Some(address) = address_of(&mut spelled) {
            *address = bits_64(self.point(*address));
        }
        if *packet == Packet::ContextSame {
            spelled = Packet::Context(self.context);
        }
        if let Some(context) = context_of(&mut spelled) {
            self.complete(context);
        }
        if let Packet::Timestamp { value, .. } = &mut spelled
            && value.bytes < 9
        {
            let above = u64::MAX << (7 * u32::from(value.bytes));
            *value = VariableField { bits: self.timestamp & above | value.bits & !above, bytes: 9 };
        }
        spelled
    }

    /// Takes a packet that is spelled out.
    fn take_spelled(&mut self, spelled: &Packet) {
        let mut packet = *spelled;
        match packet {
            Packet::TraceInfo { .. } => {
                let Self { vmids, context_ids, .. } = *self;
                *self = Self { vmids, context_ids, started: true, ..Self::default() };
            }
            Packet::Timestamp { value, .. } => self.timestamp = value.bits,
            Packet::Exception { address: None, .. } => self.push((0, SubIsa::Is0)),
            _ => {}
        }
        if let Some(context) = context_of(&mut packet) {
            self.context = *context;
        }
        if let Some(address) = address_of(&mut packet) {
            let point = self.point(*address);
            self.push(point);
        }
    }

    /// Nothing means anything up to the next Trace Info.
    pub(super) fn lose(&mut self) {
        self.started = false;
    }

    fn push(&mut self, point: (u64, SubIsa)) {
        let [newest, middle, _] = self.addresses;
        self.addresses = [point, newest, middle];
    }

    /// Takes a packet; returns it spelled out.
    pub(super) fn take(&mut self, packet: &Packet, deviation: Deviation) -> Packet {
        if !self.started && !matches!(packet, Packet::TraceInfo { .. }) {
            return *packet;
        }
        let before = self.clone();
        let mut spelled = self.spelled(packet);
        (deviation.spell)(&before, packet, &mut spelled);
        self.take_spelled(&spelled);
        (deviation.after)(self, &before, packet);
        spelled
    }
}
