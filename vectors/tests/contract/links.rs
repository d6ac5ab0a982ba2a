//! Documents: every relative link leads to a file, and to a heading of it; every page of `docs` is in its summary.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository")
}

/// The documents: those at the top, and all below `docs`.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![root().to_owned(), root().join("docs")];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() && directory != root() {
                pending.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[derive(Default)]
struct Page {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

fn page(text: &str) -> Page {
    let mut page = Page::default();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => page.links.push(dest_url.into_string()),
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let anchor = slug(&heading.take().unwrap_or_default());
                page.anchors.insert(anchor);
            }
            Event::InlineHtml(html) | Event::Html(html) => page.anchors.extend(ids(&html)),
            _ => {}
        }
    }
    page
}

/// The anchor of a heading: small letters, digits, `-` and `_`; a blank becomes `-`.
fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

/// The anchors of `<a id="…">`.
fn ids(html: &str) -> Vec<String> {
    let values = html.split("id=\"").skip(1).filter_map(|rest| rest.split_once('"'));
    values.map(|(id, _)| id.to_owned()).collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[test]
fn every_link_leads_somewhere() {
    let pages: BTreeMap<PathBuf, Page> = documents()
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("text");
            (path, page(&text))
        })
        .collect();
    assert!(pages.len() > 25, "only {} documents: were they found?", pages.len());
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for (path, page) in &pages {
        for link in page.links.iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            checked += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => path.clone(),
                file => plain(&path.parent().expect("a directory").join(file)),
            };
            let here = path.strip_prefix(root()).unwrap_or(path).display();
            if !target.exists() {
                wrong.push(format!("{here}: {link}: no such file"));
            } else if !anchor.is_empty()
                && !pages.get(&target).is_some_and(|page| page.anchors.contains(anchor))
            {
                wrong.push(format!("{here}: {link}: no such heading"));
            }
        }
    }
    assert!(checked > 100, "only {checked} links: were they found?");
    assert!(wrong.is_empty(), "{} links:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_page_is_in_the_summary() {
    let docs = root().join("docs");
    let summary = page(&fs::read_to_string(docs.join("SUMMARY.md")).expect("text"));
    let listed: BTreeSet<PathBuf> = summary.links.iter().map(|link| docs.join(link)).collect();
    let pages =
        documents().into_iter().filter(|path| path.starts_with(&docs) && !path.ends_with("SUMMARY.md"));
    let missing: Vec<PathBuf> = pages.filter(|path| !listed.contains(path)).collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
}
