use traceproof_mutants::*;
fn main() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let layout = Layout::of_checkout(root);
    let found = find(&layout, Wanted::default()).unwrap();
    println!("{} {:?}", found.mutants.len(), found.skipped);
    let mut counts = std::collections::BTreeMap::new();
    for m in &found.mutants { *counts.entry((m.module().to_owned(), m.package().to_owned())).or_insert(0) += 1; }
    println!("{counts:?}");
    if std::env::args().nth(1).as_deref() == Some("list") { for m in &found.mutants { println!("{} {m}", m.id); } return; }
    match build(&layout, Wanted::default(), &|t| eprintln!("{t}")) {
        Ok(b) => println!("rounds {} unviable {}", b.rounds, b.unviable.len()),
        Err(e) => println!("{e}"),
    }
}
