//! The example of the C kit, as a program and as a shared object in the host, gives the same answers.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Start at 0x1000 in pieces, address +8, ended; after a reset, a packet that is cut off; and what the example does not
/// support.
const REQUESTS: &str = r#"{"op":"hello","id":0,"tdut":2,"nonce":"n\u0031","framings":["jsonl"],"max_message":100000}
{"op":"parameters","id":1,"key":0,"family":"riscv_etrace","parameters":{"privilege_width_p":2,"notime_p":true,"nocontext_p":true,"ecause_width_p":4,"iaddress_width_p":32,"iaddress_lsb_p":1,"support":{"encoder_mode_width":1,"ioptions":["implicit_return","full_address"],"data_fields":false,"doptions_width":0},"modes":{"full_address":false},"encapsulation":{"normal":{"src_id_bits":0,"timestamp_bytes":0,"type_bits":0,"synchronised":true}}}}
{"op":"image","id":2,"key":0,"sections":[{"address":"0x1000","bytes":"1300000013000000"}]}
{"op":"run","id":3,"start":"begin","parameters":0,"image":0,"chunks":[],"finish":false}
{"op":"run","id":4,"start":"continue","parameters":0,"image":0,"chunks":["0373","","00","04"],"finish":false}
{"op":"run","id":5,"start":"continue","parameters":0,"image":0,"chunks":["0112015f"],"finish":true}
{"op":"run","id":6,"start":"reset","parameters":0,"image":0,"chunks":["01120300"],"finish":true}
{"op":"parameters","id":7,"key":1,"family":"arm_etm","parameters":{}}
{"op":"run","id":8,"start":"begin","parameters":1,"image":0,"chunks":[],"finish":false}
{"op":"qualify","id":9}
{"op":"forget","id":10}
{"op":"bye"}
"#;

fn kit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../adaptors/c")
}

/// Whether there is a compiler; prints a message if not.
fn is_there() -> bool {
    let found = Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("NOTICE: there is no cc; shared objects are NOT tested");
    }
    found
}

fn compile(arguments: &[&str], output: &Path) {
    let built = Command::new("cc")
        .args(["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror"])
        .args(arguments)
        .arg("-o")
        .arg(output)
        .args([kit().join("example.c"), kit().join("tdut.c")])
        .output()
        .expect("it starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

fn asked(command: &mut Command) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(REQUESTS.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

#[test]
fn a_shared_object_answers_as_the_program_does() {
    if !is_there() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (program, object) = (directory.path().join("adaptor"), directory.path().join("adaptor.so"));
    compile(&[], &program);
    compile(&["-shared", "-fPIC", "-DTDUT_SHARED"], &object);
    let host = asked(Command::new(env!("CARGO_BIN_EXE_traceproof-host")).arg(&object));
    let program = asked(&mut Command::new(&program));
    assert!(host.status.success() && program.status.success());
    let lines = |output: &Output| -> Vec<serde_json::Value> {
        let text = String::from_utf8(output.stdout.clone()).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let (host, program) = (lines(&host), lines(&program));
    assert_eq!(host.len(), 11);
    assert_eq!(host[0]["decoders"], program[0]["decoders"]);
    assert_eq!((&host[0]["name"], &host[0]["nonce"]), (&"example-c".into(), &"n1".into()));
    assert_eq!(host[1..], program[1..]);

    // By hand from ET 7.2: 73 00 04 is format 3, subformat 0, branch 1, privilege 3, address 0x800 half-words.
    let start = serde_json::json!({ "start": { "branch": true, "privilege": 3, "address": "0x1000" } });
    assert_eq!(host[4]["results"][0], serde_json::json!({ "at": [0, 0, 0], "packet": start }));
    assert_eq!(host[3], serde_json::json!({ "id": 3, "status": "ok", "results": [] }));
    let kinds: Vec<&str> = [4, 5]
        .into_iter()
        .flat_map(|id| host.iter().filter(move |answer| answer["id"] == id))
        .flat_map(|answer| answer["results"].as_array().expect("results"))
        .map(|result| result["packet"].as_object().expect("a packet").keys().next().expect("named").as_str())
        .collect();
    assert_eq!(kinds, ["start", "address", "support"]);
    assert_eq!(host[6]["results"][1], serde_json::json!({ "at": [1, 2, 0], "fault": "truncated" }));
    assert_eq!(host[8], serde_json::json!({ "id": 8, "status": "unsupported", "feature": "other families" }));
    assert_eq!(host[9]["status"], "unsupported");
}

#[test]
fn what_is_no_object_is_said() {
    let missing = Command::new(env!("CARGO_BIN_EXE_traceproof-host")).arg("/no/such/object").output();
    assert_eq!(missing.expect("it starts").status.code(), Some(1));
    let nothing = Command::new(env!("CARGO_BIN_EXE_traceproof-host")).output().expect("it starts");
    assert_eq!(nothing.status.code(), Some(2));
}
