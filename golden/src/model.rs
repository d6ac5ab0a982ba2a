//! The model: signals and control fields in, packets out.

use std::collections::VecDeque;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use traceproof_encoder_model::riscv_etrace::Encoder;
use traceproof_vectors::riscv_etrace::{
    Block, Cycle, Encapsulation, Idle, Itype, Modes, Packet, Parameters, Policy, RiscvEtrace, Stimulus,
    SyncMode,
};
use traceproof_vectors::{Address, Encoder as _, EncoderSink};

use crate::GoldenError;

/// Bytes of the header of a packet in the default encapsulation.
const HEADER: usize = 1;

/// An encoder with what waits to be taken.
#[derive(Debug)]
pub struct Golden {
    parameters: Parameters,
    /// As at `open`.
    policy: Policy,
    /// With what control fields changed.
    current: Policy,
    modes: Modes,
    encoder: Encoder,
    tracing: bool,
    blocks: Vec<Block>,
    packets: Packets,
}

/// The signals of a cycle that its blocks share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the ingress port")]
pub struct Signals {
    pub cause: u64,
    pub tval: u64,
    pub context: u64,
    pub time: u64,
    pub privilege: u8,
    pub ctype: u8,
    pub trace_on: bool,
    pub trace_off: bool,
    pub halted: bool,
    pub reset: bool,
}

/// The bytes of each packet that was sent and not yet taken.
#[derive(Debug, Default)]
struct Packets(VecDeque<Vec<u8>>);

impl EncoderSink<RiscvEtrace> for Packets {
    fn packet(&mut self, _: &Packet) {
        self.0.push_back(Vec::new());
    }

    fn wire(&mut self, bytes: &[u8]) {
        match self.0.back_mut() {
            Some(last) => last.extend_from_slice(bytes),
            None => self.0.push_back(bytes.to_vec()),
        }
    }
}

/// A file with both; other keys, such as those of a description of a device, are ignored.
#[derive(Deserialize)]
struct Configuration {
    #[serde(default)]
    parameters: Parameters,
    #[serde(default)]
    policy: Policy,
}

/// Reads JSON, which begins with a brace, or TOML. An empty text is all defaults.
fn read<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, GoldenError> {
    let unreadable = |reason: String| GoldenError::Unreadable { what, reason };
    if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))
    } else {
        toml::from_str(text).map_err(|error| unreadable(error.to_string()))
    }
}

impl Golden {
    /// A model with parameters and policy, each as TOML or JSON in the notation of cases.
    ///
    /// # Errors
    ///
    /// What cannot be read, or what no encoder has.
    pub fn open(parameters: &str, policy: &str) -> Result<Self, GoldenError> {
        Self::new(read("parameters", parameters)?, read("policy", policy)?)
    }

    /// A model with the tables `parameters` and `policy` of a text, such as `dut.toml`.
    ///
    /// # Errors
    ///
    /// What cannot be read, or what no encoder has.
    pub fn configured(text: &str) -> Result<Self, GoldenError> {
        let Configuration { parameters, policy } = read("configuration", text)?;
        Self::new(parameters, policy)
    }

    fn new(parameters: Parameters, policy: Policy) -> Result<Self, GoldenError> {
        let mut golden = Self {
            modes: parameters.modes,
            parameters,
            current: policy.clone(),
            policy,
            encoder: Encoder::default(),
            tracing: false,
            blocks: Vec::new(),
            packets: Packets::default(),
        };
        golden.reset()?;
        Ok(golden)
    }

    /// As after `open`: control fields have their first values, and nothing waits.
    ///
    /// # Errors
    ///
    /// None that `open` would not have had.
    pub fn reset(&mut self) -> Result<(), GoldenError> {
        self.current = self.policy.clone();
        self.modes = self.parameters.modes;
        self.tracing = false;
        self.blocks.clear();
        self.packets.0.clear();
        Ok(self.encoder.begin(&self.parameters, &self.current)?)
    }

