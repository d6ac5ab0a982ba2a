//! The command line from the outside.

mod away;
mod ci;
mod commands;
mod explain;
mod hostile;
mod opencsd_snapshots;
