//! Where a subject of this process works: on a thread that can be left to itself.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use crate::Subject;
use crate::process::SubjectError;
use crate::verdict::Verdict;

/// Name of the threads on which subjects run, so that a panic hook can distinguish their panics from others.
pub const THREAD_NAME: &str = "traceproof-case";

/// Runs what asks `subject`, and makes verdicts of panics and of missed deadlines.
pub(crate) fn guarded(
    subject: &Subject,
    deadline: Duration,
    work: impl FnOnce() -> Verdict + Send + 'static,
) -> Verdict {
    attempt(subject, deadline, work).unwrap_or_else(|verdict| verdict)
}

/// As [`guarded`], for work with another result.
///
/// # Errors
///
/// The verdict of a subject that panicked, whose process failed, or that missed the deadline.
pub(crate) fn attempt<T: Send + 'static>(
    subject: &Subject,
    deadline: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Verdict> {
    if subject.keeps_deadlines() {
        // Processes are held to their own deadlines, and can be stopped.
        return catch_unwind(AssertUnwindSafe(work)).map_err(unwound);
    }
    isolated(deadline, work)
}

type Work = Box<dyn FnOnce() + Send>;

thread_local! {
    /// The thread that works for this one, if it has returned from all that it was given. Starting one for every check
    /// would take a third of the time of a run.
    static IDLE: Cell<Option<Worker>> = const { Cell::new(None) };
}

/// A thread that works until this is dropped, or until what it works at returns.
struct Worker {
    work: Sender<Work>,
}

impl Worker {
    fn start() -> Result<Self, Verdict> {
        let (sender, work) = mpsc::channel::<Work>();
        let run = move || work.into_iter().for_each(|work| work());
        match thread::Builder::new().name(THREAD_NAME.to_owned()).spawn(run) {
            Ok(_) => Ok(Worker { work: sender }),
            Err(error) => {
                let message = format!("no thread could be started: {error}");
                Err(Verdict::Crash { message, stderr: None })
            }
        }
    }
}

/// Runs on a separate thread and waits no longer than the deadline.
///
/// # Errors
///
/// The verdict on work that panicked or did not return in time; such a thread is abandoned.
fn isolated<T: Send + 'static>(
    deadline: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Verdict> {
    let worker = match IDLE.take() {
        Some(worker) => worker,
        None => Worker::start()?,
    };
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        let result = catch_unwind(AssertUnwindSafe(work)).map_err(unwound);
        // The receiver is gone when the deadline has passed.
        let _ = sender.send(result);
    };
    let sent = worker.work.send(Box::new(work));
    debug_assert!(sent.is_ok(), "an idle thread waits for work");
    match receiver.recv_timeout(deadline) {
        Ok(result) => {
            IDLE.set(Some(worker));
            result
        }
        Err(RecvTimeoutError::Timeout) => {
            Err(Verdict::Timeout { milliseconds: u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX) })
        }
        // What it panicked with panicked when it was dropped.
        Err(RecvTimeoutError::Disconnected) => {
            Err(Verdict::Crash { message: String::from("a panic ended its thread"), stderr: None })
        }
    }
}

/// What it means that a subject did not return: it panicked, or its process failed.
pub(crate) fn unwound(payload: Box<dyn Any + Send>) -> Verdict {
    match payload.downcast::<SubjectError>() {
        Ok(error) => (*error).into(),
        Err(payload) => Verdict::Crash { message: last_words(payload.as_ref()), stderr: None },
    }
}

/// Makes an error of a panic.
pub(crate) fn caught(work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(last_words(payload.as_ref())))
}

fn last_words(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without words")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use std::thread::ThreadId;

    use super::*;

    #[test]
    fn panics_and_hangs_are_verdicts() {
        // Results that end without a deadline must not depend on the load of the machine.
        let patient = Duration::from_secs(600);
        assert_eq!(isolated(patient, || 5), Ok(5));
        let crash = isolated::<()>(patient, || panic!("index {} out of range", 7));
        let message = String::from("index 7 out of range");
        assert_eq!(crash, Err(Verdict::Crash { message, stderr: None }));
        let (_keep, never) = mpsc::channel::<()>();
        let hang = isolated(Duration::from_millis(200), move || {
            let _ = never.recv();
        });
        assert_eq!(hang, Err(Verdict::Timeout { milliseconds: 200 }));
    }

    /// What a subject panics with, and what does so again when it is dropped.
    struct Twice;

    impl Drop for Twice {
        fn drop(&mut self) {
            panic!("again");
        }
    }

    #[test]
    fn a_thread_that_ended_is_a_crash_and_another_one_takes_its_place() {
        let patient = Duration::from_secs(600);
        let crash = isolated::<()>(patient, || std::panic::panic_any(Twice));
        assert!(matches!(crash, Err(Verdict::Crash { .. })), "{crash:?}");
        assert_eq!(isolated(patient, || 5), Ok(5));
    }

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(caught(|| Ok(())), Ok(()));
        assert_eq!(caught(|| Err(String::from("wrong"))), Err(String::from("wrong")));
        assert_eq!(caught(|| panic!("index {} out of range", 7)), Err(String::from("index 7 out of range")));
    }

    #[test]
    fn a_thread_works_again_unless_it_is_late() {
        let patient = Duration::from_secs(600);
        let worker = || isolated(patient, || thread::current().id());
        let first: Result<ThreadId, _> = worker();
        assert_ne!(first, Ok(thread::current().id()));
        let _ = isolated::<()>(patient, || panic!("after this, too"));
        assert_eq!(worker(), first);
        let (_keep, never) = mpsc::channel::<()>();
        let late = isolated(Duration::from_millis(50), move || {
            let _ = never.recv();
        });
        assert!(matches!(late, Err(Verdict::Timeout { .. })), "{late:?}");
        assert_ne!(worker(), first);
    }
}
