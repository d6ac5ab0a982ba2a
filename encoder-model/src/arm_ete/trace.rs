//! The packets of P0 instructions and exceptions (sheet 7.3 to 7.6).

use traceproof_vectors::Address;
use traceproof_vectors::arm::Profile;
use traceproof_vectors::arm_ete::{
    AddressChoice, AddressField, ContextField, Exception, P0, P0Kind, Packet, State, exception_name,
    exception_name_m_profile,
};

use super::check;
use super::contexts::TracedContext;
use super::history::Location;
use super::pipeline::{Block, Traced};
use super::unit::TraceUnit;

/// Types of exceptions whose handler may be the next instruction.
///
/// Spec: reading `ete-implementation-defined-exceptions`.
const IMPLEMENTATION_DEFINED: core::ops::RangeInclusive<u16> = 0x10..=0x17;

impl TraceUnit {
    /// Spec: ETE-XCJGD-001, ETE-SRYKV-001, ETE-TZZRH-001, ETE-ZRYPK-001, ETE-XVHWG-001.
    pub(super) fn p0(&mut self, p0: &P0) {
        self.synchronize();
        if !self.is_active() {
            self.flush_q();
            self.from = p0.next;
            if p0.taken && matches!(p0.kind, P0Kind::Isb | P0Kind::ExceptionReturn) {
                self.untraced_context_change();
            }
            return;
        }
        if self.joins_q(p0) {
            self.add_to_q(p0);
            return;
        }
        self.flush_q();
        if !p0.taken && self.policy.source_addresses {
            // What comes next implies it. Spec: ETE-TZZRH-001, ETE-SRYKV-001.
            self.left_out = Some(*p0);
            return;
        }
        let starts = self.prepare();
        let before = self.from;
        let left_out = self.left_out.take();
        let traced = if left_out.is_some() {
            self.source_address(p0.address, p0);
            Traced::Source(*p0)
        } else {
            self.hold_atom(p0.taken);
            Traced::Atom(*p0)
        };
        let mut stack = self.returns.unused();
        self.address_due = self.needs_target(p0, &mut stack);
        self.address_overrides = false;
        self.from = p0.next;
        let returned = self.exception_return(p0);
        let elements = starts + 1 + returned;
        self.admit(Block { elements, traced, before, end: p0.address, stack, left_out });
        let synchronizes = matches!(p0.kind, P0Kind::Isb | P0Kind::ExceptionReturn);
        if p0.taken && synchronizes && self.policy.timestamp_context_changes {
            self.timestamps.request();
        }
    }

    /// Spec: ETE-DCHPQ-001, ETE-FWCQR-001, ETE-WVBQW-001, ETE-BPRDC-001.
    fn source_address(&mut self, address: Address, p0: &P0) {
        let location = Location::new(address, p0.isa, self.parameters.address_bytes);
        let field = self.history.send(location, self.address_choice());
        self.send_p0(Packet::SourceAddress(field));
    }

    /// Whether a decoder cannot know where a P0 instruction leads. A match with the return stack is used up here.
    ///
    /// Spec: ETE-HLRZJ-001, ETE-HFCTC-001, ETE-WRXCW-001, ETE-QHSBN-001, ETE-SLDXR-001, ETE-VQTVR-001, ETE-MHYFV-001.
    fn needs_target(&mut self, p0: &P0, stack: &mut super::returns::StackUse) -> bool {
        if !p0.taken {
            return false;
        }
        let bytes = self.parameters.address_bytes;
        let broadcast = self.parameters.branch_broadcast && p0.broadcast;
        if p0.link && broadcast {
            // A decoder pushes all the same.
            self.returns.clear();
        } else if p0.link {
            let address = Address(p0.address.0.wrapping_add(p0.size.into()));
            self.returns.push(stack, Location::new(address, p0.isa, bytes));
        }
        match p0.kind {
            P0Kind::Direct | P0Kind::Isb => broadcast,
            P0Kind::Indirect | P0Kind::ExceptionReturn => {
                broadcast
                    || self.is_return_element(p0)
                    || !self.returns.pop_matching(stack, Location::of(&p0.next, bytes))
            }
            P0Kind::LoadStore => false,
        }
    }

