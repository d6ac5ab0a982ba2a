//! The crate `riscv-etrace` and the reference models understand each other where neither has a known defect
//! (see `docs/findings/riscv-etrace.md`).

use traceproof_conformance::generate::seeded;
use traceproof_conformance::peers::riscv_etrace as peer;
use traceproof_conformance::riscv_etrace::generate::{Kind, Scenario, Scope, oracle, scenario};
use traceproof_decoder::riscv_etrace as decoder;
use traceproof_encoder_model::riscv_etrace as encoder_model;
use traceproof_encoder_model::riscv_etrace::{Hart, Retirement};
use traceproof_vectors::riscv_etrace::{InterruptReport, Policy, RiscvEtrace, Step, Stimulus, SyncMode};
use traceproof_vectors::{Decoder, Encoder, Log};

const SEEDS: u64 = 3000;

/// Executions without what the findings are about: traps, filters, notifications, changes of modes or context, losses,
/// resynchronisation, blocks, full or wrapping addresses, branches to themselves, jumps backward.
fn plain(seed: u64) -> Option<Scenario> {
    let length = 200 + usize::try_from(seed * 37 % 1200).unwrap_or_default();
    let mut scenario = scenario(&seeded(seed, length), Scope::Core);
    let plain = |step: &Step| match step {
        Step::Retire(retire) => !retire.notify && retire.ctype == 0 && retire.privilege == 3,
        Step::Trap(_) => false,
        Step::Stimulus(stimulus) => matches!(stimulus, Stimulus::Enable(_)),
    };
    let refused = |kind: Kind| match kind {
        Kind::Branch(offset) => offset == 0,
        Kind::Jump(offset) | Kind::Call(offset) => offset <= 0,
        _ => false,
    };
    let parameters = &mut scenario.parameters;
    parameters.retires_p = 1;
    scenario.policy =
        Policy { sync_mode: SyncMode::Off, interrupt_report: InterruptReport::Handler, ..Policy::default() };
    let low = scenario.program.base < 1 << 22;
    let usable = !parameters.modes.full_address
        && low
        && scenario.steps.iter().all(plain)
        && !scenario.program.instructions.iter().any(|(_, instruction)| refused(instruction.kind));
    usable.then_some(scenario)
}

/// Sends every plain execution from one to the other; how many there were.
fn all_come_back(
    encoder: &mut dyn Encoder<RiscvEtrace>,
    decoder: &mut dyn Decoder<RiscvEtrace>,
) -> Result<u32, String> {
    let mut executions = 0;
    for (seed, scenario) in (0..SEEDS).filter_map(|seed| Some((seed, plain(seed)?))) {
        let failed = |what: String| format!("seed {seed}: {what}\n{scenario}");
        let program = scenario.program.code().map_err(|error| failed(error.to_string()))?;
        encoder.begin(&scenario.parameters, &scenario.policy).map_err(|error| failed(error.to_string()))?;
        decoder.begin(&scenario.parameters, &program).map_err(|error| failed(error.to_string()))?;
        let (mut sent, mut received) = (Log::<RiscvEtrace>::default(), Log::default());
        Hart::new(&program, &scenario.parameters, Retirement::Single)
            .run(scenario.steps.iter().cloned(), &mut |stimulus| encoder.step(stimulus, &mut sent))
            .map_err(|error| failed(error.to_string()))?;
        encoder.finish(&mut sent);
        decoder.push(&sent.wire, &mut received);
        decoder.finish(&mut received);
        if !sent.packets().eq(received.packets()) {
            return Err(failed(String::from("the packets differ")));
        }
        oracle::judge(&scenario, &received).map_err(|mismatch| failed(mismatch.to_string()))?;
        executions += 1;
    }
    Ok(executions)
}

#[test]
fn the_peer_decodes_what_the_reference_encodes() {
    let executions = all_come_back(&mut encoder_model::Encoder::default(), &mut peer::Decoder::default());
    assert!(executions.as_ref().is_ok_and(|executions| *executions > 20), "{executions:?}");
}

#[test]
fn the_reference_decodes_what_the_peer_encodes() {
    let executions = all_come_back(&mut peer::Encoder::default(), &mut decoder::Decoder::default());
    assert!(executions.as_ref().is_ok_and(|executions| *executions > 20), "{executions:?}");
}
