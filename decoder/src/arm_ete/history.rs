//! The state that packets are relative to (sheet 5.13).

use alloc::format;
use alloc::string::String;

use traceproof_vectors::DecoderState;
use traceproof_vectors::arm::{Context, ExceptionLevel, SecurityState};
use traceproof_vectors::arm_ete::{
    AddressField, ContextField, Parameters, SubIsa, TimestampOf, VariableField,
};

use super::element::CodePoint;
use crate::arm::FieldLayout;

/// What packets are relative to. It changes where a packet is read, whatever becomes of its elements.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// The latest addresses, the newest first.
    addresses: [CodePoint; 3],
    context: Context,
    timestamp: u64,
    cycle_threshold: u32,
    /// A marker came after the latest timestamp.
    marker: bool,
    /// There are Root and Realm state.
    is_ete: bool,
    has_vmids: bool,
    has_context_ids: bool,
    has_markers: bool,
}

impl History {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let mut history = Self {
            addresses: [CodePoint::default(); 3],
            context: Context::default(),
            timestamp: 0,
            cycle_threshold: 0,
            marker: false,
            is_ete: parameters.version.is_ete(),
            has_vmids: parameters.vmid_bytes > 0,
            has_context_ids: parameters.context_id_bytes > 0,
            has_markers: parameters.timestamp_markers,
        };
        history.reset(0);
        history
    }

    /// After a Trace Info.
    ///
    /// Spec: ETE-PKT-TI-004, ETE-PKZKZ-001, ETE-BTWGD-001, ETE-GPGQQ-001, ETE-DEC-TI-003, ETE-MWFSN-001.
    pub(super) fn reset(&mut self, cycle_threshold: u32) {
        self.addresses = [CodePoint::default(); 3];
        self.context = Context::default()
            .with_exception_level(Some(ExceptionLevel::El0))
            .with_vmid(self.has_vmids.then_some(0))
            .with_context_id(self.has_context_ids.then_some(0));
        self.timestamp = 0;
        self.cycle_threshold = cycle_threshold;
    }

    /// For people: what compressed fields refer to.
    pub(super) fn shown(&self, state: DecoderState) -> DecoderState {
        let address = |point: &CodePoint| format!("{:#x} {:?}", point.address, point.sub_isa);
        state
            .with_list("address history", self.addresses.iter().map(address))
            .with("latest context", context_text(&self.context))
            .with_hex("timestamp base", Some(self.timestamp))
            .with("cycle count threshold", self.cycle_threshold)
    }

    /// The latest context. Spec: ETE-PKT-CTX-001.
    pub(super) const fn context(&self) -> Context {
        self.context
    }

    /// The context of these bytes.
    ///
    /// Spec: ETE-PKT-CTX-002, ETE-PKT-CTX-003, ETE-ZPNYS-001.
    pub(super) fn take_context(&mut self, field: &ContextField) -> Context {
        let security = match field.security {
            SecurityState::Root if !self.is_ete => SecurityState::Secure,
            SecurityState::Realm if !self.is_ete => SecurityState::NonSecure,
            security => security,
        };
        let vmid = field.vmid.or(self.context.vmid).filter(|_| self.has_vmids);
        let context_id = field.context_id.or(self.context.context_id).filter(|_| self.has_context_ids);
        self.context = Context::default()
            .with_security(security)
            .with_exception_level(Some(field.exception_level))
            .with_64_bit(field.is_64_bit)
            .with_vmid(vmid)
            .with_context_id(context_id);
        self.context
    }

    /// The address that travelled, which is the newest one now.
    ///
    /// Spec: ETE-ZPQMY-001, ETE-LMHFW-001, ETE-CMCRT-001, ETE-SJPYH-001, ETE-BPRDC-001, ETE-PKT-ADR-001 to
    /// ETE-PKT-ADR-004; reading `ete-32-bit-addresses-keep-the-upper-half`.
    #[inline]
    pub(super) fn take_address(&mut self, field: AddressField) -> CodePoint {
        let [newest, second, third] = self.addresses;
        let replaced = |sub_isa, bits: u64, width: u32| {
            // The bits below those that travel are 0.
            let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            CodePoint { address: newest.address & !mask | bits & mask, sub_isa }
        };
        let point = match field {
            AddressField::ExactMatch(0) => newest,
            AddressField::ExactMatch(1) => second,
            AddressField::ExactMatch(_) => third,
            AddressField::Short { sub_isa, bits, bytes } => {
                let width = if bytes == 1 { 7 } else { 15 };
                replaced(sub_isa, bits.0.into(), width + lowest(sub_isa))
            }
            AddressField::Bits32 { sub_isa, bits, .. } => replaced(sub_isa, bits.0.into(), 32),
            AddressField::Bits64 { sub_isa, bits, .. } => replaced(sub_isa, bits.0, 64),
        };
        self.push(point);
        point
    }

    /// An address that did not travel. Spec: ETE-FPDFJ-001.
    pub(super) fn take_unknown_address(&mut self) {
        self.push(CodePoint::default());
    }

    #[inline]
    const fn push(&mut self, point: CodePoint) {
        let [newest, second, _] = self.addresses;
        self.addresses = [point, newest, second];
    }

    /// The time, `None` = UNKNOWN, and what it belongs to.
    ///
    /// Spec: ETE-PKT-TS-001, ETE-RZNPD-001, ETE-TS0-001, ETE-MCSGX-001, ETE-DGTJZ-001, ETE-VWJVC-001.
    pub(super) fn take_timestamp(&mut self, field: VariableField) -> (Option<u64>, TimestampOf) {
        let width = FieldLayout::TIMESTAMP_64.bits_in(field.bytes.into());
        let above = u64::MAX.checked_shl(width).unwrap_or_default();
        self.timestamp = self.timestamp & above | field.bits & !above;
        let of = match (self.has_markers, core::mem::take(&mut self.marker)) {
            (false, _) => TimestampOf::Latest,
            (true, true) => TimestampOf::Marker,
            (true, false) => TimestampOf::BeforeTrace,
        };
        (Some(self.timestamp).filter(|time| *time != 0), of)
    }

    pub(super) const fn take_marker(&mut self) {
        self.marker = true;
    }

    /// Trace is lost, or the stream starts. Spec: ETE-JNWJY-001.
    pub(super) const fn forget_marker(&mut self) {
        self.marker = false;
    }

    /// A count of cycles; `None` = UNKNOWN.
    ///
    /// Spec: ETE-PKT-CC4-001, ETE-PFZXK-001, ETE-DEC-CC-001.
    pub(super) fn cycles(&self, count: u32) -> Option<u32> {
        Some(self.cycle_threshold + count).filter(|cycles| *cycles != 0)
    }
}

/// The lowest bit of an address that travels.
const fn lowest(sub_isa: SubIsa) -> u32 {
    match sub_isa {
        SubIsa::Is0 => 2,
        SubIsa::Is1 => 1,
    }
}

/// A context in one line.
pub(super) fn context_text(context: &Context) -> String {
    let level = context.exception_level.map(|level| format!(" {level}")).unwrap_or_default();
    let width = if context.is_64_bit { " 64-bit" } else { " 32-bit" };
    let number = |name: &str, value: Option<u32>| value.map(|value| format!(" {name}={value:#x}"));
    let numbers = [number("context_id", context.context_id), number("vmid", context.vmid)];
    format!("{}{level}{width}{}", context.security, numbers.into_iter().flatten().collect::<String>())
}
