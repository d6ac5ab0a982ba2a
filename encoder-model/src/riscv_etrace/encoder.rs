//! The contract's encoder: what it claims, which parameters it refuses, and whether it uses the fast path.

use alloc::format;

use traceproof_vectors::riscv_etrace::{Parameters, Policy, READINGS, RiscvEtrace, Stimulus};
use traceproof_vectors::{Capabilities, EncoderSink, Layer, Refusal};

use super::available::available;
use super::data::DataFields;
use super::fast_path::FastPath;
use super::filter::Filters;
use super::lanes::Lanes;
use super::model::Model;
use super::packet::Layout;
use super::resync::Resync;

/// What the model claims; see [`traceproof_vectors::riscv_etrace::FEATURES`].
const CLAIMED: [&str; 23] = [
    "rv32",
    "rv64",
    "compressed",
    "context",
    "time",
    "full_address",
    "implicit_exception",
    "implicit_return",
    "sijump",
    "branch_prediction",
    "jump_target_cache",
    "source_id",
    "timestamp",
    "packet_type",
    "stream_entry",
    "memory_blocks",
    "siemens",
    "atb",
    "support_layout",
    "data_trace",
    "mma_cas",
    "standard_support",
    "irets",
];

/// The reference encoder model.
///
/// It looks one item ahead, so the packets of an item leave when the next one comes or when tracing stops. Control
/// stimuli act between the items around them; modes that change the walk may wait.
#[derive(Clone, Debug)]
pub struct Encoder {
    pub(super) model: Model,
    /// Absent: the model takes every stimulus.
    pub(super) fast_path: Option<FastPath>,
}

impl Default for Encoder {
    /// An encoder with default parameters and policy, as after `begin`.
    fn default() -> Self {
        let (lanes, filters) = (Lanes::default(), Filters::default());
        let model = Model::new(&Parameters::default(), &Policy::default(), lanes, filters);
        Self { model, fast_path: Some(FastPath::NEW) }
    }
}

impl Encoder {
    /// The same encoder without the code that only saves time. What it sends is the same.
    #[must_use]
    pub fn without_fast_path(self) -> Self {
        Self { fast_path: None, ..self }
    }
}

impl traceproof_vectors::Encoder<RiscvEtrace> for Encoder {
    fn capabilities(&self) -> Capabilities {
        let readings = READINGS.iter().filter(|reading| reading.binds_encoders()).map(|reading| reading.name);
        Capabilities::new([Layer::Packets]).with_features(CLAIMED).with_readings(readings)
    }

    fn begin(&mut self, parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
        check(parameters, policy)?;
        let lanes = Lanes::new(parameters, policy)?;
        check_lengths(parameters, &lanes)?;
        let filters = Filters::new(&policy.filters)?;
        self.model = Model::new(parameters, policy, lanes, filters);
        self.fast_path = self.fast_path.map(|_| FastPath::NEW);
        Ok(())
    }

    #[inline]
    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        match &mut self.fast_path {
            Some(fast_path) => fast_path.step(&mut self.model, stimulus, sink),
            None => self.model.step(stimulus, sink),
        }
    }

    /// No packet is buffered, and an item whose successor has not come is not decided about.
    fn finish(&mut self, _: &mut dyn EncoderSink<RiscvEtrace>) {}
}

fn check(parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
    parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
    if policy.sync_max > Resync::LARGEST_SYNC_MAX {
        return Err(Refusal::invalid("sync_max", "2^(sync_max + 4) must fit 64 bits"));
    }
    if policy.other.checked_shr(parameters.vendor_bits.into()).is_some_and(|excess| excess != 0) {
        return Err(Refusal::invalid("other", "must fit vendor_bits"));
    }
    let wanted = parameters.modes;
    let available = available(parameters);
    let lacking: [(bool, bool, &'static str, &'static str); 5] = [
        (
            wanted.implicit_return,
            available.implicit_return,
            "return_stack_size_p",
            "implicit return mode needs a return stack or call counter, and a 4-bit itype",
        ),
        (
            wanted.implicit_exception,
            available.implicit_exception,
            "trap_vectors",
            "implicit exception mode needs known trap vectors",
        ),
        (
            wanted.jump_target_cache,
            available.jump_target_cache,
            "cache_size_p",
            "there is no jump target cache",
        ),
        (
            wanted.branch_prediction,
            available.branch_prediction,
            "bpred_size_p",
            "there is no branch predictor",
        ),
        (wanted.sijump, available.sijump, "sijump_p", "the hart does not supply sijump"),
    ];
    for (wanted, available, parameter, reason) in lacking {
        if wanted && !available {
            return Err(Refusal::invalid(parameter, reason));
        }
    }
    Ok(())
}

/// Spec: RVET-ENCAP-006 (EN 2.1.4).
fn check_lengths(parameters: &Parameters, lanes: &Lanes) -> Result<(), Refusal> {
    let longest = Layout::new(parameters).longest_packet();
    let most = lanes.most_payload_bits();
    if longest > most {
        let reason =
            format!("packets of up to {longest} bits do not fit the {most} bits of an encapsulated one");
        return Err(Refusal::invalid(widest(parameters), reason));
    }
    Ok(())
}

/// The parameter at fault for a packet that is too long.
fn widest(parameters: &Parameters) -> &'static str {
    let longest = Layout::new(parameters).longest_packet();
    if DataFields::new(parameters).is_some_and(|data| data.longest_packet() == longest) {
        return "data_width_p";
    }
    if parameters.time_width() > parameters.context_width() { "time_width_p" } else { "context_width_p" }
}
