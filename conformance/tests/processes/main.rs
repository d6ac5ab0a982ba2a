//! Subjects in processes of their own: adaptors, kits, command-line tools, and what misbehaving ones leave running.

mod adaptor;
mod adaptor_kits;
mod choosing;
mod encoder_kits;
mod exec_mode;
mod installed;
mod left_behind;
mod misbehaving_subjects;
mod smoke;
