//! The command line from the outside.

mod away;
mod commands;
mod explain;
mod opencsd_snapshots;
mod report;
