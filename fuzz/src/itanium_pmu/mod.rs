//! Properties of Itanium event qualification.

pub mod qualification;
pub mod registers;
