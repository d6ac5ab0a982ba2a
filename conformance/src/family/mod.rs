//! What the harness knows of a family beyond its vocabulary.
//!
//! | question | place |
//! |---|---|
//! | What must every family define? | [`FamilyRules`] |
//! | Which parts can it have? | [`Generator`], [`Sweeps`], [`SyncPoints`], [`ExecutionFormat`], [`Programs`], [`TimingOf`], [`Instructions`], [`Captures`], [`Saboteurs`], [`Bench`] |
//! | Which protocols and families are there? | [`IMPLEMENTED`], [`families`], [`protocols_of`], [`visit`], [`protocol_of`] |
//!
//! A part is a struct without defaults: a family implements it completely or declares that it has none. Nothing here
//! imports the judge, the relations or the saboteurs, which are generic over [`FamilyRules`]; the implementations are
//! in `conformance/src/<family>/`.

mod bench;
mod captures;
mod execution_files;
mod generator;
mod instructions;
mod legal_choices;
mod programs;
mod registry;
mod rules;
mod saboteurs;
mod sweeps;
mod sync_points;
mod timing;

pub use bench::{
    Bench, BenchError, BenchReport, BenchRequest, BenchTask, MeasureMemory, Measurement, Memory,
};
pub use captures::Captures;
pub use execution_files::{
    DriveFile, ExecutionError, ExecutionFormat, FileSummary, STIMULUS, drive_stimulus,
};
pub use generator::{Generated, Generator};
pub use instructions::{Clock, Encoding, Instructions, Run};
pub use legal_choices::LegalChoice;
pub(crate) use legal_choices::{EITHER, legal_choices};
pub use programs::{
    DriveRecording, EncodeError, FoundProgram, ProgramRequest, Programs, RecordedProgram, Wanted,
};
pub use registry::{IMPLEMENTED, Visitor, families, protocol_of, protocols_of, visit};
pub use rules::{FamilyRules, FieldClause, LegalForm, Reasons, WritePackets, clauses_of, toml_error};
pub use saboteurs::{Saboteur, Saboteurs, Side, SideName};
pub use sweeps::{Sweep, Sweeps};
pub use sync_points::{FirstWrong, Garbage, PriorState, SyncPoints, Tail};
pub use timing::{Timing, TimingOf};
pub use traceproof_differential::JudgedProtocol;
