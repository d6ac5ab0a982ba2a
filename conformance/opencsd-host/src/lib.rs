//! Runs the OpenCSD library in a process of its own and answers what it decodes.
//!
//! OpenCSD is not thread-safe, and on bad input it can crash, hang or ask for gigabytes. So it is linked only into a
//! host process: the client writes a [`Question`] to the host's input and reads [`Answer`]s from its output, with a
//! deadline and a memory limit.
//!
//! A question is one line of JSON, followed by as many bytes as it announces: the memory sections in their order, then
//! the trace. An answer is one line of JSON per record; [`Answer::Done`] or [`Answer::Refused`] is the last of a
//! question. A host answers any number of questions and ends with its input.
//!
//! | question | place |
//! |---|---|
//! | Which questions are there? | [`Question`], [`Source`] |
//! | What is a packet? | [`Packet`], and a module per protocol: [`etmv3`], [`etmv4`], [`ptm`] |
//! | What is a generic element? | [`Element`] |
//! | What is in frames? | [`Data`] |
//! | What answers them? | `serve`, with the feature `opencsd` |

mod element;
pub mod etmv3;
pub mod etmv4;
#[cfg(feature = "opencsd")]
mod library;
pub mod ptm;
mod question;
#[cfg(feature = "opencsd")]
mod serve;

pub use element::{Context, Element, ElementKind, Isa, LastInstruction, Security};
pub use question::{Answer, Data, Framing, Layer, Memory, Packet, PacketBody, Question, Source, VERSION};
#[cfg(feature = "opencsd")]
pub use serve::serve;
