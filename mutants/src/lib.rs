//! Whether the suites detect changes of the reference decoders and encoder models.
#![forbid(unsafe_code)]

mod compile;
mod copy;
mod error;
mod find;
mod mutant;
mod splice;

pub use compile::{Built, Found, build, find};
pub use copy::Layout;
pub use error::Error;
pub use find::{Skipped, Wanted};
pub use mutant::{Mutant, Operator};
