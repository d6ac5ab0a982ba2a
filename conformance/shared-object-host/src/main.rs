//! `traceproof-host OBJECT`: serves a decoder in a shared object with `tdut/2`.
//!
//! The object is loaded here and never by the runner: what it breaks is this process.

mod object;
mod serve;

use std::env;
use std::io::{stdin, stdout};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let (Some(path), None) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: traceproof-host OBJECT");
        return ExitCode::from(2);
    };
    let served = object::Object::load(Path::new(&path))
        .and_then(|object| serve::serve(&object, &mut stdin().lock(), &mut stdout().lock()));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("traceproof-host: {error}");
            ExitCode::FAILURE
        }
    }
}
