//! Real programs: compiled code, the executions an emulator recorded, and their way through an encoder and a
//! decoder.
//!
//! | question | place |
//! |---|---|
//! | Which programs are shipped, and how are they made? | [`Shipped`], [`ShippedProgram`] |
//! | How is an execution stored in a file? | [`ExecutionReader`], [`ExecutionWriter`] |
//! | How are foreign recordings converted to steps? | [`foreign`] |
//! | Where may an execution go next? | [`FlowMap`], [`FlowCheck`] |
//! | How does a program become an ELF file, and a run a recording? | [`compile`], [`record`], [`QemuLog`] |
//! | Under which parameters does an execution travel? | [`ParameterSet`] |
//! | Does all of it come back? | [`round_trip`], [`run_all`] |
//! | How few bits does an instruction cost? | [`compression_table`] |

mod comparison;
mod compile;
mod compression;
mod execution_file;
mod feed;
mod flow;
pub mod foreign;
mod parameter_sets;
mod qemu_log;
mod record;
mod recorded;
mod round_trip;
mod shipped;
mod verdicts;

pub use comparison::{Divergence, Observation};
pub use compile::{CompileError, compile};
pub use compression::compression_table;
pub use execution_file::{
    ExecutionDefect, ExecutionFileError, ExecutionReader, ExecutionWriter, open_execution,
};
pub use feed::{Environment, TriggerPeriod};
pub use flow::{FlowCheck, FlowInstruction, FlowKind, FlowMap, IllegalFlow};
pub use parameter_sets::{OWN_SET, ParameterSet, Setup};
pub use qemu_log::{Delegation, QemuLog, QemuLogDefect, QemuLogError};
pub use record::{RecordError, Recording, record};
pub use round_trip::{ProgramResult, RoundTrip, RoundTripError, Subjects, round_trip, run_all};
pub use shipped::{Image, Shipped, ShippedCause, ShippedError, ShippedExecution, ShippedProgram};
pub(in crate::riscv_etrace) use verdicts::PROGRAMS;
