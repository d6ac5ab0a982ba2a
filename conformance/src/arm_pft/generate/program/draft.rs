//! Instructions before they have addresses.

use traceproof_vectors::arm::InstructionSet;
use traceproof_vectors::arm_pft::Parameters;

use crate::arm_pft::generate::encoding::{self, Form, a32, condition, t32};
use crate::arm_pft::generate::happenings::Happenings;
use crate::arm_pft::generate::{Kind, Reach};
use crate::generate::Entropy;

/// An instruction whose size is known, and not its address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft {
    pub(super) isa: InstructionSet,
    pub(super) form: Form,
    pub(super) kind: Kind,
    pub(super) conditional: bool,
    pub(super) in_it: bool,
}

/// Chooses instructions.
pub(super) struct Drafter<'a, 'b> {
    entropy: &'a mut Entropy<'b>,
    m_profile: bool,
    virtualization: bool,
    jazelle: bool,
}

/// A branch whose target is chosen later.
const fn branch(to: usize, link: bool) -> Kind {
    Kind::Branch { to, link }
}

/// A BLX whose target is chosen later.
const EXCHANGE: Kind = Kind::Exchange { to: super::Place { section: 0, index: 0 } };

impl<'a, 'b> Drafter<'a, 'b> {
    pub(super) const fn new(
        entropy: &'a mut Entropy<'b>,
        parameters: &Parameters,
        happenings: &Happenings,
    ) -> Self {
        Self {
            entropy,
            m_profile: parameters.m_profile,
            virtualization: parameters.virtualization,
            jazelle: happenings.jazelle,
        }
    }

