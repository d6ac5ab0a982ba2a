//! The published JSON Schemas describe what the reader of cases accepts.
//!
//! `TRACEPROOF_BLESS=1 cargo test -p traceproof-vectors --test contract schema` rewrites the schemas.

use std::fs;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde_json::{Value, json};
use traceproof_vectors::case::{Case, CaseProtocol, load};
use traceproof_vectors::riscv_etrace::RiscvEtrace;
use traceproof_vectors::shipped::suites;

use crate::families::for_every_family;

fn committed<P: CaseProtocol>() -> PathBuf {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/schema");
    PathBuf::from(format!("{directory}/case.{}.schema.json", P::ID))
}

fn generated<P: CaseProtocol>() -> Value
where
    Case<P>: JsonSchema,
{
    serde_json::to_value(schemars::schema_for!(Case<P>)).expect("a schema is JSON")
}

/// A case file as an editor or another language sees it.
fn as_json(text: &str) -> Value {
    let table: toml::Table = toml::from_str(text).expect("a case file is TOML");
    serde_json::to_value(table).expect("TOML without dates is JSON")
}

fn check_committed<P: CaseProtocol>()
where
    Case<P>: JsonSchema,
{
    let mut text = serde_json::to_string_pretty(&generated::<P>()).expect("a schema is JSON");
    text.push('\n');
    if std::env::var_os("TRACEPROOF_BLESS").is_some() {
        fs::write(committed::<P>(), &text).expect("the schema can be written");
    }
    let committed = fs::read_to_string(committed::<P>()).unwrap_or_default();
    let protocol = P::ID;
    assert!(committed == text, "{protocol}: out of date; run with TRACEPROOF_BLESS=1 and commit the result");
}

#[test]
fn the_committed_schemas_are_current() {
    for_every_family!(check_committed);
}

fn check_shipped<P: CaseProtocol>()
where
    Case<P>: JsonSchema,
{
    let schema = generated::<P>();
    let files = load::<P>(&suites()).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(!files.is_empty());
    let misfits: Vec<String> = files
        .iter()
        .filter_map(|file| {
            let misfit = misfit(&as_json(&file.text), &schema, &schema)?;
            Some(format!("{}: {misfit}", file.path.display()))
        })
        .collect();
    assert!(misfits.is_empty(), "{misfits:#?}");
}

#[test]
fn every_shipped_case_fits_the_schema() {
    for_every_family!(check_shipped);
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    const GOOD: &str = r#"
        schema = 1
        id = "etr-0001"
        family = "riscv_etrace"
        title = "t"
        level = "must"
        clauses = ["RVET-PKT-011"]
        polarity = "positive"
        catches = "c"
        provenance = { kind = "directed" }
        parameters = { modes = { full_address = true } }
        stimulus = [{ retire = "A (B C)*31 D..E" }, { exception = { cause = 2, epc = 4096 } }, { stimulus_end = 1 }]
        wire = ["73 00 04"]
        packets = [{ address = { address = "+0x10" } }]
        events = [{ exception = { cause = 2, epc = "unknown" } }, { stop = "ended" }]
    "#;
    let good = GOOD.replace(", { stimulus_end = 1 }", "");
    let schema = generated::<RiscvEtrace>();
    let accepted = |text: &str| {
        let by_reader = Case::<RiscvEtrace>::parse(text).is_ok();
        (by_reader, misfit(&as_json(text), &schema, &schema).is_none())
    };
    assert_eq!(accepted(&good), (true, true));
    assert_eq!(accepted(GOOD), (false, false));
    for (from, to) in [
        ("title = \"t\"", ""),
        ("title", "titel"),
        ("level = \"must\"", "level = \"shall\""),
        ("wire = [\"73 00 04\"]", ""),
        ("wire = [\"73 00 04\"]", "wire = \"73 00 04\""),
        ("full_address", "full_adress"),
        ("\"directed\"", "\"directed\", seed = 1"),
        ("\"directed\"", "\"generated\""),
        ("\"A (B C)*31 D..E\"", "[\"A\"]"),
        ("epc = 4096", "epc = -1"),
        ("epc = \"unknown\"", "epc = true"),
        ("\"ended\"", "\"over\""),
        ("\"+0x10\"", "16"),
        ("{ stop =", "{ stopp ="),
    ] {
        assert!(good.contains(from), "{from}");
        assert_eq!(accepted(&good.replace(from, to)), (false, false), "{from} -> {to}");
    }
}

