//! The runner, its judge and its reports over suites, generated executions, real programs and captures.

mod agreement;
mod baseline;
mod differential;
mod dissection;
mod end_of_stimulus;
mod etmv3_capture;
mod etmv4_capture;
mod explain;
mod false_verdicts;
mod fast_path;
mod field_clauses;
mod generated;
mod grouped_report;
mod judge;
mod legal_choices;
mod policy_table;
mod programs;
mod ptm_capture;
mod raw_bytes;
mod saboteurs;
mod sigrok_captures;
mod snapshot;
mod subjects;
mod suite;
mod vmid_joins;
