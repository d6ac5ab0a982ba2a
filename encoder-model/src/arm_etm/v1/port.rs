//! The FIFO and the trace port after it.

use alloc::collections::VecDeque;

use traceproof_vectors::arm_etm::Parameters;
use traceproof_vectors::arm_etm::v1::{Cycle, Pipestat};

/// A byte in the FIFO.
#[derive(Clone, Copy, Debug)]
struct Slot {
    byte: u8,
    /// It is the first one of a branch address.
    starts_address: bool,
}

/// FIFO and port. Per cycle: [`begin_cycle`](Self::begin_cycle), what enters, [`record`](Self::record).
#[derive(Debug)]
pub(super) struct Port {
    width: u8,
    latency: u8,
    size: usize,
    fifo: VecDeque<Slot>,
    /// The low half of the oldest byte has left (4-bit port).
    half: bool,
    /// How many of the oldest bytes may leave in this cycle.
    ready: usize,
    /// Branch addresses of which nothing has left.
    addresses: usize,
}

impl Port {
    pub(super) fn new(parameters: &Parameters, fifo_size: u8) -> Self {
        Self {
            width: parameters.port_width,
            latency: parameters.fifo_latency,
            size: fifo_size.into(),
            fifo: VecDeque::with_capacity(fifo_size.into()),
            half: false,
            ready: 0,
            addresses: 0,
        }
    }

    pub(super) fn begin_cycle(&mut self) {
        self.ready = self.fifo.len();
    }

    /// Whether nothing waits to be output.
    pub(super) fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }

    /// How many more bytes fit.
    pub(super) fn room(&self) -> usize {
        self.size.saturating_sub(self.fifo.len())
    }

    /// How many branch addresses have not begun to leave. Spec: ETM1-APO-002 (5.6.1).
    pub(super) const fn addresses(&self) -> usize {
        self.addresses
    }

    /// Data, as far as they fit.
    pub(super) fn append_data(&mut self, bytes: &[u8]) {
        let room = self.room();
        self.fifo.extend(bytes.iter().take(room).map(|&byte| Slot { byte, starts_address: false }));
        self.entered();
    }

    /// A branch address and its Context ID. The caller has checked [`room`](Self::room).
    pub(super) fn append_address(&mut self, bytes: &[u8]) {
        let slots = bytes.iter().enumerate().map(|(index, &byte)| Slot { byte, starts_address: index == 0 });
        self.fifo.extend(slots);
        self.addresses += 1;
        self.entered();
    }

    /// `Parameters::fifo_latency`.
    fn entered(&mut self) {
        if self.latency == 0 {
            self.ready = self.fifo.len();
        }
    }

    /// Ends the cycle. `idle` is TRACEPKT of TD. A trigger takes status and TRACEPKT, and the FIFO stalls.
    ///
    /// Spec: ETM1-PS-010, 011 (5.3, 5.4).
    pub(super) fn record(&mut self, status: Pipestat, idle: u16, trigger: bool) -> Cycle {
        if trigger {
            return Cycle { pipestat: Pipestat::Tr, tracesync: false, tracepkt: status.code().into() };
        }
        let (tracesync, tracepkt) = if status == Pipestat::Td { (false, idle) } else { self.drain() };
        Cycle { pipestat: status, tracesync, tracepkt }
    }

    /// What leaves the FIFO in one cycle: TRACESYNC, TRACEPKT. Spec: ETM1-PKT-001 to 003 (5.2).
    fn drain(&mut self) -> (bool, u16) {
        if self.width == 4 {
            return self.take_half();
        }
        let Some(first) = self.take() else { return (false, 0) };
        let low = u16::from(first.byte);
        // `etm1-address-starts-a-cycle`
        let fits = self.width == 16 && self.fifo.front().is_some_and(|next| !next.starts_address);
        let high = if fits { self.take().map_or(0, |second| u16::from(second.byte)) } else { 0 };
        (first.starts_address, high << 8 | low)
    }

    /// The oldest byte, if it may leave.
    fn take(&mut self) -> Option<Slot> {
        self.ready = self.ready.checked_sub(1)?;
        let slot = self.fifo.pop_front()?;
        self.addresses -= usize::from(slot.starts_address);
        Some(slot)
    }

    /// The low half shows whether a branch address starts, and leaves the byte where it is.
    fn take_half(&mut self) -> (bool, u16) {
        if self.half {
            self.half = false;
            return (false, self.take().map_or(0, |slot| u16::from(slot.byte >> 4)));
        }
        match self.fifo.front_mut() {
            Some(slot) if self.ready > 0 => {
                self.half = true;
                let starts = core::mem::take(&mut slot.starts_address);
                self.addresses -= usize::from(starts);
                (starts, u16::from(slot.byte & 0xf))
            }
            _ => (false, 0),
        }
    }
}
