//! Which loads and atomics of a split interface are in flight (ET 4.4).

use alloc::vec;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{AtomicOperation, DataParameters};

/// What a response has to know of its request. Spec: RVET-DATA-015 (ET 8.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// `None` = a load.
    pub(super) op: Option<AtomicOperation>,
    pub(super) size: u8,
    /// Where it is known.
    pub(super) address: Option<u64>,
}

/// The requests in flight by `lrid`; the table is made once.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    by_lrid: Vec<Option<Request>>,
}

impl Requests {
    pub(super) fn new(parameters: &DataParameters) -> Self {
        Self { by_lrid: vec![None; if parameters.split { 1 << parameters.lrid_width_p } else { 0 }] }
    }

    /// Enters a request; whether its number was free. Spec: RVET-DATA-026 (ET 4.4).
    pub(super) fn open(&mut self, lrid: u16, request: Request) -> bool {
        self.by_lrid.get_mut(usize::from(lrid)).is_some_and(|entry| entry.replace(request).is_none())
    }

    /// The request that is answered now.
    pub(super) fn close(&mut self, lrid: u16) -> Option<Request> {
        self.by_lrid.get_mut(usize::from(lrid))?.take()
    }

    pub(super) fn clear(&mut self) {
        self.by_lrid.fill(None);
    }
}
