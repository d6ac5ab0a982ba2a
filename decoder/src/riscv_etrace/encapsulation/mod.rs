//! Byte stream -> transport units: the ratified packet encapsulation (EN 2).

mod cut;
mod deframer;
mod demultiplexer;
mod layout;
mod unit;

pub use deframer::Deframer;
pub use demultiplexer::{Demultiplexer, Routed};
pub(super) use layout::Layout;
pub use unit::{Content, Header, Unit};
