//! Model against checker: the model writes a log, and whatever it chose, the checker finds that a trace unit wrote it.

use std::fmt;

use traceproof_decoder::arm_ete_unit::Decoder;
use traceproof_encoder_model::arm_ete_unit::Encoder;
use traceproof_vectors::arm_ete_unit::wire::RECORD;
use traceproof_vectors::arm_ete_unit::{
    ArmEteUnit, Event, FindingKind, Input, Packet, Parameters, ProgrammingState, Signal, StateSet,
};
use traceproof_vectors::case::arm_ete_unit::show_packet;
use traceproof_vectors::{
    Decoder as _, Encoder as _, EncoderSink, Fault, FaultClass, Place, Program, Refusal, Sink,
};

use super::Scenario;

/// What both sides agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Records.
    pub records: u64,
    /// Records after which the unit was in each state, in the order of [`ProgrammingState`].
    pub states: [u64; 5],
    /// Records after which the checker knew the state, without seeing it.
    pub known: u64,
    /// Records after which the states were marked as unpredictable.
    pub unpredictable: u64,
    /// Findings about software: illegal and unpredictable accesses, missing steps.
    pub software: u64,
    /// Sessions.
    pub sessions: u64,
    /// Records of output.
    pub outputs: u64,
}

impl std::ops::AddAssign for Agreement {
    fn add_assign(&mut self, other: Self) {
        self.records += other.records;
        for (sum, states) in self.states.iter_mut().zip(other.states) {
            *sum += states;
        }
        self.known += other.known;
        self.unpredictable += other.unpredictable;
        self.software += other.software;
        self.sessions += other.sessions;
        self.outputs += other.outputs;
    }
}

/// How both sides disagree.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// About what.
    pub cause: Cause,
    /// The latest records up to the one at fault, in the notation of cases.
    pub records: Vec<String>,
}

/// What both sides disagree about.
#[derive(Clone, Debug)]
pub enum Cause {
    /// One refused the parameters.
    Refused(Refusal),
    /// The checker finds that no trace unit does what the model did: the rule, if there is one.
    Fault(Fault, Option<&'static str>),
    /// The checker read another packet than the model wrote.
    Packet {
        /// Index of the packet.
        index: usize,
        /// What the model wrote.
        made: String,
        /// What the checker read.
        read: String,
    },
    /// The unit was in a state that the checker ruled out.
    State {
        /// Of the unit.
        state: ProgrammingState,
        /// Of the checker.
        believed: StateSet,
    },
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Refused(refusal) => write!(f, "refused: {refusal}")?,
            Cause::Fault(fault, rule) => write!(f, "the checker reports {fault} {}", rule.unwrap_or(""))?,
            Cause::Packet { index, made, read } => write!(f, "packet {index}: made {made}, read {read}")?,
            Cause::State { state, believed } => write!(f, "in {state:?}, believed {believed}")?,
        }
        write!(f, "; up to the record: {}", self.records.join("; "))
    }
}

impl std::error::Error for Disagreement {}

/// Lets the model write the scenario's log, and the checker judge it twice: with every state shown, and with states
/// hidden. What software does wrong is no disagreement.
///
/// # Errors
///
/// The first disagreement.
pub fn agree(scenario: &Scenario) -> Result<Agreement, Disagreement> {
    let mut shown = scenario.clone();
    shown.parameters.shown.states = true;
    let made = log(&shown).map_err(refused)?;
    judge(&made, &shown.parameters)?;
    let mut hidden = scenario.parameters.clone();
    hidden.shown.states = false;
    judge(&made.without_states(), &hidden)
}

/// What a checker that sees no states reports of the log of the model, which shows them.
///
/// # Errors
///
/// The first disagreement.
pub fn agree_on(made: &Written, parameters: &Parameters) -> Result<Agreement, Disagreement> {
    judge(&made.without_states(), parameters)
}

fn refused(refusal: Refusal) -> Disagreement {
    Disagreement { cause: Cause::Refused(refusal), records: Vec::new() }
}

fn judge(made: &Written, parameters: &Parameters) -> Result<Agreement, Disagreement> {
    let mut judged = Judged::new(made);
    let mut decoder = Decoder::default();
    decoder.begin(parameters, &Program::new()).map_err(refused)?;
    for record in made.wire.chunks(RECORD) {
        decoder.push(record, &mut judged);
        judged.record_ends();
        if let Some(cause) = judged.cause.take() {
            return Err(judged.disagreement(cause));
        }
    }
    decoder.finish(&mut judged);
    Ok(judged.agreement)
}