    /// Regions of one instruction set each, one after the other; nothing runs over the end.
    pub(super) fn section(&mut self, regions: &[(InstructionSet, usize)]) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for (index, &(isa, length)) in regions.iter().enumerate() {
            let end = drafts.len() + length;
            while drafts.len() < end {
                self.some(isa, &mut drafts);
            }
            let (form, kind) = match regions.get(index + 1) {
                Some(&(next, _)) => (encoding::switch(next), Kind::Switch(next)),
                None => self.last(isa),
            };
            drafts.push(Draft { isa, form, kind, conditional: false, in_it: false });
        }
        drafts
    }

    /// Many instructions without waypoint, and an indirect branch.
    pub(super) fn long_block(&mut self, isa: InstructionSet, length: usize) -> Vec<Draft> {
        // All have four bytes.
        let form = if isa == InstructionSet::A32 { a32(0xe1a0_0000) } else { t32(0xf3af_8000) };
        let plain = Draft { isa, form, kind: Kind::Plain, conditional: false, in_it: false };
        let mut drafts = vec![plain; length];
        let (form, kind) = self.last(isa);
        drafts.push(Draft { isa, form, kind, conditional: false, in_it: false });
        drafts
    }

    fn last(&mut self, isa: InstructionSet) -> (Form, Kind) {
        let any = Kind::Indirect { link: false, reach: Reach::Any };
        match isa {
            InstructionSet::A32 => (a32(0xe12f_ff1e), any),
            _ => (t32(0x4770), any),
        }
    }

    fn some(&mut self, isa: InstructionSet, drafts: &mut Vec<Draft>) {
        if isa == InstructionSet::A32 {
            let (form, kind, conditional) = self.a32();
            drafts.push(Draft { isa, form, kind, conditional, in_it: false });
        } else if self.entropy.chance(24) {
            self.it_block(isa, drafts);
        } else {
            let (form, kind, conditional) = self.t32(isa);
            drafts.push(Draft { isa, form, kind, conditional, in_it: false });
        }
    }

    fn a32(&mut self) -> (Form, Kind, bool) {
        let entropy = &mut *self.entropy;
        let to = entropy.below(64);
        let (opcode, kind) = match entropy.below(24) {
            0..=5 => (entropy.pick(&encoding::A32_PLAIN), Kind::Plain),
            6..=8 => {
                let form = Form::A32Branch { condition: condition(entropy), link: false };
                return (form, branch(to, false), true);
            }
            9 => return (Form::A32Branch { condition: 14, link: false }, branch(to, false), false),
            10 | 11 => {
                let conditional = entropy.chance(64);
                let condition = if conditional { condition(entropy) } else { 14 };
                return (Form::A32Branch { condition, link: true }, branch(to, true), conditional);
            }
            12 => return (Form::A32Exchange, EXCHANGE, false),
            13..=17 => {
                let rows = if self.jazelle { 12 } else { 11 };
                entropy.pick(&encoding::A32_INDIRECT[..rows])
            }
            18 => {
                let rows = if self.virtualization { 4 } else { 3 };
                (entropy.pick(&encoding::A32_RETURN[..rows]), Kind::ExceptionReturn)
            }
            19 => (entropy.pick(&encoding::A32_RFE), Kind::ExceptionReturn),
            20 | 21 => entropy.pick(&encoding::A32_BARRIERS),
            22 => {
                let rows = if self.virtualization { 4 } else { 3 };
                entropy.pick(&encoding::A32_CALLS[..rows])
            }
            _ => {
                let wait = (entropy.pick(&[0xe320_f003, 0xe320_f002]), Kind::Wait);
                entropy.pick(&[wait, (0xe120_0070, Kind::Breakpoint)])
            }
        };
        // UDF and BKPT are unconditional.
        let fixed = matches!(kind, Kind::Breakpoint | Kind::Call(9));
        let (opcode, conditional) =
            if fixed { (opcode, false) } else { encoding::a32_condition(entropy, opcode) };
        (a32(opcode), kind, conditional)
    }

    fn t32(&mut self, isa: InstructionSet) -> (Form, Kind, bool) {
        let entropy = &mut *self.entropy;
        let to = entropy.below(64);
        let (opcode, kind) = match entropy.below(26) {
            0..=6 => (entropy.pick(&encoding::T32_PLAIN), Kind::Plain),
            7 | 8 => {
                let condition = condition(entropy);
                let form = entropy
                    .pick(&[Form::ShortConditional { condition }, Form::WideConditional { condition }]);
                return (form, branch(to, false), true);
            }
            9 | 10 => return (Form::Compare { nonzero: entropy.chance(128) }, branch(to, false), true),
            11 => return (entropy.pick(&[Form::Short, Form::Wide]), branch(to, false), false),
            12 | 13 => return (Form::Link, branch(to, true), false),
            14 if isa == InstructionSet::T32 && !self.m_profile => return (Form::Exchange, EXCHANGE, false),
            14..=19 => self.t32_indirect(isa),
            20 if !self.m_profile => {
                let rows = if self.virtualization { 5 } else { 4 };
                (entropy.pick(&encoding::T32_RETURN[..rows]), Kind::ExceptionReturn)
            }
            20..=22 => entropy.pick(&encoding::T32_BARRIERS[..if self.m_profile { 3 } else { 6 }]),
            23 => self.t32_call(),
            _ => {
                let wait = (entropy.pick(&[0xbf30, 0xbf20]), Kind::Wait);
                entropy.pick(&[wait, (0xbe00, Kind::Breakpoint)])
            }
        };
        (t32(opcode), kind, false)
    }

    fn t32_indirect(&mut self, isa: InstructionSet) -> (u32, Kind) {
        let rows = if self.jazelle && isa == InstructionSet::T32 { 15 } else { 14 };
        match isa {
            InstructionSet::T32Ee if self.entropy.chance(128) => self.entropy.pick(&encoding::T32EE_INDIRECT),
            _ => self.entropy.pick(&encoding::T32_INDIRECT[..rows]),
        }
    }

    fn t32_call(&mut self) -> (u32, Kind) {
        let rows = match (self.m_profile, self.virtualization) {
            (true, _) => 2,
            (_, false) => 3,
            (_, true) => 4,
        };
        self.entropy.pick(&encoding::T32_CALLS[..rows])
    }

    /// IT and one or two instructions; only the last one may be a branch.
    fn it_block(&mut self, isa: InstructionSet, drafts: &mut Vec<Draft>) {
        let two = self.entropy.chance(128);
        let kind = Kind::Plain;
        let opcode = if two { 0xbf04 } else { 0xbf08 };
        drafts.push(Draft { isa, form: t32(opcode), kind, conditional: false, in_it: false });
        if two {
            let form = t32(self.entropy.pick(&encoding::T32_PLAIN));
            drafts.push(Draft { isa, form, kind, conditional: true, in_it: true });
        }
        let to = self.entropy.below(64);
        let (form, kind) = match self.entropy.below(8) {
            0 => (t32(self.entropy.pick(&encoding::T32_PLAIN)), Kind::Plain),
            1 => (self.entropy.pick(&[Form::Short, Form::Wide]), branch(to, false)),
            2 => (Form::Link, branch(to, true)),
            3 if isa == InstructionSet::T32 && !self.m_profile => (Form::Exchange, EXCHANGE),
            4 => {
                let (opcode, kind) =
                    self.entropy.pick(&encoding::T32_BARRIERS[..if self.m_profile { 3 } else { 6 }]);
                (t32(opcode), kind)
            }
            5 => (t32(0xdf22), Kind::Call(10)),
            _ => {
                let (opcode, kind) = self.t32_indirect(isa);
                (t32(opcode), kind)
            }
        };
        drafts.push(Draft { isa, form, kind, conditional: true, in_it: true });
    }
}
