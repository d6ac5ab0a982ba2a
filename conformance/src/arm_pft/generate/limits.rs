//! The limit of instructions without waypoint: as many as it allows are followed, and not one more.

use traceproof_decoder::arm_pft::Decoder;
use traceproof_vectors::arm_pft::{ArmPft, Event, Parameters};
use traceproof_vectors::{Decoder as _, DecoderLimits, FaultClass, Log, Program, Section};

/// NOPs from 8000 on, before a branch to 8000.
const NOPS: usize = 5;

/// What leads over the NOPs after an I-sync: an E atom and a branch packet to 8000 of the branch after them, a waypoint
/// update that names the last NOP; after an I-sync of the branch, two E atoms. With the number of other instructions.
const PACKETS: [(u8, &[u8], u64); 4] =
    [(0, &[0x84], 1), (0, &[0x01], 1), (0, &[0x72, 0x09], 0), (0x14, &[0x88], 2)];

/// Follows each packet with a limit of as many NOPs as there are, and of one less.
///
/// Spec: PFT-ERR-012.
///
/// # Errors
///
/// A limit that is not kept.
pub(super) fn kept() -> Result<(), String> {
    let parameters = Parameters::default();
    let words = std::iter::repeat_n(0xe320_f000_u32, NOPS).chain([0xeaff_fff9]);
    let mut program = Program::new();
    let code = Section::new(0x8000_u64, words.flat_map(u32::to_le_bytes).collect(), "code");
    program.insert(code).map_err(|error| error.to_string())?;
    for (at, packet, others) in PACKETS {
        let wire = [&[0, 0, 0, 0, 0, 0x80, 8, at, 0x80, 0, 0, 0x21], packet].concat();
        for steps in [NOPS as u64 + 1, NOPS as u64, NOPS as u64 - 1, 1] {
            let mut decoder = Decoder::default();
            decoder.set_limits(&DecoderLimits::default().with_steps(steps));
            decoder.begin(&parameters, &program).map_err(|refusal| refusal.to_string())?;
            let mut log = Log::<ArmPft>::default();
            decoder.push(&wire, &mut log);
            decoder.finish(&mut log);
            let is_kept = steps >= NOPS as u64;
            let before = u64::from(at > 0);
            let walked = if is_kept { NOPS as u64 + others } else { before + steps };
            let instructions = log.events().map(|event| match event {
                Event::Instructions { count, .. } => *count,
                _ => 0,
            });
            let (instructions, faults) = (instructions.sum::<u64>(), faults_of(&log));
            if instructions != walked || faults != if is_kept { vec![] } else { vec![FaultClass::Limit] } {
                return Err(format!(
                    "{instructions} instructions and {faults:?} after {packet:02x?} with a limit of {steps}"
                ));
            }
        }
    }
    Ok(())
}

fn faults_of(log: &Log<ArmPft>) -> Vec<FaultClass> {
    log.faults().map(|fault| fault.class).collect()
}
