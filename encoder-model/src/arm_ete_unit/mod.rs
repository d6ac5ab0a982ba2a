//! The trace unit of ARM FEAT_ETE and ETMv4: a model of its programming states, registers and outputs.
//!
//! | purpose | place |
//! |---|---|
//! | The trace unit as an encoder | [`Encoder`] |
//! | What cannot happen | [`ImpossibleStimulus`] |
//! | Programming states, EN and the OS Lock | `machine` |
//! | Contents of registers | `registers` |
//! | Values of identification registers | `identification` |
//! | Accesses and how they end | `access` |
//! | Bytes in the unit, overflow and stall | `buffers` |
//! | Where bytes go | `routing` |
//! | What surrounds the unit | `surroundings` |
//! | One step after the other | `unit` |
//! | Bytes of a record | [`record_of`] |
//! | Register values for what is to be traced, and the sequence that writes them | [`settings`] |

mod access;
mod buffers;
mod encoder;
mod identification;
mod impossible;
mod inputs;
mod machine;
mod record;
mod registers;
mod routing;
pub mod settings;
mod surroundings;
mod unit;

pub use encoder::Encoder;
pub use impossible::{ImpossibleStimulus, UnencodablePacket};
pub use record::{Record, record_of};

#[cfg(test)]
mod tests;
