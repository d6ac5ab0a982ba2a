//! What people and machines read about a run. Every report is made of [`Run`](crate::run::Run) alone and is the same
//! for the same run.

pub mod causes;
pub mod coverage;
pub mod differences;
pub mod explain;
pub mod json;
#[cfg(feature = "junit")]
pub mod junit;
#[cfg(feature = "saboteurs")]
pub mod kill_matrix;
pub mod smoke;
pub(crate) mod table;
pub mod text;
