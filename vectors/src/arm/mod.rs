//! What the ARM families have in common: the words for the way from a trace unit to the tool.
//!
//! | question | place |
//! |---|---|
//! | How do several trace sources share one stream? | [`Framing`], [`TraceId`], [`FRAME_BYTES`] |
//! | Which legal choices does a formatter have? | [`FormatterPolicy`] |
//!
//! Sources: ARM DDI 0314 (CoreSight Components), chapters 8 and 9; requirements `ARM-FMT-nnn`.

mod formatter;

pub use formatter::{
    FRAME_BYTES, FRAME_DATA_BYTES, FULL_SYNC, FormatterPolicy, Framing, HALF_SYNC, TraceId, TraceIdKind,
};
