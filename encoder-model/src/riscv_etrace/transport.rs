//! The stream of one encoder: packets, and the null packets between them (EN 2.2, 2.3).

use traceproof_vectors::Refusal;
use traceproof_vectors::riscv_etrace::{Encapsulation, Idle, LastNull, Policy};

use super::blocks::{Blocks, PADDING};
use super::encapsulation::{EXTEND, FLOW, Framing, Trace};
use super::unencodable::Defect;

/// Puts payloads of one source into a byte stream.
///
/// ```
/// use traceproof_encoder_model::riscv_etrace::{Trace, TraceKind, Transport};
/// use traceproof_vectors::riscv_etrace::{Encapsulation, NormalEncapsulation, Policy};
///
/// let constants = NormalEncapsulation { src_id_bits: 8, src_id: 0x0a, ..NormalEncapsulation::default() };
/// let mut transport = Transport::new(&Encapsulation::Normal(constants), &Policy::default()).unwrap();
/// let trace = Trace { payload: &[0x22, 0x12], bits: 16, kind: TraceKind::Instruction, timestamp: None };
/// let mut wire = Vec::new();
/// transport.send(&trace, &mut |bytes| wire.extend_from_slice(bytes)).unwrap();
/// assert_eq!(wire, [0x02, 0x0a, 0x22, 0x12]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Transport {
    framing: Framing,
    idle: Idle,
    /// Header bytes of the null packets.
    filler: u8,
    last: u8,
    /// Normal packets until the next synchronisation sequence.
    until_sync: u32,
    blocks: Blocks,
}

/// Null packets passed on at a time.
const RUN: usize = 64;

impl Default for Transport {
    /// Packets of a header byte and the payload, without null packets.
    fn default() -> Self {
        Self {
            framing: Framing::default(),
            idle: Idle::default(),
            filler: 0,
            last: EXTEND,
            until_sync: 0,
            blocks: Blocks::default(),
        }
    }
}

impl Transport {
    /// The stream of one source. Of `policy` it needs `idle`, `flow` and `payload_alignment`.
    ///
    /// # Errors
    ///
    /// When the encapsulation is unknown to this model, or a choice is not possible in it.
    ///
    /// Spec: RVET-ENCAP-011, RVET-ENCAP-012, RVET-ENCAP-014, RVET-ENCAP-015 (EN 2.2, 2.3).
    pub fn new(encapsulation: &Encapsulation, policy: &Policy) -> Result<Self, Refusal> {
        let framing = Framing::new(encapsulation, policy.flow, policy.payload_alignment)?;
        let framed = match encapsulation {
            // In blocks there are bytes, or there would be no first one.
            Encapsulation::Normal(normal) => normal.framed || normal.block_bytes > 0,
            // ATBYTES gives which bytes there are.
            Encapsulation::Atb => true,
            _ => false,
        };
        if !framed && policy.idle.last == LastNull::Idle {
            return Err(Refusal::invalid("idle", "without byte boundaries an alignment comes last"));
        }
        let filler = if framed { policy.flow << FLOW } else { 0 };
        let last = if policy.idle.last == LastNull::Alignment { filler | EXTEND } else { filler };
        let blocks = Blocks::new(encapsulation);
        Ok(Self { framing, idle: policy.idle, filler, last, until_sync: 0, blocks })
    }

    /// Goes on where `other` is, which writes to the same blocks of memory.
    pub(super) const fn share_blocks(&mut self, other: &Self) {
        self.blocks = other.blocks;
    }

    /// How packets are framed.
    #[must_use]
    pub const fn framing(&self) -> &Framing {
        &self.framing
    }

    /// Sends a packet and the null packets that are due before it.
    ///
    /// # Errors
    ///
    /// Those of [`Framing::frame`]; then nothing is sent.
    pub fn send(&mut self, trace: &Trace<'_>, wire: &mut dyn FnMut(&[u8])) -> Result<(), Defect> {
        let frame = self.framing.frame(trace)?;
        let mut nulls = 0;
        self.nulls(&mut |bytes| {
            nulls += bytes.len();
            wire(bytes);
        });
        self.blocks.pass(nulls);
        let padding = self.blocks.padding(frame.bytes().len());
        (0..padding).for_each(|_| wire(&[PADDING]));
        wire(frame.bytes());
        self.blocks.pass(padding + frame.bytes().len());
        Ok(())
    }

    /// Spec: RVET-ENCAP-013 to 015 (EN 2.3).
    fn nulls(&mut self, wire: &mut dyn FnMut(&[u8])) {
        let mut count = u32::from(self.idle.null_packets);
        if self.idle.sync_period > 0 {
            if self.until_sync == 0 {
                count = count.max(self.framing.longest_null_run() + 1);
                self.until_sync = self.idle.sync_period;
            }
            self.until_sync -= 1;
        }
        let Some(mut fillers) = count.checked_sub(1).map(|fillers| fillers as usize) else { return };
        let run = [self.filler; RUN];
        while fillers > 0 {
            let some = run.get(..fillers).unwrap_or(&run);
            wire(some);
            fillers -= some.len();
        }
        wire(&[self.last]);
    }
}
