//! Decides whether the shipped files go into the program: `cfg(embedded)`.
//!
//! They do in release builds with the feature `shipped`. Only then does a change of these files compile anything again.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(embedded)");
    println!("cargo::rerun-if-changed=build.rs");
    let wanted = env::var_os("CARGO_FEATURE_SHIPPED").is_some();
    if wanted && env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rustc-cfg=embedded");
        // A file that is new is not noticed otherwise.
        for directory in ["suites", "clauses", "schema", "programs"] {
            println!("cargo::rerun-if-changed={directory}");
        }
    }
}
