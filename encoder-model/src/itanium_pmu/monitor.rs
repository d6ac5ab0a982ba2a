//! The performance monitor: tags, counts and captures.

use traceproof_vectors::itanium_pmu::events::{Qualifier, is_derived};
use traceproof_vectors::itanium_pmu::{
    Access, AccessKind, DataEarQualifier, EarReadPrivilege, FreezeTiming, Ia32Counting, IbrLowBits,
    Instruction, InstructionTlbResolution, MISSES_PER_CYCLE, Miss, Occurrence, Parameters, Register,
    RegisterClass, Tags,
};

use super::counters::{Captures, Counters};
use super::ears::{
    Class, DataRecord, Ear, InstructionRecord, recorded_latency, selected_by_data_ear,
    selected_by_instruction_ear,
};
use super::occurrences::{Occurrences, Row};
use super::opcode::{Opcode, SYLLABLE_BITS, key};
use super::range::Range;
use super::registers::Registers;

/// The latest instruction.
#[derive(Clone, Copy, Debug)]
struct Fetched {
    ip: u64,
    slot: u8,
    tags: Tags,
    /// PSR.is was 1.
    is_ia32: bool,
}

/// The latest access, with its instruction's place and tag.
#[derive(Clone, Copy, Debug)]
struct Accessed {
    address: u64,
    ip: u64,
    slot: u8,
    is_load: bool,
    /// DBRRangeTag.
    tag: bool,
    /// Tag(PMC\[8\]) of the instruction.
    pmc8: bool,
}

/// Registers, what is made of them when they change, and what happened in this cycle.
#[derive(Debug)]
pub(super) struct Monitor {
    parameters: Parameters,
    pub(super) registers: Registers,
    code: Range,
    data: Range,
    pmc8: Opcode,
    pmc9: Opcode,
    counters: Counters,
    instruction_ear_selects: u16,
    data_ear_selects: u16,
    latest: Option<Fetched>,
    accessed: Option<Accessed>,
    occurrences: Occurrences,
    instruction_ear: Ear<InstructionRecord>,
    data_ear: Ear<DataRecord>,
    /// Misses of this cycle, those without effect too.
    misses: usize,
}

impl Monitor {
    /// As after reset.
    pub(super) fn new(parameters: &Parameters) -> Self {
        let mut monitor = Self {
            parameters: parameters.clone(),
            registers: Registers::default(),
            code: Range::default(),
            data: Range::default(),
            pmc8: Opcode::default(),
            pmc9: Opcode::default(),
            counters: Counters::default(),
            instruction_ear_selects: 0,
            data_ear_selects: 0,
            latest: None,
            accessed: None,
            occurrences: Occurrences::default(),
            instruction_ear: Ear::default(),
            data_ear: Ear::default(),
            misses: 0,
        };
        monitor.ranges_changed();
        monitor.opcodes_changed();
        monitor.ears_changed();
        monitor.counters.configure(&monitor.registers);
        monitor
    }

    fn ranges_changed(&mut self) {
        let never_compared = match self.parameters.ibr_low_bits {
            IbrLowBits::Compared => 0,
            IbrLowBits::Ignored => 0xf,
        };
        self.code = Range::of_instructions(&self.registers, never_compared);
        self.data = Range::of_data(&self.registers);
    }

    fn opcodes_changed(&mut self) {
        let (is_ia32, long) = (self.registers.is_ia32(), self.parameters.long_syllable);
        self.pmc8 = Opcode::new(self.registers.pmc[8], is_ia32, long);
        self.pmc9 = Opcode::new(self.registers.pmc[9], is_ia32, long);
    }

    fn ears_changed(&mut self) {
        self.instruction_ear_selects = selected_by_instruction_ear(self.registers.pmc[10]);
        self.data_ear_selects =
            selected_by_data_ear(self.registers.pmc[11], self.parameters.data_ear_thresholds);
    }

    /// Software writes a register.
    pub(super) fn write(&mut self, register: Register, value: u64) {
        let was_frozen = self.registers.is_frozen();
        self.registers.write(register, value);
        match (register.class, register.index) {
            (RegisterClass::Pmc, 0) if was_frozen && !self.registers.is_frozen() => {
                self.instruction_ear.unfreeze();
                self.data_ear.unfreeze();
            }
            (RegisterClass::Pmc, 4..=7) => self.counters.configure(&self.registers),
            (RegisterClass::Pmc, 8 | 9) => self.opcodes_changed(),
            (RegisterClass::Pmc, 10 | 11) => self.ears_changed(),
            (RegisterClass::Pmc, 13) | (RegisterClass::Ibr | RegisterClass::Dbr, _) => self.ranges_changed(),
            (RegisterClass::Psr, _) => {
                self.ranges_changed();
                self.opcodes_changed();
            }
            _ => {}
        }
    }

