//! What the registers hold.

use alloc::collections::BTreeMap;

use traceproof_vectors::arm_ete_unit::{Parameters, Register};

/// TRCEVENTCTL1R.OE.
const OE: u32 = 1 << 13;
/// TRCIMSPEC0.EN.
const IMSPEC_EN: u32 = 0xF0;
/// TRCRSR.TA.
const TA: u32 = 1 << 12;
/// TRCRSR.EVENT and EXTIN.
const OCCURRED: u32 = 0xF0F;
/// TRCSYNCPR where it is read-only: a request every 4096 bytes.
const FIXED_PERIOD: u32 = 12;

/// The words that were written since the latest reset, by offset, and the claim tags.
#[derive(Debug)]
pub(super) struct Registers {
    words: BTreeMap<u16, u32>,
    /// What every other word holds.
    unknown: u64,
    claimed: u32,
}

impl Registers {
    pub(super) const fn new(unknown: u64) -> Self {
        Self { words: BTreeMap::new(), unknown, claimed: 0 }
    }

    /// Spec: ETE-PCXJC-001, ETE-WKLGX-001.
    pub(super) fn reset(&mut self) {
        self.words.clear();
        self.claimed = 0;
    }

    /// What is UNKNOWN at this word.
    const fn unknown(&self, upper: bool) -> u32 {
        (if upper { self.unknown >> 32 } else { self.unknown }) as u32
    }

    /// One word of a register that is read and written.
    ///
    /// Spec: ETE-OE-RST-001, ETE-WKLGX-001.
    pub(super) fn word(&self, register: Register, parameters: &Parameters) -> u32 {
        if register == Register::SYNCPR && parameters.fixed_sync_period {
            return FIXED_PERIOD;
        }
        let written = self.words.get(&register.offset()).copied();
        written.unwrap_or_else(|| match register {
            Register::AUXCTLR | Register::PDCR => 0,
            Register::EVENTCTL1R => self.unknown(false) & !OE,
            Register::IMSPEC0 => self.unknown(false) & !IMSPEC_EN,
            _ => self.unknown(is_upper(register)),
        })
    }

    /// Every bit that is written is held, of TRCPDCR none (ETE-ACC-010).
    pub(super) fn write(&mut self, register: Register, value: u32) {
        if register != Register::PDCR {
            self.words.insert(register.offset(), value);
        }
    }

    /// The word becomes UNKNOWN.
    pub(super) fn forget(&mut self, register: Register) {
        self.write(register, self.unknown(is_upper(register)));
    }

    /// TRCCLAIMSET is written. Spec: ETE-ACC-009.
    pub(super) const fn claim(&mut self, tags: u32, parameters: &Parameters) {
        self.claimed |= tags & claim_mask(parameters);
    }

    /// TRCCLAIMCLR is written. Spec: ETE-ACC-009.
    pub(super) const fn unclaim(&mut self, tags: u32) {
        self.claimed &= !tags;
    }

    /// What TRCCLAIMCLR reads as.
    pub(super) const fn claimed(&self) -> u32 {
        self.claimed
    }

    pub(super) fn output_enable(&self, parameters: &Parameters) -> bool {
        self.word(Register::EVENTCTL1R, parameters) & OE != 0
    }

    /// Whether an instruction is the latest one that was traced: TRCRSR.TA.
    pub(super) fn set_traced(&mut self, traced: bool, parameters: &Parameters) {
        let word = self.word(Register::RSR, parameters) & !TA;
        self.write(Register::RSR, word | if traced { TA } else { 0 });
    }

    /// ETEEvent n occurred while the resources were paused. Spec: ETE-RES-001.
    pub(super) fn event_while_paused(&mut self, n: u8, parameters: &Parameters) {
        let word = self.word(Register::RSR, parameters);
        self.write(Register::RSR, word | 1 << (8 + n));
    }

    /// The resources begin to run: what occurred is consumed. Spec: ETE-RES-002.
    pub(super) fn consume_occurred(&mut self, parameters: &Parameters) {
        let word = self.word(Register::RSR, parameters);
        self.write(Register::RSR, word & !OCCURRED);
    }
}

/// What TRCCLAIMSET reads as.
pub(super) const fn claim_mask(parameters: &Parameters) -> u32 {
    match parameters.claim_tags {
        tags @ 0..32 => (1 << tags) - 1,
        _ => u32::MAX,
    }
}

/// Whether it is the upper word of a register of 64 bits.
fn is_upper(register: Register) -> bool {
    register.offset() >= 4 && Register(register.offset() - 4).is_wide()
}
