//! Several sources on one stream.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use traceproof_vectors::Refusal;
use traceproof_vectors::riscv_etrace::{Encapsulation, PayloadAlignment};

use super::blocks::{Blocks, PADDING};
use super::encapsulation::{Framing, is_null};

/// Interleaves the streams of several sources packet by packet: packets are atomic.
///
/// Bytes of each source go in in any cuts; whole packets come out in the order that the caller asks for. Null packets
/// stay before the packet that they precede, so a synchronisation sequence remains one. Where the encapsulation has
/// blocks of memory, they are those of the common stream.
///
/// Spec: RVET-ENCAP-020 (EN 2).
///
/// ```
/// use traceproof_encoder_model::riscv_etrace::Multiplexer;
/// use traceproof_vectors::riscv_etrace::{Encapsulation, NormalEncapsulation};
///
/// let constants = NormalEncapsulation { src_id_bits: 8, ..NormalEncapsulation::default() };
/// let mut multiplexer = Multiplexer::new(&Encapsulation::Normal(constants), 2).unwrap();
/// multiplexer.push(0, &[0x01, 0x0a, 0x1f, 0x03, 0x0a, 0x73]);
/// multiplexer.push(1, &[0x01, 0x0b, 0x1f]);
/// let mut wire = Vec::new();
/// assert!(multiplexer.take(1, &mut wire) && multiplexer.take(0, &mut wire));
/// assert_eq!(wire, [0x01, 0x0b, 0x1f, 0x01, 0x0a, 0x1f]);
/// // The second packet of source 0 is not complete.
/// assert!(!multiplexer.take(0, &mut wire));
/// multiplexer.push(0, &[0x00, 0x04]);
/// assert!(multiplexer.take(0, &mut wire));
/// ```
#[derive(Clone, Debug)]
pub struct Multiplexer {
    framing: Framing,
    blocks: Blocks,
    queues: Vec<VecDeque<u8>>,
}

impl Multiplexer {
    /// A multiplexer of `sources` streams, which share the widths of `encapsulation`.
    ///
    /// # Errors
    ///
    /// When the encapsulation is unknown to this model, or has no source in the stream.
    pub fn new(encapsulation: &Encapsulation, sources: usize) -> Result<Self, Refusal> {
        if *encapsulation == Encapsulation::Atb {
            return Err(Refusal::invalid("encapsulation", "the source on ATID is not in the stream"));
        }
        let framing = Framing::new(encapsulation, 0, PayloadAlignment::Before)?;
        let blocks = Blocks::new(encapsulation);
        Ok(Self { framing, blocks, queues: alloc::vec![VecDeque::new(); sources] })
    }

    /// The next bytes of a source. A source that does not exist has none.
    pub fn push(&mut self, source: usize, bytes: &[u8]) {
        if let Some(queue) = self.queues.get_mut(source) {
            queue.extend(bytes);
        }
    }

    /// Moves the next packet of a source, and the null packets before it, to the end of `wire`; whether there was a
    /// whole one.
    pub fn take(&mut self, source: usize, wire: &mut Vec<u8>) -> bool {
        let Some(queue) = self.queues.get_mut(source) else { return false };
        let Some(nulls) = queue.iter().position(|&header| !is_null(header)) else { return false };
        let length = queue.get(nulls).map_or(0, |&header| self.framing.packet_length(header));
        let end = nulls + length;
        if queue.len() < end {
            return false;
        }
        wire.extend(queue.drain(..nulls));
        self.blocks.pass(nulls);
        let padding = self.blocks.padding(length);
        wire.extend(core::iter::repeat_n(PADDING, padding));
        wire.extend(queue.drain(..length));
        self.blocks.pass(padding + length);
        true
    }

    /// Bytes of a source that wait, or are left over: an incomplete packet, or null packets at the end.
    #[must_use]
    pub fn waiting(&self, source: usize) -> usize {
        self.queues.get(source).map_or(0, VecDeque::len)
    }
}
