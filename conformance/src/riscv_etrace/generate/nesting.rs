//! Which calls are open in a generated execution, and which returns a decoder could follow.

/// The calls that have not returned.
///
/// With a return stack a decoder finds the one return that a packet reports by `irdepth` alone. That does not
/// distinguish two returns from the same depth with no branch in between: the field is known not to suffice (ET 7.6.3;
/// RVET-ENC-056 to 058), and `irets` of version 2.0.5 replaces it. No encoder can help it, because it would have to
/// report the first return before it knows that there is a second one. So no generated execution has, since the latest
/// branch or report,
///
/// * a return that goes elsewhere from a depth from which another return went back, or
/// * a return to a depth from which another return went back: any later report may have to state that depth.
#[derive(Clone, Debug)]
pub(super) struct Nesting {
    links: Vec<u64>,
    stack: Option<Stack>,
}

/// What matters where a return stack checks the returns.
#[derive(Clone, Debug)]
struct Stack {
    /// Links that it keeps; older ones are forgotten.
    capacity: usize,
    /// Depths from which unreported returns went back.
    left: Vec<usize>,
    /// Links were forgotten since such a return, so that depths cannot be compared.
    blurred: bool,
}

impl Nesting {
    /// `capacity`: links in the encoder's return stack, if it is used and packets have `irdepth`.
    pub(super) fn new(capacity: Option<usize>) -> Self {
        let stack = capacity.map(|capacity| Stack { capacity, left: Vec::new(), blurred: false });
        Self { links: Vec::new(), stack }
    }

    /// A call retires; `link` is the address after it.
    pub(super) fn call(&mut self, link: u64) {
        self.links.push(link);
        if let Some(stack) = &mut self.stack
            && self.links.len() > stack.capacity
        {
            self.links.remove(0);
            stack.blurred |= !stack.left.is_empty();
        }
    }

    /// A branch, a reported target or a trap: what was before cannot be mistaken for what comes.
    pub(super) fn fact(&mut self) {
        if let Some(stack) = &mut self.stack {
            stack.left.clear();
            stack.blurred = false;
        }
    }

    /// Where the latest open call came from.
    pub(super) fn link(&self) -> Option<u64> {
        self.links.last().copied()
    }

    /// Whether a return may go there.
    pub(super) fn may_go_back(&self) -> bool {
        let depth = self.links.len();
        depth > 0 && self.stack.as_ref().is_none_or(|stack| stack.is_fresh(depth - 1))
    }

    /// Whether a return may go elsewhere. Without an open call it is reported like any other jump.
    pub(super) fn may_go_elsewhere(&self) -> bool {
        let depth = self.links.len();
        depth == 0 || self.stack.as_ref().is_none_or(|stack| stack.is_fresh(depth))
    }

    /// A return goes back to the link.
    pub(super) fn go_back(&mut self) {
        if let Some(stack) = &mut self.stack {
            stack.left.push(self.links.len());
        }
        self.links.pop();
    }

    /// A return goes elsewhere. A return stack keeps the link then (RVET-DEC-036).
    pub(super) fn go_elsewhere(&mut self) {
        if self.stack.is_none() {
            self.links.pop();
        }
        self.fact();
    }
}

impl Stack {
    fn is_fresh(&self, depth: usize) -> bool {
        !self.blurred && !self.left.contains(&depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_return_from_each_depth() {
        let mut nesting = Nesting::new(Some(8));
        nesting.call(1);
        nesting.go_back();
        // From depth 1 again: back to 0, but not elsewhere.
        nesting.call(2);
        assert!(nesting.may_go_back());
        assert!(!nesting.may_go_elsewhere());
        // From depth 2 elsewhere, but not back to 1.
        nesting.call(3);
        assert!(!nesting.may_go_back());
        assert!(nesting.may_go_elsewhere());
        nesting.fact();
        assert!(nesting.may_go_back());
        nesting.go_elsewhere();
        assert_eq!(nesting.link(), Some(3));
    }

    #[test]
    fn forgotten_links_blur_depths() {
        let mut nesting = Nesting::new(Some(2));
        for link in 1..=3 {
            nesting.call(link);
        }
        nesting.go_back();
        nesting.call(4);
        assert!(nesting.may_go_back());
        nesting.call(5);
        assert!(!nesting.may_go_back());
        nesting.fact();
        for link in [5, 4] {
            assert_eq!(nesting.link(), Some(link));
            nesting.go_back();
        }
        assert!(!nesting.may_go_back());
        assert!(nesting.may_go_elsewhere());
    }

    #[test]
    fn a_counter_has_no_such_limits() {
        let mut nesting = Nesting::new(None);
        for link in [1, 2] {
            nesting.call(link);
            assert!(nesting.may_go_back() && nesting.may_go_elsewhere());
            nesting.go_back();
        }
        assert!(!nesting.may_go_back());
    }
}
