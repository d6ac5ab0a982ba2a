//! Code that only saves time.

pub(super) mod block_walk;
pub(super) mod blocks;
pub(super) mod short_packets;