/// The log of the model for the scenario.
///
/// # Errors
///
/// When the model refuses the parameters.
pub fn log(scenario: &Scenario) -> Result<Written, Refusal> {
    let mut written = Written::default();
    let mut encoder = Encoder::default();
    encoder.begin(&scenario.parameters, &scenario.policy)?;
    for step in &scenario.stimulus {
        encoder.step(step, &mut written);
    }
    encoder.finish(&mut written);
    Ok(written)
}

/// What the model wrote.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Records.
    pub packets: Vec<Packet>,
    /// Their bytes.
    pub wire: Vec<u8>,
    /// The state of the unit directly before the next record, where it is known.
    truth: Vec<Option<ProgrammingState>>,
}

impl Written {
    /// Without the records of states; they become what is known of each other record.
    pub(super) fn without_states(&self) -> Self {
        let mut kept = Self::default();
        let mut state = Some(ProgrammingState::Idle);
        for (packet, bytes) in self.packets.iter().zip(self.wire.chunks(RECORD)) {
            match packet {
                Packet::State(seen) => {
                    state = Some(*seen);
                    if let Some(latest) = kept.truth.last_mut() {
                        *latest = state;
                    }
                }
                Packet::Signal(Signal::Enabled(_)) => {}
                _ => {
                    kept.packets.push(*packet);
                    kept.wire.extend_from_slice(bytes);
                    kept.truth.push(state);
                }
            }
        }
        kept
    }
}

impl EncoderSink<ArmEteUnit> for Written {
    fn packet(&mut self, packet: &Packet) {
        self.packets.push(*packet);
    }

    fn wire(&mut self, bytes: &[u8]) {
        self.wire.extend_from_slice(bytes);
    }
}

/// Looks at what the checker reports while it does.
struct Judged<'a> {
    made: &'a Written,
    read: usize,
    believed: StateSet,
    /// The latest finding.
    rule: Option<&'static str>,
    agreement: Agreement,
    cause: Option<Cause>,
}

impl<'a> Judged<'a> {
    fn new(made: &'a Written) -> Self {
        Self {
            made,
            read: 0,
            believed: StateSet::ALL,
            rule: None,
            agreement: Agreement::default(),
            cause: None,
        }
    }

    /// Everything is reported of one record.
    fn record_ends(&mut self) {
        self.agreement.records += 1;
        let index = self.read.wrapping_sub(1);
        if self.made.packets.get(index) == Some(&Packet::Input(Input::End)) {
            self.believed = StateSet::ALL;
        }
        self.agreement.known += u64::from(self.believed.states().count() == 1);
        self.agreement.unpredictable += u64::from(self.believed.is_unpredictable());
        if let Some(state) = self.made.truth.get(index).copied().flatten() {
            self.agreement.states[state as usize] += 1;
            if !self.believed.contains(state) && self.cause.is_none() {
                self.cause = Some(Cause::State { state, believed: self.believed });
            }
        }
    }

    fn disagreement(&self, cause: Cause) -> Disagreement {
        let end = self.read.min(self.made.packets.len());
        let records = self.made.packets.get(end.saturating_sub(40)..end).unwrap_or_default();
        Disagreement { cause, records: records.iter().map(show_packet).collect() }
    }
}

impl Sink<ArmEteUnit> for Judged<'_> {
    fn packet(&mut self, _: Place, packet: &Packet) {
        let made = self.made.packets.get(self.read);
        if made != Some(packet) && self.cause.is_none() {
            self.cause = Some(Cause::Packet {
                index: self.read,
                made: format!("{made:x?}"),
                read: format!("{packet:x?}"),
            });
        }
        self.agreement.outputs += u64::from(matches!(packet, Packet::Output { .. }));
        self.read += 1;
    }

    fn event(&mut self, _: Place, event: &Event) {
        match event {
            Event::State(states) => self.believed = *states,
            Event::SessionBegin => self.agreement.sessions += 1,
            Event::Finding { rule, .. } => {
                self.rule = Some(rule.id());
                let of_software = !matches!(rule.kind(), FindingKind::Note | FindingKind::Contradiction);
                self.agreement.software += u64::from(of_software);
            }
            _ => {}
        }
    }

    fn fault(&mut self, fault: &Fault) {
        if fault.class != FaultClass::IllegalInState && self.cause.is_none() {
            self.cause = Some(Cause::Fault(*fault, self.rule));
        }
    }
}
