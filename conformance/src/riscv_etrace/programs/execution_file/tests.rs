//! Executions pass a round trip through files; damaged files are rejected.

use super::*;

fn steps() -> Vec<Step> {
    let retire = |address, privilege| Step::Retire(Retire { address, privilege, ..Retire::default() });
    let trap = |interrupt, cause, tval, epc, privilege| {
        Step::Trap(Trap { interrupt, cause, tval, epc, privilege, ..Trap::default() })
    };
    vec![
        retire(Address(0x8000_0000), 3),
        retire(Address(0x8000_0004), 3),
        retire(Address(0xffff_fffe), 0),
        trap(true, 7, 0, Address(0), 0),
        retire(Address(0), 3),
        trap(false, 0xffff, 0xffff_ffff, Address(0xffff_fff0), 1),
    ]
}

fn written(steps: &[Step], xlen: Xlen) -> Vec<u8> {
    let mut writer = ExecutionWriter::new(Vec::new(), xlen).expect("header");
    for step in steps {
        writer.step(step).expect("fits");
    }
    writer.finish().expect("written")
}

#[test]
fn what_is_written_is_read() {
    for xlen in [Xlen::Rv32, Xlen::Rv64] {
        let file = written(&steps(), xlen);
        let reader = open_execution(file.as_slice()).expect("header");
        assert_eq!(reader.xlen(), xlen);
        assert_eq!(reader.collect::<Result<Vec<_>, _>>().expect("records"), steps());
    }
}

/// The bytes of the description at the top, made by hand.
#[test]
fn the_format_is_as_described() {
    let plain: &[u8] = b"TPEXEC\x01\x20\x05\x03\x80\x80\x04\x08\x05\x00\x03\x07\x02\x01\x02\x03\x7b\x07\x04";
    let read: Vec<_> =
        ExecutionReader::new(plain).expect("header").map(|step| step.expect("record")).collect();
    let retire = |address| Retire { address, privilege: 3, ..Retire::default() };
    let trap = Trap { privilege: 0, ..Trap::default() };
    assert_eq!(
        read,
        [
            Step::Retire(retire(Address(0x8000))),
            Step::Retire(retire(Address(0x8004))),
            Step::Trap(Trap { interrupt: true, cause: 7, epc: Address(0x8006), ..trap }),
            Step::Trap(Trap { cause: 2, tval: 0x7b, epc: Address(0x8000), ..trap }),
        ]
    );
}

#[test]
fn every_cut_is_truncation_and_never_a_panic() {
    let file = written(&steps(), Xlen::Rv64);
    for length in 0..file.len() {
        let cut = open_execution(&file[..length]).and_then(|reader| reader.collect::<Result<Vec<_>, _>>());
        assert!(cut.is_err(), "cut to {length} bytes");
    }
    let plain = b"TPEXEC\x01\x40\x05\x03\x80\x80\x04\x08\x07\x02";
    for length in 8..plain.len() {
        let cut = ExecutionReader::new(&plain[..length]).expect("header").last();
        assert!(
            matches!(cut, Some(Err(ExecutionFileError { defect: ExecutionDefect::Truncated, .. }))),
            "cut to {length} bytes: {cut:?}"
        );
    }
}

#[test]
fn defects_are_told_with_their_offset() {
    let defect = |bytes: &[u8]| {
        let error = ExecutionReader::new(bytes).map_or_else(Some, |mut reader| reader.find_map(Result::err));
        error.map(|error| (error.offset, error.defect.to_string()))
    };
    let says = |bytes: &[u8], offset, text: &str| assert_eq!(defect(bytes), Some((offset, text.to_owned())));
    says(b"TPEXEX\x01\x20", 0, "not an execution file");
    says(b"TPEXEC\x02\x20", 6, "unknown version 2");
    says(b"TPEXEC\x01\x10", 7, "register width 16");
    says(b"TPEXEC\x01\x20\x09", 8, "unknown record 9");
    says(b"TPEXEC\x01\x20\x05\x08", 8, "privilege level 8");
    let wide = b"TPEXEC\x01\x20\x04\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00";
    says(wide, 10, "a number of more than 64 bits");
    says(b"TPEXEC\x01\x20\x07\x01", 8, "0 steps where the end record states 1");
    says(b"TPEXEC\x01\x20\x07\x00\x00", 10, "data after the end record");
    says(b"TPEXEC\x01\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 8, "a number of more than 64 bits");
    says(
        b"TPEXEC\x01\x20\x80\x80\x80\x80\x80\x80\x80\x80\x01",
        8,
        "address or trap value 0x80000000000000 is impossible",
    );
    assert_eq!(defect(b"TPEXEC\x01\x20\x07\x00"), None);
}

#[test]
fn steps_without_a_word_in_the_format_are_refused() {
    let mut writer = ExecutionWriter::new(Vec::new(), Xlen::Rv32).expect("header");
    for address in [1, 0x1_0000_0000] {
        let step = Step::Retire(Retire { address: Address(address), privilege: 3, ..Retire::default() });
        assert!(matches!(
            writer.step(&step),
            Err(ExecutionFileError { defect: ExecutionDefect::Address(_), .. })
        ));
    }
}