    /// What software reads; `None` where nothing defined is held (ITA-EAR-017). The privilege level comes first
    /// (ITA-CNT-012).
    pub(super) fn read(&self, register: Register) -> Option<u64> {
        if register.class != RegisterClass::Pmd || !register.is_implemented() {
            return Some(self.registers.read(register));
        }
        if self.registers.privilege_level() != 0 && self.is_hidden(register.index) {
            return Some(0);
        }
        let is_counter = matches!(register.index, 4..=7);
        (is_counter || self.registers.is_frozen()).then(|| self.registers.read(register))
    }

    /// Whether PMD\[`index`\] reads as 0 at a privilege level other than 0.
    fn is_hidden(&self, index: u8) -> bool {
        const SP: u64 = 1 << 20;
        const PM: u64 = 1 << 6;
        let monitor = match (index, self.parameters.ear_read_privilege) {
            (4..=7, _) => self.registers.pmc[usize::from(index)],
            (0 | 1, EarReadPrivilege::ByMonitor) => self.registers.pmc[10],
            (2 | 3 | 17, EarReadPrivilege::ByMonitor) => self.registers.pmc[11],
            _ => 0,
        };
        self.registers.psr & SP != 0 || monitor & PM != 0
    }

    /// An instruction is fetched and issued: its tags, or `None` if no processor has such an instruction.
    pub(super) fn fetch(&mut self, instruction: &Instruction) -> Option<Tags> {
        let Instruction { ip, slot, itype, enco, retired, .. } = *instruction;
        // ITA-OPC-016.
        if slot > 2 || enco >> SYLLABLE_BITS != 0 {
            return None;
        }
        let range = self.code.contains(ip.0);
        let key = key(enco);
        let tags = Tags {
            range,
            pmc8: range & self.pmc8.matches(itype, key),
            pmc9: range & self.pmc9.matches(itype, key),
        };
        if retired {
            // In IA-32 code neither tag is set, so that those instructions are not counted here.
            self.occurrences.retired_pmc8 = self.occurrences.retired_pmc8.saturating_add(tags.pmc8.into());
            self.occurrences.retired_pmc9 = self.occurrences.retired_pmc9.saturating_add(tags.pmc9.into());
        }
        self.latest = Some(Fetched { ip: ip.0, slot, tags, is_ia32: self.registers.is_ia32() });
        Some(tags)
    }

    /// The latest instruction accesses memory: DBRRangeTag (5.2, 5.4; ITA-DBR-005 to 009), or `None` without an
    /// instruction.
    pub(super) fn access(&mut self, access: &Access) -> Option<bool> {
        let Fetched { ip, slot, tags, .. } = self.latest?;
        let Access { kind, address } = *access;
        let tag = if self.passes_tags() {
            tags.pmc8
        } else {
            let matched = self.data.contains(address.0);
            match kind {
                AccessKind::Load | AccessKind::Store | AccessKind::Semaphore | AccessKind::Lfetch => {
                    matched & tags.pmc8
                }
                AccessKind::Rse | AccessKind::Vhpt => matched,
            }
        };
        let is_load = kind == AccessKind::Load;
        self.accessed = Some(Accessed { address: address.0, ip, slot, is_load, tag, pmc8: tags.pmc8 });
        Some(tag)
    }

    /// PMC\[11\].pt.
    fn passes_tags(&self) -> bool {
        self.registers.pmc[11] >> 28 & 1 != 0
    }

    /// A cache or TLB misses. Whether it is captured is decided at the end of the cycle.
    pub(super) fn miss(&mut self, miss: &Miss) {
        if self.misses == MISSES_PER_CYCLE {
            return;
        }
        self.misses += 1;
        match *miss {
            Miss::InstructionCache { ip, latency } => {
                let class = Class::of_latency(latency, self.parameters.latency_threshold);
                let latency = recorded_latency(latency, self.parameters.latency_overflow);
                self.instruction_miss(class, InstructionRecord { ip: ip.0, latency, software: false });
            }
            Miss::InstructionTlb { ip, resolution } => {
                let software = resolution == InstructionTlbResolution::Software;
                let class = Class::of_instruction_tlb(resolution);
                self.instruction_miss(Some(class), InstructionRecord { ip: ip.0, latency: 0, software });
            }
            Miss::DataCache { latency } => {
                if self.accessed.is_some_and(|accessed| accessed.is_load) {
                    let class = Class::of_latency(latency, self.parameters.latency_threshold);
                    let latency = recorded_latency(latency, self.parameters.latency_overflow);
                    self.data_miss(class, latency, 0);
                }
            }
            Miss::DataTlb { level } => self.data_miss(Class::of_data_tlb(level), 0, level as u8),
        }
    }

