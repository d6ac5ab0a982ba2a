//! What kills the processes of subjects when this one is killed?
//!
//! A [`Child`](super::child::Child) kills its process group when it is dropped, but nothing is dropped after SIGKILL, or
//! when a second Ctrl-C ends the program. A shell waits for the end of a pipe that only this process can write to. It
//! gets the number of each group when the group begins and when it has ended; when the pipe ends, it kills what is left.

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Reads `+ GROUP` and `- GROUP`. Signals for the terminal's foreground group do not reach it: it has its own.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
groups=' '
while read -r change group; do
    case $change in
        +) groups="$groups$group " ;;
        -) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
    esac
done
for group in $groups; do kill -KILL "-$group" 2>/dev/null; done
"#;

/// Where the shell reads; `None` where there is none: then a runner that is killed leaves processes.
static GUARD: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();

/// Starts the shell before the first group begins, so that hardly any time is left in which nothing would kill it.
pub(super) fn ready() {
    GUARD.get_or_init(start);
}

/// A process group has begun.
pub(super) fn begun(group: u32) {
    tell('+', group);
}

/// A process group has ended; its number may belong to others from now on.
pub(super) fn ended(group: u32) {
    tell('-', group);
}

fn tell(change: char, group: u32) {
    if let Some(pipe) = GUARD.get_or_init(start) {
        let mut pipe = pipe.lock().unwrap_or_else(PoisonError::into_inner);
        // Without the shell nothing can be done.
        let _ = writeln!(pipe, "{change} {group}").and_then(|()| pipe.flush());
    }
}

#[cfg(unix)]
fn start() -> Option<Mutex<ChildStdin>> {
    use std::os::unix::process::CommandExt as _;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut shell = shell.process_group(0).spawn().ok()?;
    shell.stdin.take().map(Mutex::new)
}

#[cfg(not(unix))]
fn start() -> Option<Mutex<ChildStdin>> {
    None
}
