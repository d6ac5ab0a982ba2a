//! `dut.toml`: what the device is, before anything is sent to it.

use serde::{Deserialize, Serialize};
use traceproof_vectors::riscv_etrace::{Encapsulation, Mode, Modes, Packet, Parameters, Policy};

use crate::dump::DumpMap;
use crate::{Layout, Problem, filters};

/// The description of a device.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Its name, for reports.
    pub name: String,
    /// Its constants, by the names of the specification.
    #[serde(default)]
    pub parameters: Parameters,
    /// Its ingress port.
    #[serde(default)]
    pub ingress: Ingress,
    /// Its choices, and the values of control fields that hold for the whole pack.
    #[serde(default)]
    pub policy: Policy,
    /// What it puts where the specification defines no address.
    #[serde(default)]
    pub undefined_trap_address: TrapAddress,
    /// Fields that can be written besides `trTeActive`, `trTeEnable` and `trTeInstTracing`.
    #[serde(default)]
    pub control: Vec<Control>,
    /// What the monitor writes.
    #[serde(default)]
    pub output: OutputForm,
    /// Formats whose fields have another order or width than those of the specification.
    #[serde(default, skip_serializing_if = "Layout::is_empty")]
    pub layout: Layout,
    /// Where the signals of the ingress port are in waveforms of the user's own simulation.
    #[serde(default, skip_serializing_if = "DumpMap::is_empty")]
    pub dump: DumpMap,
    /// Most clocks from the row that causes a packet to the packet; absent = not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<u64>,
}

/// The ingress port of a device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ingress {
    /// Blocks per clock.
    pub blocks: u8,
    /// Most half-words of a block, where `retires_p` is more than 1.
    pub max_halfwords: u16,
    /// Optional signals that exist.
    pub signals: Vec<Signal>,
    /// A trap may come with the instruction that retired before it (itype 1 or 2 with `iretire` > 0).
    pub merged_traps: bool,
    /// Filters (`trTeFilter[i]`) that can be written.
    #[serde(skip_serializing_if = "is_zero")]
    pub filters: u8,
    /// Comparators (`trTeComp[i]`) that can be written.
    #[serde(skip_serializing_if = "is_zero")]
    pub comparators: u8,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
const fn is_zero(count: &u8) -> bool {
    *count == 0
}

impl Default for Ingress {
    fn default() -> Self {
        Self {
            blocks: 1,
            max_halfwords: 16,
            signals: Vec::new(),
            merged_traps: true,
            filters: 0,
            comparators: 0,
        }
    }
}

/// An optional signal of the ingress port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// `ctype`: context changes.
    Ctype,
    /// `trigger[1:0]`: trace-on and trace-off.
    Trigger,
    /// `trigger[2+]`: notify.
    Notify,
    /// `halted`.
    Halted,
    /// `reset` of the hart.
    Reset,
    /// Whether the transport after the encoder takes packets.
    Ready,
}

/// A control field, by its name in the Trace Control Interface. The discriminant is its number in packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[allow(missing_docs, reason = "the names of the Trace Control Interface")]
pub enum Control {
    #[serde(rename = "trTeActive")]
    Active = 1,
    #[serde(rename = "trTeEnable")]
    Enable = 2,
    #[serde(rename = "trTeInstTracing")]
    InstTracing = 3,
    #[serde(rename = "trTeInstSyncMode")]
    SyncMode = 4,
    #[serde(rename = "trTeInstSyncMax")]
    SyncMax = 5,
    #[serde(rename = "trTeInstNoAddrDiff")]
    NoAddrDiff = 6,
    #[serde(rename = "trTeInstNoTrapAddr")]
    NoTrapAddr = 7,
    #[serde(rename = "trTeInstEnSequentialJump")]
    SequentialJump = 8,
    #[serde(rename = "trTeInstEnImplicitReturn")]
    ImplicitReturn = 9,
    #[serde(rename = "trTeInstEnBranchPrediction")]
    BranchPrediction = 10,
    #[serde(rename = "trTeInstEnJumpTargetCache")]
    JumpTargetCache = 11,
    #[serde(rename = "trTeInstTrigEnable")]
    TrigEnable = 12,
}

/// The control fields that switch a mode, with its name.
pub(crate) const MODES: [(Control, Mode, &str); 6] = [
    (Control::NoAddrDiff, Mode::FullAddress, "full_address"),
    (Control::NoTrapAddr, Mode::ImplicitException, "implicit_exception"),
    (Control::SequentialJump, Mode::SequentiallyInferredJumps, "sijump"),
    (Control::ImplicitReturn, Mode::ImplicitReturn, "implicit_return"),
    (Control::BranchPrediction, Mode::BranchPrediction, "branch_prediction"),
    (Control::JumpTargetCache, Mode::JumpTargetCache, "jump_target_cache"),
];

