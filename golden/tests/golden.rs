//! The C interface as C, Python and a simulator see it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use syn::{FnArg, Item, ReturnType};
use tempfile::TempDir;
use traceproof_encoder_model::riscv_etrace::{Hart, Retirement};
use traceproof_rtl::generate::Size;
use traceproof_rtl::judge::judge;
use traceproof_rtl::{Device, MonitorLog, pack, report};
use traceproof_vectors::case::{CaseFile, load};
use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::shipped;

fn crate_directory() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether a program is installed; prints a message if not.
fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("NOTICE: there is no {program}; the golden model is NOT tested with it");
    }
    found
}

/// The newest library with this suffix beside the test.
fn library(suffix: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test");
    let directories = test.ancestors().skip(1).take(2);
    let entries = directories.filter_map(|directory| fs::read_dir(directory).ok()).flatten().flatten();
    let libraries = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("libtraceproof_golden") && name.ends_with(suffix)
    });
    let modified = |path: &PathBuf| path.metadata().and_then(|about| about.modified()).ok();
    libraries.max_by_key(modified).unwrap_or_else(|| panic!("no {suffix} of the golden model"))
}

/// A type of Rust as C spells it.
fn in_c(of: &syn::Type) -> String {
    match of {
        syn::Type::Ptr(pointer) => {
            let is_const = matches!(pointer.mutability, syn::PointerMutability::Const(_));
            let constant = if is_const { "const " } else { "" };
            format!("{constant}{} *", in_c(&pointer.elem))
        }
        syn::Type::Path(path) => {
            let name = path.path.segments.last().expect("a name").ident.to_string();
            match name.as_str() {
                "c_char" => String::from("char"),
                "u8" | "u32" | "u64" => format!("uint{}_t", &name[1..]),
                "i64" => String::from("int64_t"),
                _ => name,
            }
        }
        _ => panic!("a type that C does not have"),
    }
}

/// The functions of `ffi.rs` as declarations of C, without blanks.
fn declared_in_rust() -> Vec<String> {
    let text = fs::read_to_string(crate_directory().join("src/ffi.rs")).expect("there");
    let file = syn::parse_file(&text).expect("Rust");
    let exported = file.items.iter().filter_map(|item| match item {
        Item::Fn(function) if function.sig.abi.is_some() => Some(&function.sig),
        _ => None,
    });
    exported
        .map(|sig| {
            let result = match &sig.output {
                ReturnType::Default => String::from("void"),
                ReturnType::Type(_, of) => in_c(of),
            };
            let arguments = sig.inputs.iter().map(|argument| match argument {
                FnArg::Typed(typed) => match typed.pat.as_ref() {
                    syn::Pat::Ident(name) => format!("{} {}", in_c(&typed.ty), name.ident),
                    _ => panic!("an argument without a name"),
                },
                FnArg::Receiver(_) => panic!("a method"),
            });
            let arguments: Vec<String> = arguments.collect();
            format!("{result} {}({});", sig.ident, arguments.join(", ")).replace(' ', "")
        })
        .collect()
}

#[test]
fn the_header_declares_the_functions() {
    let text = fs::read_to_string(crate_directory().join("include/traceproof_golden.h")).expect("there");
    let header: String = text.split_whitespace().collect();
    let functions = declared_in_rust();
    assert!(functions.len() >= 12, "{functions:?}");
    for function in &functions {
        assert!(header.contains(function.as_str()), "not in the header: {function}");
    }
    let declared = header.matches(");").count();
    assert_eq!(declared, functions.len(), "the header declares something else");
}

/// A program that reads steps of stimulus, one on a line, and prints the bytes of the stream.
const STEPS_IN_C: &str = r#"
#include "traceproof_golden.h"
#include <stdio.h>

