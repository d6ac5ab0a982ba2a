//! The events that can be selected: their codes, counters and qualification.

/// One row of the event table: what PMC\[n\].es and PMC\[n\].umask select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectableEvent {
    /// Event select code, 7 bits.
    pub es: u8,
    /// Unit mask, 4 bits.
    pub umask: u8,
    /// The name.
    pub name: &'static str,
    /// The most occurrences in one cycle.
    pub max_increment: u8,
    /// The counters that can count it: bit n for PMD\[n\].
    pub counters: u8,
    /// What must be tagged for an occurrence to count.
    pub qualifier: Qualifier,
}

/// What must be tagged for an occurrence of an event to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Qualifier {
    /// Nothing.
    None,
    /// IBRRangeTag of the instruction.
    Range,
    /// Tag(PMC\[8\]) of the instruction.
    Opcode,
    /// Tag(PMC\[9\]) of the instruction.
    OtherOpcode,
    /// DBRRangeTag of the access.
    Data,
}

/// Event select code of the retired-instruction events, which the model counts itself.
pub const ES_IA64_INST_RETIRED: u8 = 0x08;
/// Event select code of CPU_CYCLES, which the model counts itself.
pub const ES_CPU_CYCLES: u8 = 0x12;
/// Event select code of INSTRUCTION_EAR_EVENTS, which the model counts itself.
pub const ES_INSTRUCTION_EAR_EVENTS: u8 = 0x23;
/// Event select code of DATA_EAR_EVENTS, which the model counts itself.
pub const ES_DATA_EAR_EVENTS: u8 = 0x67;

/// Whether the occurrences of an event follow from the other records, so that none are stated.
#[must_use]
pub const fn is_derived(es: u8) -> bool {
    matches!(es, ES_IA64_INST_RETIRED | ES_CPU_CYCLES | ES_INSTRUCTION_EAR_EVENTS | ES_DATA_EAR_EVENTS)
}

impl SelectableEvent {
    /// The event that a code and a unit mask select, exactly; `None` for combinations without a name.
    #[must_use]
    pub fn find(es: u8, umask: u8) -> Option<&'static Self> {
        let index = EVENTS.binary_search_by_key(&(es, umask), |event| (event.es, event.umask)).ok()?;
        EVENTS.get(index)
    }

    /// The event with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        EVENTS.iter().find(|event| event.name.eq_ignore_ascii_case(name))
    }

    /// Whether PMD\[`counter`\] can count it.
    #[must_use]
    pub const fn is_countable_on(&self, counter: u8) -> bool {
        counter < 8 && self.counters & (1 << counter) != 0
    }
}

const fn event(
    es: u8,
    umask: u8,
    name: &'static str,
    max_increment: u8,
    counters: u8,
    qualifier: Qualifier,
) -> SelectableEvent {
    SelectableEvent { es, umask, name, max_increment, counters, qualifier }
}

/// PMD\[4\] to PMD\[7\].
const ALL: u8 = 0b1111_0000;
/// PMD\[4\] and PMD\[5\], whose threshold has three bits.
const LOW: u8 = 0b0011_0000;

use Qualifier::{Data, None, Opcode, OtherOpcode, Range};