    /// Any step of stimulus, in the notation of cases.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn step(&mut self, json: &str) -> Result<(), GoldenError> {
        let stimulus: Stimulus = read("stimulus", json)?;
        match &stimulus {
            Stimulus::Enable(on) => self.tracing = *on,
            Stimulus::Modes(modes) => self.modes = *modes,
            _ => {}
        }
        self.take(&stimulus);
        Ok(())
    }

    fn take(&mut self, stimulus: &Stimulus) {
        self.encoder.step(stimulus, &mut self.packets);
    }

    /// A block of the next cycle, oldest first. One without `itype` and `iretire` is empty.
    ///
    /// # Errors
    ///
    /// When `itype` has more than 4 bits.
    pub fn block(&mut self, block: Block, itype: u8) -> Result<(), GoldenError> {
        let itype = itype_of(itype)?;
        if itype != Itype::Nothing || block.iretire > 0 {
            self.blocks.push(Block { itype, ..block });
        }
        Ok(())
    }

    /// A cycle of the ingress port with the blocks since the last one.
    pub fn cycle(&mut self, signals: &Signals) {
        let &Signals { cause, tval, context, time, privilege, ctype, .. } = signals;
        let &Signals { trace_on, trace_off, halted, reset, .. } = signals;
        let blocks = self.blocks.drain(..).collect();
        self.take(&Stimulus::Cycle(Cycle {
            blocks,
            cause,
            tval,
            privilege,
            context,
            time,
            ctype,
            trace_on,
            trace_off,
            halted,
            reset,
        }));
    }

    /// Tracing is switched on or off.
    pub fn enable(&mut self, on: bool) {
        if on != self.tracing {
            self.tracing = on;
            self.take(&Stimulus::Enable(on));
        }
    }

    /// The transport after the encoder takes packets, or loses them.
    pub fn ready(&mut self, takes: bool) {
        self.take(&Stimulus::Transport(takes));
    }

    /// A control field is written; its number is that of packs.
    ///
    /// # Errors
    ///
    /// When there is no such field, or it cannot be written while tracing is on.
    pub fn field(&mut self, number: u8, value: u64) -> Result<(), GoldenError> {
        let signal = |name| GoldenError::Signal { name, value };
        match number {
            0x01 | 0x02 => {}
            0x03 => self.enable(value != 0),
            0x04 => {
                let mode = match value {
                    0 => SyncMode::Off,
                    1 => SyncMode::Packets,
                    2 => SyncMode::Cycles,
                    3 => SyncMode::HalfWords,
                    _ => return Err(signal("trTeInstSyncMode")),
                };
                self.set(|policy| policy.sync_mode = mode)?;
            }
            0x05 => {
                let max = u8::try_from(value).map_err(|_| signal("trTeInstSyncMax"))?;
                self.set(|policy| policy.sync_max = max)?;
            }
            0x06 => {
                self.modes.full_address = value != 0;
                self.take(&Stimulus::Modes(self.modes));
            }
            0x0c => self.set(|policy| policy.triggers.on_off = value != 0)?,
            _ => return Err(GoldenError::Field(number)),
        }
        Ok(())
    }

    /// What the encoder knows when it begins changes, so it begins anew.
    fn set(&mut self, change: impl FnOnce(&mut Policy)) -> Result<(), GoldenError> {
        let mut policy = self.current.clone();
        change(&mut policy);
        if policy == self.current {
            return Ok(());
        }
        if self.tracing {
            return Err(GoldenError::Tracing);
        }
        self.encoder.begin(&self.parameters, &policy)?;
        self.current = policy;
        self.take(&Stimulus::Modes(self.modes));
        Ok(())
    }

    /// The next bytes, as many as fit.
    pub fn take_bytes(&mut self, bytes: &mut [u8]) -> usize {
        let mut count = 0;
        while let Some(first) = self.packets.0.front_mut().filter(|_| count < bytes.len()) {
            let fit = first.len().min(bytes.len() - count);
            for (to, from) in bytes[count..].iter_mut().zip(first.drain(..fit)) {
                *to = from;
            }
            count += fit;
            if first.is_empty() {
                self.packets.0.pop_front();
            }
        }
        count
    }

    /// The payload of the next packet; 0 if there is none.
    ///
    /// # Errors
    ///
    /// When payloads are not known, or the packet does not fit; it stays then.
    pub fn take_payload(&mut self, bytes: &mut [u8]) -> Result<usize, GoldenError> {
        let plain = self.parameters.encapsulation == Encapsulation::default();
        if !plain || self.policy.idle != Idle::default() {
            return Err(GoldenError::Encapsulated);
        }
        let Some(first) = self.packets.0.front() else { return Ok(0) };
        let payload = first.get(HEADER..).unwrap_or_default();
        let count = payload.len();
        let Some(room) = bytes.get_mut(..count) else { return Err(GoldenError::Room { needed: count }) };
        room.copy_from_slice(payload);
        self.packets.0.pop_front();
        Ok(count)
    }
}

/// Spec: RVET-ING-001 (ET 4.2).
fn itype_of(value: u8) -> Result<Itype, GoldenError> {
    let error = GoldenError::Signal { name: "itype", value: value.into() };
    Itype::ALL.get(usize::from(value)).copied().ok_or(error)
}

/// A block of these signals; its `itype` comes apart.
pub(crate) const fn block_of(iaddr: u64, iretire: u32, ilastsize: u8, sijump: bool, notify: bool) -> Block {
    Block { itype: Itype::Nothing, iaddr: Address(iaddr), iretire, ilastsize, sijump, notify }
}
