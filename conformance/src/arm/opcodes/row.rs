//! The tables: encodings, and what becomes of each.

use traceproof_vectors::arm::InstructionSet;

use super::Mode;

/// One line of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) code: u32,
    /// Bytes: 2 or 4.
    pub(crate) length: u8,
    pub(crate) text: &'static str,
    pub(crate) class: &'static str,
    /// Its condition may fail.
    pub(crate) conditional: bool,
    /// To the target, from its own address.
    pub(crate) distance: i64,
    pub(crate) data: Option<Data>,
}

/// What an instruction transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    pub(crate) way: Way,
    /// 0: not known.
    pub(crate) count: u8,
    /// Bytes of each.
    pub(crate) size: u8,
}

/// Where the data of an instruction go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Load,
    Store,
    Swap,
    /// To or from a coprocessor.
    Coprocessor,
}

/// What an instruction does to the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Straight,
    /// To a target in the opcode.
    Direct {
        link: bool,
    },
    /// To a target that a register or memory holds.
    Indirect {
        link: bool,
    },
    ExceptionReturn,
    /// Straight on, but the trace shows it.
    Isb,
    Barrier,
    Wait,
    TransactionStart,
    /// An exception after it.
    Call(Call),
}

/// An instruction that makes an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Supervisor,
    Hypervisor,
    Monitor,
}

impl Row {
    /// `None` of comments.
    fn parse(line: &'static str) -> Option<Self> {
        let mut columns = line.split('\t');
        let (code, text, class) = (columns.next()?, columns.next()?, columns.next()?);
        let mut column = || columns.next().unwrap_or_default();
        let (condition, distance, data) = (column(), column(), column());
        Some(Self {
            code: u32::from_str_radix(code, 16).ok()?,
            length: u8::try_from(code.len() / 2).ok()?,
            text,
            class,
            conditional: condition == "conditional",
            distance: if distance.is_empty() { 0 } else { distance.parse().ok()? },
            data: Data::parse(data),
        })
    }

    /// UNPREDICTABLE, and LLVM gives no warning: LDRT to the PC, LDM with the PC as base, LDRB and LDRH to the PC with
    /// write-back; of A32 multiplies with the PC, and LDRHT, STRHT and their like of the PC.
    pub(super) const fn is_unpredictable(&self, set: InstructionSet) -> bool {
        match set {
            InstructionSet::A32 => {
                self.code & 0x0f70_f000 == 0x0430_f000
                    || self.code & 0x0f70_f010 == 0x0630_f000
                    || is_multiply(self.code) && has_pc(self.code)
                    || self.code & 0x0f20_f090 == 0x0020_f090 && self.code & 0x60 != 0
            }
            InstructionSet::T32 | InstructionSet::T32Ee => {
                self.code & 0xffff_8000 == 0xe89f_8000 || self.code & 0xfed0_f900 == 0xf810_f900
            }
            _ => false,
        }
    }

    /// Instructions of 16 bits that begin with b1100 are others in ThumbEE. What changes the state or makes an
    /// exception is left out, too.
    fn is_the_same_in_thumbee(&self) -> bool {
        let moves_on = !self.class.ends_with("-exchange")
            && !self.class.ends_with("-call")
            && !["jazelle", "exception-return", "return-data-processing", "return-rfe"].contains(&self.class);
        moves_on && !(self.length == 2 && self.code >> 12 == 0b1100)
    }

    /// What becomes of it; `None` if it is not executed.
    pub(super) fn kind(&self, mode: Mode) -> Option<Kind> {
        let kind = match self.class {
            "direct" | "direct-exchange" => Kind::Direct { link: false },
            "direct-link" | "direct-link-exchange" => Kind::Direct { link: true },
            "register" | "return" | "jazelle" | "load" | "data-processing" | "table" => {
                Kind::Indirect { link: false }
            }
            "register-link" => Kind::Indirect { link: true },
            "exception-return"
            | "return-data-processing"
            | "return-load-multiple"
            | "return-rfe"
            | "tier-exit" => Kind::ExceptionReturn,
            "isb" => Kind::Isb,
            "dsb" | "dmb" if mode == Mode::Barriers => Kind::Barrier,
            "wait-event" | "wait-interrupt" if mode == Mode::Waits => Kind::Wait,
            "transaction-start" if mode == Mode::Transactions => Kind::TransactionStart,
            "other" | "dsb" | "dmb" | "wait-event" | "wait-interrupt" | "if-then" => Kind::Straight,
            "supervisor-call" => Kind::Call(Call::Supervisor),
            "hypervisor-call" => Kind::Call(Call::Hypervisor),
            "monitor-call" => Kind::Call(Call::Monitor),
            _ => return None,
        };
        let belongs = match mode {
            Mode::Plain | Mode::Instructions => true,
            Mode::ReturnStack => matches!(kind, Kind::Direct { .. } | Kind::Indirect { .. }),
            Mode::Barriers => kind == Kind::Barrier,
            Mode::Waits => kind == Kind::Wait,
            Mode::Transactions => kind == Kind::TransactionStart,
        };
        belongs.then_some(kind)
    }

    /// The bytes of the instruction.
    pub(super) fn bytes(&self, set: InstructionSet) -> Vec<u8> {
        match (set, self.length) {
            (_, 2) => (self.code as u16).to_le_bytes().to_vec(),
            (InstructionSet::T32 | InstructionSet::T32Ee, _) => {
                [(self.code >> 16) as u16, self.code as u16].map(u16::to_le_bytes).concat()
            }
            _ => self.code.to_le_bytes().to_vec(),
        }
    }
}

impl Data {
    /// From `load 2x4`; `None` if nothing is transferred.
    fn parse(text: &str) -> Option<Self> {
        let (way, amount) = text.split_once(' ')?;
        let (count, size) = amount.split_once('x')?;
        let way = match way {
            "load" => Way::Load,
            "store" => Way::Store,
            "swap" => Way::Swap,
            _ => Way::Coprocessor,
        };
        Some(Self { way, count: count.parse().ok()?, size: size.parse().ok()? })
    }
}

/// Multiplies of A32, those of half-words too (ARM DDI 0406, A5.2.5 and A5.2.7).
const fn is_multiply(code: u32) -> bool {
    code & 0x0f00_00f0 == 0x90 || code & 0x0f90_0090 == 0x0100_0080
}

/// Whether one of the four registers of a multiply is the PC.
const fn has_pc(code: u32) -> bool {
    code & 0x000f_0000 == 0x000f_0000
        || code & 0xf000 == 0xf000
        || code & 0x0f00 == 0x0f00
        || code & 0x000f == 0x000f
}

/// The rows of an instruction set. ThumbEE has those of T32 that are the same there (ARM DDI 0406, A9).
pub(super) fn table(set: InstructionSet) -> impl Iterator<Item = Row> {
    let text = match set {
        InstructionSet::A64 => include_str!("a64.tsv"),
        InstructionSet::A32 => include_str!("a32.tsv"),
        InstructionSet::T32 | InstructionSet::T32Ee => include_str!("t32.tsv"),
        InstructionSet::Jazelle => "",
    };
    let has = move |row: &Row| set != InstructionSet::T32Ee || row.is_the_same_in_thumbee();
    text.lines().filter_map(Row::parse).filter(has)
}
