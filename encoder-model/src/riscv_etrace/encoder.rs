//! The encoder as a whole: control fields, the window of items, support packets.

use alloc::format;
use alloc::vec::Vec;

use traceproof_vectors::riscv_etrace::{
    Compression, DataAccess, DataOptions, Modes, Packet, Parameters, Policy, QualStatus, READINGS,
    RiscvEtrace, Stimulus, SupportLayout,
};
use traceproof_vectors::{Capabilities, EncoderSink, Layer, Refusal};

use super::data::{DataFields, DataTracer};
use super::decide::Next;
use super::fast_path::Waiting;
use super::filter::Filters;
use super::items::{Ingress, Item, Kind};
use super::lanes::Lanes;
use super::output::Output;
use super::packet::Layout;
use super::resync::Resync;
use super::support;
use super::tracer::{Tracer, changes_context, changes_walk};

/// What the model claims; see [`traceproof_vectors::riscv_etrace::FEATURES`].
const CLAIMED: [&str; 21] = [
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
];

/// The reference encoder model.
///
/// It looks one item ahead, so the packets of an item leave when the next one comes, or at the latest at
/// `finish`. Control stimuli act between the items around them; modes that change the walk may wait.
#[derive(Clone, Debug)]
pub struct Encoder {
    pub(super) ingress: Ingress,
    pub(super) filters: Filters,
    pub(super) window: Window,
    pub(super) tracer: Tracer,
    pub(super) data: Option<DataTracer>,
    options: Options,
    pub(super) output: Output,
    /// The next item may be dealt with the short way.
    pub(super) quiet: bool,
    pub(super) waiting: Waiting,
}

/// The control fields and what announces them.
#[derive(Clone, Debug)]
struct Options {
    enabled: bool,
    modes: Modes,
    /// Modes that the hardware has; requests for others have no effect.
    available: Modes,
    layout: SupportLayout,
    support_at_disable: bool,
}

/// The item that waits for its successor, and the control stimuli that came behind it.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) current: Item,
    pub(super) controls: Vec<Control>,
    /// One of `controls` makes tracing start anew.
    breaks: bool,
    /// They wait for a better moment.
    held: bool,
}

/// A control stimulus that acts behind the current item.
#[derive(Clone, Copy, Debug)]
pub(super) enum Control {
    Modes(Modes),
    Transport(bool),
    DataEnable(bool),
    DataOptions(DataOptions),
    /// Data packets may be sent again.
    DataTransport,
}

impl Default for Encoder {
    /// An encoder with default parameters and policy, as after `begin`.
    fn default() -> Self {
        let (lanes, filters) = (Lanes::default(), Filters::default());
        Self::new(&Parameters::default(), &Policy::default(), lanes, filters)
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
        *self = Self::new(parameters, policy, lanes, filters);
        Ok(())
    }

    #[inline]
    fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        match stimulus {
            Stimulus::Cycle(cycle) if self.step_shortly(cycle) => {}
            _ => self.step_longer(stimulus, sink),
        }
    }

    fn finish(&mut self, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        self.settle();
        self.push(&Item::GAP, sink);
        self.quiet = false;
    }
}

impl Encoder {
    fn new(parameters: &Parameters, policy: &Policy, lanes: Lanes, filters: Filters) -> Self {
        let available = available(parameters);
        let modes = restrict(parameters.modes, available);
        Self {
            ingress: Ingress::new(parameters, policy),
            filters,
            window: Window { current: Item::GAP, controls: Vec::new(), breaks: false, held: false },
            tracer: Tracer::new(parameters, policy, modes),
            data: DataFields::new(parameters).map(|fields| {
                DataTracer::new(fields, policy.data, policy.compression == Compression::Minimal)
            }),
            options: Options {
                enabled: false,
                modes,
                available,
                layout: parameters.support.clone(),
                support_at_disable: policy.support_at_disable,
            },
            output: Output::new(Layout::new(parameters), policy, lanes),
            quiet: false,
            waiting: Waiting::NOTHING,
        }
    }