    /// On the M profile an Exception Return is a P0 element (A6). Whether a decoder does a due pop before it is open
    /// (reading `ete-return-packets-pop-nothing`): so its address is always output, and the return stack emptied.
    fn is_return_element(&self, p0: &P0) -> bool {
        let v4 = !self.parameters.version.is_ete();
        v4 && self.parameters.profile == Profile::Microcontroller && p0.kind == P0Kind::ExceptionReturn
    }

    /// ETMv4 marks exception returns. How many P0 elements the mark is.
    ///
    /// Spec: ETE-V4-RET-001 (sheet 2.2 D3).
    fn exception_return(&mut self, p0: &P0) -> u32 {
        if self.parameters.version.is_ete() || p0.kind != P0Kind::ExceptionReturn || !p0.taken {
            return 0;
        }
        self.send_p0(Packet::ExceptionReturn);
        let is_element = self.is_return_element(p0);
        if is_element {
            self.returns.clear();
        }
        is_element.into()
    }

    /// An exception, PE Reset and Debug halt included.
    ///
    /// Spec: ETE-QHRVX-001, ETE-NZTGQ-001, ETE-PCMYT-001, ETE-XGXKK-001, ETE-XJXQS-001.
    pub(super) fn exception(&mut self, exception: &Exception) {
        if !self.is_exception(exception.number) {
            return;
        }
        self.flush_q();
        self.synchronize();
        if self.is_active() {
            self.trace_exception(exception);
        } else {
            if self.is_reset(exception.number) {
                self.untraced_reset();
            }
            self.from = exception.handler;
            self.untraced_context_change();
        }
        if self.is_debug_halt(exception.number) {
            self.flush();
            self.gates.debug = true;
            self.stop();
        }
    }

    /// A timestamp is asked for all the same, and waits for an element.
    ///
    /// Spec: ETE-YYWTR-001, ETE-NGXNQ-001, ETE-HZSYP-001.
    const fn untraced_context_change(&mut self) {
        let permitted = self.gates.operative() && !self.gates.prohibited && !self.gates.debug;
        if permitted && self.policy.timestamp_context_changes {
            self.timestamps.request();
        }
    }

    fn trace_exception(&mut self, exception: &Exception) {
        let reset = self.is_reset(exception.number);
        let discarded = reset && self.discard_at_reset();
        let (mut starts, mut address, mut context) = (0, false, false);
        // After a Discard the state is that of the handler.
        if !discarded {
            starts = self.open();
            if !reset {
                self.from.context = exception.returns_to.context;
            }
            (address, context) = self.take_due();
        }
        let before = self.from;
        self.send_exception(exception, reset, address, context);
        let left_out = self.left_out.take();
        let follows = IMPLEMENTATION_DEFINED.contains(&exception.number)
            && self.parameters.profile != Profile::Microcontroller
            && self.location(&exception.handler) == self.location(&exception.returns_to);
        self.address_due = !follows;
        self.from = exception.handler;
        let stack = self.returns.unused();
        let end = exception.returns_to.address;
        self.admit(Block { end, left_out, ..Block::empty(starts + 1, before, stack) });
        if self.policy.timestamp_context_changes {
            self.timestamps.request();
        }
    }

    /// A PE Reset that is not traced ends a transaction like one that is.
    ///
    /// Spec: ETE-XQSPC-001, ETE-TWNQP-001.
    fn untraced_reset(&mut self) {
        if self.is_operative() {
            self.fail_transaction();
        }
        self.transaction = None;
    }

    /// What is uncommitted at PE Reset is never resolved. Whether there was something to discard.
    ///
    /// Spec: ETE-WDWGV-001, ETE-XQSPC-001, ETE-DEC-TRX-003.
    fn discard_at_reset(&mut self) -> bool {
        self.flush_commits();
        self.fail_transaction();
        self.transaction = None;
        let discards = self.depth > 0 && self.is_tracing();
        if self.depth > 0 {
            self.send(Packet::Discard);
            self.pipeline.clear();
            self.depth = 0;
            self.sent.forget();
            self.returns.clear();
        }
        discards
    }

