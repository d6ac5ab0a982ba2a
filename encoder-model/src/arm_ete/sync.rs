//! Synchronization: A-sync, Trace Info, Trace On.

use traceproof_vectors::arm_ete::{ConditionalTrace, Packet, TraceInfoSections, VariableField};

use super::field::{longest, padded, shortest};
use super::under_way::Synchronization;
use super::unit::TraceUnit;

impl TraceUnit {
    /// Spec: ETE-PKT-SYNC-001, ETE-VRKLP-001.
    pub(super) fn alignment_sync(&mut self) {
        self.flush();
        self.held.aligned = true;
        self.push(Packet::AlignmentSync { zeros: self.policy.sync_zeros.into() });
    }

    /// A sync request, whatever the period is. Spec: ETE-QHHSY-001, ETE-VMPYW-001, ETE-SVGNN-001, ETE-DLPYX-001.
    pub(super) fn sync_request(&mut self) {
        self.synchronization.due = self.gates.enabled;
        self.synchronize();
        if self.is_tracing() && self.synchronization.context && self.synchronization.spacing == 0 {
            self.send_due();
        }
    }

    /// Periodic synchronization, if it is due and may come here.
    ///
    /// Spec: ETE-QHHSY-001, ETE-VMPYW-001, ETE-TFQRM-001, ETE-ENC-AHB-001.
    pub(super) fn synchronize(&mut self) {
        let Synchronization { due, bytes, .. } = self.synchronization;
        let period = u64::from(self.policy.sync_period);
        let permitted = self.policy.sync_while_inactive && !self.gates.prohibited;
        if (due || period > 0 && bytes >= period) && self.is_operative() && (self.is_active() || permitted) {
            self.alignment_sync();
            self.trace_info();
        }
    }

    /// Spec: ETE-PKT-TI-001 to ETE-PKT-TI-004, ETE-BTWGD-001, ETE-GPGQQ-001, ETE-SBZJB-001, ETE-PGHPW-001.
    pub(super) fn trace_info(&mut self) {
        self.flush();
        let packet = self.trace_info_packet();
        self.push(packet);
        self.history = super::history::AddressHistory::default();
        self.sent.restart();
        self.returns.clear();
        self.timestamps.restart();
        self.synchronization.info_at = self.elements;
        self.miss_context_and_address();
        if self.is_tracing() {
            self.synchronization.spacing = self.policy.sync_spacing;
        }
    }

    /// A decoder that starts at the latest Trace Info has neither. Spec: ETE-GZSSX-001.
    fn miss_context_and_address(&mut self) {
        self.synchronization.context = true;
        self.synchronization.address = true;
        (self.synchronization.context_at, self.synchronization.address_at) = (0, 0);
        self.synchronization.spacing = 0;
        self.returns.closed = true;
    }

    /// Nothing but the P0 elements before the latest Trace Info is left, or the latest of them changes its target: what
    /// was sent after Trace Info is void. If more is left, what was sent after one that is not is void.
    ///
    /// Spec: ETE-KGPTB-001, ETE-SVGNN-001, reading `ete-cancel-back-to-trace-info`.
    pub(super) fn repeat_after_cancel(&mut self) {
        let left = self.elements;
        let sync = &mut self.synchronization;
        if left <= sync.info_at {
            self.returns.clear();
            self.miss_context_and_address();
        } else {
            sync.context |= sync.context_at > left;
            sync.address |= sync.address_at > left;
            self.note_target();
        }
    }

    /// The youngest atom leads elsewhere: a Target Address after it is void, a Context is not.
    ///
    /// Spec: ETE-HVWCN-001, ETE-SVGNN-001.
    pub(super) fn repeat_after_mispredict(&mut self) {
        if self.gap_at == self.elements {
            self.address_due = true;
        }
        self.synchronization.address |= self.synchronization.address_at >= self.elements;
        self.repeat_after_cancel();
    }

    fn trace_info_packet(&self) -> Packet {
        let v4 = !self.parameters.version.is_ete();
        let conditional = match self.parameters.conditional_trace {
            ConditionalTrace::None => 0,
            ConditionalTrace::Loads => 1,
            ConditionalTrace::Stores => 2,
            ConditionalTrace::LoadsAndStores => 3,
            ConditionalTrace::All => 7,
        };
        let info = u64::from(self.parameters.cycle_counting)
            | if v4 { conditional << 1 } else { 0 }
            | u64::from(v4 && self.parameters.load_is_p0) << 4
            | u64::from(v4 && self.parameters.store_is_p0) << 5
            | u64::from(self.is_transaction_open()) << 6;
        let threshold =
            if self.parameters.cycle_counting { u64::from(self.policy.cycle_threshold) } else { 0 };
        let sections = self.policy.trace_info;
        let all = sections == TraceInfoSections::All;
        let section = |bits: u64, always: bool, longest: u8| -> Option<VariableField> {
            (bits != 0 || always).then(|| padded(bits, longest, &self.policy))
        };
        Packet::TraceInfo {
            control_bytes: 1,
            reserved: 0,
            info: (info != 0 || sections != TraceInfoSections::Needed).then(|| shortest(info, 1)),
            key: None,
            speculation: section(self.depth.into(), all, longest::WORD),
            cycle_threshold: section(threshold, all, longest::THRESHOLD),
        }
    }

    /// Spec: ETE-PKT-TON-001, ETE-KMFKP-001, ETE-TJLYH-001, ETE-JKFBS-001.
    pub(super) fn trace_on(&mut self) {
        self.send(Packet::TraceOn);
        self.returns.clear();
        self.trace_on_due = false;
        self.gap_at = self.elements;
        self.synchronization.spacing = 0;
        self.address_due = true;
        self.context_due |= self.policy.context_after_trace_on;
    }
}
