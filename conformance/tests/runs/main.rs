//! The runner, its judge and its reports over suites, generated executions, real programs and captures.

mod baseline;
mod differential;
mod dissection;
mod etmv3_capture;
<<<<<<< HEAD
mod fast_path;
=======
mod false_verdicts;
>>>>>>> a022285 (conformance: do not judge what a subject does not claim, in real programs and captures)
mod generated;
mod judge;
mod programs;
mod saboteurs;
mod snapshot;
mod subjects;
mod suite;
