//! The command line from the outside.

mod away;
mod ci;
mod commands;
mod decode;
#[cfg(unix)]
mod examples;
mod explain;
mod frames;
mod fuzz;
mod hints;
mod hostile;
mod opencsd_snapshots;
mod report;
#[cfg(unix)]
mod resume;
mod spoiled;
mod streams;
mod trace_unit;
mod unit_settings;
