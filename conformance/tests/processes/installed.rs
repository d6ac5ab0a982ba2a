//! What is there on this machine that tests need?

use std::process::Command;

/// Whether a program is installed; prints a message if not.
pub(crate) fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("NOTICE: there is no {program}; the kit that needs it is NOT tested");
    }
    found
}
