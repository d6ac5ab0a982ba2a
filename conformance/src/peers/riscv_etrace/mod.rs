//! The crate `riscv-etrace` as a subject: its packet decoder and tracer, its generator and packet encoder.
//!
//! The adaptors translate and add nothing, with two exceptions. The tracer is an iterator without end in some loops, so
//! the adaptor stops it after [`ITEMS_PER_PACKET`] items and reports the class `limit`. The crate does not keep
//! information of packets beyond the flow; so `Time` and `Stop` come from the packets.

mod code;
mod decoder;
mod encoder;
mod packet;
mod parameters;

pub use code::Code;
pub use decoder::{Decoder, ITEMS_PER_PACKET};
pub(crate) use encoder::PortStep;
pub use encoder::{Encoder, Rewritten, rewritten};
pub use parameters::{VERSION, parameters};

use traceproof_vectors::riscv_etrace::RiscvEtrace;

use crate::Subject;

/// The crate's decoder and encoder.
#[must_use]
pub fn subject() -> Subject {
    Subject::new("riscv-etrace", VERSION)
        .with_decoder::<RiscvEtrace>(|| Box::new(Decoder::default()))
        .with_encoder::<RiscvEtrace>(|| Box::new(Encoder::default()))
}

/// The crate's packet decoder alone, in the modes that its tracer refuses, too.
#[must_use]
pub fn packet_reader() -> Subject {
    Subject::new("riscv-etrace-packets", VERSION)
        .with_decoder::<RiscvEtrace>(|| Box::new(Decoder::of_packets()))
}