    /// The exception with its return address; `address` and `context` are due before it.
    ///
    /// Spec: ETE-PKT-EXC-001 to ETE-PKT-EXC-007, ETE-DEC-EXC-001, ETE-SFYMW-001, ETE-NRJGC-001, ETE-CMCRT-001.
    fn send_exception(&mut self, exception: &Exception, reset: bool, address: bool, context: bool) {
        let Exception { number, returns_to, fault_pending, .. } = *exception;
        let location = self.location(&returns_to);
        let with_target =
            address && !reset && self.policy.combined_targets && location == self.location(&self.from);
        let in_packet = context && !reset && self.policy.contexts_in_exceptions;
        self.send_target(address && !with_target, context && !in_packet);
        if self.parameters.version.is_ete() {
            let (address, context) = match reset {
                true => {
                    self.history.push(Location::default());
                    (None, None)
                }
                false => {
                    let (address, context) = self.address_and_context(location, in_packet);
                    (Some(address), context)
                }
            };
            let number = number as u8;
            self.send_p0(Packet::Exception { number, with_target, reserved: false, address, context });
        } else {
            let fault_pending = (fault_pending || number > 0x1f).then_some(fault_pending);
            self.send_p0(Packet::ExceptionV4 { number, with_target, fault_pending, reserved: 0 });
            let location = if reset { Location::default() } else { location };
            let (address, context) = self.address_and_context(location, in_packet);
            self.push(Packet::TargetAddress { address, context });
        }
        if with_target {
            self.note_address();
        }
    }

    /// An address, and the context of `from` in the same packet.
    pub(super) fn address_and_context(
        &mut self,
        location: Location,
        with_context: bool,
    ) -> (AddressField, Option<ContextField>) {
        let choice = match self.address_choice() {
            choice @ (AddressChoice::Bits32 | AddressChoice::Bits64) => choice,
            // Only long forms have a context.
            _ if with_context => AddressChoice::Bits32,
            choice => choice,
        };
        let address = self.history.send(location, choice);
        let context = with_context.then(|| {
            self.note_context();
            let context = TracedContext::new(self.from.context, &self.parameters);
            self.sent.send(context, &self.parameters, &self.policy)
        });
        (address, context)
    }

    /// Everything that precedes a P0 element. How many P0 elements that is.
    ///
    /// Spec: ETE-ENC-START-002, ETE-KKQGK-001, ETE-RGPTK-001, ETE-RKGLY-001.
    fn prepare(&mut self) -> u32 {
        let starts = self.open();
        self.send_due();
        starts
    }

    /// Trace On, and the Start of a transaction that was entered before it. Addresses stand before a Start that is a P0
    /// element.
    fn open(&mut self) -> u32 {
        if self.trace_on_due {
            self.trace_on();
        }
        if self.needs_start() && !self.parameters.commtrans {
            self.send_due();
        }
        self.restart_transaction()
    }

    /// The state in which a Q element begins.
    pub(super) fn open_q(&mut self) {
        let elements = self.prepare();
        if elements > 0 {
            self.admit(Block::empty(elements, self.from, self.returns.unused()));
        }
    }

    /// Context and address, as far as a decoder does not know them.
    pub(super) fn send_due(&mut self) {
        let (address, context) = self.take_due();
        self.send_target(address, context);
    }

    /// Whether address and context are due, which they are no longer.
    ///
    /// Spec: ETE-BDFDQ-001, ETE-HXNXF-001, ETE-RHDMW-001, ETE-SVGNN-001, ETE-MDTYL-001, ETE-TJLYH-001.
    fn take_due(&mut self) -> (bool, bool) {
        let sync = &mut self.synchronization;
        let now = sync.spacing == 0;
        sync.spacing = sync.spacing.saturating_sub(1);
        let address = core::mem::take(&mut self.address_due) || now && sync.address;
        let context = core::mem::take(&mut self.context_due) || now && sync.context;
        let current = TracedContext::new(self.from.context, &self.parameters);
        if core::mem::take(&mut self.address_overrides) && address {
            self.returns.clear();
        }
        let redundant = address && self.policy.redundant_contexts;
        (address, context || redundant || !self.sent.is_in_effect(current))
    }

    /// The address and context of `from`, in one packet or two.
    ///
    /// Spec: ETE-PKT-ADR-005, ETE-HLRZJ-001, ETE-WJDWF-001, ETE-HMWHY-001.
    pub(super) fn send_target(&mut self, address: bool, context: bool) {
        let combined = address && context && self.policy.combined_contexts;
        if context && !combined {
            self.flush();
            self.note_context();
            let current = TracedContext::new(self.from.context, &self.parameters);
            let packet = self.sent.packet(current, &self.parameters, &self.policy);
            self.push(packet);
        }
        if address {
            self.flush();
            let (address, context) = self.address_and_context(self.location(&self.from), combined);
            self.push(Packet::TargetAddress { address, context });
            self.note_address();
        }
    }

