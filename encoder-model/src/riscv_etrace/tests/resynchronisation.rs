//! The resynchronisation timer (ET 9.2).

use traceproof_vectors::riscv_etrace::{
    Packet, Parameters, Policy, QualStatus, ReportedAddress, Step, SyncMode,
};

use super::bench::{BRANCH, JALR, NOP, branch, enable, encode, path, program, retire};
use traceproof_vectors::Address;

fn policy(sync_mode: SyncMode) -> Policy {
    // The limit is 2^(0 + 4) = 16.
    Policy { sync_mode, sync_max: 0, ..Policy::default() }
}

fn start(address: u64) -> Packet {
    Packet::Start { branch: true, privilege: 3, time: None, context: None, address: Address(address) }
}

fn address(delta: i64, updiscon: bool) -> Packet {
    let (notify, irreport, irdepth) = (false, false, 0);
    Packet::Address { address: ReportedAddress::Delta(delta), notify, updiscon, irreport, irdepth, irets: 0 }
}

fn branches(branches: u8, branch_map: u32, delta: i64) -> Packet {
    Packet::Branch {
        branches,
        branch_map,
        address: Some(ReportedAddress::Delta(delta)),
        notify: false,
        updiscon: false,
        irreport: false,
        irdepth: 0,
        irets: 0,
    }
}

fn ended() -> Packet {
    Packet::Support {
        ienable: true,
        encoder_mode: 0,
        qual_status: QualStatus::EndedRep,
        ioptions: 0,
        denable: false,
        dloss: false,
        doptions: 0,
    }
}

/// `nop` everywhere from 0x1000 to 0x10ff, except where `special` says otherwise.
fn packets(policy: &Policy, special: &[(u64, u32)], steps: &[Step]) -> Vec<Packet> {
    let word = |address| special.iter().find(|(at, _)| *at == address).map_or(NOP, |&(_, word)| word);
    let code: Vec<(u64, u32)> = (0x1000..0x1100).step_by(4).map(|address| (address, word(address))).collect();
    let steps: Vec<Step> = [enable(true)].iter().chain(steps).cloned().collect();
    let log = encode(&program(&code), &Parameters::default(), policy, &steps);
    log.packets().skip(1).copied().collect()
}

fn straight(instructions: u64) -> Vec<Step> {
    (0..instructions).map(|index| retire(0x1000 + 4 * index)).collect()
}

/// 0x1000 is the synchronisation packet's own. Eight instructions of two half-words each later, at 0x1020, the count is
/// 16, and the instruction after that is reported.
#[test]
fn half_words_are_counted() {
    let got = packets(&policy(SyncMode::HalfWords), &[], &straight(20));
    assert_eq!(got, [start(0x1000), start(0x1024), start(0x1048), address(4, false), ended()]);
}

/// The same with cycles: at 0x1040 the count is 16.
#[test]
fn cycles_are_counted() {
    let got = packets(&policy(SyncMode::Cycles), &[], &straight(20));
    assert_eq!(got, [start(0x1000), start(0x1044), address(8, false), ended()]);
}

/// Cycles in which nothing retires count too.
#[test]
fn idle_cycles_are_counted() {
    let idle = Step::Stimulus(traceproof_vectors::riscv_etrace::Stimulus::Cycle(
        traceproof_vectors::riscv_etrace::Cycle::default(),
    ));
    let steps = [straight(1), vec![idle; 15], path(&[0x1004, 0x1008, 0x100c])].concat();
    let got = packets(&policy(SyncMode::Cycles), &[], &steps);
    assert_eq!(got, [start(0x1000), start(0x1008), address(4, false), ended()]);
}

/// A jump to itself: one address packet per lap. The 16th makes the timer expire; the next one is known to come before
/// a synchronisation packet, which is the meaning of the updiscon flag.
#[test]
fn packets_are_counted() {
    let steps = path(&[0x1000; 22]);
    let got = packets(&policy(SyncMode::Packets), &[(0x1000, JALR)], &steps);
    let mut expected = vec![start(0x1000)];
    expected.extend([address(0, false); 16]);
    expected.extend([address(0, true), start(0x1000)]);
    expected.extend([address(0, false); 3]);
    let mut last = ended();
    if let Packet::Support { qual_status, .. } = &mut last {
        *qual_status = QualStatus::EndedNtr;
    }
    expected.push(last);
    assert_eq!(got, expected);
}

/// Pending branches are reported first (RVET-ENC-038). Not taken at 0x1010 and 0x1020: the count reaches 16 at
/// 0x1020, which is reported with both outcomes.
#[test]
fn branches_come_first() {
    let special = [(0x1010, BRANCH), (0x1020, BRANCH)];
    let got = packets(&policy(SyncMode::HalfWords), &special, &straight(12));
    assert_eq!(got, [start(0x1000), branches(2, 0b11, 0x20), start(0x1024), address(8, false), ended()]);
}

/// The branch that the synchronisation packet reports itself travels in its `branch` bit.
#[test]
fn branch_at_the_synchronisation_point() {
    let steps = [straight(9), vec![branch(0x1024, true)], path(&[0x1028])].concat();
    let got = packets(&policy(SyncMode::HalfWords), &[(0x1024, BRANCH)], &steps);
    let taken =
        Packet::Start { branch: false, privilege: 3, time: None, context: None, address: Address(0x1024) };
    assert_eq!(got, [start(0x1000), taken, address(4, false), ended()]);
}

/// RVET-ENC-080: at 0x1020 the timer expires on an indirect jump that was not reported. Its target is reported first,
/// with the updiscon flag, and the instruction after that gets the synchronisation packet.
#[test]
fn no_synchronisation_after_an_unreported_jump() {
    let steps = [straight(9), path(&[0x1008, 0x100c, 0x1010])].concat();
    let got = packets(&policy(SyncMode::HalfWords), &[(0x1020, JALR)], &steps);
    assert_eq!(got, [start(0x1000), address(8, true), start(0x100c), address(4, false), ended()]);
}

#[test]
fn the_timer_can_be_off() {
    let got = packets(&policy(SyncMode::Off), &[], &straight(60));
    assert_eq!(got, [start(0x1000), address(59 * 4, false), ended()]);
}
