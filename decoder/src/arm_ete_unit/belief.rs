//! What the unit may be: sets of configurations, and how they change.

use traceproof_vectors::arm_ete_unit::{ProgrammingState, StateSet};

use ProgrammingState::{Enabling, Idle, Running, Stable, Unstable};

/// A set of configurations without pending writes: bit 4 * state + 2 * EN + L.
type Word = u32;

const ALL: Word = 0xF_FFFF;

/// Those in this state.
const fn state_mask(state: ProgrammingState) -> Word {
    0xF << (4 * state as u32)
}

/// Those with this EN.
const fn en_mask(en: bool) -> Word {
    if en { 0xC_CCCC } else { 0x3_3333 }
}

/// Those with this OS Lock.
const fn lock_mask(locked: bool) -> Word {
    if locked { 0xA_AAAA } else { 0x5_5555 }
}

/// EN = 1 and L = 0, which enable the unit (ETE-VBMLV-001).
const ENABLING_BITS: Word = 0x4_4444;
const ENABLED_STATES: Word = state_mask(Enabling) | state_mask(Running);

/// What the belief can be restricted to; the default is no restriction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter {
    allowed: Word,
    /// EN, with the pending one in its place if there is one and the flag is set.
    en: Option<(bool, bool)>,
}

impl Default for Filter {
    fn default() -> Self {
        Self { allowed: ALL, en: None }
    }
}

impl Filter {
    pub(super) const fn locked(mut self, locked: bool) -> Self {
        self.allowed &= lock_mask(locked);
        self
    }

    /// What both let pass.
    pub(super) fn and(self, other: Self) -> Self {
        Self { allowed: self.allowed & other.allowed, en: other.en.or(self.en) }
    }

    /// EN as a read shows it. A direct read shows the pending value.
    pub(super) const fn en(mut self, en: bool, direct: bool) -> Self {
        self.en = Some((en, direct));
        self
    }

    pub(super) fn states(mut self, states: impl Iterator<Item = ProgrammingState>) -> Self {
        self.allowed &= states.fold(0, |mask, state| mask | state_mask(state));
        self
    }

    /// The states that show this value of a bit of TRCSTATR: `IDLE` is bit 0, `PMSTABLE` bit 1.
    ///
    /// Spec: ETE-WMGGP-002, ETE-WMGGP-003.
    pub(super) fn status(self, bit: u8, value: bool) -> Self {
        self.states(ProgrammingState::ALL.into_iter().filter(|state| {
            let shown = match (bit, state) {
                (0, Idle | Enabling) => Some(true),
                (0, _) => Some(false),
                (_, Idle | Stable) => Some(true),
                (_, Unstable) => Some(false),
                (_, Enabling | Running) => None,
            };
            shown.is_none_or(|shown| shown == value)
        }))
    }

    pub(super) const fn enabled(mut self, enabled: bool) -> Self {
        self.allowed &= if enabled { ENABLED_STATES } else { !ENABLED_STATES };
        self
    }
}

/// The set of configurations that the unit may be in: one word for each combination of pending writes, index 3 * EN + L
/// with 0 = none, 1 = 0, 2 = 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Belief {
    words: [Word; 9],
    /// Something unpredictable led to it.
    pub(super) mark: bool,
}

impl Default for Belief {
    /// Every usual configuration.
    fn default() -> Self {
        let mut usual = 0;
        for state in ProgrammingState::ALL {
            let fitting = if state.is_enabled() { ENABLING_BITS } else { ALL & !ENABLING_BITS };
            usual |= state_mask(state) & fitting;
        }
        Self::settled(usual)
    }
}

impl Belief {
    /// These configurations, with nothing pending and without the mark.
    const fn settled(word: Word) -> Self {
        Self { words: [word, 0, 0, 0, 0, 0, 0, 0, 0], mark: false }
    }

    fn whole(&self) -> Word {
        self.words.iter().fold(0, |whole, word| whole | word)
    }

    pub(super) fn states(&self) -> StateSet {
        let whole = self.whole();
        let set: StateSet =
            ProgrammingState::ALL.into_iter().filter(|state| whole & state_mask(*state) != 0).collect();
        if self.mark { set.unpredictable() } else { set }
    }

    /// Whether a configuration is in one of the states.
    pub(super) fn can_be(&self, states: &[ProgrammingState]) -> bool {
        states.iter().any(|state| self.whole() & state_mask(*state) != 0)
    }

    /// Whether every configuration is in one of the states.
    pub(super) fn must_be(&self, states: &[ProgrammingState]) -> bool {
        ProgrammingState::ALL.iter().all(|state| states.contains(state) || !self.can_be(&[*state]))
    }