/// Whether a mode is on, to read or to write.
pub(crate) const fn mode_of(modes: &mut Modes, mode: Mode) -> &mut bool {
    match mode {
        Mode::ImplicitReturn => &mut modes.implicit_return,
        Mode::ImplicitException => &mut modes.implicit_exception,
        Mode::FullAddress | Mode::DeltaAddress => &mut modes.full_address,
        Mode::JumpTargetCache => &mut modes.jump_target_cache,
        Mode::BranchPrediction => &mut modes.branch_prediction,
        Mode::SequentiallyInferredJumps => &mut modes.sijump,
    }
}

/// The mode that a field with this number switches.
pub(crate) fn mode_of_field(number: u64) -> Option<Mode> {
    MODES.into_iter().find(|(control, ..)| *control as u64 == number).map(|(_, mode, _)| mode)
}

/// The modes after a packet: a support packet announces those that its layout has.
pub(crate) fn modes_after(parameters: &Parameters, mut modes: Modes, packet: &Packet) -> Modes {
    if let Packet::Support { ioptions, .. } = packet {
        for (bit, mode) in parameters.support.ioptions.iter().enumerate() {
            *mode_of(&mut modes, *mode) = (ioptions >> bit & 1 != 0) != (*mode == Mode::DeltaAddress);
        }
    }
    modes
}

/// What a device sends as address of a trap packet where the specification defines none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrapAddress {
    /// The EPC of an exception that follows, or 0 (RVET-ENC-083).
    #[default]
    NextEpc,
    /// Anything: not compared at any level but `exact`.
    Any,
}

/// What the monitor of a device writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputForm {
    /// `P` lines: payloads.
    #[default]
    Payload,
    /// `B` lines: the bytes of the transport that `parameters.encapsulation` describes.
    Stream,
}

impl Device {
    /// Reads a description.
    ///
    /// # Errors
    ///
    /// The first error, with line and column.
    pub fn parse(file: &str, text: &str) -> Result<Self, Problem> {
        let device: Self = toml::from_str(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            Problem::at_offset(file, text, offset, error.message())
        })?;
        match device.check() {
            Ok(()) => Ok(device),
            Err((key, message)) => {
                let (line, column) = place_of(text, key);
                Err(Problem::at(file, line, column, format!("`{key}` {message}")))
            }
        }
    }

    /// The text that [`parse`](Self::parse) reads.
    #[must_use]
    pub fn text(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// The first key with an impossible value, and what is wrong with it.
    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.parameters.data.is_some() {
            let message = "is not supported: packs cover instruction trace only, not data trace";
            return Err(("data", message.to_owned()));
        }
        self.parameters.check().map_err(|(key, message)| (key, message.to_owned()))?;
        let rules: [(&'static str, bool, &str); 7] = [
            ("name", !self.name.is_empty(), "must not be empty"),
            ("blocks", (1..=8).contains(&self.ingress.blocks), "must be 1 to 8"),
            (
                "max_halfwords",
                self.parameters.retires_p == 1 || self.ingress.max_halfwords >= 2,
                "must be at least 2, an instruction of 32 bits",
            ),
            (
                "iaddress_width_p",
                self.parameters.iaddress_width_p >= 20,
                "must be at least 20, room for programs",
            ),
            (
                "version",
                !self.parameters.has_standard_support(),
                "may only be 2.0: packs do not cover 2.0.5 yet",
            ),
            ("filters", self.ingress.filters <= filters::MOST.0, "must be 0 to 16"),
            ("comparators", self.ingress.comparators <= filters::MOST.1, "must be 0 to 8"),
        ];
        match rules.into_iter().find(|(_, holds, _)| !holds) {
            Some((key, _, message)) => Err((key, message.to_owned())),
            None => {
                self.check_modes()?;
                filters::registers(&self.policy.filters, self.room()).map_err(|why| ("filters", why))?;
                self.layout.check(&self.parameters)?;
                self.dump.check(self.blocks())
            }
        }
    }

    /// Every mode that is on, or can be switched on, is one that the parameters allow. Spec: RVET-ENC-059, RVET-ENC-075.
    fn check_modes(&self) -> Result<(), (&'static str, String)> {
        let parameters = &self.parameters;
        for (control, mode, name) in MODES {
            let switched = self.control.contains(&control);
            let mut modes = parameters.modes;
            if !switched && !*mode_of(&mut modes, mode) {
                continue;
            }
            let calls = parameters.return_stack_size_p > 0 || parameters.call_counter_size_p > 0;
            let (possible, needs) = match mode {
                Mode::FullAddress | Mode::DeltaAddress => (true, ""),
                Mode::ImplicitException => (parameters.trap_vectors.is_some(), "`trap_vectors`"),
                Mode::SequentiallyInferredJumps => (parameters.sijump_p, "`sijump_p`"),
                Mode::ImplicitReturn => (
                    calls && parameters.itype_width_p == 4,
                    "`return_stack_size_p` or `call_counter_size_p`, and 4 bits of `itype`",
                ),
                Mode::BranchPrediction => (parameters.bpred_size_p > 0, "`bpred_size_p`"),
                Mode::JumpTargetCache => (parameters.cache_size_p > 0, "`cache_size_p`"),
            };
            let key = if switched { "control" } else { "modes" };
            if !possible {
                return Err((key, format!("has `{name}`, which needs {needs}")));
            }
            let announced = parameters.support.ioptions.iter();
            let announced =
                announced.chain([&Mode::FullAddress].into_iter().filter(|_| mode == Mode::FullAddress));
            if switched && !announced.into_iter().any(|announced| *announced == mode) {
                return Err((key, format!("switches `{name}`, which `support.ioptions` does not announce")));
            }
        }
        Ok(())
    }

    /// Filters and comparators that can be written.
    pub(crate) const fn room(&self) -> (u8, u8) {
        (self.ingress.filters, self.ingress.comparators)
    }

    /// Whether calls are known for implicit returns.
    pub(crate) const fn knows_calls(&self) -> bool {
        let parameters = &self.parameters;
        (parameters.return_stack_size_p > 0 || parameters.call_counter_size_p > 0)
            && parameters.itype_width_p == 4
    }

    /// Whether an optional signal exists.
    #[must_use]
    pub fn has(&self, signal: Signal) -> bool {
        self.ingress.signals.contains(&signal)
    }

    /// Blocks per clock.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.ingress.blocks.into()
    }

    /// The parameters with each packet in a header byte of its own: what packs and judges work with.
    #[must_use]
    pub fn payload_parameters(&self) -> Parameters {
        Parameters { encapsulation: Encapsulation::default(), ..self.parameters.clone() }
    }
}

