//! Byte stream -> transport units.

use traceproof_vectors::riscv_etrace::Parameters;
use traceproof_vectors::{Place, Refusal};

use super::cut::Cutter;
use super::layout::Layout;
use super::unit::{Header, Unit};
use crate::riscv_etrace::Payload;

/// Cuts a byte stream into transport units and reads what surrounds their payload. Needs memory for one unit,
/// whatever the stream and its chunks.
///
/// It starts at a boundary between units, or, where the parameters say that it cannot know any, after the first
/// synchronisation sequence; what comes earlier is dropped without a fault, because it may be the rest of anything.
/// Spec: RVET-ENCAP-016 (EN 2.3).
#[derive(Clone, Debug, Default)]
pub struct Deframer {
    pub(in crate::riscv_etrace) layout: Layout,
    pub(in crate::riscv_etrace) cutter: Cutter,
}

impl Deframer {
    /// A deframer at the start of a stream.
    ///
    /// # Errors
    ///
    /// When no hardware can have these parameters.
    pub fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        let layout = Layout::new(parameters)?;
        Ok(Self { layout, cutter: Cutter::new(&layout) })
    }

    /// Consumes the next bytes of the stream and passes every complete unit to `each`.
    ///
    /// By reference and not as an iterator, because a unit that is copied between packets costs more than reading it.
    #[inline]
    pub fn push(&mut self, chunk: &[u8], mut each: impl FnMut(&Unit)) {
        if self.layout.is_bare() {
            self.cutter.push::<true>(chunk, |place, header, _, bytes| {
                let (body, length) = (bytes.get(1..).unwrap_or_default(), usize::from(header.length()));
                each(&Unit::new(place, header, Payload::load(body, length)));
            });
        } else {
            self.push_surrounded(chunk, &mut each);
        }
    }

    /// [`push`](Self::push) where something surrounds the payload. Not generic, so that the code of `each` is there
    /// once and the simple form stays as fast as it can be.
    pub(in crate::riscv_etrace) fn push_surrounded(&mut self, chunk: &[u8], each: &mut dyn FnMut(&Unit)) {
        let Self { layout, cutter } = self;
        cutter.push::<false>(chunk, |place, header, length, bytes| {
            each(&layout.read(place, header, bytes.get(..length).unwrap_or(bytes)));
        });
    }

    /// Whether a boundary between units is known.
    #[must_use]
    pub const fn is_synchronised(&self) -> bool {
        self.cutter.is_synchronised()
    }

    /// The stream ends here. Gives the header of a unit that is cut off, and the place of that header.
    pub fn finish(&mut self) -> Option<(Header, Place)> {
        self.cutter.finish()
    }

    /// Resets to the start of a stream.
    pub fn reset(&mut self) {
        self.cutter.reset();
    }

    /// Where the fields of the units are.
    pub(in crate::riscv_etrace) const fn layout(&self) -> &Layout {
        &self.layout
    }
}
