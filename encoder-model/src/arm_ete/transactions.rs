//! Transactions (sheet 5.7, 7.8).

use traceproof_vectors::arm_ete::{Packet, State};

use super::check::TRANSACTION_FAILURE;
use super::history::Location;
use super::pipeline::Block;
use super::unit::TraceUnit;

/// An outer transaction of the processing element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transaction {
    /// A Transaction Start element was sent for it: P0 elements before it.
    started_at: Option<u64>,
    /// P0 signals before it was entered, that of TSTART included.
    entered_at: u64,
}

impl TraceUnit {
    const fn has_transactions(&self) -> bool {
        self.parameters.transactions && self.parameters.version.is_ete()
    }

    /// Spec: ETE-R_WJJNK-1, ETE-R_QMTSR-1.
    pub(super) fn is_transaction_open(&self) -> bool {
        self.transaction.is_some_and(|transaction| transaction.started_at.is_some())
    }

    /// No Start is open any more. Spec: ETE-R_WXTQS-1.
    pub(super) fn close_transaction(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.started_at = None;
        }
    }

    /// Spec: ETE-R_DGRTZ-1, ETE-R_CYHKB-1, ETE-R_MMCQD-1.
    pub(super) fn transaction_start(&mut self) {
        self.flush_q();
        if !self.has_transactions() || self.transaction.is_some() {
            return;
        }
        self.transaction = Some(Transaction { started_at: None, entered_at: self.pipeline.signals() });
        let mut elements = 0;
        if self.is_tracing() {
            if self.start_is_p0() {
                self.send_due();
            }
            elements = self.send_start();
        }
        if self.start_is_p0() {
            let block = Block { elements, left_out: self.left_out, ..Block::start(self.from) };
            self.admit(block);
        }
    }

    /// Spec: ETE-R_CTLXL-1.
    const fn start_is_p0(&self) -> bool {
        !self.parameters.commtrans
    }

    /// A transaction is not traced yet.
    pub(super) fn needs_start(&self) -> bool {
        self.transaction.is_some() && !self.is_transaction_open()
    }

    /// A Start in a transaction that is not traced yet: how many P0 elements it is.
    ///
    /// Spec: ETE-R_RKGLY-1, ETE-R_WXTQS-1.
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

    /// Its result is traced if its Start was. Spec: ETE-R_TWNQP-1, ETE-R_PCKKS-1, ETE-R_NMWFJ-1.
    pub(super) fn transaction_commit(&mut self) {
        self.flush_q();
        if self.is_operative() && self.is_transaction_open() {
            self.send(Packet::TransactionCommit);
        }
        self.transaction = None;
    }

    /// Spec: ETE-R_TWNQP-1, ETE-R_HLRZJ-1.
    pub(super) fn transaction_failure(&mut self, next: State) {
        self.flush_q();
        if self.is_operative() {
            self.fail_transaction();
        }
        self.transaction = None;
        self.go_on(next);
        self.left_out = false;
        self.address_due = true;
    }

    /// The transaction whose Start was sent fails; perhaps the processing element stays in it.
    ///
    /// Spec: ETE-R_XQSPC-1, ETE-PKT-EXC-4, ETE-R_FPDFJ-1.
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
            self.close_transaction();
        }
    }

    /// P0 signals were cancelled: the Start perhaps, or the whole transaction.
    ///
    /// Spec: ETE-DEC-TRX-5.
    pub(super) fn revise_transaction(&mut self) {
        let Some(Transaction { started_at, entered_at }) = self.transaction else { return };
        // A Start that is a P0 element was cancelled itself, another one with the element before it.
        let own = u64::from(self.start_is_p0());
        if self.pipeline.signals() < entered_at + own {
            self.transaction = None;
        } else if started_at.is_some_and(|at| self.elements < at + own) {
            self.close_transaction();
        }
    }
}