    fn note_context(&mut self) {
        self.context_at = self.elements;
        if core::mem::take(&mut self.synchronization.context) {
            self.synchronization.context_at = self.elements;
        }
        self.note_target();
    }

    pub(super) fn note_address(&mut self) {
        if core::mem::take(&mut self.synchronization.address) {
            self.synchronization.address_at = self.elements;
        }
        self.note_target();
    }

    /// Spec: ETE-GZSSX-001.
    pub(super) fn note_target(&mut self) {
        self.returns.closed = self.synchronization.context || self.synchronization.address;
    }

    pub(super) fn location(&self, state: &State) -> Location {
        Location::of(state, self.parameters.address_bytes)
    }

    /// Units with addresses of 32 bits have no form with 64.
    pub(super) fn address_choice(&self) -> AddressChoice {
        match self.policy.addresses {
            AddressChoice::Bits64 if self.parameters.address_bytes == 4 => AddressChoice::Bits32,
            choice => choice,
        }
    }

    /// P0 elements that were sent or are held. The oldest are committed where they are too many.
    ///
    /// Spec: ETE-GLQPL-001, ETE-YKLRM-001, ETE-YKLRM-002, ETE-ZJJKY-001.
    pub(super) fn admit(&mut self, block: Block) {
        let elements = block.elements;
        self.pipeline.push(block);
        let mut implied = false;
        for _ in 0..elements {
            self.elements += 1;
            self.depth = self.depth.saturating_add(1);
            if self.depth > self.parameters.maxspec {
                self.depth -= 1;
                implied = true;
                match self.held.owed.checked_sub(1) {
                    Some(owed) => self.held.owed = owed,
                    None => _ = self.pipeline.commit(1),
                }
            }
        }
        self.note_element();
        if implied {
            self.implied_commit();
        }
    }

    /// ETMv4: a packet that the processing element determines, in its place.
    ///
    /// Spec: ETE-V4-DSM-001, ETE-ZRYPK-001 (sheet 2.3).
    pub(super) fn insert(&mut self, packet: &Packet) {
        let Some(elements) = p0_elements(packet) else { return };
        let fits = check::check(packet, &self.parameters).is_none();
        let active = fits && self.is_active();
        if active {
            if elements > 0 {
                self.prepare();
            }
            self.send(*packet);
        }
        if active && elements > 0 {
            // Where they lead, the stimulus does not say.
            self.returns.clear();
            self.address_due = true;
            self.admit(Block::empty(elements, self.from, self.returns.unused()));
        }
    }

    /// Reserved numbers, and that of Transaction Failure, are none. Spec: ETE-ENC-RSV-001, ETE-PKT-EXC-005.
    fn is_exception(&self, number: u16) -> bool {
        if self.parameters.profile == Profile::Microcontroller {
            exception_name_m_profile(number).is_some()
        } else {
            number != u16::from(check::TRANSACTION_FAILURE) && exception_name(number).is_some()
        }
    }

    const fn is_m_profile(&self) -> bool {
        matches!(self.parameters.profile, Profile::Microcontroller)
    }

    const fn is_reset(&self, number: u16) -> bool {
        number == if self.is_m_profile() { 0x01 } else { 0x00 }
    }

    const fn is_debug_halt(&self, number: u16) -> bool {
        number == if self.is_m_profile() { 0x18 } else { 0x01 }
    }
}

/// How many P0 elements a packet has that the stimulus may insert; `None` for all other packets.
///
/// Spec: ETE-V4-DSM-001 (A9, A10).
pub(super) fn p0_elements(packet: &Packet) -> Option<u32> {
    match *packet {
        Packet::UnnumberedDataSyncMarker(atoms) => Some(atoms.min(4).into()),
        Packet::FunctionReturn => Some(1),
        Packet::NumberedDataSyncMarker(_)
        | Packet::BranchFutureFlush
        | Packet::ConditionalFlush
        | Packet::ConditionalInstruction1(_)
        | Packet::ConditionalInstruction2(_)
        | Packet::ConditionalInstruction3 { .. }
        | Packet::ConditionalResult1 { .. }
        | Packet::ConditionalResult2 { .. }
        | Packet::ConditionalResult3(_)
        | Packet::ConditionalResult4(_) => Some(0),
        _ => None,
    }
}
