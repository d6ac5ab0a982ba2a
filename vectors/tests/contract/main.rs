//! The contract on disk: suites, requirement registries, schemas, parameter descriptions and their errors.

mod citations;
mod discovery;
mod families;
mod levels;
mod links;
mod prose;
mod protocols;
mod readings;
mod samples;
mod schema;
mod shipped_suites;
mod suite_errors;
mod trace_unit;
mod unit_rules;