/// Line and column of a key; the first line where it is not written.
fn place_of(text: &str, key: &str) -> (usize, usize) {
    let holds = |line: &str| {
        let line = line.trim_start().trim_start_matches('[');
        line.strip_prefix(key).or_else(|| line.strip_prefix("parameters.")?.strip_prefix(key)).is_some_and(
            |rest| rest.starts_with(|next: char| next.is_whitespace() || matches!(next, '=' | ']' | '.')),
        )
    };
    let found = text.lines().enumerate().find(|(_, line)| holds(line));
    found.map_or((1, 1), |(index, line)| (index + 1, line.len() - line.trim_start().len() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Device::parse("dut.toml", text).expect_err("wrong").to_string()
    }

    #[test]
    fn the_smallest_description_has_the_defaults() {
        let device = Device::parse("dut.toml", "name = \"small\"").expect("valid");
        assert_eq!(device.parameters, Parameters::default());
        assert_eq!((device.blocks(), device.output), (1, OutputForm::Payload));
    }

    #[test]
    fn a_description_is_read_back_from_its_own_text() {
        let text = "name = \"a\"\ncontrol = [\"trTeInstNoAddrDiff\"]\nlatency = 9\n[ingress]\nsignals = [\"notify\"]";
        let device = Device::parse("dut.toml", text).expect("valid");
        assert_eq!(Device::parse("dut.toml", &device.text()), Ok(device));
    }

    #[test]
    fn errors_have_line_and_column() {
        assert!(error("name = \"x\"\nnmae = 3\n").starts_with("dut.toml:2:1: unknown field `nmae`"));
        assert!(
            error("name = \"x\"\n[ingress]\n  blocks = 9\n")
                .starts_with("dut.toml:3:3: `blocks` must be 1 to 8")
        );
        let wrong = error("name = \"x\"\n[parameters]\nitype_width_p = 5\n");
        assert_eq!(wrong, "dut.toml:3:1: `itype_width_p` must be 3 or 4");
        assert!(
            error("name = \"x\"\n[parameters.modes]\nsijump = true\n").starts_with("dut.toml:2:1: `modes`")
        );
        assert!(error("name = \"x\"\ncontrol = [\"trTeInstNoTrapAddr\"]\n").contains("needs `trap_vectors`"));
        let unannounced =
            "name = \"x\"\ncontrol = [\"trTeInstEnSequentialJump\"]\n[parameters]\nsijump_p = true\n";
        assert!(error(unannounced).starts_with("dut.toml:2:1: `control` switches `sijump`"));
        let data = error("name = \"x\"\n[parameters.data]\n");
        assert!(data.ends_with("packs cover instruction trace only, not data trace"), "{data}");
        let filters = "name = \"x\"\n[ingress]\nfilters = 1\n[[policy.filters]]\ncontexts = [1]\n";
        assert!(error(filters).contains("the device has 0 comparators"));
        assert!(error("name = \"x\"\n[ingress]\nsignals = [\"nofity\"]\n").starts_with("dut.toml:3:"));
    }
}
