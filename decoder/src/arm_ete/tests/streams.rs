//! Streams A and B: sections 10.2 and 10.3 of the sheet, and 10.4.

use super::*;

#[test]
fn stream_a() {
    let program = words(&[
        (
            0x40_1000,
            &[0xd280_0040, 0x9400_0007, 0xd100_0400, 0xb5ff_ffc0, 0xd400_0001, NOP, LOOP, NOP, NOP, RET],
        ),
        (0xffff_0000_0808_0400, &[0xd538_4021, ISB, 0xd69f_03e0]),
    ]);
    let wire = "01 00 | 04 | 82 00 08 40 00 30 | e2 | 06 05 95 05 | 85 00 02 08 08 00 00 ff ff 31 | db | 91 | 81 30 \
                | f7";
    let expected = "Info On 0ns64 401000? 401004E 401020? 401024E 401008? 40100cE 401004E 401020? 401024E \
                    401008? 40100cN 401010? Exc2@401014 1ns64 ffff000008080400? ffff000008080404E \
                    ffff000008080408E 0ns64 401014? 401018E";
    let parameters = returns(Parameters::default());
    assert_eq!(story(&parameters, &program, wire), expected);
}

fn stream_b_code() -> Program {
    words(&[
        (0x1000, &[0x1400_0400]),
        (0x2000, &[0xd280_0020, 0xf940_0062, 0xeb02_001f, 0x5400_7fa0, 0xf900_0062]),
        (0x3000, &[0xf100_0421, 0x54ff_ffe1, RET]),
        (0x4000, &[NOP, 0xd69f_03e0]),
    ])
}

#[test]
fn stream_b() {
    let parameters = Parameters { timestamp_markers: false, ..c0(4) };
    let wire = "01 09 01 10 | 04 | 82 00 08 00 00 31 | d9 | 2e 01 | 06 1d 95 80 10 | 95 80 20 | f7 | 0f 02 | 91 | 33 \
                | f7 | b4 82 18 | 95 80 08 | f7 | 03 c5 c6 04 05 | 0c 3a | 71";
    let expected = "Info On 1ns64 1000E Exc14@2000 +?=0 4000? 4004E 2000? 2004? 2008? 200cE 3000? 3004E 3000? \
                    3004? 3008E 1000E T74565/5 +26=26 Ev0";
    assert_eq!(story(&parameters, &stream_b_code(), wire), expected);
    // An event has the place of its packet: the Exception is that of byte 26.
    let log = log_within(&DecoderLimits::default(), &parameters, &stream_b_code(), wire);
    let place = log
        .entries
        .iter()
        .find_map(|(place, entry)| matches!(entry, Entry::Event(Event::Exception { .. })).then_some(*place));
    assert_eq!(place, Some(Place { packet: 6, byte: 26, bit: 0 }));
}

#[test]
fn fragments() {
    // The transaction was open for nothing but an address.
    let wire = "01 01 10 | 04 | 0a | 82 33 1b 0c 00 31 | 06 31 70 | 9a 31 1b 0c 00 | f7";
    let program = words(&[(0xc_36c4, &[NOP, LOOP])]);
    assert_eq!(story(&c1(), &program, wire), "Info On Start 1ns64 Fail c36c4? c36c8E");
    let ret = words(&[(0x1000, &[RET])]);
    assert_eq!(after_p(&c0(8), &ret, "f6 30 2d 01"), "1000E");
    let wire = format!("f7 00 05 {ALIGN} 01 00 04 82 00 08 00 00 31 f7");
    assert_eq!(after_p(&c1(), &branches(), &wire), "1000E Ovf Info On 1ns64 1000E");
    assert_eq!(story(&c1(), &branches(), "71"), "Ev0");
}
