//! Commit, Cancel, Mispredict, Discard, transactions: which elements took effect.

use core::ops::ControlFlow;

use traceproof_vectors::arm_ete::{ArmEte, Event};
use traceproof_vectors::{Fault, FaultClass, Place, Sink};

use super::analyzer::Analyzer;
use super::element::{AtomRun, Element, Entry};
use super::layout;
use super::transaction::Met;

impl Analyzer {
    /// Some atoms of a packet.
    ///
    /// Where they are committed together this only saves time: the result is as if each were added alone.
    #[inline]
    pub(super) fn atoms<S>(&mut self, place: Place, mut run: AtomRun, sink: &mut S)
    where
        S: Sink<ArmEte> + ?Sized,
    {
        if self.options.fast_path {
            if self.options.maxspec | self.depth | self.unseen == 0
                && self.queue.is_empty()
                && !self.transaction.is_open()
            {
                return self.flow.atoms(place, run, sink);
            }
            let element = Element::Atoms(run);
            let room = self.options.speculation.saturating_sub(self.elements());
            if u64::from(run.count) <= room {
                return self.add_p0(Entry { place, element }, sink);
            }
        }
        while run.count > 0 {
            let element = Element::Atoms(run.take(1));
            self.add_p0(Entry { place, element }, sink);
        }
    }

    /// Adds an element that is held if P0 elements are.
    ///
    /// Spec: ETE-WGSCJ-001.
    #[inline]
    pub(super) fn add<S>(&mut self, place: Place, element: Element, sink: &mut S)
    where
        S: Sink<ArmEte> + ?Sized,
    {
        let entry = Entry { place, element };
        if element.p0_elements() > 0 {
            self.add_p0(entry, sink);
        } else if self.queue.is_empty() {
            self.release(entry, sink);
        } else {
            self.queue.push(entry);
            self.check_limit(place, false, sink);
        }
    }

    /// Spec: ETE-YKLRM-001, ETE-DEC-DEPTH-001, ETE-JBGCR-001 (sheet 5.13).
    fn add_p0<S: Sink<ArmEte> + ?Sized>(&mut self, entry: Entry, sink: &mut S) {
        let depth = self.depth + u64::from(entry.element.p0_elements());
        self.queue.push(entry);
        let implied = depth.saturating_sub(self.options.maxspec);
        if implied > 0 {
            // After a Trace Info with a wrong depth there may be fewer.
            self.commit_available(implied.min(self.available()), sink);
        }
        self.depth = depth - implied;
        self.check_limit(entry.place, false, sink);
    }

    /// P0 elements that can be committed or cancelled.
    const fn available(&self) -> u64 {
        self.queue.p0_elements() + self.unseen
    }

    /// Elements that are held or kept back.
    const fn elements(&self) -> u64 {
        self.queue.elements() + self.transaction.elements()
    }

    /// Spec: ETE-DEC-DEPTH-003, ETE-PSHDJ-001.
    pub(super) fn commit<S>(&mut self, count: u64, sink: &mut S) -> ControlFlow<()>
    where
        S: Sink<ArmEte> + ?Sized,
    {
        if count > self.available() {
            return ControlFlow::Break(());
        }
        self.depth = self.depth.saturating_sub(count);
        self.commit_available(count, sink);
        ControlFlow::Continue(())
    }

    /// The oldest P0 elements took effect, those that were not seen first.
    ///
    /// Spec: ETE-WGSCJ-001, ETE-JKLZY-001, ETE-DEC-DEPTH-002.
    fn commit_available<S: Sink<ArmEte> + ?Sized>(&mut self, count: u64, sink: &mut S) {
        let unseen = count.min(self.unseen);
        self.unseen -= unseen;
        let mut left = count - unseen;
        while left > 0 {
            let Some(entry) = self.queue.pop_p0(left) else { return };
            left = left.saturating_sub(entry.element.p0_elements().into());
            self.release(entry, sink);
            self.release_resolved(sink);
        }
    }

    /// Releases what no P0 element is before.
    fn release_resolved<S: Sink<ArmEte> + ?Sized>(&mut self, sink: &mut S) {
        while let Some(entry) = self.queue.pop_resolved() {
            self.release(entry, sink);
        }
    }

    /// Spec: ETE-SPBCG-001, ETE-DEC-CAN-001 to ETE-DEC-CAN-003, ETE-DEC-TRX-005, ETE-PSHDJ-001; readings
    /// `ete-visible-elements-first`, `ete-cancel-keeps-older-addresses`.
    pub(super) fn cancel<S>(&mut self, count: u64, sink: &mut S) -> ControlFlow<()>
    where
        S: Sink<ArmEte> + ?Sized,
    {
        if count > self.available() {
            return ControlFlow::Break(());
        }
        self.depth = self.depth.saturating_sub(count);
        let unseen = count.saturating_sub(self.queue.p0_elements());
        self.queue.cancel(count);
        if unseen > 0 {
            self.unseen -= unseen;
            self.flow.forget_context_and_address();
            if self.transaction.cancel() {
                for Entry { place, element } in self.transaction.close() {
                    self.flow.follow(place, &element, sink);
                }
            }
        }
        self.release_resolved(sink);
        ControlFlow::Continue(())
    }

