//! The meaning of the option bits of a support packet (ET 7.5).

use traceproof_vectors::riscv_etrace::{DataOption, DataOptions, Mode, Modes, SupportLayout};

/// The `ioptions` that announce `modes`.
pub(super) fn ioptions(modes: Modes, layout: &SupportLayout) -> u32 {
    let mut bits = 0;
    for (bit, &mode) in layout.ioptions.iter().enumerate().take(32) {
        bits |= u32::from(is_on(modes, mode)) << bit;
    }
    bits
}

/// The modes that `ioptions` announce; modes without a bit stay as they are in `before`.
pub(super) fn announced(ioptions: u32, layout: &SupportLayout, before: Modes) -> Modes {
    let mut modes = before;
    for (bit, &mode) in layout.ioptions.iter().enumerate().take(32) {
        let on = ioptions >> bit & 1 == 1;
        match mode {
            Mode::ImplicitReturn => modes.implicit_return = on,
            Mode::ImplicitException => modes.implicit_exception = on,
            Mode::FullAddress => modes.full_address = on,
            Mode::JumpTargetCache => modes.jump_target_cache = on,
            Mode::BranchPrediction => modes.branch_prediction = on,
            Mode::SequentiallyInferredJumps => modes.sijump = on,
            // The complement of `FullAddress`, which has its own bit in every known layout.
            Mode::DeltaAddress => {}
        }
    }
    modes
}

/// `doptions` that announce `options`. Spec: RVET-DATA-014 (ET 7.5).
pub(super) fn doptions(options: DataOptions, layout: &SupportLayout) -> u32 {
    let mut bits = 0;
    for (bit, option) in layout.doptions.iter().enumerate().take(32) {
        let on = match option {
            DataOption::NoAddress => options.no_address,
            DataOption::NoData => options.no_data,
            DataOption::FullAddress => options.full_address,
            DataOption::FullData => options.full_data,
        };
        bits |= u32::from(on) << bit;
    }
    bits
}

/// The options that `doptions` announce; those without a bit stay as they are in `before`.
pub(super) fn announced_data(doptions: u32, layout: &SupportLayout, before: DataOptions) -> DataOptions {
    let mut options = before;
    for (bit, option) in layout.doptions.iter().enumerate().take(32) {
        let on = doptions >> bit & 1 == 1;
        match option {
            DataOption::NoAddress => options.no_address = on,
            DataOption::NoData => options.no_data = on,
            DataOption::FullAddress => options.full_address = on,
            DataOption::FullData => options.full_data = on,
        }
    }
    options
}

const fn is_on(modes: Modes, mode: Mode) -> bool {
    match mode {
        Mode::ImplicitReturn => modes.implicit_return,
        Mode::ImplicitException => modes.implicit_exception,
        Mode::FullAddress => modes.full_address,
        Mode::JumpTargetCache => modes.jump_target_cache,
        Mode::BranchPrediction => modes.branch_prediction,
        Mode::SequentiallyInferredJumps => modes.sijump,
        Mode::DeltaAddress => !modes.full_address,
    }
}
