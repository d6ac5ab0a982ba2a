//! Snapshot directories are read as they are written, and bad ones are refused with file and line.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use traceproof_conformance::snapshot::{
    BufferFormat, Class, Snapshot, SnapshotError, SnapshotProblem, Space,
};
use traceproof_vectors::MemorySpace;

const TOP: &str = "; a comment\n[snapshot]\nversion=1.0\n\n[device_list]\ndevice0=cpu.ini\ndevice1=etm.ini\r\n\n[trace]\nmetadata=trace.ini\n";
const CPU: &str = "[device]\nname=cpu_0\nclass=core\ntype=Cortex-A7\n\n[regs]\nPC(size:64)=0x8000\nV0=0x00112233445566778899aabbccddeeff\n\n\
    [dump]\nfile=image/code.bin\naddress=0x8000\nlength=0x4\noffset=2 # behind a header\n\n[dump2]\nfile=image/code.bin\naddress=0x8002\noffset=4\nspace=el2\n";
const ETM: &str = "[device]\nname=ETM_0\nclass=trace_source\ntype=ETM3.5\n[regs]\nETMCR(0x000)=0x10001860\nETMIDR(id:0x79)=1091564112\n";
const TRACE: &str = "[trace_buffers]\nbuffers=b0, b1,\n[b0]\nname=ETB_0\nfile=a.bin\nformat=coresight\n[b1]\nname=ETB_1\nfile=image\\code.bin\n\
    format=source_data\n[source_buffers]\nETM_0=ETB_0\nETM_0=ETB_1\n[core_trace_sources]\ncpu_0=ETM_0\n";

/// The good directory, with one file replaced.
fn directory(replaced: &str, text: &str) -> TempDir {
    let directory = TempDir::new().expect("a place for files");
    let write = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("inside")).expect("made");
        fs::write(path, bytes).expect("written");
    };
    for (name, whole) in [("snapshot.ini", TOP), ("cpu.ini", CPU), ("etm.ini", ETM), ("trace.ini", TRACE)] {
        write(name, if name == replaced { text } else { whole }.as_bytes());
    }
    write("a.bin", &[1, 2, 3]);
    write("image/code.bin", &[0xff, 0xff, 10, 11, 12, 13, 14]);
    directory
}

/// What the directory is refused with: file name, line, problem.
fn refused(replaced: &str, text: &str) -> (String, usize, SnapshotProblem) {
    let error = Snapshot::read(directory(replaced, text).path()).expect_err("refused");
    place(error)
}

fn place(SnapshotError { file, line, problem }: SnapshotError) -> (String, usize, SnapshotProblem) {
    (file.file_name().expect("a file").to_string_lossy().into_owned(), line, problem)
}

#[test]
fn a_directory_gives_sources_buffers_cores_and_memory() {
    let directory = directory("", "");
    let snapshot = Snapshot::read(directory.path()).expect("good");
    let [cpu, etm] = snapshot.devices.as_slice() else { panic!("two devices") };
    assert_eq!((cpu.class.clone(), cpu.model.as_str()), (Class::Core, "Cortex-A7"));
    assert_eq!((etm.class.clone(), etm.model.as_str()), (Class::TraceSource, "ETM3.5"));
    assert_eq!(etm.register("ETMCR"), Ok(Some(0x1000_1860)));
    assert_eq!(etm.register("etmidr"), Ok(Some(0x410f_f250)));
    assert_eq!(etm.register("ETMCCER"), Ok(None));
    assert_eq!(etm.registers[1].qualifier.as_deref(), Some("id:0x79"));
    assert_eq!(cpu.register("PC"), Ok(Some(0x8000)));
    let wide = cpu.register("V0").map_err(|error| (error.line, error.problem));
    assert_eq!(
        wide,
        Err((8, SnapshotProblem::NotANumber(String::from("0x00112233445566778899aabbccddeeff"))))
    );

    let [first, second] = snapshot.buffers.as_slice() else { panic!("two buffers") };
    assert_eq!((first.format, second.format), (BufferFormat::CoreSight, BufferFormat::SourceData));
    assert_eq!(
        (first.sources.as_slice(), second.sources.as_slice()),
        (&[String::from("ETM_0")][..], &[String::from("ETM_0")][..])
    );
    assert_eq!(snapshot.trace(first), Ok(vec![1, 2, 3]));
    assert_eq!(snapshot.trace(second).map(|bytes| bytes.len()), Ok(7));
    assert_eq!(snapshot.sources(first).map(|device| device.name.as_str()).collect::<Vec<_>>(), ["ETM_0"]);
    assert_eq!(snapshot.core_of("ETM_0"), Some(cpu));
    assert_eq!(snapshot.core_of("cpu_0"), None);

    // The second dump repeats two bytes of the first and adds one.
    let program = snapshot.program(cpu).expect("agrees");
    let bytes: Vec<_> =
        (0x8000..0x8006).map(|address| program.bytes_at(address).map(|bytes| bytes[0])).collect();
    assert_eq!(bytes, [Some(10), Some(11), Some(12), Some(13), Some(14), None]);
    // Each is kept in its space.
    let spaces: Vec<_> = program.sections().iter().map(|section| section.space).collect();
    assert_eq!(spaces, [MemorySpace::ANY, Space::El2.memory_space()]);
    assert_eq!(program.bytes_in(Space::El2.memory_space(), 0x8002), Some(&[12, 13, 14][..]));
    assert_eq!(program.bytes_in(Space::El2.memory_space(), 0x8001), Some(&[11][..]));
    assert_eq!(program.bytes_in(Space::El1S.memory_space(), 0x8002), Some(&[12, 13][..]));
}

