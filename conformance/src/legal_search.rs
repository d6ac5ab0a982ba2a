//! Which other choices explain what an encoder sent?
//!
//! A best-first search over the policies that differ from that of the case in choices which the specification leaves to
//! encoders. The encoder model sends what each policy means; the policy whose bytes agree longest is varied first, as
//! one choice after the other shows in a stream.

use traceproof_vectors::{Log, Protocol};

use crate::family::FamilyRules;

/// The most encodings of a case.
const MOST_ENCODINGS: usize = 1500;

/// The most policies varied one after the other without a longer agreement: two choices may matter at one place.
const MOST_WITHOUT_PROGRESS: usize = 6;

/// A policy to vary.
struct Candidate<P: Protocol> {
    policy: P::Policy,
    /// Bytes that agree with those of the encoder.
    agreed: usize,
}

/// The first policy found that `is_as_sent` accepts. `encode` is the encoder model under a policy; `None` if it refuses.
pub(crate) fn policy_of<P: FamilyRules>(
    stated: &P::Policy,
    sent: &[u8],
    mut encode: impl FnMut(&P::Policy) -> Option<Log<P>>,
    mut is_as_sent: impl FnMut(&P::Policy, &Log<P>) -> bool,
) -> Option<P::Policy> {
    let root = encode(stated)?;
    let mut open = vec![Candidate::<P> { policy: stated.clone(), agreed: common(&root.wire, sent) }];
    let mut seen = vec![stated.clone()];
    let (mut longest, mut without_progress) = (0, 0);
    while without_progress <= MOST_WITHOUT_PROGRESS {
        // Of equals the one with the fewest changes, which was found first.
        let best = (0..open.len()).max_by_key(|&index| (open[index].agreed, usize::MAX - index))?;
        let candidate = open.remove(best);
        if candidate.agreed > longest {
            (longest, without_progress) = (candidate.agreed, 0);
        } else {
            without_progress += 1;
        }
        let others = P::LEGAL_CHOICES.iter().flat_map(|choice| choice.others(stated, &candidate.policy));
        for policy in others {
            if seen.contains(&policy) {
                continue;
            }
            seen.push(policy.clone());
            if seen.len() > MOST_ENCODINGS {
                return None;
            }
            let Some(log) = encode(&policy) else { continue };
            if is_as_sent(&policy, &log) {
                return Some(policy);
            }
            open.push(Candidate { agreed: common(&log.wire, sent), policy });
        }
    }
    None
}

/// Bytes that are equal from the start. One that contains the other agrees as far as the shorter one.
fn common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}
