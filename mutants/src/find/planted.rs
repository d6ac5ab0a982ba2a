//! Where planted bugs are in the sources, and what stands there instead.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Pat, Stmt};

use super::{Constants, MutatedFile, SourceFile, constants, files, line_starts};
use crate::mutant::{Alternative, Mutant, Operator, Site, SiteKind, fingerprint};
use crate::planted::{Bug, Hunk};

/// What the bugs are as mutants, and the files with the places that change; a bug in `whole_blocks` changes a block for
/// each of its hunks.
///
/// # Errors
///
/// Every bug that has no place, with the reason.
pub(crate) fn planted(
    sources: Vec<SourceFile>,
    constants: &Constants,
    bugs: &[Bug],
    whole_blocks: &BTreeSet<usize>,
) -> Result<(Vec<Mutant>, Vec<MutatedFile>), Vec<String>> {
    let mut errors = Vec::new();
    let known: BTreeSet<&str> = sources.iter().map(|source| source.path.as_str()).collect();
    for bug in bugs {
        for hunk in bug.hunks.iter().filter(|hunk| !known.contains(hunk.file.as_str())) {
            errors.push(format!("{}: {}: no source of a mutated crate", bug.place, hunk.file));
        }
    }
    let mut mutants: BTreeMap<usize, Mutant> = BTreeMap::new();
    let mut changed = Vec::new();
    for source in sources {
        let mut places = Places::new(&source.text, constants);
        places.visit_file(&source.syntax);
        let mut sites: Vec<Site> = Vec::new();
        for (number, bug) in bugs.iter().enumerate() {
            let (edits, wrong) = edits(&source, &bug.hunks);
            errors.extend(wrong.into_iter().map(|message| format!("{}: {message}", bug.place)));
            for edit in &edits {
                match places.site(&edit.range, whole_blocks.contains(&number)) {
                    Ok((range, kind, function)) => {
                        mutants
                            .entry(number)
                            .or_insert_with(|| places.mutant(&source.path, bug, edit, function));
                        add(
                            &mut sites,
                            &source.text,
                            Site { range, kind, alternatives: Vec::new() },
                            number,
                            &edits,
                        );
                        sites.extend(function.constness.clone());
                    }
                    Err(message) => errors.push(format!("{}: {}: {message}", bug.place, source.path)),
                }
            }
        }
        let SourceFile { path, text, .. } = source;
        changed.push(MutatedFile { sites: arranged(sites, &text), path, text });
    }
    if errors.is_empty() { Ok((mutants.into_values().collect(), changed)) } else { Err(errors) }
}

/// A place that a bug changes.
struct Edit<'a> {
    range: Range<usize>,
    replace: &'a str,
}

/// The hunks in this source, by position.
fn edits<'a>(source: &SourceFile, hunks: &'a [Hunk]) -> (Vec<Edit<'a>>, Vec<String>) {
    let (mut edits, mut wrong) = (Vec::new(), Vec::new());
    for Hunk { file, find, replace } in hunks.iter().filter(|hunk| hunk.file == source.path) {
        let find = find.trim();
        let mut found = source.text.match_indices(find).map(|(at, _)| at..at + find.len());
        match (found.next(), found.next()) {
            _ if find.is_empty() => wrong.push(format!("{file}: nothing to find")),
            (Some(range), None) => edits.push(Edit { range, replace: replace.trim() }),
            (None, _) => wrong.push(format!("{file}: does not have `{find}`")),
            (Some(_), Some(_)) => wrong.push(format!("{file}: has `{find}` more than once")),
        }
    }
    edits.sort_by_key(|edit| edit.range.start);
    (edits, wrong)
}