    /// Spec: ETE-HVWCN-001, ETE-MDSCN-001, ETE-XYDNP-001; reading `ete-mispredict-after-other-elements`.
    pub(super) fn mispredict<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, sink: &mut S) {
        if self.queue.mispredict() {
            return;
        }
        match self.transaction.mispredict() {
            Met::Atom => {}
            Met::OtherP0 => self.flow.mispredict(place, false, sink),
            Met::Nothing => self.flow.mispredict(place, true, sink),
        }
    }

    /// Discard, or Overflow, which implies it.
    ///
    /// Spec: ETE-YHRPG-001, ETE-CTYFK-001, ETE-RVFVY-001, ETE-DEC-DIS-001, ETE-PKT-EXT-002; readings
    /// `ete-kept-on-discard`, `ete-discard-fails-a-transaction`.
    pub(super) fn discard<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, event: &Event, sink: &mut S) {
        for entry in self.queue.clear() {
            if entry.element.survives_discard() {
                self.release(entry, sink);
            }
        }
        if self.transaction.is_open() {
            self.fail_transaction(place, sink);
        }
        (self.depth, self.unseen) = (0, 0);
        self.history.forget_marker();
        sink.event(place, event);
        self.flow.discard();
    }

    /// An element took effect, unless the open transaction fails.
    ///
    /// Spec: ETE-DEC-TRX-001, ETE-DEC-TRX-003, ETE-DEC-TRX-004.
    #[inline]
    pub(super) fn release<S: Sink<ArmEte> + ?Sized>(&mut self, entry: Entry, sink: &mut S) {
        if self.transaction.is_open() {
            return self.release_in_transaction(entry, sink);
        }
        let Entry { place, ref element } = entry;
        self.flow.follow(place, element, sink);
        if let Element::TransactionStart { .. } = element {
            self.transaction.open(self.unseen > 0);
        }
    }

    fn release_in_transaction<S: Sink<ArmEte> + ?Sized>(&mut self, entry: Entry, sink: &mut S) {
        let Entry { place, ref element } = entry;
        match *element {
            Element::TransactionCommit => {
                for Entry { place, element } in self.transaction.close() {
                    self.flow.follow(place, &element, sink);
                }
                self.flow.follow(place, element, sink);
            }
            Element::TransactionFailure => self.fail_transaction(place, sink),
            Element::Exception { number, .. } if layout::is_reset(number, self.options.profile) => {
                self.fail_transaction(place, sink);
                self.flow.follow(place, element, sink);
            }
            _ => {
                self.transaction.keep_back(entry);
                self.check_limit(place, true, sink);
            }
        }
    }

    fn fail_transaction<S: Sink<ArmEte> + ?Sized>(&mut self, place: Place, sink: &mut S) {
        for entry in self.transaction.close() {
            if entry.element.survives_failure() {
                self.flow.follow(entry.place, &entry.element, sink);
            }
        }
        self.flow.follow(place, &Element::TransactionFailure, sink);
    }

    /// After one more element, which is kept back or perhaps held.
    #[inline]
    fn check_limit<S>(&mut self, place: Place, is_kept_back: bool, sink: &mut S)
    where
        S: Sink<ArmEte> + ?Sized,
    {
        if self.elements() > self.options.speculation {
            self.drop_elements(place, is_kept_back, sink);
        }
    }

    /// There are too many elements: all but the latest one are dropped.
    ///
    /// Spec: ETE-DEC-ERR-002 (sheet 8.7).
    #[cold]
    fn drop_elements<S>(&mut self, place: Place, is_kept_back: bool, sink: &mut S)
    where
        S: Sink<ArmEte> + ?Sized,
    {
        let held = if is_kept_back { None } else { self.queue.pop_youngest() };
        let mut kept_back = self.transaction.drain();
        let latest = held.or_else(|| kept_back.pop());
        for Entry { place, element } in kept_back {
            if element.survives_failure() {
                self.flow.follow(place, &element, sink);
            }
        }
        self.unseen += self.queue.p0_elements();
        let context = self.queue.latest_context();
        for Entry { place, element } in self.queue.clear() {
            if element.survives_discard() {
                self.flow.follow(place, &element, sink);
            }
        }
        if let Some(Entry { place, element }) = context {
            self.flow.follow(place, &element, sink);
        }
        self.flow.lose(&Fault::new(FaultClass::Limit, place), sink);
        match latest {
            Some(entry) if held.is_some() && entry.element.p0_elements() > 0 => self.queue.push(entry),
            Some(entry) if self.transaction.is_open() => self.transaction.keep_back(entry),
            Some(Entry { place, element }) => self.flow.follow(place, &element, sink),
            None => {}
        }
    }
}