#[test]
fn what_is_wrong_is_named_with_file_and_line() {
    use SnapshotProblem as P;
    let text = |name: &str| name.to_owned();
    let cases = [
        ("snapshot.ini", TOP.replace("=1.0", "=2"), 3, P::UnknownFormat(text("2"))),
        ("snapshot.ini", TOP.replace("[snapshot]", "[snapshot"), 2, P::Syntax),
        ("snapshot.ini", TOP.replace("; a comment", "a=b"), 1, P::OutsideSection),
        ("snapshot.ini", TOP.replace("[snapshot]", "[else]"), 0, P::MissingSection(text("snapshot"))),
        ("snapshot.ini", TOP.replace("device1=etm.ini", "device1=cpu.ini"), 7, P::Duplicate(text("cpu_0"))),
        ("snapshot.ini", TOP.replace("etm.ini", "../etm.ini"), 7, P::OutsideDirectory(text("../etm.ini"))),
        ("snapshot.ini", TOP.replace("etm.ini", "/etc/passwd"), 7, P::OutsideDirectory(text("/etc/passwd"))),
        ("snapshot.ini", TOP.replace("=trace.ini", ".ini"), 10, P::Syntax),
        ("cpu.ini", CPU.replace("0x8000\nlength", "zero\nlength"), 12, P::NotANumber(text("zero"))),
        ("cpu.ini", CPU.replace("0x8000\nlength", "0x+1\nlength"), 12, P::NotANumber(text("0x+1"))),
        ("cpu.ini", CPU.replace("space=el2", "space=el9"), 20, P::UnknownSpace(text("el9"))),
        (
            "cpu.ini",
            CPU.replace("class=core\n", ""),
            1,
            P::MissingKey { section: text("device"), key: text("class") },
        ),
        ("trace.ini", TRACE.replace("=coresight", "=perf"), 6, P::UnknownFormat(text("perf"))),
        ("trace.ini", TRACE.replace("b0, b1", "b0, b2"), 2, P::MissingSection(text("b2"))),
        ("trace.ini", TRACE.replace("name=ETB_1", "name=ETB_0"), 8, P::Duplicate(text("ETB_0"))),
        ("trace.ini", TRACE.replace("ETM_0=ETB_1", "ETM_1=ETB_1"), 13, P::UnknownName(text("ETM_1=ETB_1"))),
        ("trace.ini", TRACE.replace("cpu_0=ETM_0", "cpu_0=ETM_9"), 15, P::UnknownName(text("cpu_0=ETM_9"))),
    ];
    for (file, text, line, problem) in cases {
        assert_eq!(refused(file, &text), (file.to_owned(), line, problem));
    }
    let nothing = TempDir::new().expect("a place");
    let error = place(Snapshot::read(nothing.path()).expect_err("empty"));
    assert!(
        matches!(&error, (file, 0, SnapshotProblem::Unreadable(_)) if file == "snapshot.ini"),
        "{error:?}"
    );
    let odd = directory("", "");
    fs::write(odd.path().join("etm.ini"), [0xff, 0xfe]).expect("written");
    let error = place(Snapshot::read(odd.path()).expect_err("no text"));
    assert_eq!(error, (text("etm.ini"), 0, SnapshotProblem::NotText));
    fs::remove_file(odd.path().join("etm.ini")).expect("removed");
    fs::create_dir(odd.path().join("etm.ini")).expect("made");
    let error = place(Snapshot::read(odd.path()).expect_err("a directory"));
    assert_eq!(error, (text("etm.ini"), 0, SnapshotProblem::NotAFile));
}