/// Adds the alternative of a bug to the site: the source of its range with all edits of the bug that are in it.
fn add(sites: &mut Vec<Site>, text: &str, site: Site, mutant: usize, edits: &[Edit<'_>]) {
    let index = match sites.iter().position(|it| it.range == site.range && it.kind == site.kind) {
        Some(index) => index,
        None => {
            sites.push(site);
            sites.len() - 1
        }
    };
    let Some(site) = sites.get_mut(index) else { return };
    if site.alternatives.iter().any(|it| it.mutant == mutant) {
        return;
    }
    let (mut changed, mut at) = (String::new(), site.range.start);
    for edit in edits {
        if at <= edit.range.start && edit.range.end <= site.range.end {
            changed.push_str(text.get(at..edit.range.start).unwrap_or_default());
            changed.push_str(edit.replace);
            at = edit.range.end;
        }
    }
    changed.push_str(text.get(at..site.range.end).unwrap_or_default());
    site.alternatives.push(Alternative { mutant, text: changed });
}

/// The sites by position. Lists of statements that overlap become one site.
fn arranged(mut sites: Vec<Site>, text: &str) -> Vec<Site> {
    let overlap = |a: &Range<usize>, b: &Range<usize>| a.start < b.start && b.start < a.end && a.end < b.end;
    let pair = |sites: &[Site]| {
        let pairs = (0..sites.len()).flat_map(|first| (0..sites.len()).map(move |second| (first, second)));
        pairs.into_iter().find(|&(first, second)| {
            let range = |index: usize| sites.get(index).map(|site| &site.range);
            range(first).zip(range(second)).is_some_and(|(first, second)| overlap(first, second))
        })
    };
    while let Some((first, second)) = pair(&sites) {
        // The later one is removed first.
        let (high, low) = (first.max(second), first.min(second));
        let (high, low) = (sites.remove(high), sites.remove(low));
        let range = high.range.start.min(low.range.start)..high.range.end.max(low.range.end);
        let wider = |site: Site| {
            let before = text.get(range.start..site.range.start).unwrap_or_default().to_owned();
            let after = text.get(site.range.end..range.end).unwrap_or_default().to_owned();
            let wide =
                move |it: Alternative| Alternative { text: format!("{before}{}{after}", it.text), ..it };
            site.alternatives.into_iter().map(wide)
        };
        let alternatives = wider(low).chain(wider(high)).collect();
        sites.push(Site { range, kind: SiteKind::Statements, alternatives });
    }
    super::in_order(&mut sites);
    sites.dedup_by(|later, first| {
        let same = later.range == first.range && later.kind == first.kind;
        if same {
            first.alternatives.append(&mut later.alternatives);
        }
        same
    });
    sites
}

/// Expressions, blocks and functions of a file.
struct Places<'a> {
    text: &'a str,
    constants: &'a Constants,
    /// Types and traits around the place.
    of: Vec<String>,
    expressions: BTreeSet<(usize, usize)>,
    blocks: Vec<BlockPlace>,
    functions: Vec<Function>,
}

struct BlockPlace {
    inside: Range<usize>,
    /// Each with its semicolon, and whether it declares something.
    statements: Vec<(Range<usize>, bool)>,
}

struct Function {
    name: String,
    range: Range<usize>,
    /// The `const` that is removed.
    constness: Option<Site>,
    /// It is called at compile time.
    stays_const: bool,
}

