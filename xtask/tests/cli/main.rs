//! The command line from the outside.

mod away;
mod commands;
mod explain;
mod hostile;
mod opencsd_snapshots;
