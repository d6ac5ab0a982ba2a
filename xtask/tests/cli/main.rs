//! The command line from the outside.

mod commands;
mod opencsd_snapshots;
