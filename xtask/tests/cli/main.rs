//! The command line from the outside.

mod away;
mod ci;
mod commands;
mod explain;
mod frames;
mod hostile;
mod opencsd_snapshots;
mod report;
