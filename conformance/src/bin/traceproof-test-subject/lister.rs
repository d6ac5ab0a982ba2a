//! A command-line tool that lists the contents of a RISC-V E-Trace stream, and on request misbehaves in one way for one
//! stream.
//!
//! `traceproof-test-subject lister MODE HEX INPUT PARAMETERS [ADDRESS:FILE]…` where `HEX` is that stream; mode `json`
//! lists as JSON, one result on a line, every other mode lists events as text. It appends the number of its process to
//! the file that `PROCESSES` names.

use std::env;
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write, stdout};
use std::process::{self, Command, Stdio};
use std::thread;
use std::time::Duration;

use traceproof_conformance::adaptor::message::Item;
use traceproof_vectors::riscv_etrace::{Event, Parameters, RiscvEtrace};
use traceproof_vectors::{Decoder, Entry, Log, Place, Program, Section};

/// Longer than any test waits.
const FOREVER: Duration = Duration::from_secs(1000);

pub(super) fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Box<dyn Error>> {
    let mut next = || arguments.next().ok_or("an argument is missing");
    let (mode, trigger, input, parameters) = (next()?, next()?, next()?, next()?);
    if let Some(path) = env::var_os("PROCESSES") {
        writeln!(OpenOptions::new().append(true).create(true).open(path)?, "{}", process::id())?;
    }
    let wire = if input == "-" { from_stdin()? } else { fs::read(input)? };
    let parameters: Parameters = serde_json::from_slice(&fs::read(parameters)?)?;
    let mut program = Program::new();
    for section in arguments {
        let (address, file) = section.split_once(':').ok_or("no section")?;
        let address = u64::from_str_radix(address.trim_start_matches("0x"), 16)?;
        program.insert(Section::new(address, fs::read(file)?, ""))?;
    }
    if mode != "json" {
        println!("lister 1.0");
    }
    if wire.iter().map(|byte| format!("{byte:02x}")).collect::<String>() == trigger {
        misbehave(&mode)?;
    }
    let mut decoder = traceproof_decoder::riscv_etrace::Decoder::default();
    if Decoder::<RiscvEtrace>::begin(&mut decoder, &parameters, &program).is_err() {
        process::exit(89);
    }
    let mut log = Log::<RiscvEtrace>::default();
    decoder.push(&wire, &mut log);
    decoder.finish(&mut log);
    for (place, entry) in log.entries {
        if mode == "json" { json(place, entry)? } else { text(place, entry) }
    }
    Ok(())
}

fn from_stdin() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn json(place: Place, entry: Entry<RiscvEtrace>) -> serde_json::Result<()> {
    let item = match entry {
        Entry::Packet(packet) => Item::packet(place, packet),
        Entry::Event(event) => Item::event(place, event),
        Entry::Fault(fault) => Item::<RiscvEtrace>::fault(&fault),
    };
    println!("{}", serde_json::to_string(&item)?);
    Ok(())
}

fn text(Place { packet, byte, bit }: Place, entry: Entry<RiscvEtrace>) {
    match entry {
        Entry::Event(Event::Retire { first, end, count }) => {
            println!("RAN {:08X} up to {:08X}: {count}", first.0, end.0);
        }
        Entry::Event(Event::Context { privilege, precise, .. }) => {
            println!(
                "LEVEL {}{}",
                ["U", "S", "?", "M"][usize::from(privilege & 3)],
                if precise { "" } else { " about" }
            );
        }
        Entry::Event(Event::Stop { reason }) => println!("STOP {reason:?}"),
        Entry::Fault(fault) => println!("ERROR in packet {packet} at {byte}.{bit}: {}", fault.class),
        Entry::Packet(_) => println!("packet {packet}"),
        Entry::Event(other) => println!("OTHER {other:?}"),
    }
}

fn misbehave(mode: &str) -> io::Result<()> {
    match mode {
        "aborts" => {
            eprintln!("lister: assertion `sp != NULL` failed");
            process::abort();
        }
        "fails" => process::exit(7),
        "rejects" => process::exit(1),
        "refuses" => {
            eprintln!("no such trace");
            process::exit(89);
        }
        "hangs" => thread::sleep(FOREVER),
        "floods" => (0..1024).try_for_each(|_| stdout().write_all(&[b'x'; 1 << 20]))?,
        "babbles" => println!("Segmentation fault"),
        "closes-output" => become_sleep(Command::new("sleep").stdout(Stdio::null()))?,
        "leaves-children" => {
            for _ in 0..2 {
                Command::new("sleep").arg("1000").spawn()?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Goes on as another program, with other pipes.
#[cfg(unix)]
fn become_sleep(command: &mut Command) -> io::Result<()> {
    use std::os::unix::process::CommandExt;
    Err(command.arg("1000").exec())
}

#[cfg(not(unix))]
fn become_sleep(_: &mut Command) -> io::Result<()> {
    process::exit(0)
}
