//! Which readings does an execution depend on that was not written for a case?

use traceproof_vectors::riscv_etrace::Parameters;

/// The readings on which generated executions and real programs may depend under these parameters, wherever they go.
///
/// Compiled code and the generator use x5 as link register and swap co-routines, fill call counters, and jump by `lui`
/// and `auipc` after synchronisation packets; subjects with other readings of these clauses are also right.
pub(super) fn of_executions(parameters: &Parameters) -> Vec<&'static str> {
    let modes = parameters.modes;
    let counts_calls = modes.implicit_return && parameters.return_stack_size_p == 0;
    let irets = modes.implicit_return && parameters.iret_ext;
    let keeps = parameters.resync_disabled_keeps_state;
    let irdepth_stack = modes.implicit_return && !parameters.iret_ext && parameters.return_stack_size_p > 0;
    let has_both = parameters.return_stack_size_p > 0 && parameters.call_counter_size_p > 0;
    [
        ("x1-and-x5-link", modes.implicit_return),
        ("failed-return-pops", irets),
        ("repeated-links-share-an-entry", irets && has_both),
        ("irets-counts-the-predicted-return", irets),
        ("irets-leaves-out-the-last-return", irets),
        ("irets-counts-across-context-packets", irets),
        ("irets-limit-is-255", irets),
        ("predicted-return-target-is-not-cached", irets && modes.jump_target_cache),
        ("resync-disabled-resets-state", parameters.has_standard_support() && !keeps),
        ("resync-disabled-keeps-state", keeps),
        ("mode-change-renews-what-it-switches", keeps),
        ("failed-return-does-not-pop", keeps && irdepth_stack),
        ("interrupted-return-is-a-predicted-one", keeps && irdepth_stack),
        ("context-packets-have-time", parameters.has_standard_support() && !parameters.notime_p),
        ("call-counter-is-a-power-of-two", counts_calls && !parameters.call_counter_fits_irdepth),
        ("call-counter-fits-irdepth", counts_calls && parameters.call_counter_fits_irdepth),
        ("no-inference-at-a-sync-packet", modes.sijump),
    ]
    .into_iter()
    .filter_map(|(reading, matters)| matters.then_some(reading))
    .collect()
}
