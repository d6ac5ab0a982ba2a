//! Whether both models put fields into the same bits.

use traceproof_decoder::itanium_pmu::registers::{Context, defined};
use traceproof_decoder::itanium_pmu::{decode_write, encode_register};
use traceproof_encoder_model::itanium_pmu::{Modes, contents_of, value_of};
use traceproof_vectors::itanium_pmu::{Contents, Parameters, Register};

use super::check;
use crate::generate::Entropy;

/// Bits of PSR and PMV that have fields.
const PSR: u64 = 0x7_0130_4004;
const PMV: u64 = 0x1_00ff;

/// Takes any value of each register apart by one model, and puts it together by both.
pub(super) fn judge(entropy: &mut Entropy<'_>) -> Result<(), String> {
    let (instruction_tlb, data_tlb) = (entropy.chance(128), entropy.chance(128));
    let context = Context {
        frozen: true,
        instruction_tlb: Some(instruction_tlb),
        data_tlb: Some(data_tlb),
        ..Context::new(&Parameters::default())
    };
    let word = entropy.word();
    for register in Register::implemented() {
        for value in [word, !word, word.rotate_left(u32::from(register.index)), u64::MAX, 0] {
            let read = decode_write(register, value, &context);
            let modes = Modes { instruction_tlb, data_tlb };
            let contents = contents_of(register, value, modes);
            check(contents == read.contents, || {
                format!("{register} = {value:#x} has {:x?} or {contents:x?}", read.contents)
            })?;
            let held = read.value & fields_of(register, &context);
            let (model, decoder) = (value_of(&contents), encode_register(&contents));
            check(model == held && decoder == held, || {
                format!("{contents:x?} of {value:#x} is put together as {model:#x} and {decoder:#x}")
            })?;
        }
    }
    too_wide()
}

fn fields_of(register: Register, context: &Context) -> u64 {
    match register {
        Register::PSR => PSR,
        Register::PMV => PMV,
        _ => defined(register, context),
    }
}

/// What is wider than its field is cut off at the top.
fn too_wide() -> Result<(), String> {
    let register = Register::pmc(4);
    let contents = |plm, es, umask, threshold, ism| Contents::CounterConfiguration {
        register,
        plm,
        ev: false,
        oi: false,
        pm: false,
        es,
        umask,
        threshold,
        ism,
    };
    let opcode = Contents::OpcodeMatch {
        register: Register::pmc(8),
        m: false,
        i: false,
        f: false,
        b: false,
        value: u32::MAX,
        mask: u32::MAX,
    };
    for (contents, expected) in [
        (contents(0xff, 0, 0, 0, 0), 0xf),
        (contents(0, 0xff, 0, 0, 0), 0x7f00),
        (contents(0, 0, 0xff, 0, 0), 0xf_0000),
        (contents(0, 0, 0, 0xff, 0), 0x70_0000),
        (contents(0, 0, 0, 0, 0xff), 0x300_0000),
        (opcode, 0x0fff_fffe_3fff_fff8),
    ] {
        let (model, decoder) = (value_of(&contents), encode_register(&contents));
        check(model == expected && decoder == expected, || {
            format!("{contents:x?} is put together as {model:#x} and {decoder:#x}, not {expected:#x}")
        })?;
    }
    Ok(())
}
