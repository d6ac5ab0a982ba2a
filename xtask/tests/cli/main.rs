//! The command line from the outside.

mod away;
mod commands;
mod explain;
mod frames;
mod opencsd_snapshots;