/// Why `value` does not fit `schema`, if it does not: the part of JSON Schema 2020-12 that our schemas use, without
/// the patterns of strings. A keyword that is not known here fails the test instead of being ignored.
fn misfit(value: &Value, schema: &Value, root: &Value) -> Option<String> {
    let Value::Object(keywords) = schema else {
        return (schema != &json!(true)).then(|| format!("nothing fits, not even {value}"));
    };
    keywords.iter().find_map(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "$defs" | "title" | "description" | "default" | "format" | "pattern" => None,
        "$ref" => {
            let pointer = rule.as_str().and_then(|text| text.strip_prefix('#')).expect("a local reference");
            misfit(value, root.pointer(pointer).expect("a definition"), root)
        }
        "type" => (!has_type(value, rule)).then(|| format!("{value} is not of type {rule}")),
        "const" => (value != rule).then(|| format!("{value} is not {rule}")),
        "enum" => (!list(rule).contains(value)).then(|| format!("{value} is not one of {rule}")),
        "minimum" => (value.as_i64() < rule.as_i64()).then(|| format!("{value} is less than {rule}")),
        "maximum" => (value.as_u64() > rule.as_u64()).then(|| format!("{value} is more than {rule}")),
        "items" => list(value).iter().find_map(|item| misfit(item, rule, root)),
        "required" => {
            let missing = list(rule).iter().find(|name| value.get(name.as_str().expect("a name")).is_none());
            missing.map(|name| format!("{name} is missing"))
        }
        "properties" => value.as_object()?.iter().find_map(|(name, value)| {
            misfit(value, rule.get(name)?, root).map(|misfit| format!("{name}: {misfit}"))
        }),
        "additionalProperties" => {
            let known = keywords.get("properties");
            value.as_object()?.iter().find_map(|(name, value)| {
                match known.and_then(|known| known.get(name)) {
                    Some(_) => None,
                    None => misfit(value, rule, root).map(|_| format!("{name} is unknown")),
                }
            })
        }
        "anyOf" | "oneOf" => {
            let misfits: Vec<_> = list(rule).iter().map(|schema| misfit(value, schema, root)).collect();
            let fits = misfits.iter().filter(|misfit| misfit.is_none()).count();
            (fits == 0 || (fits > 1 && keyword == "oneOf"))
                .then(|| format!("{value} fits {fits} of {} forms: {misfits:?}", misfits.len()))
        }
        _ => panic!("the schema uses `{keyword}`, which this test does not know"),
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn has_type(value: &Value, rule: &Value) -> bool {
    let names = if rule.is_array() { list(rule) } else { std::slice::from_ref(rule) };
    names.iter().any(|name| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => panic!("the schema uses the type {name}, which this test does not know"),
    })
}

#[test]
fn every_object_is_closed() {
    // Otherwise an editor does not report a misspelt field.
    let schema = generated::<RiscvEtrace>();
    let mut open = Vec::new();
    visit(&schema, "", &mut |path, object| {
        if object.get("type") == Some(&json!("object"))
            && object.get("additionalProperties") != Some(&json!(false))
        {
            open.push(path.to_owned());
        }
    });
    assert!(open.is_empty(), "{open:#?}");
}

fn visit(value: &Value, path: &str, seen: &mut impl FnMut(&str, &serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            seen(path, object);
            for (key, value) in object {
                visit(value, &format!("{path}/{key}"), seen);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                visit(value, &format!("{path}/{index}"), seen);
            }
        }
        _ => {}
    }
}
