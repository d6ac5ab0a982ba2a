//! Choices that a specification leaves to encoders.

use traceproof_vectors::Protocol;

/// A key of a policy whose value a specification leaves to the encoder.
#[derive(Debug)]
pub struct LegalChoice<P: Protocol> {
    /// The key.
    pub key: &'static str,
    /// The clauses that leave it open; none where only the text of the key says so.
    pub clauses: &'static [&'static str],
    /// Whether a case that has this policy states a value, which is its subject then and stays.
    pub(crate) is_stated: fn(&P::Policy) -> bool,
    /// The policies with another value of the key and of no other.
    pub(crate) others: fn(&P::Policy) -> Vec<P::Policy>,
}

impl<P: Protocol> LegalChoice<P> {
    /// The policies with another value of the key than `current`; none if the case states one.
    #[must_use]
    pub fn others(&self, stated: &P::Policy, current: &P::Policy) -> Vec<P::Policy> {
        if (self.is_stated)(stated) { Vec::new() } else { (self.others)(current) }
    }
}

/// Makes [`LegalChoice`]s of keys that are free unless a case states another value than the default: the key, its
/// values, and the clauses.
macro_rules! legal_choices {
    ($($key:ident in $values:expr $(, $clause:literal)*;)+) => {
        &[$($crate::family::LegalChoice {
            key: stringify!($key),
            clauses: &[$($clause),*],
            is_stated: |policy| policy.$key != Policy::default().$key,
            others: |current| {
                let values = $values.into_iter().filter(|value| *value != current.$key);
                values.map(|$key| Policy { $key, ..current.clone() }).collect()
            },
        }),+]
    };
}
pub(crate) use legal_choices;

/// Both values of a flag.
pub(crate) const EITHER: [bool; 2] = [false, true];
