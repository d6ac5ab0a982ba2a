//! The clauses that packets and their fields follow.

use crate::family::FieldClause;

/// Packet, field, clauses. A packet without name is any, a field without name is the packet as a whole.
pub(super) const FIELD_CLAUSES: &[FieldClause] = &[
    FieldClause { packet: "access", field: "", clauses: &["ETE-ACC-001", "ETE-ACC-005"] },
    FieldClause { packet: "access", field: "OSLK", clauses: &["ETE-ACC-011"] },
];
