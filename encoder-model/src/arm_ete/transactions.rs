//! Transactions.

use traceproof_vectors::arm_ete::{Packet, State};

use super::check::TRANSACTION_FAILURE;
use super::history::Location;
use super::pipeline::Block;
use super::under_way::Transaction;
use super::unit::TraceUnit;

impl TraceUnit {
    const fn has_transactions(&self) -> bool {
        self.parameters.transactions && self.parameters.version.is_ete()
    }

    /// Spec: ETE-WJJNK-001, ETE-QMTSR-001.
    pub(super) fn is_transaction_open(&self) -> bool {
        self.transaction.is_some_and(|transaction| transaction.started_at.is_some())
    }

    /// No Start is open any more. Spec: ETE-WXTQS-001.
    pub(super) fn close_transaction(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.started_at = None;
            transaction.restarted = true;
        }
    }

    /// Spec: ETE-DGRTZ-001, ETE-CYHKB-001, ETE-MMCQD-001.
    pub(super) fn transaction_start(&mut self) {
        self.flush_q();
        if !self.has_transactions() || self.transaction.is_some() {
            return;
        }
        self.transaction = Some(Transaction { started_at: None, restarted: false });
        if self.is_tracing() {
            if self.start_is_p0() {
                self.send_due();
            }
            let elements = self.send_start();
            if elements > 0 {
                self.admit(Block::empty(elements, self.from, self.returns.unused()));
            }
        } else {
            self.restarted();
        }
    }

    /// The next Start is not where the transaction begins.
    fn restarted(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.restarted = true;
        }
    }

    /// Spec: ETE-CTLXL-001.
    const fn start_is_p0(&self) -> bool {
        !self.parameters.commtrans
    }

    /// A transaction is not traced yet.
    pub(super) fn needs_start(&self) -> bool {
        self.transaction.is_some() && !self.is_transaction_open()
    }

    /// A Start in a transaction that is not traced yet: how many P0 elements it is.
    ///
    /// Spec: ETE-RKGLY-001, ETE-WXTQS-001.
    pub(super) fn restart_transaction(&mut self) -> u32 {
        if self.needs_start() { self.send_start() } else { 0 }
    }

    fn send_start(&mut self) -> u32 {
        let started_at = self.elements;
        if self.start_is_p0() {
            self.send_p0(Packet::TransactionStart);
        } else {
            self.send(Packet::TransactionStart);
        }
        if let Some(transaction) = &mut self.transaction {
            transaction.started_at = Some(started_at);
        }
        self.start_is_p0().into()
    }

    /// Its result is traced if its Start was. Spec: ETE-TWNQP-001, ETE-PCKKS-001, ETE-NMWFJ-001.
    pub(super) fn transaction_commit(&mut self) {
        self.flush_q();
        if self.is_operative() && self.is_transaction_open() {
            self.send(Packet::TransactionCommit);
        }
        self.transaction = None;
    }

    /// Spec: ETE-TWNQP-001, ETE-HLRZJ-001.
    pub(super) fn transaction_failure(&mut self, next: State) {
        self.flush_q();
        if self.is_operative() {
            self.fail_transaction();
        }
        self.transaction = None;
        self.from = next;
        self.left_out = None;
        self.address_due = true;
    }

    /// The transaction whose Start was sent fails; perhaps the processing element stays in it.
    ///
    /// Spec: ETE-XQSPC-001, ETE-PKT-EXC-004, ETE-FPDFJ-001.
    pub(super) fn fail_transaction(&mut self) {
        if self.is_transaction_open() {
            self.flush_p0();
            self.push(Packet::Exception {
                number: TRANSACTION_FAILURE,
                with_target: false,
                reserved: false,
                address: None,
                context: None,
            });
            self.history.push(Location::default());
            // What was pushed and popped since Start, no decoder has done.
            self.returns.clear();
            self.gap_at = self.elements;
            self.close_transaction();
        }
    }

    /// P0 elements were cancelled: the Start perhaps, and with it the transaction that began there.
    ///
    /// Spec: ETE-DEC-TRX-005.
    pub(super) fn revise_transaction(&mut self) {
        let Some(Transaction { started_at: Some(at), restarted }) = self.transaction else { return };
        // A Start that is a P0 element was cancelled itself, another one with the element before it.
        if self.elements >= at + u64::from(self.start_is_p0()) {
            return;
        }
        if restarted {
            self.close_transaction();
        } else {
            self.transaction = None;
        }
    }
}
