//! The reference decoders and encoder models as a program that implements `tdut/2`.

use std::io::{stdin, stdout};
use std::process::ExitCode;

use traceproof_conformance::{Subject, adaptor};

fn main() -> ExitCode {
    match adaptor::serve(&Subject::reference(), &mut stdin().lock(), &mut stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("traceproof-adaptor: {error}");
            ExitCode::FAILURE
        }
    }
}
