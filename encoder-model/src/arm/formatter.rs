//! The bytes of several trace sources -> one formatted stream.

use alloc::vec::Vec;
use core::fmt;

use traceproof_vectors::arm::{
    FRAME_BYTES, FULL_SYNC, FormatterPolicy, Framing, HALF_SYNC, TraceId, TraceIdKind,
};

/// The pair whose odd byte is the auxiliary one.
const LAST_PAIR: usize = FRAME_BYTES / 2 - 1;

/// Packs the bytes of trace sources into frames, in the order in which they come in, and sends each pair of a frame as
/// soon as it is known.
///
/// A byte for an even place waits until it is known whether more bytes of its source follow: if not, the new ID takes
/// the even place, the byte the odd one after it, and the ID's auxiliary bit says that the change is delayed.
///
/// ```
/// use traceproof_encoder_model::arm::Formatter;
/// use traceproof_vectors::arm::{FormatterPolicy, TraceId};
///
/// let mut formatter = Formatter::new(FormatterPolicy::default());
/// let mut wire = Vec::new();
/// formatter.push(TraceId::new(0x10).unwrap(), &[0x84, 0xa5, 0x42, 0x01], &mut wire)?;
/// formatter.push(TraceId::new(0x11).unwrap(), &[0xc9, 0xd8, 0x45], &mut wire)?;
/// formatter.flush(&mut wire);
/// assert_eq!(wire, [0x21, 0x84, 0xa4, 0x42, 0x23, 0x01, 0xc8, 0xd8, 0x01, 0x45, 0, 0, 0, 0, 0, 0x1e]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Spec: DDI 0314 8.12.1, 9.6.1.
#[derive(Clone, Debug)]
pub struct Formatter {
    policy: FormatterPolicy,
    /// Pairs of this frame that have left, 0 to 7.
    pair: usize,
    /// The auxiliary byte of this frame, as far as it is known.
    auxiliary: u8,
    /// The byte that waits for the even place of the next pair.
    waiting: Option<u8>,
    /// The ID sent last.
    id: Option<TraceId>,
    /// Whether this frame holds an ID.
    named: bool,
    /// Whole frames without an ID since the latest one with an ID.
    unnamed_frames: u32,
    /// Pairs since the latest ID.
    unnamed_pairs: u32,
    /// Pairs since the latest half-word synchronisation packet.
    pairs: u32,
    /// Whole frames since the latest full synchronisation packet; `None` before the first.
    frames: Option<u32>,
}

/// A trace source cannot have this ID (ARM-FMT-013).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotASource(pub TraceId);

impl fmt::Display for NotASource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not the ID of a trace source", self.0)
    }
}

impl core::error::Error for NotASource {}

impl Formatter {
    /// A formatter that has sent nothing.
    #[must_use]
    pub const fn new(policy: FormatterPolicy) -> Self {
        Self {
            policy,
            pair: 0,
            auxiliary: 0,
            waiting: None,
            id: None,
            named: false,
            unnamed_frames: 0,
            unnamed_pairs: 0,
            pairs: 0,
            frames: None,
        }
    }

    /// Takes bytes of a source; pairs that are complete go to the end of `wire`.
    ///
    /// # Errors
    ///
    /// When `id` is not that of a trace source; nothing is taken then.
    pub fn push(&mut self, id: TraceId, bytes: &[u8], wire: &mut Vec<u8>) -> Result<(), NotASource> {
        if id.kind() != TraceIdKind::Source {
            return Err(NotASource(id));
        }
        for &byte in bytes {
            self.take(id, byte, wire);
        }
        Ok(())
    }

    /// A trigger: one byte 0 of the trigger's ID.
    pub fn trigger(&mut self, wire: &mut Vec<u8>) {
        self.take(TraceId::TRIGGER, 0, wire);
    }

    /// There is nothing to send: `count` half-word synchronisation packets in continuous mode, nothing in the others. A
    /// byte that waits for its pair goes on waiting.
    ///
    /// Spec: ARM-FMT-008.
    pub fn idle(&mut self, count: u32, wire: &mut Vec<u8>) {
        if self.policy.framing == Framing::Continuous {
            for _ in 0..count {
                wire.extend(HALF_SYNC);
            }
            self.pairs = 0;
        }
    }