#[test]
fn memory_that_is_not_there_or_contradicts_is_refused() {
    use SnapshotProblem as P;
    let program = |text: &str| {
        let directory = directory("cpu.ini", text);
        let snapshot = Snapshot::read(directory.path()).expect("readable");
        place(snapshot.program(&snapshot.devices[0]).expect_err("refused"))
    };
    let cpu = String::from("cpu.ini");
    let (file, line, problem) = program(&CPU.replace("length=0x4", "length=0xffffffffffffffff"));
    assert_eq!((file, line, problem), (cpu, 10, P::ShortFile { wanted: u64::MAX, bytes: 7 }));
    let (_, line, problem) = program(&CPU.replace("0x8002", "0x8003").replace("space=el2", "space=any"));
    assert_eq!(line, 16);
    assert!(matches!(problem, P::Memory(_)), "{problem:?}");
    let (_, line, problem) = program(&CPU.replace("0x8002", "0xffffffffffffffff"));
    assert_eq!(line, 16);
    assert!(matches!(problem, P::Memory(_)), "{problem:?}");
    let (_, line, problem) = program(&CPU.replacen("image/code.bin", "../code.bin", 1));
    assert_eq!((line, problem), (10, P::OutsideDirectory(String::from("../code.bin"))));
}

/// Deepens the checks over captures of real hardware, where they are at hand. The numbers are those of their list of
/// contents.
#[test]
fn real_snapshots_are_read() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/opencsd-snapshots");
    if !all.is_dir() {
        eprintln!("SKIPPED: no real snapshot is read, because {} is not there", all.display());
        return;
    }
    // Trace bytes in all buffers.
    let expected = [
        ("tc2-etmv3-id10", 10_873),
        ("Snowball", 8_192),
        ("trace_cov_a15", 36),
        ("a57_single_step", 128),
        ("armv8_1m_branches", 33),
        ("init-short-addr", 56),
        ("a55-test-tpiu", 49_152),
        ("juno_r1_1", 67_520),
        ("juno-uname-002", 102_992),
        ("001-ack_test", 16_168),
        ("ete-bc-instr", 33),
        ("ete-wfet", 155),
        ("ete_ip", 578),
        ("ete_mem", 1_906),
        ("ete_spec_1", 174),
        ("ete_spec_2", 169),
        ("event_test", 13),
        ("maxspec0_commopt1", 4_100),
        ("pauth_lr", 622),
        ("src_addr", 3_037),
        ("ss_ib_el1ns", 292),
        ("tme_simple", 97),
        ("tme_tcancel", 31),
        ("trace_file_vmid", 4_843),
        ("ts_bit64_set", 1_793),
        ("ts_marker", 1_378),
        ("stm-issue-27", 768),
        ("itm_only_raw", 261),
    ];
    for (name, bytes) in expected {
        let snapshot = Snapshot::read(&all.join(name)).unwrap_or_else(|error| panic!("{error}"));
        let read = snapshot.buffers.iter().map(|buffer| snapshot.trace(buffer).expect("the buffer").len());
        assert_eq!(read.sum::<usize>(), bytes, "{name}");
        for source in snapshot.buffers.iter().flat_map(|buffer| &buffer.sources) {
            assert!(
                snapshot.device(source).is_some_and(|device| device.class == Class::TraceSource),
                "{source}"
            );
        }
        for core in snapshot.devices.iter().filter(|device| device.class == Class::Core) {
            let program = snapshot.program(core);
            // The images that these name are not there.
            let without = ["a55-test-tpiu", "event_test"].contains(&name);
            assert!(program.is_ok() != without, "{name}: {program:?}");
        }
    }
    let tc2 = Snapshot::read(&all.join("tc2-etmv3-id10")).expect("good");
    let etm = tc2.sources(&tc2.buffers[0]).next().expect("one source");
    let registers =
        ["ETMCR", "ETMIDR", "ETMCCER", "ETMTRACEIDR"].map(|name| etm.register(name).expect("a number"));
    assert_eq!(registers, [Some(0x1000_1860), Some(0x410c_f250), Some(0x3440_08f2), Some(0x10)]);
    let program = tc2.program(tc2.core_of(&etm.name).expect("cpu_0")).expect("one dump");
    assert_eq!(program.bytes_at(0xc000_8000).map(<[u8]>::len), Some(0x50000));
    let pauth = Snapshot::read(&all.join("pauth_lr")).expect("good");
    assert_eq!(pauth.core_trace_sources.len(), 3, "a core comes once per session");
}
