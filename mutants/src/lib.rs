//! Whether the suites detect changes of the reference decoders and encoder models.
//!
//! | question | place |
//! |---|---|
//! | What is changed? | [`find()`], [`Mutant`], [`Operator`] |
//! | How do all changes get into one program? | [`build()`], [`Layout`] |
//! | Which does the suite execute, which does it detect? | [`judge()`], [`Judgement`], [`Outcome`] |
//! | Which change no behaviour? | [`read`], [`Equivalent`] |
//! | Which code does no verdict depend on? | [`Outside`] |
//! | Which bugs did people plant? | [`read_planted`], [`Bug`] |
//! | What came out? | [`Report`] |
#![forbid(unsafe_code)]

mod compile;
mod copy;
mod equivalent;
mod error;
mod find;
mod journal;
mod judge;
mod mutant;
mod outcome;
mod outside;
mod planted;
mod record;
mod report;
mod sample;
mod splice;
mod worker;

pub use compile::{Built, Found, Sought, build, find};
pub use copy::Layout;
pub use equivalent::{Equivalent, entry, read};
pub use error::Error;
pub use find::{Skipped, Wanted};
pub use judge::{Judged, Judgement, Progress, judge};
pub use mutant::{Mutant, Operator};
pub use outcome::{Options, Outcome};
pub use outside::Outside;
pub use planted::{Bug, read as read_planted};
pub use report::{Counts, Report};
pub use worker::Failure;