    /// Apart from the short way, whose code stays small so.
    #[inline(never)]
    pub(super) fn step_fully(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        match stimulus {
            Stimulus::Cycle(cycle) if self.filters.is_empty() && self.ingress.is_plain(cycle) => {
                if let [block] = cycle.blocks.as_slice() {
                    let item = self.ingress.plain(cycle, block, self.options.enabled);
                    self.push(&item, sink);
                }
            }
            Stimulus::Cycle(cycle) => {
                let mut ingress = self.ingress;
                let mut filters = core::mem::take(&mut self.filters);
                ingress.cycle(cycle, self.options.enabled, &mut filters, |item| self.push(&item, sink));
                self.ingress = ingress;
                self.filters = filters;
            }
            Stimulus::Enable(enable) => self.enable(*enable, sink),
            Stimulus::Modes(modes) => self.control(Control::Modes(self.options.attainable(*modes)), sink),
            Stimulus::Transport(takes) => self.control(Control::Transport(*takes), sink),
            Stimulus::Data(access) => self.access(**access, sink),
            Stimulus::Response(response) => {
                if let Some(data) = &mut self.data {
                    let output = &mut self.output;
                    data.response(*response, &mut |packet| output.send(&Packet::Data(*packet), sink));
                }
            }
            Stimulus::DataEnable(enable) => self.control(Control::DataEnable(*enable), sink),
            Stimulus::DataOptions(options) => self.control(Control::DataOptions(*options), sink),
            // From now on, whenever their access was.
            Stimulus::DataTransport(false) => {
                if let Some(data) = &mut self.data {
                    data.drop_packets();
                }
            }
            Stimulus::DataTransport(true) => self.control(Control::DataTransport, sink),
        }
        self.quiet = self.may_be_quiet();
    }

    /// The next item is there, so the one that waited can be dealt with.
    fn push(&mut self, item: &Item, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        let waits = self.holds_controls(item);
        let next = self.window.next(item, waits);
        let Self { window, tracer, data, output, .. } = self;
        if window.current.kind != Kind::Gap {
            output.at(window.current.timestamp);
        }
        let ended = tracer.item(&window.current, next, |packet| {
            let sent = output.send(packet, sink);
            if let (Some(data), Packet::Start { .. } | Packet::Trap { .. }, true) =
                (data.as_mut(), packet, sent)
            {
                data.start();
            }
        });
        if let Some(qual_status) = ended {
            self.support(qual_status, sink);
        }
        self.flush_data(sink);
        self.window.current = *item;
        if !self.window.controls.is_empty() && !waits {
            self.apply_controls(sink);
        }
    }

    /// Whether other modes, that make tracing start anew, wait for a later item than `item`, the one behind the current.
    ///
    /// A decoder finds the EPC of a trap with the modes in force when its packet comes (ET 7.3.1, ET 11); so they must not
    /// change between the last instruction in front of it and its handler. And a return that may fail must not be
    /// followed by a synchronisation packet, which has no `irreport`.
    fn holds_controls(&mut self, item: &Item) -> bool {
        let window = &mut self.window;
        let current = &window.current;
        let clear = !current.is_trap() && !item.is_trap() && !self.tracer.return_may_fail(current);
        // Not behind just any instruction: the way must not depend on the cut into blocks (RVET-ENC-044).
        window.held =
            window.breaks && item.qualified && (!clear || window.held && !current.ends_every_block());
        window.held
    }

    /// An access of the item that waits, or of one that is not traced.
    fn access(&mut self, access: DataAccess, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        let Some(data) = &mut self.data else { return };
        if self.window.current.qualified {
            data.access(access);
        } else if !self.options.enabled {
            data.access(access);
            self.flush_data(sink);
        }
    }

    fn flush_data(&mut self, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        if let Some(data) = &mut self.data {
            let output = &mut self.output;
            data.flush(&mut |packet| output.send(&Packet::Data(*packet), sink));
        }
    }

    /// Spec: RVET-ENC-008, RVET-ENC-009, RVET-ENC-012 (ET 7.5).
    fn enable(&mut self, enable: bool, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        if enable == self.options.enabled {
            return;
        }
        if enable {
            self.options.enabled = true;
            self.ingress.enable();
            self.support(QualStatus::NoChange, sink);
        } else if self.options.support_at_disable {
            // The support packet of the final instruction first, then one for the new state.
            self.push(&Item::GAP, sink);
            self.options.enabled = false;
            self.support(QualStatus::NoChange, sink);
        } else {
            self.options.enabled = false;
            self.push(&Item::GAP, sink);
        }
    }

    /// Lets a control stimulus act now, or behind the item that waits.
    fn control(&mut self, control: Control, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        if let Control::Modes(modes) = control {
            self.window.breaks |= changes_walk(self.options.modes, modes);
        }
        self.window.controls.push(control);
        if !self.window.current.qualified {
            self.apply_controls(sink);
        }
    }

    fn apply_controls(&mut self, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        let mut controls = core::mem::take(&mut self.window.controls);
        for control in controls.drain(..) {
            match control {
                Control::Modes(modes) => self.change_modes(modes, sink),
                Control::Transport(takes) => {
                    if self.output.transport(takes) {
                        // Spec: RVET-ENC-010 (ET 7.5).
                        self.support(QualStatus::TraceLost, sink);
                        self.tracer.lose();
                    } else if takes && self.data.as_ref().is_some_and(DataTracer::has_loss) {
                        self.support(QualStatus::NoChange, sink);
                    }
                }
                Control::DataEnable(_) | Control::DataOptions(_) | Control::DataTransport => {
                    self.change_data(control, sink);
                }
            }
        }
        self.window.controls = controls;
        self.window.breaks = false;
    }

