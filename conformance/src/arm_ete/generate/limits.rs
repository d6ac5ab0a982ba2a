//! The limits of a decoder: as many instructions and as many open elements as they allow are followed, and not one
//! more.

use traceproof_decoder::arm_ete::Decoder;
use traceproof_vectors::arm_ete::{ArmEte, Event, Parameters, QElements};
use traceproof_vectors::{Decoder as _, DecoderLimits, FaultClass, Log, Program, Section};

/// NOPs from 1000 on, before a branch to 1000 at 1014.
const NOPS: u64 = 5;

/// A-sync; Trace Info; Trace On; 1000 at EL1, Non-secure, AArch64.
const START: [u8; 21] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0, 0x04, 0x82, 0, 0x08, 0, 0, 0x31];

/// What leads over the NOPs, how many instructions that are, and the least limit for it: an E atom; an exception and a
/// Source Address with 1014; a Q element of eight instructions, of which two come after the branch.
const PACKETS: [(&[u8], u64, u64); 4] = [
    (&[0xf7], NOPS + 1, NOPS + 1),
    (&[0x06, 0x1d, 0x9a, 0x05, 0x08, 0, 0], NOPS, NOPS),
    (&[0xb6, 0x05, 0x08, 0, 0], NOPS + 1, NOPS + 1),
    (&[0xac, 0x08], NOPS + 3, NOPS + 3),
];

/// Tries each limit around those that are needed, with and without the fast path.
///
/// Spec: ETE-DEC-ERR-002, ETE-DEC-ERR-005.
///
/// # Errors
///
/// A limit that is not kept.
pub(super) fn kept() -> Result<(), String> {
    for decoder in [Decoder::default, || Decoder::default().without_fast_path()] {
        steps(decoder)?;
        speculation(decoder)?;
        transactions(decoder)?;
    }
    Ok(())
}

/// Instructions for one packet.
fn steps(decoder: fn() -> Decoder) -> Result<(), String> {
    let parameters = Parameters { q_elements: QElements::Any, ..Parameters::default() };
    for (packet, instructions, least) in PACKETS {
        for steps in 1..least + 2 {
            let limits = DecoderLimits::default().with_steps(steps);
            let log = decode(decoder(), &parameters, limits, &[&START, packet])?;
            let expected = match steps {
                _ if steps >= least => (instructions, vec![]),
                _ => (steps, vec![FaultClass::Limit]),
            };
            compare(&log, &expected, packet, steps)?;
        }
    }
    Ok(())
}

/// Atoms that are not committed, alone and three in a packet, and the Commit after them.
fn speculation(decoder: fn() -> Decoder) -> Result<(), String> {
    let parameters = Parameters { maxspec: 100, ..Parameters::default() };
    let limits = DecoderLimits::default().with_speculation(4);
    for (atoms, count) in [(0xf7, 1_u8), (0xff, 3)] {
        for packets in 1..=6 / count {
            let open = packets * count;
            let wire = vec![atoms; usize::from(packets)];
            for commit in [open, open + 1] {
                let log = decode(decoder(), &parameters, limits, &[&START, &wire, &[0x2d, commit]])?;
                let is_lost = open > 4;
                let mut faults = vec![FaultClass::Limit; usize::from(is_lost)];
                faults.extend((commit > open).then_some(FaultClass::Contradiction));
                let is_reported = !is_lost && commit == open;
                let instructions = if is_reported { u64::from(open) * (NOPS + 1) } else { 0 };
                compare(&log, &(instructions, faults), &wire, commit.into())?;
            }
        }
    }
    Ok(())
}

/// Atoms in a transaction, and its end.
fn transactions(decoder: fn() -> Decoder) -> Result<(), String> {
    let parameters = Parameters { transactions: true, ..Parameters::default() };
    let limits = DecoderLimits::default().with_speculation(4);
    for open in 1..=6_u8 {
        let wire = vec![0xf7; usize::from(open)];
        let log = decode(decoder(), &parameters, limits, &[&START, &[0x0a], &wire, &[0x0b]])?;
        let is_lost = open > 4;
        let instructions = if is_lost { 0 } else { u64::from(open) * (NOPS + 1) };
        compare(&log, &(instructions, vec![FaultClass::Limit; usize::from(is_lost)]), &wire, 4)?;
        if log.events().last() != Some(&Event::TransactionCommit) {
            return Err(format!("no end of the transaction after {open} atoms"));
        }
    }
    Ok(())
}

fn decode(
    mut decoder: Decoder,
    parameters: &Parameters,
    limits: DecoderLimits,
    wire: &[&[u8]],
) -> Result<Log<ArmEte>, String> {
    let words = std::iter::repeat_n(0xd503_201f_u32, NOPS as usize).chain([0x17ff_fffb]);
    let mut program = Program::new();
    let code = Section::new(0x1000_u64, words.flat_map(u32::to_le_bytes).collect(), "code");
    program.insert(code).map_err(|error| error.to_string())?;
    decoder.set_limits(&limits);
    decoder.begin(parameters, &program).map_err(|refusal| refusal.to_string())?;
    let mut log = Log::default();
    wire.iter().for_each(|chunk| decoder.push(chunk, &mut log));
    decoder.finish(&mut log);
    Ok(log)
}

/// Instructions, and classes of the faults.
fn compare(
    log: &Log<ArmEte>,
    expected: &(u64, Vec<FaultClass>),
    packet: &[u8],
    limit: u64,
) -> Result<(), String> {
    let instructions = log.events().map(|event| match event {
        Event::Instructions { count, .. } => *count,
        _ => 0,
    });
    let got = (instructions.sum::<u64>(), log.faults().map(|fault| fault.class).collect());
    if got == *expected {
        return Ok(());
    }
    Err(format!("{got:?} after {packet:02x?} with {limit}, not {expected:?}"))
}
