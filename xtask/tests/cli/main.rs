//! The command line from the outside.

mod away;
mod commands;
mod opencsd_snapshots;
