//! From stimuli to packets: control fields, the window of items, support packets.

use alloc::vec::Vec;

use traceproof_vectors::EncoderSink;
use traceproof_vectors::riscv_etrace::{
    Compression, DataAccess, DataOptions, Modes, Packet, Parameters, Policy, QualStatus, RiscvEtrace,
    StandardSupport, Stimulus, SupportLayout,
};

use super::available::{available, restrict};
use super::data::{DataFields, DataTracer};
use super::decide::Next;
use super::filter::Filters;
use super::items::{Ingress, Item, Kind};
use super::lanes::Lanes;
use super::output::Output;
use super::packet::Layout;
use super::tracer::{Tracer, changes_context, changes_walk};
use super::{standard_support, support};

/// The encoder, without the code that only saves time.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) ingress: Ingress,
    pub(super) filters: Filters,
    pub(super) window: Window,
    pub(super) tracer: Tracer,
    pub(super) data: Option<DataTracer>,
    pub(super) options: Options,
    output: Output,
}

/// The control fields and what announces them.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) enabled: bool,
    modes: Modes,
    /// Modes that the hardware has; requests for others have no effect.
    available: Modes,
    layout: SupportLayout,
    /// What every standard support packet has; without it support packets have `layout`.
    standard: Option<StandardSupport>,
    support_at_disable: bool,
}

/// The item that waits for its successor, and the control stimuli that came after it.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) current: Item,
    pub(super) controls: Vec<Control>,
    /// One of `controls` makes tracing start anew.
    breaks: bool,
    /// They wait for a better moment.
    held: bool,
}

/// A control stimulus that acts after the current item.
#[derive(Clone, Copy, Debug)]
pub(super) enum Control {
    Modes(Modes),
    Transport(bool),
    DataEnable(bool),
    DataOptions(DataOptions),
    /// Data packets may be sent again.
    DataTransport,
}

impl Model {
    pub(super) fn new(parameters: &Parameters, policy: &Policy, lanes: Lanes, filters: Filters) -> Self {
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
                standard: parameters
                    .has_standard_support()
                    .then(|| standard_support::constant_part(parameters, policy)),
                support_at_disable: policy.support_at_disable,
            },
            output: Output::new(Layout::new(parameters), policy, lanes),
        }
    }

    /// Takes the next stimulus.
    pub(super) fn step(&mut self, stimulus: &Stimulus, sink: &mut dyn EncoderSink<RiscvEtrace>) {
        match stimulus {
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
    }

    /// The next item is there, so the one that waited can be dealt with.
    pub(super) fn push(&mut self, item: &Item, sink: &mut dyn EncoderSink<RiscvEtrace>) {
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

    /// Whether other modes, that make tracing start anew, wait for a later item than `item`, the one after the current.
    ///
    /// A decoder finds the EPC of a trap with the modes in force when its packet comes (ET 7.3.1, ET 11); so they must
    /// not change between the last instruction before it and its handler. And a return that may fail must not be
    /// followed by a synchronisation packet, which has no `irreport`.
    fn holds_controls(&mut self, item: &Item) -> bool {
        let window = &mut self.window;
        let current = &window.current;
        let clear = !current.is_trap() && !item.is_trap() && !self.tracer.return_may_fail(current);
        // Not after just any instruction: the way must not depend on the cut into blocks (RVET-ENC-044).
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

    /// Lets a control stimulus act now, or after the item that waits.
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
        let Options { enabled: ienable, modes, layout, standard, .. } = &self.options;
        let (ienable, modes) = (*ienable, *modes);
        // Data trace cannot be announced where the support packet has no room for it.
        let data = self.data.as_ref().filter(|_| standard.is_some() || layout.data_fields);
        let (denable, dloss, options) = data.map_or((false, false, DataOptions::default()), |data| {
            (data.enabled(), data.has_loss(), data.options())
        });
        let packet = match standard {
            Some(constant) => Packet::StandardSupport(StandardSupport {
                ienable,
                qual_status,
                denable,
                dloss,
                ..standard_support::with_options(*constant, modes, options)
            }),
            None => Packet::Support {
                ienable,
                encoder_mode: 0,
                qual_status,
                ioptions: support::ioptions(modes, layout),
                denable,
                dloss,
                doptions: data.map_or(0, |_| support::doptions(options, layout)),
            },
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
    /// What `item` means for the one before it. `waits`: controls that make tracing start anew act only after it.
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
