//! What no conforming trace unit sends, but can be read.

use traceproof_vectors::arm::{Profile, SecurityState};
use traceproof_vectors::arm_ete::{
    AddressField, ConditionalTrace, ContextField, Packet, Parameters, QElements, VariableField,
    exception_name, exception_name_m_profile,
};
use traceproof_vectors::{Fault, FaultClass, Place};

/// What decides what is odd.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct Expected {
    is_ete: bool,
    profile: Profile,
    has_vmids: bool,
    has_context_ids: bool,
    timestamp_bits: u8,
    commits: bool,
    cycle_counting: bool,
    transactions: bool,
    data_trace: bool,
    conditional_trace: bool,
    uncounted_q: bool,
}

impl Expected {
    pub(super) const fn new(parameters: &Parameters) -> Self {
        Self {
            is_ete: parameters.version.is_ete(),
            profile: parameters.profile,
            has_vmids: parameters.vmid_bytes > 0,
            has_context_ids: parameters.context_id_bytes > 0,
            timestamp_bits: parameters.timestamp_bits,
            commits: parameters.maxspec > 0,
            cycle_counting: parameters.cycle_counting,
            transactions: parameters.transactions,
            data_trace: parameters.data_trace,
            conditional_trace: !matches!(parameters.conditional_trace, ConditionalTrace::None),
            uncounted_q: matches!(parameters.q_elements, QElements::Any),
        }
    }

    pub(super) const fn is_ete(&self) -> bool {
        self.is_ete
    }

    /// Whether a packet is one of an option that is off, or has bits of one.
    ///
    /// Spec: ETE-PKT-CFG-001, ETE-V4-DSM-001; readings `ete-disabled-options`, `ete-long-timestamps`.
    fn is_off(&self, packet: &Packet) -> bool {
        match packet {
            Packet::FunctionReturn
            | Packet::NumberedDataSyncMarker(_)
            | Packet::UnnumberedDataSyncMarker(_) => !self.data_trace,
            Packet::ConditionalInstruction1(_)
            | Packet::ConditionalInstruction2(_)
            | Packet::ConditionalInstruction3 { .. }
            | Packet::ConditionalFlush
            | Packet::ConditionalResult1 { .. }
            | Packet::ConditionalResult2 { .. }
            | Packet::ConditionalResult3(_)
            | Packet::ConditionalResult4(_) => !self.conditional_trace,
            Packet::BranchFutureFlush => self.profile != Profile::Microcontroller,
            Packet::Timestamp { value, .. } => {
                self.timestamp_bits == 0 || self.timestamp_bits == 48 && value.bits >> 48 != 0
            }
            Packet::TransactionStart | Packet::TransactionCommit => !self.transactions,
            Packet::CycleCount1 { .. } | Packet::CycleCount2 { .. } | Packet::CycleCount3 { .. } => {
                !self.cycle_counting
            }
            Packet::Commit(_) | Packet::Cancel1 { .. } | Packet::Cancel2 { .. } | Packet::Cancel3 { .. } => {
                !self.commits
            }
            Packet::Q { address: None, count: None } => !self.uncounted_q,
            _ => false,
        }
    }

    /// Whether nothing is odd about a packet, as far as that is known at once.
    ///
    /// Without it the same is reported: this only saves time.
    #[inline]
    pub(super) fn is_plain(&self, packet: &Packet) -> bool {
        match packet {
            Packet::Atoms(_) | Packet::Event(_) | Packet::TraceOn | Packet::ContextSame => true,
            Packet::TargetAddress { address, context: None } | Packet::SourceAddress(address) => {
                match address {
                    AddressField::ExactMatch(_) | AddressField::Short { .. } => true,
                    AddressField::Bits32 { reserved, .. } | AddressField::Bits64 { reserved, .. } => {
                        *reserved == 0
                    }
                }
            }
            Packet::CycleCount1 { commit, count } => {
                let fits = |field: &Option<VariableField>, width: Width| {
                    field.is_none_or(|field| field.bits >> width.bits == 0)
                };
                self.cycle_counting && fits(commit, Width::NUMBER) && fits(count, Width::COUNT)
            }
            _ => false,
        }
    }

    const fn is_reserved_exception(&self, number: u16) -> bool {
        match self.profile {
            Profile::Microcontroller => exception_name_m_profile(number).is_none(),
            Profile::Application | Profile::RealTime => exception_name(number).is_none(),
        }
    }
}

