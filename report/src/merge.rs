//! The parts of one run (`conformance --shard`) as one run.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::error::Error;
use crate::results::Run;

/// Lists whose items belong to one part each, with the fields that name an item.
const LISTS: [(&str, &[&str]); 2] = [("cases", &["id"]), ("programs", &["program", "set"])];

/// Merges results of one subject and suite. Cases are in the order of families and paths, as in a whole run. An item
/// may be in several parts if it is the same in each of them, as real programs are.
///
/// All fields stay, also those that this version does not know.
///
/// # Errors
///
/// A part that is no result, is of another subject, suite or harness, or has another outcome for the same item.
pub fn merge(parts: &[&str]) -> Result<String, Error> {
    let mut merged: Option<Map<String, Value>> = None;
    for (part, text) in parts.iter().enumerate() {
        let fail = |message: String| Error::Parts { part, message };
        Run::parse(text).map_err(|error| fail(error.to_string()))?;
        let value: Value = serde_json::from_str(text).map_err(|error| fail(error.to_string()))?;
        let Value::Object(object) = value else { return Err(fail(String::from("no object"))) };
        match &mut merged {
            None => merged = Some(object),
            Some(merged) => add(merged, object).map_err(fail)?,
        }
    }
    let mut merged = merged.ok_or(Error::Nothing)?;
    sort_cases(&mut merged);
    let mut text = serde_json::to_string_pretty(&merged).map_err(|error| Error::json("results", &error))?;
    text.push('\n');
    Ok(text)
}

fn add(merged: &mut Map<String, Value>, mut part: Map<String, Value>) -> Result<(), String> {
    for (list, names) in LISTS {
        let more = part.remove(list);
        add_items(merged, list, names, more)?;
    }
    add_clauses(merged, part.remove("clauses"));
    add_details(merged, part.remove("details"));
    if part.remove("incomplete") == Some(Value::Bool(true)) {
        merged.insert(String::from("incomplete"), Value::Bool(true));
    }
    for field in ["schema", "harness", "invocation", "suite", "subject", "foreign_sources"] {
        let other = part.remove(field);
        if other.as_ref() != merged.get(field) {
            let shown =
                |value: Option<&Value>| value.map_or_else(|| String::from("nothing"), Value::to_string);
            let (other, first) = (shown(other.as_ref()), shown(merged.get(field)));
            return Err(format!("its {field} is {other}, that of the first part is {first}"));
        }
    }
    Ok(())
}

fn add_items(
    merged: &mut Map<String, Value>,
    list: &str,
    names: &[&str],
    more: Option<Value>,
) -> Result<(), String> {
    let Some(Value::Array(more)) = more else { return Ok(()) };
    let entry = merged.entry(list).or_insert_with(|| Value::Array(Vec::new()));
    let Value::Array(items) = entry else { return Err(format!("its {list} are no list")) };
    let name = |item: &Value| {
        let parts: Vec<&str> = names.iter().filter_map(|field| item.get(field)?.as_str()).collect();
        parts.join("/")
    };
    let known: BTreeMap<String, usize> =
        items.iter().enumerate().map(|(index, item)| (name(item), index)).collect();
    for item in more {
        match known.get(&name(&item)).and_then(|index| items.get(*index)) {
            Some(same) if *same == item => {}
            Some(_) => return Err(format!("{} has another result in an earlier part", name(&item))),
            None => items.push(item),
        }
    }
    Ok(())
}

/// Registries are the same in every part that has them.
fn add_clauses(merged: &mut Map<String, Value>, more: Option<Value>) {
    let Some(Value::Array(more)) = more else { return };
    let Some(Value::Array(clauses)) = merged.get_mut("clauses") else {
        merged.insert(String::from("clauses"), Value::Array(more));
        return;
    };
    let known: std::collections::BTreeSet<String> =
        clauses.iter().filter_map(|clause| clause.get("id")?.as_str().map(str::to_owned)).collect();
    let is_new =
        |clause: &Value| clause.get("id").and_then(Value::as_str).is_some_and(|id| !known.contains(id));
    clauses.extend(more.into_iter().filter(is_new));
}

/// Those of the first part that has them stay.
fn add_details(merged: &mut Map<String, Value>, more: Option<Value>) {
    let Some(Value::Object(more)) = more else { return };
    let details = merged.entry("details").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(details) = details {
        for (id, detail) in more {
            details.entry(id).or_insert(detail);
        }
    }
}