int main(int argc, char **argv) {
    static char line[65536];
    uint8_t bytes[3]; /* few, so that packets are taken in pieces */
    tp_golden *model = argc > 1 ? tp_golden_open_file(argv[1]) : tp_golden_open(NULL, NULL);
    if (!model) { fprintf(stderr, "%s\n", tp_golden_error(NULL)); return 1; }
    while (fgets(line, sizeof line, stdin)) {
        int64_t count;
        if (tp_golden_step(model, line)) { fprintf(stderr, "%s\n", tp_golden_error(model)); return 1; }
        while ((count = tp_golden_take(model, bytes, sizeof bytes)) > 0)
            for (int64_t i = 0; i < count; i++) printf("%02x", bytes[i]);
    }
    tp_golden_close(model);
    return 0;
}
"#;

/// Two instructions at 0x1000, halted, by signals: payloads.
const SIGNALS_IN_C: &str = r#"
#include "traceproof_golden.h"
#include <stdio.h>
#include <string.h>

int main(void) {
    uint8_t bytes[64];
    int64_t count;
    tp_golden *wrong = tp_golden_open("iaddress_width_p = 0", NULL);
    if (wrong || !*tp_golden_error(NULL)) return 2;
    tp_golden *model = tp_golden_open("{\"xlen\":\"rv32\"}", "");
    if (!model) return 3;
    if (tp_golden_block(model, 99, 0, 1, 1, 0, 0) != -1 || !strstr(tp_golden_error(model), "itype")) return 4;
    if (tp_golden_field(model, 3, 1)) return 5;
    for (uint64_t address = 0x1000; address < 0x1008; address += 4)
        if (tp_golden_block(model, 0, address, 1, 1, 0, 0) || tp_golden_cycle(model, 0, 0, 3, 0, 0, 0, 0)) return 6;
    if (tp_golden_cycle(model, 0, 0, 3, 0, 0, 0, 4)) return 7;
    if (tp_golden_payload(model, bytes, 0) != -1) return 8;
    while ((count = tp_golden_payload(model, bytes, sizeof bytes)) > 0) {
        for (int64_t i = 0; i < count; i++) printf("%02x", bytes[i]);
        printf(" ");
    }
    tp_golden_close(model);
    return 0;
}
"#;