/// Reports each oddity of a packet, the lowest byte and bit first. `has_other_depth`: its SPEC is not the depth.
///
/// Spec: ETE-PKT-ADR-006, ETE-PKT-EXC-005, ETE-DEC-TI-001; readings `ete-reserved-bits-are-believed`,
/// `ete-later-speculation-depth`, `ete-reserved-exceptions`, `ete-flags-without-bytes`.
pub(super) fn report(
    packet: &Packet,
    place: Place,
    has_other_depth: bool,
    expected: Expected,
    fault: impl FnMut(&Fault),
) {
    let mut oddities = Oddities { place, expected, fault };
    oddities.at(0, 0, expected.is_off(packet) || has_other_depth);
    match *packet {
        Packet::TraceInfo { .. } => oddities.trace_info(packet),
        Packet::Timestamp { value, count } => {
            oddities.field(1 + value.bytes, count, Width::COUNT);
        }
        Packet::Exception { .. } | Packet::ExceptionV4 { .. } => oddities.exception(packet),
        Packet::Instrumentation { reserved, .. } => oddities.at(1, 2, reserved != 0),
        Packet::CycleCount1 { commit, count } => {
            let after = oddities.field(1, commit, Width::NUMBER);
            oddities.field(after, count, Width::COUNT);
        }
        Packet::Commit(count) | Packet::Cancel1 { count, .. } | Packet::ConditionalInstruction1(count) => {
            oddities.field(1, Some(count), Width::NUMBER);
        }
        Packet::ConditionalInstruction3 { reserved, .. } => oddities.at(1, 7, reserved),
        Packet::ConditionalResult1 { first, second } => {
            oddities.key(1, first.key);
            if let Some(second) = second {
                oddities.key(1 + first.key.bytes, second.key);
            }
        }
        Packet::Context(context) => oddities.context(1, Some(context)),
        Packet::TargetAddress { address, context } => {
            let after = oddities.address(1, address);
            oddities.context(after, context);
        }
        Packet::SourceAddress(address) => {
            oddities.address(1, address);
        }
        Packet::Q { address, count } => {
            let after = address.map_or(1, |address| oddities.address(1, address));
            oddities.field(after, count, Width::NUMBER);
        }
        _ => {}
    }
}

/// How long a field can be.
#[derive(Clone, Copy)]
struct Width {
    bits: u32,
    /// The byte whose upper bits are reserved, and the first of these.
    last: (u8, u8),
}

impl Width {
    const NUMBER: Self = Self { bits: 32, last: (4, 4) };
    const COUNT: Self = Self { bits: 20, last: (2, 6) };
    const THRESHOLD: Self = Self { bits: 12, last: (1, 5) };
}

/// Those of the packet at this place.
struct Oddities<F> {
    place: Place,
    expected: Expected,
    fault: F,
}

impl<F: FnMut(&Fault)> Oddities<F> {
    fn at(&mut self, byte: u8, bit: u8, odd: bool) {
        self.of_class(FaultClass::Suspicious, byte, bit, odd);
    }

    /// At this byte and bit of the packet.
    fn of_class(&mut self, class: FaultClass, byte: u8, bit: u8, odd: bool) {
        if odd {
            let place = Place { byte: self.place.byte + u64::from(byte), bit, ..self.place };
            (self.fault)(&Fault::new(class, place));
        }
    }

    /// A field from this byte on; gives the byte after it.
    fn field(&mut self, byte: u8, field: Option<VariableField>, width: Width) -> u8 {
        let Some(VariableField { bits, bytes }) = field else { return byte };
        let (last, bit) = width.last;
        self.at(byte + last, bit, bits >> width.bits != 0);
        byte + bytes
    }

    /// A key whose first byte has 3 bits of it.
    fn key(&mut self, byte: u8, key: VariableField) {
        self.at(byte + 5, 1, key.bits >> 32 != 0);
    }

    fn trace_info(&mut self, packet: &Packet) {
        let Packet::TraceInfo { control_bytes, reserved, info, key, speculation, cycle_threshold } = *packet
        else {
            return;
        };
        self.at(1, 4, reserved != 0);
        let info_bytes = info.map_or(0, |info| info.bytes);
        let after = self.field(1 + control_bytes + info_bytes, key, Width::NUMBER);
        let after = self.field(after, speculation, Width::NUMBER);
        self.field(after, cycle_threshold, Width::THRESHOLD);
    }

    fn exception(&mut self, packet: &Packet) {
        match *packet {
            Packet::Exception { number, reserved, address, context, .. } => {
                self.at(1, 1, self.expected.is_reserved_exception(number.into()));
                self.at(1, 7, reserved);
                if let Some(address) = address {
                    let after = self.address(3, address);
                    self.context(after, context);
                }
            }
            Packet::ExceptionV4 { number, reserved, .. } => {
                self.at(1, 1, self.expected.is_reserved_exception(number));
                self.at(2, 6, reserved != 0);
            }
            _ => {}
        }
    }

    /// Address bytes from this byte on; gives the byte after them.
    fn address(&mut self, byte: u8, address: AddressField) -> u8 {
        let (bytes, reserved) = match address {
            AddressField::ExactMatch(_) => (0, 0),
            AddressField::Short { bytes, .. } => (bytes, 0),
            AddressField::Bits32 { reserved, .. } => (4, reserved),
            AddressField::Bits64 { reserved, .. } => (8, reserved),
        };
        self.at(byte, 7, reserved & 1 != 0);
        self.at(byte + 1, 7, reserved & 2 != 0);
        byte + bytes
    }

    /// The context whose information byte this is.
    fn context(&mut self, byte: u8, context: Option<ContextField>) {
        let Some(context) = context else { return };
        let is_rme = matches!(context.security, SecurityState::Root | SecurityState::Realm);
        self.at(byte, 2, context.reserved);
        self.at(byte, 3, is_rme && !self.expected.is_ete);
        let (vmid, context_id) = (context.vmid.is_some(), context.context_id.is_some());
        self.of_class(FaultClass::IllegalInState, byte, 6, vmid && !self.expected.has_vmids);
        self.of_class(FaultClass::IllegalInState, byte, 7, context_id && !self.expected.has_context_ids);
    }
}