    /// Fills the frame that has begun with the null ID and bytes 0, so that everything taken so far leaves.
    pub fn flush(&mut self, wire: &mut Vec<u8>) {
        if self.pair == 0 && self.waiting.is_none() {
            return;
        }
        match self.waiting.take() {
            Some(last) => self.id_pair(TraceId::NULL, true, last, wire),
            None if self.pair == LAST_PAIR => self.id_alone(TraceId::NULL, wire),
            None => self.id_pair(TraceId::NULL, false, 0, wire),
        }
        while self.pair != 0 {
            if self.pair == LAST_PAIR { self.data_alone(0, wire) } else { self.data_pair(0, 0, wire) }
        }
    }

    /// Spec: ARM-FMT-003 to ARM-FMT-005.
    fn take(&mut self, id: TraceId, byte: u8, wire: &mut Vec<u8>) {
        if self.id == Some(id) && !self.is_repeat_due() {
            match self.waiting.take() {
                Some(even) => self.data_pair(even, byte, wire),
                None if self.pair == LAST_PAIR => self.data_alone(byte, wire),
                None => self.waiting = Some(byte),
            }
            return;
        }
        let repeated = self.id == Some(id);
        match self.waiting.take() {
            // The odd place is needed for the waiting byte, so the new ID can only come into effect after it.
            Some(last) => {
                self.id_pair(id, !repeated || self.policy.repeat_delayed, last, wire);
                self.take(id, byte, wire);
            }
            None if self.pair == LAST_PAIR => {
                self.id_alone(id, wire);
                self.take(id, byte, wire);
            }
            None => self.id_pair(id, repeated && self.policy.repeat_delayed, byte, wire),
        }
    }

    /// Spec: ARM-FMT-011.
    const fn is_repeat_due(&self) -> bool {
        let FormatterPolicy { id_repeat_frames, id_repeat_pairs, .. } = self.policy;
        (id_repeat_frames > 0 && self.unnamed_frames >= id_repeat_frames && !self.named)
            || (id_repeat_pairs > 0 && self.unnamed_pairs >= id_repeat_pairs)
    }

    fn data_pair(&mut self, even: u8, odd: u8, wire: &mut Vec<u8>) {
        self.unnamed_pairs = self.unnamed_pairs.saturating_add(1);
        self.pair(even & !1, even & 1 != 0, odd, wire);
    }

    fn id_pair(&mut self, id: TraceId, delayed: bool, odd: u8, wire: &mut Vec<u8>) {
        self.name(id);
        self.pair(id.value() << 1 | 1, delayed, odd, wire);
    }

    fn data_alone(&mut self, byte: u8, wire: &mut Vec<u8>) {
        self.unnamed_pairs = self.unnamed_pairs.saturating_add(1);
        let auxiliary = self.auxiliary | (byte & 1) << LAST_PAIR;
        self.pair(byte & !1, false, auxiliary, wire);
    }

    fn id_alone(&mut self, id: TraceId, wire: &mut Vec<u8>) {
        self.name(id);
        self.pair(id.value() << 1 | 1, false, self.auxiliary, wire);
    }

    const fn name(&mut self, id: TraceId) {
        self.id = Some(id);
        self.named = true;
        self.unnamed_pairs = 0;
    }

    /// Sends a pair and the synchronisation packets that are due around it.
    ///
    /// Spec: ARM-FMT-008.
    fn pair(&mut self, even: u8, auxiliary: bool, odd: u8, wire: &mut Vec<u8>) {
        let FormatterPolicy { framing, full_sync_frames, half_sync_pairs, .. } = self.policy;
        if self.pair == 0 && framing != Framing::Memory {
            let due = self.frames.is_none_or(|frames| full_sync_frames > 0 && frames >= full_sync_frames);
            if due {
                wire.extend(FULL_SYNC);
                self.frames = Some(0);
            }
        }
        wire.extend([even, odd]);
        self.auxiliary |= u8::from(auxiliary) << self.pair;
        if self.pair == LAST_PAIR {
            self.unnamed_frames = if self.named { 0 } else { self.unnamed_frames.saturating_add(1) };
            self.frames = self.frames.map(|frames| frames.saturating_add(1));
            (self.pair, self.auxiliary, self.named) = (0, 0, false);
        } else {
            self.pair += 1;
        }
        self.pairs = self.pairs.saturating_add(1);
        if framing == Framing::Continuous && half_sync_pairs > 0 && self.pairs >= half_sync_pairs {
            wire.extend(HALF_SYNC);
            self.pairs = 0;
        }
    }
}