/// Families in the order of the first part, cases by path; generated executions, which share a path, by number.
fn sort_cases(merged: &mut Map<String, Value>) {
    let Some(Value::Array(cases)) = merged.get_mut("cases") else { return };
    let protocol = |case: &Value| {
        let field = |name: &str| case.get(name).and_then(Value::as_str).map(str::to_owned);
        field("protocol").or_else(|| field("family")).unwrap_or_default()
    };
    let mut order: Vec<String> = Vec::new();
    for case in cases.iter() {
        let protocol = protocol(case);
        if !order.contains(&protocol) {
            order.push(protocol);
        }
    }
    cases.sort_by_cached_key(|case| {
        let path = case.get("path").and_then(Value::as_str).unwrap_or_default();
        let place = order.iter().position(|known| *known == protocol(case));
        // `arm_etm/generated/17-damaged`
        let generated = path.split_once("/generated/").map(|(_, name)| name);
        let number = generated.and_then(|name| name.split('-').next()?.parse::<u64>().ok());
        let components: Vec<String> = path.split('/').map(str::to_owned).collect();
        (place, generated.is_some(), number, components)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn part(cases: &[usize]) -> String {
        let mut value: Value = serde_json::from_str(&sample::small_text("acme")).expect("json");
        let all = value["cases"].as_array().expect("cases").clone();
        value["cases"] = cases.iter().map(|&index| all[index].clone()).collect();
        let ids: Vec<&Value> = cases.iter().map(|&index| &all[index]["id"]).collect();
        value["details"]
            .as_object_mut()
            .expect("details")
            .retain(|id, _| ids.iter().any(|known| *known == id));
        value.to_string()
    }

    #[test]
    fn parts_are_the_whole_whatever_their_order() {
        let whole: Value = serde_json::from_str(&part(&[0, 1, 2, 3, 4, 5])).expect("json");
        let (one, two) = (part(&[0, 2, 4]), part(&[1, 3, 5]));
        for parts in [[one.as_str(), two.as_str()], [two.as_str(), one.as_str()]] {
            let merged: Value = serde_json::from_str(&merge(&parts).expect("merges")).expect("json");
            let ids = |run: &Value| -> Vec<String> {
                let cases = run["cases"].as_array().expect("cases").iter();
                let mut ids: Vec<String> = cases.map(|case| case["id"].to_string()).collect();
                ids.sort();
                ids
            };
            assert_eq!(ids(&merged), ids(&whole));
            assert_eq!(merged["programs"], whole["programs"]);
            assert_eq!(merged["clauses"], whole["clauses"]);
            assert_eq!(merged["details"], whole["details"]);
        }
    }

    #[test]
    fn cases_are_in_the_order_of_a_whole_run() {
        let merged: Value =
            serde_json::from_str(&merge(&[&part(&[2, 5]), &part(&[0, 1, 3, 4])]).expect("merges"))
                .expect("json");
        let ids: Vec<&str> = merged["cases"]
            .as_array()
            .expect("cases")
            .iter()
            .filter_map(|case| case["id"].as_str())
            .collect();
        assert_eq!(ids, ["etr-0001", "etr-0002", "etr-0003", "etm-0001", "etm-0002", "etm-0003"]);
    }

    #[test]
    fn parts_that_do_not_belong_together_are_refused() {
        let other = part(&[1]).replace("\"acme\"", "\"other\"");
        let error = merge(&[&part(&[0]), &other]).expect_err("another subject");
        assert!(error.to_string().starts_with("part 2: its subject is "), "{error}");
        let other = part(&[0]).replace("\"pass\"", "\"timeout\"");
        let error = merge(&[&part(&[0]), &other]).expect_err("another result");
        assert_eq!(error.to_string(), "part 2: etr-0001 has another result in an earlier part");
        assert_eq!(merge(&[]), Err(Error::Nothing));
        assert!(merge(&["{}"]).is_err());
    }

    #[test]
    fn a_stopped_part_makes_a_stopped_run() {
        let stopped = part(&[1]).replacen('{', "{\"incomplete\":true,", 1);
        let merged: Value =
            serde_json::from_str(&merge(&[&part(&[0]), &stopped]).expect("merges")).expect("json");
        assert_eq!(merged["incomplete"], Value::Bool(true));
    }
}
