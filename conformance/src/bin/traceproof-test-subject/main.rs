//! Subjects for the tests of the runner, in one binary: `traceproof-test-subject misbehaving|dishonest|lister|choosing
//! ARGUMENT…`.

mod choosing;
mod dishonest;
mod lister;
mod misbehaving;

use std::env;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    match arguments.next().as_deref() {
        Some("choosing") => choosing::run(arguments),
        Some("misbehaving") => Ok(misbehaving::run(arguments)?),
        Some("dishonest") => Ok(dishonest::run(arguments)?),
        Some("lister") => lister::run(arguments),
        _ => Err("one of `misbehaving`, `dishonest`, `lister` and `choosing` must come first".into()),
    }
}