impl<'a> Places<'a> {
    const fn new(text: &'a str, constants: &'a Constants) -> Self {
        Self {
            text,
            constants,
            of: Vec::new(),
            expressions: BTreeSet::new(),
            blocks: Vec::new(),
            functions: Vec::new(),
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: &Block) {
        let name = signature.ident.to_string();
        let of = self.of.last().map(String::as_str);
        let constness = signature.constness.as_ref().map(|keyword| Site {
            range: keyword.span.byte_range(),
            kind: SiteKind::Const,
            alternatives: Vec::new(),
        });
        self.functions.push(Function {
            stays_const: constness.is_some() && self.constants.keeps(of, &name),
            name: of.into_iter().chain([name.as_str()]).collect::<Vec<_>>().join("::"),
            range: block.span().byte_range(),
            constness,
        });
        self.visit_block(block);
    }

    /// The site for a change of these bytes, and the function around it.
    fn site(&self, range: &Range<usize>, whole: bool) -> Result<(Range<usize>, SiteKind, &Function), String> {
        let within = |outer: &Range<usize>| outer.start <= range.start && range.end <= outer.end;
        let function = self.functions.iter().filter(|it| within(&it.range)).min_by_key(|it| it.range.len());
        let source = self.text.get(range.clone()).unwrap_or_default();
        let Some(function) = function else { return Err(format!("`{source}` is in no function")) };
        if function.stays_const {
            return Err(format!("{} is called at compile time", function.name));
        }
        if !whole && self.blocks.iter().any(|block| block.has_statements(range, self.text)) {
            return Ok((range.clone(), SiteKind::Statements, function));
        }
        if !whole && self.expressions.contains(&(range.start, range.end)) {
            return Ok((range.clone(), SiteKind::Expression, function));
        }
        let block = self.blocks.iter().filter(|it| within(&it.inside)).min_by_key(|it| it.inside.len());
        match block {
            Some(block) => Ok((block.inside.clone(), SiteKind::Statements, function)),
            None => Err(format!("`{source}` is in no block")),
        }
    }

    fn mutant(&self, path: &str, bug: &Bug, edit: &Edit<'_>, function: &Function) -> Mutant {
        let lines = line_starts(self.text);
        let line = lines.partition_point(|start| *start <= edit.range.start);
        let begin = lines.get(line - 1).copied().unwrap_or(0);
        let source = self.text.get(edit.range.clone()).unwrap_or_default();
        Mutant {
            id: fingerprint(&format!("{path}\n{}\n{:?}", bug.name, bug.hunks)),
            file: path.to_owned(),
            line,
            column: self.text.get(begin..edit.range.start).map_or(0, |before| before.chars().count()) + 1,
            function: function.name.clone(),
            operator: Operator::Planted,
            text: source.split_whitespace().collect::<Vec<_>>().join(" "),
            change: format!("{} ({})", bug.name, bug.clause),
            occurrence: 0,
        }
    }

    fn of(&mut self, name: Option<String>, read: impl FnOnce(&mut Self)) {
        self.of.push(name.unwrap_or_default());
        read(self);
        self.of.pop();
    }
}

impl BlockPlace {
    /// Whether these bytes are whole statements of it, none of which declares what others may need.
    fn has_statements(&self, range: &Range<usize>, text: &str) -> bool {
        let first = self.statements.iter().position(|(it, _)| it.start == range.start);
        let last = self.statements.iter().position(|(it, _)| {
            let bare = text.get(it.clone()).map_or(0, |text| text.trim_end_matches(';').trim_end().len());
            it.end == range.end || it.start + bare == range.end
        });
        let Some((first, last)) = first.zip(last) else { return false };
        self.statements.get(first..=last).is_some_and(|list| list.iter().all(|(_, declares)| !declares))
    }
}

impl<'ast> Visit<'ast> for Places<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !files::is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let outer = std::mem::take(&mut self.of);
        self.function(&item.sig, &item.block);
        self.of = outer;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.of(constants::type_name(&item.self_ty), |it| visit::visit_item_impl(it, item));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.of(Some(item.ident.to_string()), |it| visit::visit_item_trait(it, item));
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}

    fn visit_pat(&mut self, item: &'ast Pat) {
        if let Pat::Guard(guarded) = item {
            self.visit_expr(&guarded.guard);
        }
    }

    fn visit_expr(&mut self, item: &'ast Expr) {
        if !super::holds_let(item) {
            let range = item.span().byte_range();
            self.expressions.insert((range.start, range.end));
        }
        visit::visit_expr(self, item);
    }

    fn visit_block(&mut self, item: &'ast Block) {
        let open = item.brace_token.span.open().byte_range().end;
        let inside = open..item.brace_token.span.close().byte_range().start;
        let declares = |statement: &Stmt| matches!(statement, Stmt::Local(_) | Stmt::Item(_));
        let statements = item.stmts.iter().map(|it| (it.span().byte_range(), declares(it))).collect();
        self.blocks.push(BlockPlace { inside, statements });
        visit::visit_block(self, item);
    }
}
