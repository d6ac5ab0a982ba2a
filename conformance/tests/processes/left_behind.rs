//! Which processes that a subject has started are still there?

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// Those of the process groups, a number on each line, that still have members which are not dead. A killed process may
/// need a moment to end.
pub(crate) fn of_groups(started: &str) -> Vec<String> {
    let left = || -> Vec<String> {
        let alive = living_groups();
        started.lines().filter(|group| alive.iter().any(|other| other == group)).map(str::to_owned).collect()
    };
    for _ in 0..600 {
        if left().is_empty() {
            return Vec::new();
        }
        thread::sleep(Duration::from_millis(100));
    }
    left()
}

/// The process groups of all processes that live, from `/proc` on Linux. (Unknown on other systems.)
fn living_groups() -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let group = |path: PathBuf| {
        let stat = fs::read_to_string(path.join("stat")).ok()?;
        // "pid (name) state parent group"; names may have blanks and parentheses.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        (state != "Z").then(|| fields.nth(1).map(str::to_owned))?
    };
    entries.flatten().filter_map(|entry| group(entry.path())).collect()
}