/// Every named event, by code and unit mask.
pub const EVENTS: [SelectableEvent; 202] = [
    event(0x00, 0x0, "PIPELINE_BACKEND_FLUSH_CYCLE", 1, ALL, None),
    event(0x01, 0x0, "INST_ACCESS_CYCLE", 1, ALL, None),
    event(0x02, 0x0, "DEPENDENCY_SCOREBOARD_CYCLE", 1, ALL, None),
    event(0x03, 0x0, "DATA_ACCESS_CYCLE", 1, ALL, None),
    event(0x04, 0x0, "PIPELINE_ALL_FLUSH_CYCLE", 1, ALL, None),
    event(0x05, 0x0, "UNSTALLED_BACKEND_CYCLE", 1, ALL, None),
    event(0x06, 0x0, "DEPENDENCY_ALL_CYCLE", 1, ALL, None),
    event(0x07, 0x0, "MEMORY_CYCLE", 1, ALL, None),
    event(0x08, 0x0, "IA64_INST_RETIRED", 6, LOW, Opcode),
    event(0x08, 0x2, "IA64_TAGGED_INST_RETIRED_PMC9", 6, LOW, OtherOpcode),
    event(0x08, 0x3, "IA64_TAGGED_INST_RETIRED_PMC8", 6, LOW, Opcode),
    event(0x09, 0x0, "FP_OPS_RETIRED_LO", 3, ALL, Opcode),
    event(0x0a, 0x0, "FP_OPS_RETIRED_HI", 3, ALL, Opcode),
    event(0x0b, 0x0, "FP_FLUSH_TO_ZERO", 2, ALL, Opcode),
    event(0x0c, 0x0, "FP_SIR_FLUSH", 2, ALL, Opcode),
    event(0x0d, 0x1, "BRANCH_TAKEN_SLOT_0", 1, ALL, Opcode),
    event(0x0d, 0x2, "BRANCH_TAKEN_SLOT_1", 1, ALL, Opcode),
    event(0x0d, 0x4, "BRANCH_TAKEN_SLOT_2", 1, ALL, Opcode),
    event(0x0d, 0x8, "BRANCH_NOT_TAKEN", 1, ALL, Opcode),
    event(0x0e, 0x0, "BRANCH_MULTIWAY_ALL_PATHS_ALL_PREDICTIONS", 1, ALL, Opcode),
    event(0x0e, 0x1, "BRANCH_MULTIWAY_ALL_PATHS_CORRECT_PREDICTIONS", 1, ALL, Opcode),
    event(0x0e, 0x2, "BRANCH_MULTIWAY_ALL_PATHS_WRONG_PATH", 1, ALL, Opcode),
    event(0x0e, 0x3, "BRANCH_MULTIWAY_ALL_PATHS_WRONG_TARGET", 1, ALL, Opcode),
    event(0x0e, 0x8, "BRANCH_MULTIWAY_NOT_TAKEN_ALL_PREDICTIONS", 1, ALL, Opcode),
    event(0x0e, 0x9, "BRANCH_MULTIWAY_NOT_TAKEN_CORRECT_PREDICTIONS", 1, ALL, Opcode),
    event(0x0e, 0xa, "BRANCH_MULTIWAY_NOT_TAKEN_WRONG_PATH", 1, ALL, Opcode),
    event(0x0e, 0xb, "BRANCH_MULTIWAY_NOT_TAKEN_WRONG_TARGET", 1, ALL, Opcode),
    event(0x0e, 0xc, "BRANCH_MULTIWAY_TAKEN_ALL_PREDICTIONS", 1, ALL, Opcode),
    event(0x0e, 0xd, "BRANCH_MULTIWAY_TAKEN_CORRECT_PREDICTIONS", 1, ALL, Opcode),
    event(0x0e, 0xe, "BRANCH_MULTIWAY_TAKEN_WRONG_PATH", 1, ALL, Opcode),
    event(0x0e, 0xf, "BRANCH_MULTIWAY_TAKEN_WRONG_TARGET", 1, ALL, Opcode),
    event(0x0f, 0x0, "BRANCH_PATH_ALL_NT_OUTCOMES_INCORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0x1, "BRANCH_PATH_ALL_TK_OUTCOMES_INCORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0x2, "BRANCH_PATH_ALL_NT_OUTCOMES_CORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0x3, "BRANCH_PATH_ALL_TK_OUTCOMES_CORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0x4, "BRANCH_PATH_1ST_STAGE_NT_OUTCOMES_INCORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0x5, "BRANCH_PATH_1ST_STAGE_TK_OUTCOMES_INCORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0x6, "BRANCH_PATH_1ST_STAGE_NT_OUTCOMES_CORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0x7, "BRANCH_PATH_1ST_STAGE_TK_OUTCOMES_CORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0x8, "BRANCH_PATH_2ND_STAGE_NT_OUTCOMES_INCORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0x9, "BRANCH_PATH_2ND_STAGE_TK_OUTCOMES_INCORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0xa, "BRANCH_PATH_2ND_STAGE_NT_OUTCOMES_CORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0xb, "BRANCH_PATH_2ND_STAGE_TK_OUTCOMES_CORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0xc, "BRANCH_PATH_3RD_STAGE_NT_OUTCOMES_INCORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0xd, "BRANCH_PATH_3RD_STAGE_TK_OUTCOMES_INCORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0xe, "BRANCH_PATH_3RD_STAGE_NT_OUTCOMES_CORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x0f, 0xf, "BRANCH_PATH_3RD_STAGE_TK_OUTCOMES_CORRECTLY_PREDICTED", 1, ALL, Opcode),
    event(0x10, 0x0, "BRANCH_PREDICTOR_ALL_ALL_PREDICTIONS", 1, ALL, Opcode),
    event(0x10, 0x1, "BRANCH_PREDICTOR_ALL_CORRECT_PREDICTIONS", 1, ALL, Opcode),
    event(0x10, 0x2, "BRANCH_PREDICTOR_ALL_WRONG_PATH", 1, ALL, Opcode),
    event(0x10, 0x3, "BRANCH_PREDICTOR_ALL_WRONG_TARGET", 1, ALL, Opcode),
    event(0x10, 0x4, "BRANCH_PREDICTOR_1ST_STAGE_ALL_PREDICTIONS", 1, ALL, Opcode),
    event(0x10, 0x5, "BRANCH_PREDICTOR_1ST_STAGE_CORRECT_PREDICTIONS", 1, ALL, Opcode),
    event(0x10, 0x6, "BRANCH_PREDICTOR_1ST_STAGE_WRONG_PATH", 1, ALL, Opcode),
    event(0x10, 0x7, "BRANCH_PREDICTOR_1ST_STAGE_WRONG_TARGET", 1, ALL, Opcode),
    event(0x10, 0x8, "BRANCH_PREDICTOR_2ND_STAGE_ALL_PREDICTIONS", 1, ALL, Opcode),
    event(0x10, 0x9, "BRANCH_PREDICTOR_2ND_STAGE_CORRECT_PREDICTIONS", 1, ALL, Opcode),
    event(0x10, 0xa, "BRANCH_PREDICTOR_2ND_STAGE_WRONG_PATH", 1, ALL, Opcode),
    event(0x10, 0xb, "BRANCH_PREDICTOR_2ND_STAGE_WRONG_TARGET", 1, ALL, Opcode),
    event(0x10, 0xc, "BRANCH_PREDICTOR_3RD_STAGE_ALL_PREDICTIONS", 1, ALL, Opcode),
    event(0x10, 0xd, "BRANCH_PREDICTOR_3RD_STAGE_CORRECT_PREDICTIONS", 1, ALL, Opcode),
    event(0x10, 0xe, "BRANCH_PREDICTOR_3RD_STAGE_WRONG_PATH", 1, ALL, Opcode),
    event(0x10, 0xf, "BRANCH_PREDICTOR_3RD_STAGE_WRONG_TARGET", 1, ALL, Opcode),
    event(0x11, 0x0, "BRANCH_EVENT", 1, ALL, Opcode),
    event(0x12, 0x0, "CPU_CYCLES", 1, ALL, None),
    event(0x14, 0x0, "ISA_TRANSITIONS", 1, ALL, None),
    event(0x15, 0x0, "IA32_INST_RETIRED", 2, ALL, None),
    event(0x20, 0x0, "L1I_DEMAND_READS", 1, ALL, Range),
    event(0x21, 0x0, "L1I_FILLS", 1, ALL, None),
    event(0x22, 0x0, "L2_INST_DEMAND_READS", 1, ALL, Range),
    event(0x23, 0x0, "INSTRUCTION_EAR_EVENTS", 1, ALL, Range),
    event(0x24, 0x0, "L1I_PREFETCH_READS", 1, ALL, Range),
    event(0x25, 0x0, "L2_INST_PREFETCH_READS", 1, ALL, Range),
    event(0x26, 0x0, "ISB_LINES_IN", 1, ALL, None),
    event(0x27, 0x0, "ITLB_MISSES_FETCH", 1, ALL, Range),
    event(0x28, 0x0, "ITLB_INSERTS_HPW", 1, ALL, Range),
    event(0x2d, 0x0, "INST_DISPERSED", 6, LOW, Range),
    event(0x2e, 0x0, "EXPL_STOPBITS", 1, ALL, Range),
    event(0x2f, 0x0, "ALL_STOPS_DISPERSED", 1, ALL, Range),
    event(0x30, 0x0, "NOPS_RETIRED", 6, LOW, Opcode),
    event(0x31, 0x0, "PREDICATE_SQUASHED_RETIRED", 6, LOW, Opcode),
    event(0x33, 0x1, "PIPELINE_FLUSH_OTHER_FLUSH", 1, ALL, None),
    event(0x33, 0x2, "PIPELINE_FLUSH_L1D_WAYMP_FLUSH", 1, ALL, None),
    event(0x33, 0x4, "PIPELINE_FLUSH_DTC_FLUSH", 1, ALL, None),
    event(0x33, 0x8, "PIPELINE_FLUSH_IEU_FLUSH", 1, ALL, None),
    event(0x33, 0xf, "PIPELINE_FLUSH_ALL", 1, ALL, None),
    event(0x34, 0x0, "CPU_CPL_CHANGES", 1, ALL, None),
    event(0x35, 0x1, "INST_FAILED_CHKS_RETIRED_INT", 1, ALL, Opcode),
    event(0x35, 0x2, "INST_FAILED_CHKS_RETIRED_FP", 1, ALL, Opcode),
    event(0x35, 0x3, "INST_FAILED_CHKS_RETIRED_ALL", 1, ALL, Opcode),
    event(0x36, 0x1, "ALAT_INST_CHKA_LDC_FP", 2, ALL, Opcode),
    event(0x36, 0x2, "ALAT_INST_CHKA_LDC_INT", 2, ALL, Opcode),
    event(0x36, 0x3, "ALAT_INST_CHKA_LDC_ALL", 2, ALL, Opcode),
    event(0x37, 0x1, "ALAT_INST_FAILED_CHKA_LDC_FP", 2, ALL, Opcode),
    event(0x37, 0x2, "ALAT_INST_FAILED_CHKA_LDC_INT", 2, ALL, Opcode),
    event(0x37, 0x3, "ALAT_INST_FAILED_CHKA_LDC_ALL", 2, ALL, Opcode),
    event(0x38, 0x1, "ALAT_REPLACEMENT_FP", 2, ALL, Data),
    event(0x38, 0x2, "ALAT_REPLACEMENT_INT", 2, ALL, Data),
    event(0x38, 0x3, "ALAT_REPLACEMENT_ALL", 2, ALL, Data),
    event(0x40, 0x0, "BUS_RD_HIT", 1, ALL, None),
    event(0x41, 0x0, "BUS_RD_HITM", 1, ALL, None),
    event(0x42, 0x0, "BUS_RD_INVAL_HITM", 1, ALL, None),
    event(0x43, 0x0, "BUS_RD_INVAL_BST_HITM", 1, ALL, None),
    event(0x44, 0x0, "BUS_HITM", 1, ALL, None),
    event(0x45, 0x1, "BUS_SNOOPS_HITM_ANY", 1, ALL, None),
    event(0x46, 0x1, "BUS_SNOOPS_ANY", 1, ALL, None),
    event(0x47, 0x1, "BUS_ALL_ANY", 1, ALL, None),
    event(0x47, 0x2, "BUS_ALL_SELF", 1, ALL, None),
    event(0x47, 0x4, "BUS_ALL_IO", 1, ALL, None),
    event(0x48, 0x1, "BUS_PARTIAL_ANY", 1, ALL, None),
    event(0x48, 0x2, "BUS_PARTIAL_SELF", 1, ALL, None),
    event(0x48, 0x4, "BUS_PARTIAL_IO", 1, ALL, None),
    event(0x49, 0x1, "BUS_BURST_ANY", 1, ALL, None),
    event(0x49, 0x2, "BUS_BURST_SELF", 1, ALL, None),
    event(0x49, 0x4, "BUS_BURST_IO", 1, ALL, None),
    event(0x4a, 0x1, "BUS_MEMORY_ANY", 1, ALL, None),
    event(0x4a, 0x2, "BUS_MEMORY_SELF", 1, ALL, None),
    event(0x4a, 0x4, "BUS_MEMORY_IO", 1, ALL, None),
    event(0x4b, 0x1, "BUS_RD_ALL_ANY", 1, ALL, None),
    event(0x4b, 0x2, "BUS_RD_ALL_SELF", 1, ALL, None),
    event(0x4b, 0x4, "BUS_RD_ALL_IO", 1, ALL, None),
    event(0x4c, 0x1, "BUS_RD_DATA_ANY", 1, ALL, None),
    event(0x4c, 0x2, "BUS_RD_DATA_SELF", 1, ALL, None),
    event(0x4c, 0x4, "BUS_RD_DATA_IO", 1, ALL, None),
    event(0x4d, 0x1, "BUS_RD_PRTL_ANY", 1, ALL, None),
    event(0x4d, 0x2, "BUS_RD_PRTL_SELF", 1, ALL, None),
    event(0x4d, 0x4, "BUS_RD_PRTL_IO", 1, ALL, None),
    event(0x4e, 0x1, "BUS_RD_INVAL_ANY", 1, ALL, None),
    event(0x4e, 0x2, "BUS_RD_INVAL_SELF", 1, ALL, None),
    event(0x4e, 0x4, "BUS_RD_INVAL_IO", 1, ALL, None),
    event(0x4f, 0x1, "BUS_RD_INVAL_BST_ANY", 1, ALL, None),
    event(0x4f, 0x2, "BUS_RD_INVAL_BST_SELF", 1, ALL, None),
    event(0x4f, 0x4, "BUS_RD_INVAL_BST_IO", 1, ALL, None),
    event(0x50, 0x1, "BUS_IO_ANY", 1, ALL, None),
    event(0x50, 0x2, "BUS_IO_SELF", 1, ALL, None),
    event(0x51, 0x1, "BUS_RD_IO_ANY", 1, ALL, None),
    event(0x51, 0x2, "BUS_RD_IO_SELF", 1, ALL, None),
    event(0x52, 0x1, "BUS_WR_WB_ANY", 1, ALL, None),
    event(0x52, 0x2, "BUS_WR_WB_SELF", 1, ALL, None),
    event(0x52, 0x4, "BUS_WR_WB_IO", 1, ALL, None),
    event(0x53, 0x1, "BUS_LOCK_ANY", 1, ALL, None),
    event(0x53, 0x2, "BUS_LOCK_SELF", 1, ALL, None),
    event(0x54, 0x1, "BUS_LOCK_CYCLES_ANY", 1, ALL, None),
    event(0x54, 0x2, "BUS_LOCK_CYCLES_SELF", 1, ALL, None),
    event(0x55, 0x1, "BUS_SNOOP_STALL_CYCLES_ANY", 1, ALL, None),
    event(0x55, 0x2, "BUS_SNOOP_STALL_CYCLES_SELF", 1, ALL, None),
    event(0x56, 0x0, "BUS_SNOOPQ_REQ", 3, LOW, None),
    event(0x57, 0x0, "BUS_IOQ_LIVE_REQ_LO", 3, ALL, None),
    event(0x58, 0x0, "BUS_IOQ_LIVE_REQ_HI", 3, ALL, None),
    event(0x5b, 0x0, "BUS_BRQ_LIVE_REQ_LO", 2, ALL, None),
    event(0x5c, 0x0, "BUS_BRQ_LIVE_REQ_HI", 2, ALL, None),
    event(0x5d, 0x0, "BUS_BRQ_REQ_INSERTED", 1, ALL, None),
    event(0x60, 0x0, "DTC_MISSES", 1, ALL, Data),
    event(0x61, 0x0, "DTLB_MISSES", 1, ALL, Data),
    event(0x62, 0x0, "DTLB_INSERTS_HPW", 1, ALL, Data),
    event(0x63, 0x0, "DATA_REFERENCES_RETIRED", 2, ALL, Data),
    event(0x64, 0x0, "L1D_READS_RETIRED", 2, ALL, Data),
    event(0x65, 0x0, "RSE_REFERENCES_RETIRED", 2, ALL, Data),
    event(0x66, 0x0, "L1D_READ_MISSES_RETIRED", 2, ALL, Data),
    event(0x67, 0x0, "DATA_EAR_EVENTS", 1, ALL, Data),
    event(0x68, 0x0, "L2_REFERENCES", 3, ALL, Data),
    event(0x69, 0x1, "L2_DATA_REFERENCES_READS", 2, ALL, Data),
    event(0x69, 0x2, "L2_DATA_REFERENCES_WRITES", 2, ALL, Data),
    event(0x69, 0x3, "L2_DATA_REFERENCES_ALL", 2, ALL, Data),
    event(0x6a, 0x0, "L2_MISSES", 2, ALL, Data),
    event(0x6b, 0x0, "L1D_READ_FORCED_MISSES_RETIRED", 2, ALL, Data),
    event(0x6c, 0x0, "LOADS_RETIRED", 2, ALL, Data),
    event(0x6d, 0x0, "STORES_RETIRED", 2, ALL, Data),
    event(0x6e, 0x0, "UC_LOADS_RETIRED", 2, ALL, Data),
    event(0x6f, 0x0, "UC_STORES_RETIRED", 2, ALL, Data),
    event(0x70, 0x0, "MISALIGNED_LOADS_RETIRED", 2, ALL, Data),
    event(0x71, 0x0, "MISALIGNED_STORES_RETIRED", 2, ALL, Data),
    event(0x72, 0x0, "RSE_LOADS_RETIRED", 2, ALL, Data),
    event(0x76, 0x0, "L2_FLUSHES", 1, ALL, None),
    event(0x77, 0x1, "L2_FLUSH_DETAILS_ST_BUFFER", 1, ALL, None),
    event(0x77, 0x2, "L2_FLUSH_DETAILS_ADDR_CONFLICT", 1, ALL, None),
    event(0x77, 0x4, "L2_FLUSH_DETAILS_BUS_REJECT", 1, ALL, None),
    event(0x77, 0x8, "L2_FLUSH_DETAILS_FULL_FLUSH", 1, ALL, None),
    event(0x77, 0xf, "L2_FLUSH_DETAILS_ALL", 1, ALL, None),
    event(0x78, 0x0, "L1_OUTSTANDING_REQ_LO", 1, ALL, None),
    event(0x79, 0x0, "L1_OUTSTANDING_REQ_HI", 1, ALL, None),
    event(0x7b, 0x0, "L3_REFERENCES", 1, ALL, Data),
    event(0x7c, 0x0, "L3_MISSES", 1, ALL, None),
    event(0x7d, 0x5, "L3_READS_INST_READS_HIT", 1, ALL, None),
    event(0x7d, 0x6, "L3_READS_INST_READS_MISS", 1, ALL, None),
    event(0x7d, 0x7, "L3_READS_INST_READS_ALL", 1, ALL, None),
    event(0x7d, 0x9, "L3_READS_DATA_READS_HIT", 1, ALL, None),
    event(0x7d, 0xa, "L3_READS_DATA_READS_MISS", 1, ALL, None),
    event(0x7d, 0xb, "L3_READS_DATA_READS_ALL", 1, ALL, None),
    event(0x7d, 0xd, "L3_READS_ALL_READS_HIT", 1, ALL, None),
    event(0x7d, 0xe, "L3_READS_ALL_READS_MISS", 1, ALL, None),
    event(0x7d, 0xf, "L3_READS_ALL_READS_ALL", 1, ALL, None),
    event(0x7e, 0x5, "L3_WRITES_DATA_WRITES_HIT", 1, ALL, None),
    event(0x7e, 0x6, "L3_WRITES_DATA_WRITES_MISS", 1, ALL, None),
    event(0x7e, 0x7, "L3_WRITES_DATA_WRITES_ALL", 1, ALL, None),
    event(0x7e, 0x9, "L3_WRITES_L2_WRITEBACK_HIT", 1, ALL, None),
    event(0x7e, 0xa, "L3_WRITES_L2_WRITEBACK_MISS", 1, ALL, None),
    event(0x7e, 0xb, "L3_WRITES_L2_WRITEBACK_ALL", 1, ALL, None),
    event(0x7e, 0xd, "L3_WRITES_ALL_WRITES_HIT", 1, ALL, None),
    event(0x7e, 0xe, "L3_WRITES_ALL_WRITES_MISS", 1, ALL, None),
    event(0x7e, 0xf, "L3_WRITES_ALL_WRITES_ALL", 1, ALL, None),
    event(0x7f, 0x0, "L3_LINES_REPLACED", 1, ALL, None),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_named_once() {
        assert!(EVENTS.is_sorted_by_key(|event| (event.es, event.umask)));
        for event in &EVENTS {
            assert_eq!(SelectableEvent::find(event.es, event.umask), Some(event));
            assert_eq!(SelectableEvent::by_name(event.name), Some(event));
            assert!(event.es < 0x80 && event.umask < 16 && event.max_increment > 0);
        }
        assert_eq!(SelectableEvent::find(0x08, 1), Option::None);
    }
}
