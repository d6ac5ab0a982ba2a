//! ARM ETMv3: the packet writer and the macrocell model against the specification.

mod any;
mod branches;
mod contexts;
mod cycles;
mod data;
mod packets;
mod periods;
