//! One byte stream of several sources -> one packet stream per source (EN 2.1.2).

use traceproof_vectors::riscv_etrace::Parameters;
use traceproof_vectors::{Place, Refusal};

use super::cut::Cutter;
use super::layout::Layout;

/// One transport unit on its way to the decoder of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routed<'a> {
    /// Index of the packet in the common stream, and the first bit of the header.
    pub place: Place,
    /// `srcID`, 0 where the encapsulation has none; `None` for null packets, which have no source, and for what a
    /// border between blocks of memory cuts off.
    pub source: Option<u16>,
    /// The whole unit as it travelled, header included.
    pub bytes: &'a [u8],
}

/// Splits the units of several sources apart. Needs memory for one unit, whatever the stream and its chunks.
///
/// The units of one source, one after the other, are again a stream in the same encapsulation, with byte offsets and
/// packet indices of its own. It has no null packets, thus neither synchronisation sequences nor blocks of memory: it
/// starts at a boundary between units.
///
/// ```
/// use traceproof_decoder::riscv_etrace::Demultiplexer;
/// use traceproof_vectors::riscv_etrace::{Encapsulation, NormalEncapsulation, Parameters};
///
/// let normal = NormalEncapsulation { src_id_bits: 8, ..NormalEncapsulation::default() };
/// let parameters = Parameters { encapsulation: Encapsulation::Normal(normal), ..Parameters::default() };
/// let mut demultiplexer = Demultiplexer::new(&parameters)?;
/// let mut streams = std::collections::BTreeMap::<u16, Vec<u8>>::new();
/// demultiplexer.push(&[2, 0x0a, 0x22, 0x12, 0x80, 1, 0x0b, 0x1f, 1, 0x0a, 0x0a], |unit| {
///     if let Some(source) = unit.source {
///         streams.entry(source).or_default().extend(unit.bytes);
///     }
/// });
/// assert_eq!(demultiplexer.finish(), None);
/// assert_eq!(streams[&0x0a], [2, 0x0a, 0x22, 0x12, 1, 0x0a, 0x0a]);
/// assert_eq!(streams[&0x0b], [1, 0x0b, 0x1f]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Demultiplexer {
    layout: Layout,
    cutter: Cutter,
}

impl Demultiplexer {
    /// A demultiplexer at the start of a stream. Of the parameters only the encapsulation matters; the source that it
    /// selects does not.
    ///
    /// # Errors
    ///
    /// When no hardware can have these parameters.
    pub fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        let layout = Layout::new(parameters)?;
        Ok(Self { layout, cutter: Cutter::new(&layout) })
    }

    /// Consumes the next bytes of the stream and passes every complete unit to `each`, in stream order.
    ///
    /// Spec: RVET-ENCAP-020 (EN 2).
    pub fn push(&mut self, chunk: &[u8], mut each: impl FnMut(Routed<'_>)) {
        let layout = self.layout;
        self.cutter.push::<false>(chunk, |place, header, length, bytes| {
            let bytes = bytes.get(..length).unwrap_or(bytes);
            let whole = !header.is_null() && !layout.is_cut(header, bytes);
            each(Routed { place, source: if whole { layout.source_id(bytes) } else { None }, bytes });
        });
    }

    /// The stream ends here. Gives the place of a unit that is cut off.
    pub fn finish(&mut self) -> Option<Place> {
        self.cutter.finish().map(|(_, place)| place)
    }

    /// Resets to the start of a stream.
    pub fn reset(&mut self) {
        self.cutter.reset();
    }
}
