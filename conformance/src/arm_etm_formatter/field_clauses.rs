//! The clauses that packets and their fields follow.

use crate::family::FieldClause;

/// Packet, field, clauses. A packet without name is any, a field without name is the packet as a whole.
pub(super) const FIELD_CLAUSES: &[FieldClause] = &[
    FieldClause { packet: "frame", field: "", clauses: &["ARM-FMT-001", "ARM-FMT-002"] },
    FieldClause { packet: "frame", field: "F", clauses: &["ARM-FMT-001"] },
    FieldClause { packet: "frame", field: "ID", clauses: &["ARM-FMT-003", "ARM-FMT-004"] },
    FieldClause { packet: "frame", field: "data", clauses: &["ARM-FMT-002"] },
    FieldClause { packet: "frame", field: "data[7:1]", clauses: &["ARM-FMT-001"] },
    FieldClause { packet: "frame", field: "auxiliary", clauses: &["ARM-FMT-001", "ARM-FMT-003"] },
    FieldClause { packet: "frame", field: "synchronisation", clauses: &["ARM-FMT-008"] },
    FieldClause { packet: "full_sync", field: "", clauses: &["ARM-FMT-008"] },
];
