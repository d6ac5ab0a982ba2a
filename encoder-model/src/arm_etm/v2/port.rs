//! The FIFO and the trace port after it.

use alloc::collections::VecDeque;

use traceproof_vectors::arm_etm::Parameters;
use traceproof_vectors::arm_etm::v2::{Cycle, Pipestat};

use super::conventions::{EMPTY_CYCLE, TfoLanes};

/// FIFO and port. Per cycle: [`begin_cycle`](Self::begin_cycle), any number of [`append`](Self::append) and
/// [`announce`](Self::announce), [`record`](Self::record).
#[derive(Debug)]
pub(super) struct Port {
    width: u8,
    latency: u8,
    /// TRACEPKT of a TD cycle without TFO.
    idle: u16,
    size: usize,
    fifo: VecDeque<u8>,
    /// The low half of the oldest byte has left (4-bit port).
    half: bool,
    /// How many of the oldest bytes may leave in this cycle.
    ready: usize,
    /// Parts of a TFO value that TRACEPKT still has to carry; the FIFO stalls until then.
    lanes: VecDeque<u16>,
}

impl Port {
    pub(super) fn new(parameters: &Parameters, fifo_size: u8) -> Self {
        Self {
            width: parameters.port_width,
            latency: parameters.fifo_latency,
            // ETM2-PS-012: a capture device may drop TD cycles with TRACEPKT[0] = 0.
            idle: if parameters.cycle_accurate { EMPTY_CYCLE } else { 0 },
            size: fifo_size.into(),
            fifo: VecDeque::with_capacity(fifo_size.into()),
            half: false,
            ready: 0,
            lanes: VecDeque::new(),
        }
    }

    pub(super) fn begin_cycle(&mut self) {
        self.ready = self.fifo.len();
    }

    /// Whether nothing waits to be output.
    pub(super) fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }

    /// Whether so many more bytes fit. Spec: ETM2-FIFO-001 (6.10).
    pub(super) fn fits(&self, count: usize) -> bool {
        self.fifo.len() + count <= self.size
    }

    /// Places bytes after what is there. The caller has checked [`fits`](Self::fits).
    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.fifo.extend(bytes);
        if self.latency == 0 {
            self.ready = self.fifo.len();
        }
    }

    /// Whether a TFO can be announced: TRACEPKT is not busy with another one, and no byte is half sent, which no TFO
    /// value could count.
    pub(super) fn can_announce(&self) -> bool {
        self.lanes.is_empty() && !self.half
    }

    /// Starts to output how many bytes are in the FIFO now. Spec: ETM2-TFO-002 (6.5.1).
    pub(super) fn announce(&mut self) {
        // `Policy::check` keeps the FIFO below 112 bytes.
        let bytes = u8::try_from(self.fifo.len()).unwrap_or(u8::MAX);
        self.lanes.extend(TfoLanes::new(bytes, self.width).as_slice());
    }

    /// Ends the cycle.
    ///
    /// A trigger takes status and TRACEPKT; everything else that TRACEPKT should carry waits for one cycle.
    ///
    /// Spec: ETM2-PS-011, ETM2-TRG-001 to 003, ETM2-TFO-003 (6.1.6, 6.1.7).
    pub(super) fn record(&mut self, status: Pipestat, trigger: bool) -> Cycle {
        if trigger {
            return Cycle { pipestat: Pipestat::Tr, tracepkt: status.code().into() };
        }
        let tracepkt = match self.lanes.pop_front() {
            Some(lane) => lane,
            None if status == Pipestat::Td => self.idle,
            None => self.drain(),
        };
        Cycle { pipestat: status, tracepkt }
    }

    /// What leaves the FIFO in one cycle. Spec: ETM2-FIFO-004, 005 (6.3).
    fn drain(&mut self) -> u16 {
        match self.width {
            4 => self.take_half().into(),
            16 => u16::from_le_bytes([self.take(), self.take()]),
            _ => self.take().into(),
        }
    }

    /// The oldest byte; 0 if none may leave.
    fn take(&mut self) -> u8 {
        if self.ready == 0 {
            return 0;
        }
        self.ready -= 1;
        self.fifo.pop_front().unwrap_or(0)
    }

    fn take_half(&mut self) -> u8 {
        if self.ready == 0 {
            0
        } else if self.half {
            self.half = false;
            self.take() >> 4
        } else {
            self.half = true;
            self.fifo.front().map_or(0, |byte| byte & 0xf)
        }
    }
}