    fn instruction_miss(&mut self, class: Option<Class>, record: InstructionRecord) {
        if let Some(class) = class
            && self.code.contains(record.ip)
        {
            self.instruction_ear.misses.add(class, record);
        }
    }

    fn data_miss(&mut self, class: Option<Class>, latency: u16, level: u8) {
        let (Some(class), Some(accessed)) = (class, self.accessed) else { return };
        let is_qualified = match self.parameters.data_ear_qualifier {
            DataEarQualifier::DataRange => accessed.tag,
            DataEarQualifier::Opcode => accessed.pmc8,
        };
        if is_qualified {
            let Accessed { address, ip, slot, .. } = accessed;
            self.data_ear.misses.add(class, DataRecord { address, ip, slot, latency, level });
        }
    }

    /// An event occurs. Nothing happens if it has no name, follows from the rest, or has nothing to belong to.
    pub(super) fn occur(&mut self, occurrence: &Occurrence) {
        let Occurrence { es, umask, count } = *occurrence;
        let Some(row) = Row::find(es, umask) else { return };
        if !is_derived(es) && self.is_qualified(row.event().qualifier).unwrap_or(false) {
            self.occurrences.add(row, count);
        }
    }

    /// Whether what happens now counts for events with this qualifier (7; ITA-QUA-002, 003, 006); `None` if there is no
    /// instruction or access that it could belong to.
    fn is_qualified(&self, qualifier: Qualifier) -> Option<bool> {
        let tags = self.latest.map(|fetched| fetched.tags);
        match qualifier {
            Qualifier::None => Some(true),
            Qualifier::Range => Some(tags?.range),
            Qualifier::OtherOpcode => Some(tags?.pmc9),
            Qualifier::Opcode => Some(self.is_unrestricted_ia32().unwrap_or(tags?.pmc8)),
            Qualifier::Data => {
                let accessed = self.accessed?;
                Some(self.is_unrestricted_ia32().unwrap_or(accessed.tag))
            }
        }
    }

    /// After an instruction of IA-32 whose occurrences do not go by the tags: whether nothing restricts (MD-1).
    fn is_unrestricted_ia32(&self) -> Option<bool> {
        let is_ia32 = self.latest?.is_ia32;
        (is_ia32 && self.parameters.ia32_counting == Ia32Counting::Unrestricted).then(|| {
            let tags_all = self.registers.pmc[13] & 1 != 0;
            tags_all && Opcode::passes_all(self.registers.pmc[8]) && self.passes_tags()
        })
    }

    /// The cycle ends (8). Whether an interrupt is raised.
    pub(super) fn end_cycle(&mut self) -> bool {
        let interrupts = !self.registers.is_frozen() && self.count_and_capture();
        self.occurrences.clear();
        self.instruction_ear.misses.clear();
        self.data_ear.misses.clear();
        self.misses = 0;
        interrupts
    }

    /// A cycle that is not frozen.
    fn count_and_capture(&mut self) -> bool {
        const MASKED: u64 = 1 << 16;
        let registers = &mut self.registers;
        let captures = Captures {
            instruction: self.instruction_ear.passing(
                registers,
                registers.pmc[10],
                self.instruction_ear_selects,
            ),
            data: self.data_ear.passing(registers, registers.pmc[11], self.data_ear_selects),
        };
        let timing = self.parameters.freeze;
        let freezes = self.counters.count(registers, &self.occurrences, captures, timing);
        if !(freezes && timing == FreezeTiming::AtOverflow) {
            self.capture(captures);
        }
        if freezes {
            self.registers.pmc[0] |= 1;
        }
        freezes && self.registers.pmv & MASKED == 0
    }

    /// What passes is written into the event address registers.
    fn capture(&mut self, captures: Captures) {
        let replacement = self.parameters.ear_replacement;
        if captures.instruction != 0
            && let Some(record) = self.instruction_ear.capture(self.instruction_ear_selects, replacement)
        {
            record.write_into(&mut self.registers.pmd);
        }
        if captures.data != 0
            && let Some(record) = self.data_ear.capture(self.data_ear_selects, replacement)
        {
            record.write_into(&mut self.registers.pmd);
        }
    }
}
