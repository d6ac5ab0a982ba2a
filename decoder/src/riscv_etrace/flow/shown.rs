//! The state for people.

use traceproof_vectors::DecoderState;
use traceproof_vectors::riscv_etrace::Modes;

use super::Flow;
use crate::riscv_etrace::trap_chain::TrapChain;

impl Flow {
    /// What the next packet is decoded with.
    #[must_use]
    pub fn shown(&self) -> DecoderState {
        let (walker, modes) = (&self.walker, self.walker.modes());
        let synchronised = match (self.refusing, self.start_of_trace) {
            (true, _) => "no: waits for a support packet that can be honoured",
            (false, true) => "no: waits for a synchronisation packet",
            (false, false) => "yes",
        };
        let known = |value: u64| (!self.start_of_trace && !self.refusing).then_some(value);
        let mut state = DecoderState::default()
            .with("synchronised", synchronised)
            .with_hex("pc", known(walker.pc))
            .with_hex("address base", known(self.base))
            .with("privilege", self.privilege)
            .with_list("pending outcomes", walker.outcomes.shown())
            .with_list("modes", names(modes));
        if modes.implicit_return {
            state = state.with_list("return stack", walker.returns.shown());
        }
        if modes.branch_prediction {
            state = state.with_list("branch predictor", walker.predictor.shown());
        }
        if modes.jump_target_cache {
            state = state.with_list("jump target cache", walker.cache.shown());
        }
        match self.chain {
            TrapChain::Closed | TrapChain::Own => state,
            TrapChain::Next(epc) | TrapChain::OwnOrNext(epc) => {
                state.with_hex("epc of the next trap", Some(epc))
            }
        }
    }
}

/// The modes that are on.
fn names(modes: Modes) -> impl Iterator<Item = &'static str> {
    [
        (modes.implicit_return, "implicit return"),
        (modes.implicit_exception, "implicit exception"),
        (modes.full_address, "full address"),
        (modes.jump_target_cache, "jump target cache"),
        (modes.branch_prediction, "branch prediction"),
        (modes.sijump, "sijump"),
    ]
    .into_iter()
    .filter_map(|(on, name)| on.then_some(name))
}
