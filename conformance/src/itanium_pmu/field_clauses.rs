//! The clauses that packets and their fields follow.

use crate::family::FieldClause;

/// Packet, field, clauses. A packet without name is any, a field without name is the packet as a whole.
pub(super) const FIELD_CLAUSES: &[FieldClause] = &[
    FieldClause { packet: "reset", field: "", clauses: &["ITA-REG-011"] },
    FieldClause { packet: "write", field: "", clauses: &["ITA-REG-018"] },
    FieldClause { packet: "read", field: "", clauses: &["ITA-REG-018"] },
    FieldClause { packet: "read_undefined", field: "", clauses: &["ITA-DEC-006"] },
];