/// Compiles a program against header and static library.
fn compiled(directory: &TempDir, source: &str) -> PathBuf {
    let (file, program) = (directory.path().join("test.c"), directory.path().join("test"));
    fs::write(&file, source).expect("writable");
    let built = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(crate_directory().join("include"))
        .arg("-o")
        .arg(&program)
        .arg(&file)
        .arg(library(".a"))
        .args(["-lpthread", "-ldl", "-lm"])
        .output()
        .expect("it starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

fn output(command: &mut Command) -> String {
    let done = command.output().expect("it starts");
    assert!(done.status.success(), "{}: {}", done.status, String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text")
}

/// The first payloads of ET 7 by hand: support, start at 0x1000, address +4, support with `ended_rep`.
#[test]
fn a_c_program_drives_signals() {
    if !is_there("cc") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let came = output(&mut Command::new(compiled(&directory, SIGNALS_IN_C)));
    assert_eq!(came.trim(), "1f 730004 0a 5f");
}

/// Cases whose wire follows from single retirement, with the files of their stimulus and configuration.
fn some_cases() -> Vec<CaseFile<RiscvEtrace>> {
    let cases = load::<RiscvEtrace>(&shipped::suites()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let single = |file: &CaseFile<RiscvEtrace>| {
        file.resolved.execution.is_some()
            && file.case.parameters.retires_p == 1
            && !file.resolved.wire.is_empty()
    };
    let cases: Vec<_> = cases.into_iter().filter(single).step_by(40).collect();
    assert!(cases.len() >= 5, "only {} cases", cases.len());
    cases
}

/// Writes `configuration.json` and `steps.jsonl`.
fn write_case(directory: &Path, file: &CaseFile<RiscvEtrace>) {
    let (parameters, policy) = (&file.case.parameters, &file.case.policy);
    let configuration = serde_json::json!({ "parameters": parameters, "policy": policy });
    fs::write(directory.join("configuration.json"), configuration.to_string()).expect("writable");
    let mut steps = String::new();
    let execution = file.resolved.execution.as_ref().expect("an execution");
    Hart::new(&file.resolved.program, parameters, Retirement::Single)
        .with_filters(&policy.filters)
        .run(execution.iter().cloned(), &mut |stimulus| {
            steps.push_str(&serde_json::to_string(stimulus).expect("JSON"));
            steps.push('\n');
        })
        .expect("the program executes like that");
    fs::write(directory.join("steps.jsonl"), steps).expect("writable");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_c_program_gets_the_bytes_of_cases() {
    if !is_there("cc") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let program = compiled(&directory, STEPS_IN_C);
    for file in some_cases() {
        write_case(directory.path(), &file);
        let steps = fs::File::open(directory.path().join("steps.jsonl")).expect("there");
        let configuration = directory.path().join("configuration.json");
        let came = output(Command::new(&program).arg(configuration).stdin(steps));
        assert_eq!(came, hex(&file.resolved.wire), "{}", file.case.id);
    }
}

const STEPS_IN_PYTHON: &str = "
import sys
import traceproof_golden as golden
directory = sys.argv[2]
with golden.Golden(sys.argv[1], file=directory + '/configuration.json') as model:
    for step in open(directory + '/steps.jsonl'):
        model.step(step)
    print(model.take().hex())
with golden.Golden(sys.argv[1]) as model:
    model.field(3, 1)
    for address in (0x1000, 0x1004):
        model.cycle([dict(itype=0, iaddr=address, iretire=1, ilastsize=1)], privilege=3)
    model.cycle(halted=True)
    print(' '.join(iter(lambda: model.payload().hex(), '')))
try:
    golden.Golden(sys.argv[1], policy='sync_mode = 7')
except golden.GoldenError as error:
    print(str(error).split(':')[0])
";

#[test]
fn the_python_wrapper_gets_the_bytes_of_cases() {
    if !is_there("python3") {
        return;
    }
    let suffix = if cfg!(target_os = "macos") { ".dylib" } else { ".so" };
    let directory = tempfile::tempdir().expect("a directory");
    for file in some_cases() {
        write_case(directory.path(), &file);
        let came = output(
            Command::new("python3")
                .args(["-B", "-c", STEPS_IN_PYTHON])
                .arg(library(suffix))
                .arg(directory.path())
                .env("PYTHONPATH", crate_directory().join("python")),
        );
        let expected = format!("{}\n1f 730004 0a 5f\npolicy\n", hex(&file.resolved.wire));
        assert_eq!(came, expected, "{}", file.case.id);
    }
}

/// The model in the place of a device passes a pack for the device at every level.
#[test]
fn the_model_passes_a_pack_under_verilator() {
    if !is_there("verilator") {
        return;
    }
    let description = crate_directory().join("../vectors/rtl/device/rv64.toml");
    let text = fs::read_to_string(&description).expect("a description");
    let device = Device::parse("rv64.toml", &text).unwrap_or_else(|problem| panic!("{problem}"));
    let directory = tempfile::tempdir().expect("a directory");
    let (packed, log) = (directory.path().join("pack"), directory.path().join("monitor.log"));
    pack::write(&packed, &device, &text, Size::Smoke, 1).unwrap_or_else(|problem| panic!("{problem}"));
    output(
        Command::new("bash")
            .arg(crate_directory().join("sv/run_golden.sh"))
            .env("TP_DUT", &description)
            .env("TP_GOLDEN", library(".a"))
            .env("TP_BUILD", directory.path().join("build"))
            .env("TRACEPROOF_PACK", &packed)
            .env("TRACEPROOF_LOG", &log),
    );
    let log = MonitorLog::parse("monitor.log", &fs::read_to_string(&log).expect("a log"))
        .unwrap_or_else(|problem| panic!("{problem}"));
    let verdict = judge(&pack::read(&packed).unwrap_or_else(|problem| panic!("{problem}")), &log);
    let inexact = verdict.cases.iter().filter(|case| case.exact.failed() || case.fields.failed()).count();
    assert!(verdict.passes() && inexact == 0, "{}", report::text(&verdict));
    assert!(verdict.cases.len() >= 100, "only {} cases", verdict.cases.len());
}
