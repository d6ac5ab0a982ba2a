//! What T32 mnemonics of both sizes have in common: their suffixes, and IT blocks.

use super::operand::{Line, Parsed, condition, suffix};

/// One mnemonic with one form of operands.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) bits: u32,
    pub(super) kind: Kind,
    /// The mnemonic ends in `.w`, because there is a shorter instruction of that name.
    pub(super) needs_w: bool,
    pub(super) encode: fn(&Line<'_>) -> Parsed<u32>,
}

/// Which suffixes a mnemonic takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A condition in IT blocks.
    Plain,
    /// `s` outside of IT blocks, a condition inside.
    Flags,
    /// `s`; not in IT blocks.
    OnlyFlags,
    /// `s` or not; a condition in IT blocks.
    OptionalFlags,
    /// A condition other than AL, outside of IT blocks; its number is at that bit.
    Conditional(u32),
    /// None; not in IT blocks.
    Alone,
}

/// The conditions of the instructions that an IT instruction is about, next one first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    conditions: Vec<u32>,
}

const ALWAYS: u32 = 14;

impl Block {
    /// Begins with `it`, `itt`, `ite` ... and its first condition. `None` when that is no such mnemonic.
    pub(super) fn begin(mnemonic: &str, first: &str) -> Option<(Self, u32)> {
        let pattern = mnemonic.strip_prefix("it")?;
        let first = condition(first)?;
        if pattern.len() > 3 || !pattern.chars().all(|each| matches!(each, 't' | 'e')) {
            return None;
        }
        let others = pattern.chars().map(|each| if each == 't' { first } else { first ^ 1 });
        let mut conditions: Vec<u32> = others.collect();
        // Each instruction has a bit, the low bit of its condition; a 1 ends them.
        let mask = conditions
            .iter()
            .chain([&1])
            .enumerate()
            .fold(0, |mask, (index, condition)| mask | (condition & 1) << (3 - index));
        conditions.insert(0, first);
        Some((Self { conditions }, 0xbf00 | first << 4 | mask))
    }

    /// The condition of the next instruction; `None` outside of a block.
    pub(super) fn next(&mut self) -> Option<u32> {
        if self.conditions.is_empty() { None } else { Some(self.conditions.remove(0)) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }
}

/// What the suffixes of a mnemonic mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suffix {
    flags: bool,
    condition: u32,
    in_block: bool,
}

impl Row {
    /// The suffixes with which `mnemonic`, without `.w`, is this row's name under the condition of an IT block.
    pub(super) fn matches(&self, mnemonic: &str, block: Option<u32>) -> Option<Suffix> {
        let (flags, condition) = suffix(mnemonic, self.name, true)?;
        let suffix = Suffix { flags, condition, in_block: block.is_some() };
        (block.is_none_or(|block| block == condition) && self.takes(suffix)).then_some(suffix)
    }

    /// Whether this row takes these suffixes.
    pub(super) const fn takes(&self, suffix: Suffix) -> bool {
        let Suffix { flags, condition, in_block } = suffix;
        let unconditional = in_block || condition == ALWAYS;
        match self.kind {
            Kind::Plain => unconditional && !flags,
            Kind::Flags => unconditional && flags != in_block,
            Kind::OnlyFlags => unconditional && flags && !in_block,
            Kind::OptionalFlags => unconditional,
            Kind::Conditional(_) => !unconditional && !flags,
            Kind::Alone => unconditional && !flags && !in_block,
        }
    }

    /// The instruction: a half-word, or two with the first in \[31:16\].
    pub(super) fn encode(&self, suffix: Suffix, line: &Line<'_>) -> Parsed<u32> {
        let bits = self.bits | (self.encode)(line)?;
        Ok(match self.kind {
            Kind::Conditional(at) => bits | suffix.condition << at,
            Kind::OptionalFlags if suffix.flags => bits | 1 << 20,
            _ => bits,
        })
    }
}

pub(super) fn nothing(line: &Line<'_>) -> Parsed<u32> {
    line.exactly::<0>().map(|_| 0)
}