    /// Spec: RVET-ENC-011, RVET-ENC-012 (ET 7.5).
    fn change_modes(&mut self, modes: Modes, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        if modes == self.options.modes {
            return;
        }
        self.options.modes = modes;
        self.tracer.change_modes(modes);
        if self.options.enabled {
            self.support(QualStatus::NoChange, sink);
        }
    }

    /// Spec: RVET-DATA-014, RVET-DATA-024 (ET 7.5).
    fn change_data(&mut self, control: Control, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        let Some(data) = &mut self.data else { return };
        let announce = match control {
            Control::DataEnable(enable) => data.enable(enable),
            Control::DataOptions(options) => {
                data.set_options(options) && (self.options.enabled || data.enabled())
            }
            Control::DataTransport => data.take_packets(),
            Control::Modes(_) | Control::Transport(_) => false,
        };
        if announce {
            self.support(QualStatus::NoChange, sink);
        }
        if let Some(data) = &self.data {
            self.output.data_options(data.options());
        }
    }

    fn support(&mut self, qual_status: QualStatus, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        let layout = &self.options.layout;
        let ienable = self.options.enabled;
        // Data trace cannot be announced where the support packet has no room for it.
        let data = self.data.as_ref().filter(|_| layout.data_fields);
        let (denable, dloss, doptions) = data.map_or((false, false, 0), |data| {
            (data.enabled(), data.loss_is_due(), support::doptions(data.options(), layout))
        });
        let packet = Packet::Support {
            ienable,
            encoder_mode: 0,
            qual_status,
            ioptions: support::ioptions(self.options.modes, layout),
            denable,
            dloss,
            doptions,
        };
        let sent = self.output.send(&packet, sink);
        if let (Some(data), true) = (&mut self.data, sent) {
            if dloss {
                data.report_loss();
            }
            if denable && !ienable {
                data.start();
            }
        }
        self.tracer.resync.packet();
    }
}

impl Window {
    /// What `item` means for the one before it. `waits`: controls that make tracing start anew act only behind it.
    fn next(&self, item: &Item, waits: bool) -> Next {
        if !item.qualified {
            return Next::Ends;
        }
        match item.kind {
            Kind::Trap(_) => Next::Traps,
            Kind::Gap => Next::Ends,
            Kind::Retire(_) if self.breaks && !waits || item.ctype() == 3 => Next::Breaks,
            Kind::Retire(_) if changes_context(&self.current, item) => Next::Changes,
            Kind::Retire(_) => Next::Continues,
        }
    }
}

impl Options {
    /// What a control register write leaves of the modes it asks for.
    const fn attainable(&self, modes: Modes) -> Modes {
        restrict(modes, self.available)
    }
}

const fn restrict(modes: Modes, available: Modes) -> Modes {
    Modes {
        implicit_return: modes.implicit_return && available.implicit_return,
        implicit_exception: modes.implicit_exception && available.implicit_exception,
        full_address: modes.full_address && available.full_address,
        jump_target_cache: modes.jump_target_cache && available.jump_target_cache,
        branch_prediction: modes.branch_prediction && available.branch_prediction,
        sijump: modes.sijump && available.sijump,
    }
}

/// Spec: RVET-DISC-003, RVET-DISC-008, RVET-ENC-059, RVET-ENC-075 (ET 10, 4.2, 3.2.3).
const fn available(parameters: &Parameters) -> Modes {
    Modes {
        implicit_return: (parameters.return_stack_size_p > 0 || parameters.call_counter_size_p > 0)
            && parameters.itype_width_p == 4,
        implicit_exception: parameters.trap_vectors.is_some(),
        full_address: true,
        jump_target_cache: parameters.cache_size_p > 0,
        branch_prediction: parameters.bpred_size_p > 0,
        sijump: parameters.sijump_p,
    }
}

fn check(parameters: &Parameters, policy: &Policy) -> Result<(), Refusal> {
    parameters.check().map_err(|(parameter, reason)| Refusal::invalid(parameter, reason))?;
    if policy.sync_max > Resync::LARGEST_SYNC_MAX {
        return Err(Refusal::invalid("sync_max", "2^(sync_max + 4) must fit 64 bits"));
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

/// The parameter to blame for a packet that is too long.
fn widest(parameters: &Parameters) -> &'static str {
    let longest = Layout::new(parameters).longest_packet();
    if DataFields::new(parameters).is_some_and(|data| data.longest_packet() == longest) {
        return "data_width_p";
    }
    if parameters.time_width() > parameters.context_width() { "time_width_p" } else { "context_width_p" }
}
