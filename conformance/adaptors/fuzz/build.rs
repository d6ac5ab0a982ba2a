//! Compiles the decoder: your files instead of the example. With clang (`CC=clang CXX=clang++`) its coverage guides the
//! fuzzer; another compiler builds it without.

use std::env;

/// Your decoder, and what it is made of: files in C, and in C++.
const SOURCES: &[&str] = &["example.c"];

fn main() {
    let is_c = |source: &&&str| source.ends_with(".c");
    compile("decoder_c", SOURCES.iter().filter(is_c).copied().chain(["tdut.c"]), false);
    if !SOURCES.iter().all(|source| is_c(&source)) {
        compile("decoder_cpp", SOURCES.iter().filter(|source| !is_c(source)).copied(), true);
    }
    println!("cargo::rerun-if-changed=tdut.h");
    println!("cargo::rerun-if-env-changed=CC");
    println!("cargo::rerun-if-env-changed=CXX");
}

fn compile(library: &str, sources: impl Iterator<Item = &'static str>, cpp: bool) {
    let mut build = cc::Build::new();
    for source in sources {
        build.file(source);
        println!("cargo::rerun-if-changed={source}");
    }
    build.cpp(cpp).define("TDUT_SHARED", None).debug(true).opt_level(1);
    if build.get_compiler().is_like_clang() && env::var_os("CARGO_CFG_FUZZING").is_some() {
        build.flag("-fsanitize=fuzzer-no-link");
    }
    build.compile(library);
}
