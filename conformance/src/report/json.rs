//! Results for machines: [`Run`] as JSON, schema-versioned.

use serde::Serialize;

use crate::details::Details;
use crate::run::Run;

/// The run as indented JSON with a line break at the end.
///
/// # Errors
///
/// Those of the serializer; the types have no value that it refuses.
pub fn report(run: &Run) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(run)?;
    text.push('\n');
    Ok(text)
}

/// The same with what pages of results show beside verdicts: `clauses` and `details`.
///
/// # Errors
///
/// Those of the serializer; the types have no value that it refuses.
pub fn detailed(run: &Run, details: &Details) -> Result<String, serde_json::Error> {
    #[derive(Serialize)]
    struct Detailed<'a> {
        #[serde(flatten)]
        run: &'a Run,
        #[serde(flatten)]
        details: &'a Details,
    }
    let mut text = serde_json::to_string_pretty(&Detailed { run, details })?;
    text.push('\n');
    Ok(text)
}

/// Reads results back, without their details, for tools that merge or compare runs.
///
/// # Errors
///
/// When the text is not JSON of this schema.
pub fn read(text: &str) -> Result<Run, serde_json::Error> {
    let run: Run = serde_json::from_str(text)?;
    if run.schema == crate::run::SCHEMA {
        Ok(run)
    } else {
        Err(serde::de::Error::custom(format!("results of schema {} cannot be read", run.schema)))
    }
}
