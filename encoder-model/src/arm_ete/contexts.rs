//! Contexts as they travel (sheet 5.5, 7.4).

use traceproof_vectors::arm::{Context, ExceptionLevel, SecurityState};
use traceproof_vectors::arm_ete::{ContextField, Packet, Parameters, Policy};

/// What a trace carries of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TracedContext {
    exception_level: ExceptionLevel,
    security: SecurityState,
    is_64_bit: bool,
    context_id: u32,
    vmid: u32,
}

impl TracedContext {
    /// Ids that are not traced are 0; ETMv4 has no NSE.
    ///
    /// Spec: ETE-VHQYV-001, ETE-ENC-RSV-001 (sheet 2.2 D16, 5.5).
    pub(super) fn new(context: Context, parameters: &Parameters) -> Self {
        let id = |value: Option<u32>, traced: bool, bytes: u8| {
            let mask = u32::MAX.checked_shr(8 * (4_u32.saturating_sub(bytes.into()))).unwrap_or(0);
            value.filter(|_| traced).unwrap_or(0) & mask
        };
        let security = match context.security {
            SecurityState::Root if !parameters.version.is_ete() => SecurityState::Secure,
            SecurityState::Realm if !parameters.version.is_ete() => SecurityState::NonSecure,
            security => security,
        };
        Self {
            exception_level: context.exception_level.unwrap_or_default(),
            security,
            is_64_bit: context.is_64_bit,
            context_id: id(context.context_id, parameters.context_ids, parameters.context_id_bytes),
            vmid: id(context.vmid, parameters.vmids, parameters.vmid_bytes),
        }
    }
}

/// Which context the packets before have stated.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SentContext {
    /// The base of the next packet. Spec: ETE-PKT-CTX-001, ETE-PKT-TI-004.
    base: TracedContext,
    /// That of the latest element that was not taken back.
    in_effect: Option<TracedContext>,
}

impl SentContext {
    /// Trace Info: EL0, Secure, `AArch32`, ids 0. Spec: ETE-PKT-TI-004, ETE-DEC-TI-003.
    pub(super) fn restart(&mut self) {
        self.base = TracedContext::default();
    }

    /// A decoder does not know the context, or only one that was taken back.
    pub(super) fn forget(&mut self) {
        self.in_effect = None;
    }

    pub(super) fn is_in_effect(&self, context: TracedContext) -> bool {
        self.in_effect == Some(context)
    }

    /// The packet of a context alone. Spec: ETE-BDFDQ-001, ETE-PKT-CTX-001.
    pub(super) fn packet(
        &mut self,
        context: TracedContext,
        parameters: &Parameters,
        policy: &Policy,
    ) -> Packet {
        if policy.context_same && self.base == context {
            self.in_effect = Some(context);
            return Packet::ContextSame;
        }
        Packet::Context(self.send(context, parameters, policy))
    }

    /// The bytes of a context, which is in effect from now on. Spec: ETE-PKT-CTX-002.
    pub(super) fn send(
        &mut self,
        context: TracedContext,
        parameters: &Parameters,
        policy: &Policy,
    ) -> ContextField {
        let TracedContext { exception_level, security, is_64_bit, context_id, vmid } = context;
        let id = |value: u32, before: u32, traced: bool, bytes: u8| {
            (traced && bytes > 0 && (policy.explicit_ids || value != before)).then_some(value)
        };
        let field = ContextField {
            exception_level,
            security,
            is_64_bit,
            vmid: id(vmid, self.base.vmid, parameters.vmids, parameters.vmid_bytes),
            context_id: id(
                context_id,
                self.base.context_id,
                parameters.context_ids,
                parameters.context_id_bytes,
            ),
            reserved: false,
        };
        self.base = context;
        self.in_effect = Some(context);
        field
    }
}