    pub(super) fn can_be_locked(&self, locked: bool) -> bool {
        self.whole() & lock_mask(locked) != 0
    }

    /// `Some(true)`: every configuration is enabled; `Some(false)`: every one is disabled.
    pub(super) fn enabled(&self) -> Option<bool> {
        match (self.whole() & ENABLED_STATES != 0, self.whole() & !ENABLED_STATES != 0) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// Every configuration is Idle with EN = 1 and the OS Lock locked.
    pub(super) fn is_held_by_lock(&self) -> bool {
        self.whole() & !(state_mask(Idle) & en_mask(true) & lock_mask(true)) == 0
    }

    /// The configurations that the filter lets pass.
    #[must_use]
    pub(super) fn only(&self, filter: &Filter) -> Self {
        let mut kept = *self;
        for (pending, word) in kept.words.iter_mut().enumerate() {
            *word &= filter.allowed;
            if let Some((en, direct)) = filter.en {
                *word &= match pending / 3 {
                    1 | 2 if direct && (pending / 3 == 2) == en => ALL,
                    1 | 2 if direct => 0,
                    _ => en_mask(en),
                };
            }
        }
        kept
    }

    pub(super) fn is_empty(&self) -> bool {
        self.whole() == 0
    }

    /// EN is written: pending if direct, else at once; either value if it is not known.
    pub(super) fn write_en(&mut self, value: Option<bool>, direct: bool) {
        let values = [false, true].into_iter().filter(|en| value.is_none_or(|value| value == *en));
        self.replace(values, |belief, en| {
            if direct { belief.pend(3 * (1 + usize::from(en)), 3) } else { belief.apply(change_en, en) }
        });
    }

    /// A write of EN = 0 that may be the first step of a procedure: it hits none of the states in which a change of EN
    /// is unpredictable. Reading `eteu-first-disable`.
    pub(super) fn begin_procedure(&mut self) {
        for word in &mut self.words {
            let enabling = *word & state_mask(Enabling);
            let others = state_mask(Idle) | state_mask(Unstable) | state_mask(Stable);
            let disabling = *word & others & en_mask(true);
            *word = *word & !enabling & !disabling | enabling << 4 | disabling >> 2;
        }
    }

    /// The OS Lock is written.
    pub(super) fn write_lock(&mut self, value: Option<bool>, direct: bool) {
        let values = [false, true].into_iter().filter(|locked| value.is_none_or(|value| value == *locked));
        self.replace(values, |belief, locked| {
            if direct { belief.pend(1 + usize::from(locked), 1) } else { belief.apply(change_lock, locked) }
        });
    }

    /// The union of what each value leads to.
    fn replace(&mut self, values: impl Iterator<Item = bool>, one: impl Fn(&Self, bool) -> Self) {
        let mut all = Self { words: [0; 9], mark: self.mark };
        for value in values {
            let led = one(self, value);
            all.mark |= led.mark;
            for (to, from) in all.words.iter_mut().zip(led.words) {
                *to |= from;
            }
        }
        *self = all;
    }

    /// A write becomes pending: the digit with this weight becomes that of `digit`.
    fn pend(&self, digit: usize, weight: usize) -> Self {
        let mut changed = Self { words: [0; 9], mark: self.mark };
        for (pending, word) in self.words.iter().enumerate() {
            let cleared = pending - pending / weight % 3 * weight;
            if let Some(to) = changed.words.get_mut(cleared + digit) {
                *to |= word;
            }
        }
        changed
    }

    /// A write takes effect in every configuration.
    fn apply(&self, change: fn(Word, bool) -> (Word, bool), value: bool) -> Self {
        let mut changed = *self;
        for word in &mut changed.words {
            let (to, mark) = change(*word, value);
            *word = to;
            changed.mark |= mark;
        }
        changed
    }

    /// What is pending has taken effect; the belief is closed.
    pub(super) fn synchronise(&mut self) {
        for word in self.words.iter_mut().skip(1) {
            *word = 0;
        }
    }

    /// A trace unit reset, a Cold reset (locks), or a change of power, after which the OS Lock is unknown.
    ///
    /// Readings `eteu-reset-is-idle`, `eteu-power-up-keeps-no-lock`. Spec: ETE-ST-005.
    pub(super) fn reset(&mut self, locked: Option<bool>) {
        let idle = state_mask(Idle) & en_mask(false);
        let mut word = 0;
        for lock in [false, true] {
            if locked.map_or(self.can_be_locked(lock), |locked| locked == lock) {
                word |= idle & lock_mask(lock);
            }
        }
        *self = Self::settled(word);
    }

    /// Idle with EN = 0 and either OS Lock.
    pub(super) fn lose_power(&mut self) {
        *self = Self::settled(state_mask(Idle) & en_mask(false));
    }

    /// Adds everything that follows without a record; the state moves only where its changes are not all shown.
    pub(super) fn close(&mut self, moves: bool) {
        // More pending writes first: what takes effect ends up in a word that is still to come.
        for pending in [4, 5, 7, 8, 3, 6, 1, 2, 0] {
            let word = if moves { progress(self.words[pending]) } else { self.words[pending] };
            self.words[pending] = word;
            let (en, lock) = (pending / 3, pending % 3);
            if word == 0 {
                continue;
            }
            if en > 0 {
                let (to, mark) = change_en(word, en == 2);
                self.words[lock] |= to;
                self.mark |= mark;
            }
            if lock > 0 {
                let (to, mark) = change_lock(word, lock == 2);
                self.words[3 * en] |= to;
                self.mark |= mark;
            }
        }
    }

    /// EN and the OS Lock may have been written by an agent whose accesses are hidden, where the outcome is
    /// predictable.
    pub(super) fn may_be_written(&mut self) {
        for word in &mut self.words {
            for state in [Idle, Running] {
                if *word & state_mask(state) != 0 {
                    *word |= state_mask(state);
                }
            }
        }
    }

    /// Also those that are one step of progress away.
    pub(super) fn step(&mut self) {
        for word in &mut self.words {
            *word |= moved(*word);
        }
    }
}

/// One step of progress of each configuration that makes one.
///
/// Spec: ETE-WMGGP-005.
const fn moved(word: Word) -> Word {
    let unstable = word & state_mask(Running) & !ENABLING_BITS;
    let starting = word & state_mask(Idle) & ENABLING_BITS;
    let forward = word & (state_mask(Enabling) | state_mask(Unstable)) | unstable | starting;
    forward << 4 | (word & state_mask(Stable)) >> 16
}

fn progress(word: Word) -> Word {
    let mut closed = word;
    loop {
        let next = closed | moved(closed);
        if next == closed {
            return closed;
        }
        closed = next;
    }
}

fn configurations(word: Word) -> impl Iterator<Item = (ProgrammingState, bool, bool)> {
    ProgrammingState::ALL.into_iter().flat_map(move |state| {
        (0..4_u32)
            .filter(move |bits| word >> (4 * state as u32 + bits) & 1 == 1)
            .map(move |bits| (state, bits & 2 != 0, bits & 1 != 0))
    })
}

/// The configurations in which EN takes a value, and whether one of them sets the mark.
///
/// Spec: ETE-MDZDN-001, ETE-MDZDN-002, ETE-MDZDN-003.
fn change_en(word: Word, value: bool) -> (Word, bool) {
    let changing = word & en_mask(!value);
    let mut changed = word & en_mask(value);
    let mut mark = false;
    for (state, en, locked) in configurations(changing) {
        if matches!(state, Idle | Running) {
            changed |= led(state, value, locked).0;
        } else {
            mark = true;
            changed |= led(state, value, locked).0 | led(state, en, locked).0;
        }
    }
    (changed, mark)
}

/// The same of the OS Lock.
///
/// Spec: ETE-DXFFN-001, ETE-TZSRP-002.
fn change_lock(word: Word, value: bool) -> (Word, bool) {
    let changing = word & lock_mask(!value);
    let mut changed = word & lock_mask(value);
    let mut mark = false;
    for (state, en, _) in configurations(changing) {
        let (to, unpredictable) = led(state, en, value);
        changed |= to;
        mark |= unpredictable;
    }
    (changed, mark)
}

/// What a configuration becomes that has these EN and OS Lock from now on, and whether that sets the mark.
///
/// Readings `eteu-lock-while-enabling`, `eteu-enabled-while-disabling`. Spec: ETE-VBMLV-001, ETE-TMLTF-001.
const fn led(state: ProgrammingState, en: bool, locked: bool) -> (Word, bool) {
    let states = match (state, en && !locked) {
        (Idle | Enabling, true) => state_mask(Enabling),
        (Idle, false) => state_mask(Idle),
        (Enabling, false) => state_mask(Enabling) | state_mask(Unstable) | state_mask(Idle),
        (Running, true) => state_mask(Running),
        (Running, false) => state_mask(Unstable),
        (Unstable | Stable, true) => state_mask(state) | state_mask(Enabling),
        (Unstable | Stable, false) => state_mask(state),
    };
    let mark = matches!((state, en && !locked), (Enabling, false) | (Unstable | Stable, true));
    (states & en_mask(en) & lock_mask(locked), mark)
}
