//! Streams A to D of section 9, joins at later A-syncs, `reset`.

use super::*;

/// Stream A's program.
fn program_a() -> Program {
    let main = [0xe3a0_0001, 0xe350_0000, 0x0a00_0002, 0xeb00_0003, NOP, LOOP, NOP, NOP, 0xe280_0001, BX_LR];
    arm(&[(0x18, &[0xe25e_f004]), (0x8000, &main), (0xc000, &[NOP, 0xf57f_f06f, 0xe59f_f000])])
}

const STREAM_A: &str = "08 00 80 00 00 21 | 8c | 09 | 72 09 | 8d 80 40 1c | 8b 80 01 | 76 | 88 | 0c";

/// 9.2: ARM, exception, exception return.
#[test]
fn stream_a() {
    assert_eq!(
        story(&Parameters::default(), &program_a(), STREAM_A),
        "On1 8000? 8004? 8008N 800cE 8020? 8024E 8010? Exc14@8014>18 18E ERet 8014E 8014E Trigger"
    );
}

fn program_b() -> Program {
    let main = [0xb508, 0xf000, 0xf805, 0x2801, 0xd0fb, 0xf3bf, 0x8f6f, 0xbd08, 0x3001, 0x4770];
    with_thumb(arm(&[(0x2_0000, &[NOP, 0xe1a0_f00e])]), 0x1_0000, &main)
}

const STREAM_B: [&str; 2] =
    ["08 01 00 01 00 29 41 | c0 | 8c | 6e 42 | 81 80 84 80 08 |", "| 42 89 cf 95 9a 92 80 80 80 00 | 01"];

fn parameters_b() -> Parameters {
    Parameters { context_id_bytes: 1, ..returns(16) }
}

/// 9.3: Thumb, return stack, Context ID, periodic I-sync, timestamp.
#[test]
fn stream_b() {
    let walked = "On1 10000tn? 10002tnE 10010tn? 10012tnE 10006tn? 10008tnE 10002tnE 10010tn? 10012tnE \
                  10006tn? 10008tnN 1000atnE cid42 1000etnE On0";
    let [before, after] = STREAM_B;
    let said =
        |sync: &str| story(&parameters_b(), &program_b(), &format!("{before} {ALIGN} 08 {sync} {after}"));
    let end = "T4886718345 20000n? 20004nE";
    assert_eq!(said("00 00 02 00 09 42"), format!("{walked} {end}"));
    // Another Context ID, another address, another security state.
    assert_eq!(said("00 00 02 00 09 41"), format!("{walked} contradiction@28.0 {end}"));
    assert_eq!(said("04 00 02 00 09 42"), format!("{walked} contradiction@28.0 T4886718345 20004nE"));
    assert_eq!(said("00 00 02 00 01 42"), format!("{walked} contradiction@28.0 T4886718345 20000? 20004E"));
}

/// 9.4: cycle-accurate, overflow, VMID, security change, failing periodic check.
#[test]
fn stream_c() {
    let parameters = Parameters { cycle_accurate: true, ..virtualization() };
    let stream = "08 00 80 00 00 21 94 | b2 | 8c | 09 60 02 | 42 e8 87 80 80 80 80 80 80 00 08 | \
                  08 00 c0 00 00 41 80 | d4 01 | 3c 07 | 89 80 41 01 18 | 08 14 80 00 00 09";
    assert_eq!(
        story(&parameters, &program_a(), stream),
        "+5=5 On1 +12=17 8000? 8004? 8008N +3=20 800cE +40=60 8020? 8024E +2=62 T1000 On2 \
         +21=83 c000? c004E vmid7 +6=89 c008E On0 contradiction@45.0"
    );
}

/// 9.5: the last state's instruction set after a direct BLX.
#[test]
fn stream_d() {
    let program = arm(&[(0x8000, &[NOP, 0xfa00_003d])]);
    let program = with_thumb(program, 0x8100, &[0x4708, 0, 0, 0, 0, 0, 0, 0, 0xe7fe]);
    assert_eq!(
        story(&Parameters::default(), &program, &format!("{ON} | 84 | 91 82 82 80 10 | 84")),
        "On1 8000? 8004E 8100tE 8110tE"
    );
}

/// PFT-DEC-069: from the second A-sync on the tail is the same.
#[test]
fn joining_at_a_later_sync_gives_the_tail() {
    let [before, after] = STREAM_B;
    let sync = format!("08 00 00 02 00 09 42 {after}");
    let all = story(&parameters_b(), &program_b(), &format!("{before} {ALIGN} {sync}"));
    let tail = story(&parameters_b(), &program_b(), &sync);
    assert!(all.ends_with(&tail) && tail.starts_with("On0 "), "{all} | {tail}");
    // Packets before the first I-sync are read, but say nothing; nor do bytes before the A-sync.
    let early = format!("84 6e 08 42 85 0c 76 8d 80 40 1c 72 09 3c 05 {sync}");
    assert_eq!(story(&parameters_b(), &program_b(), &early), tail);
    assert_eq!(story(&parameters_b(), &program_b(), &format!("04 {sync} {ALIGN} {sync}")), {
        format!("reserved-encoding@6.0 {tail}")
    });
}

#[test]
fn a_decoder_can_be_used_again() {
    let wire = bytes(&format!("{ALIGN} {STREAM_A}"));
    let run = |decoder: &mut Decoder| {
        let mut log = Log::<ArmPft>::default();
        decoder.push(&wire, &mut log);
        decoder.finish(&mut log);
        log.entries
    };
    let mut decoder = Decoder::default();
    assert!(run(&mut decoder).is_empty(), "before `begin`");
    decoder.begin(&Parameters::default(), &program_a()).expect("possible");
    let first = run(&mut decoder);
    decoder.push(&[0x84, 0x42], &mut ());
    decoder.reset();
    assert_eq!(run(&mut decoder), first);
    decoder.begin(&Parameters::default(), &Program::new()).expect("possible");
    assert_ne!(run(&mut decoder), first);
    assert!(decoder.begin(&context(3), &program_a()).is_err());
}

#[test]
fn cycle_totals_outlive_everything_but_a_reset() {
    let program = arm(&[(0x8000, &[LOOP])]);
    let wire = bytes(&format!("{ALIGN} {ON} 94 fc ff ff ff 7f 04 {ALIGN} {ON} 94"));
    let mut decoder = Decoder::default();
    decoder.begin(&counting(0), &program).expect("possible");
    let total = |decoder: &mut Decoder| {
        let mut log = Log::<ArmPft>::default();
        decoder.push(&wire, &mut log);
        let totals = log.events().filter_map(|event| match event {
            Event::Cycles { total, .. } => Some(*total),
            _ => None,
        });
        totals.collect::<Vec<u64>>()
    };
    assert_eq!(total(&mut decoder), [5, 5 + u64::from(u32::MAX), 10 + u64::from(u32::MAX)]);
    decoder.reset();
    assert_eq!(total(&mut decoder).first(), Some(&5));
}
