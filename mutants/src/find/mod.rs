//! Finds the mutants of a source file.

mod constants;
mod files;
mod operators;
mod planted;
mod values;

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::Span;
use serde::Serialize;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Arm, BinOp, Block, Expr, Pat, Signature, UnOp};

pub(crate) use constants::Constants;
pub(crate) use files::{SourceFile, of_package};
pub(crate) use planted::planted;
pub(crate) use values::ALLOC;

use crate::mutant::{Alternative, Mutant, Operator, Site, SiteKind};

/// A file and the places in it that change.
#[derive(Debug)]
pub(crate) struct MutatedFile {
    pub(crate) path: String,
    pub(crate) text: String,
    /// By position; those within another come after it.
    pub(crate) sites: Vec<Site>,
}

/// What has no mutants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Constants and statics.
    pub constants: usize,
    /// `const fn` that constants call.
    pub const_functions: usize,
    /// Invocations and definitions of macros.
    pub macros: usize,
    /// Bodies of functions whose return type has no constant.
    pub return_types: usize,
}

/// Which mutants are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Also integer literals that are off by one.
    pub literals: bool,
}

/// Appends the mutants of a file to `mutants`.
pub(crate) fn in_file(
    file: SourceFile,
    constants: &Constants,
    wanted: Wanted,
    mutants: &mut Vec<Mutant>,
    skipped: &mut Skipped,
) -> MutatedFile {
    let SourceFile { path, text, syntax } = file;
    let mut finder = Finder {
        path: &path,
        text: &text,
        lines: line_starts(&text),
        constants,
        wanted,
        mutants,
        skipped,
        sites: BTreeMap::new(),
        of: Vec::new(),
        function: Vec::new(),
        seen: BTreeMap::new(),
    };
    finder.visit_file(&syntax);
    let mut sites: Vec<Site> = finder.sites.into_values().collect();
    in_order(&mut sites);
    MutatedFile { path, text, sites }
}

/// By position. Of those that start together the outer one is first; an insertion is outside of what follows it.
fn in_order(sites: &mut [Site]) {
    sites.sort_by_key(|site| {
        (site.range.start, !site.range.is_empty(), std::cmp::Reverse(site.range.end), site.kind)
    });
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

struct Finder<'a> {
    path: &'a str,
    text: &'a str,
    lines: Vec<usize>,
    constants: &'a Constants,
    wanted: Wanted,
    mutants: &'a mut Vec<Mutant>,
    skipped: &'a mut Skipped,
    /// By start, end and kind.
    sites: BTreeMap<(usize, usize, SiteKind), Site>,
    /// Types and traits around the place.
    of: Vec<String>,
    /// Functions around the place.
    function: Vec<String>,
    /// How often an equal mutant was found in the function.
    seen: BTreeMap<(String, String, String), usize>,
}

/// A mutant to be added.
struct Change<'a> {
    operator: Operator,
    /// In words.
    change: String,
    /// Where it is, and which source changes.
    shown: Range<usize>,
    site: (Range<usize>, SiteKind),
    text: &'a str,
}

impl Finder<'_> {
    fn slice(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    fn add(&mut self, change: Change<'_>) {
        let Change { operator, change, shown, site: (range, kind), text } = change;
        let function = [self.of.last(), self.function.last()]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("::");
        let source = self.slice(&shown).split_whitespace().collect::<Vec<_>>().join(" ");
        let key = (function.clone(), source.clone(), change.clone());
        let occurrence = self.seen.entry(key).or_default();
        let line = self.lines.partition_point(|start| *start <= shown.start);
        let begin = self.lines.get(line - 1).copied().unwrap_or(0);
        let mut mutant = Mutant {
            id: String::new(),
            file: self.path.to_owned(),
            line,
            column: self.text.get(begin..shown.start).map_or(0, |before| before.chars().count()) + 1,
            function,
            operator,
            text: source,
            change,
            occurrence: *occurrence,
        };
        *occurrence += 1;
        mutant.identify();
        let alternative = Alternative { mutant: self.mutants.len(), text: text.to_owned() };
        self.mutants.push(mutant);
        let key = (range.start, range.end, kind);
        let site = self.sites.entry(key).or_insert_with(|| Site { range, kind, alternatives: Vec::new() });
        site.alternatives.push(alternative);
    }

    fn expression(&mut self, operator: Operator, change: String, span: Span, text: &str) {
        let range = span.byte_range();
        let site = (range.clone(), SiteKind::Expression);
        self.add(Change { operator, change, shown: range, site, text });
    }

    /// The body of a function, and what is in it.
    fn function(&mut self, signature: &Signature, block: &Block) {
        let name = signature.ident.to_string();
        if let Some(keyword) = &signature.constness {
            if self.constants.keeps(self.of.last().map(String::as_str), &name) {
                self.skipped.const_functions += 1;
                return;
            }
            let range = keyword.span.byte_range();
            let key = (range.start, range.end, SiteKind::Const);
            self.sites.insert(key, Site { range, kind: SiteKind::Const, alternatives: Vec::new() });
        }
        self.function.push(name);
        self.body(signature, block);
        self.visit_block(block);
        self.function.pop();
    }

    fn body(&mut self, signature: &Signature, block: &Block) {
        let open = block.brace_token.span.open().byte_range().end;
        let inside = open..block.brace_token.span.close().byte_range().start;
        let now = self.slice(&inside).trim().to_owned();
        let values = values::of_return(&signature.output, self.text);
        if values.is_empty() {
            self.skipped.return_types += 1;
        }
        for value in values {
            let shown = value.replace(ALLOC, "");
            if now.is_empty() || now == shown {
                continue;
            }
            self.add(Change {
                operator: Operator::Body,
                change: format!("replace the body with {shown}"),
                shown: signature.ident.span().byte_range(),
                site: (open..open, SiteKind::Body),
                text: &value,
            });
        }
    }

    /// The arm is deleted, if another one takes everything.
    fn arm(&mut self, arm: &Arm, rest: bool) {
        if let Pat::Guard(guarded) = &arm.pat {
            if !holds_let(&guarded.guard) {
                for value in ["true", "false"] {
                    let change = format!("replace the guard with {value}");
                    self.expression(Operator::Guard, change, guarded.guard.span(), value);
                }
            }
            self.visit_expr(&guarded.guard);
        } else if rest && !takes_everything(&arm.pat) {
            let pattern = arm.pat.span().byte_range();
            let end = pattern.end;
            self.add(Change {
                operator: Operator::Arm,
                change: String::from("delete the match arm"),
                shown: pattern,
                site: (end..end, SiteKind::Arm),
                text: "",
            });
        }
        self.visit_expr(&arm.body);
    }

    fn of(&mut self, name: Option<String>, read: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.function);
        self.of.push(name.unwrap_or_default());
        read(self);
        self.of.pop();
        self.function = outer;
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !files::is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !files::is_test(&item.attrs) {
            let outer = std::mem::take(&mut self.of);
            self.function(&item.sig, &item.block);
            self.of = outer;
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !files::is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !files::is_test(&item.attrs) {
            let name = constants::type_name(&item.self_ty);
            self.of(name, |it| item.items.iter().for_each(|item| it.visit_impl_item(item)));
        }
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let name = Some(item.ident.to_string());
        self.of(name, |it| item.items.iter().for_each(|item| it.visit_trait_item(item)));
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {
        self.skipped.constants += 1;
    }

    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {
        self.skipped.constants += 1;
    }

    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {
        self.skipped.constants += 1;
    }

    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {
        self.skipped.constants += 1;
    }

    fn visit_macro(&mut self, _: &'ast syn::Macro) {
        self.skipped.macros += 1;
    }

    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_path_arguments(&mut self, _: &'ast syn::PathArguments) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_angle_bracketed_generic_arguments(&mut self, _: &'ast syn::AngleBracketedGenericArguments) {}

    fn visit_expr_repeat(&mut self, item: &'ast syn::ExprRepeat) {
        self.visit_expr(&item.expr);
    }

    fn visit_expr_call(&mut self, item: &'ast syn::ExprCall) {
        let capacity = matches!(&*item.func, Expr::Path(path)
            if path.path.segments.last().is_some_and(|last| last.ident == "with_capacity"));
        // The capacity changes no behaviour.
        if !capacity {
            visit::visit_expr_call(self, item);
        }
    }

    fn visit_expr_match(&mut self, item: &'ast syn::ExprMatch) {
        self.visit_expr(&item.expr);
        let rest = item.arms.iter().any(|arm| takes_everything(&arm.pat));
        for arm in &item.arms {
            self.arm(arm, rest);
        }
    }

    fn visit_expr_binary(&mut self, item: &'ast syn::ExprBinary) {
        let lets = matches!(item.op, BinOp::And(_) | BinOp::Or(_))
            && (holds_let(&item.left) || holds_let(&item.right));
        if let Some((now, others)) = operators::of_binary(&item.op).filter(|_| !lets) {
            let left = self.slice(&item.left.span().byte_range()).to_owned();
            let right = self.slice(&item.right.span().byte_range()).to_owned();
            for other in others {
                // What is assigned to needs no parentheses.
                let assigned = !matches!(*other, "==" | "!=" | "<=" | ">=") && other.ends_with('=');
                let text = if assigned {
                    format!("{left} {other} {right}")
                } else {
                    format!("({left}) {other} ({right})")
                };
                let change = format!("replace {now} with {other}");
                self.expression(Operator::Binary, change, item.span(), &text);
            }
        }
        visit::visit_expr_binary(self, item);
    }

    fn visit_expr_unary(&mut self, item: &'ast syn::ExprUnary) {
        let sign = match item.op {
            UnOp::Not(_) => Some("!"),
            UnOp::Neg(_) => Some("-"),
            _ => None,
        };
        if let Some(sign) = sign {
            let text = self.slice(&item.expr.span().byte_range()).to_owned();
            self.expression(Operator::Unary, format!("delete {sign}"), item.span(), &text);
        }
        visit::visit_expr_unary(self, item);
    }

    fn visit_expr_struct(&mut self, item: &'ast syn::ExprStruct) {
        if item.rest.is_some() {
            let whole = item.span().byte_range();
            for field in item.fields.pairs() {
                let range = field.value().span().byte_range();
                let comma = field.punct().map_or(range.end, |comma| comma.span().byte_range().end);
                let before = self.slice(&(whole.start..range.start)).to_owned();
                let text = before + self.slice(&(comma..whole.end));
                let name = match &field.value().member {
                    syn::Member::Named(name) => name.to_string(),
                    syn::Member::Unnamed(index) => index.index.to_string(),
                };
                self.add(Change {
                    operator: Operator::Field,
                    change: format!("delete the field {name}"),
                    shown: range,
                    site: (whole.clone(), SiteKind::Expression),
                    text: &text,
                });
            }
        }
        visit::visit_expr_struct(self, item);
    }

    fn visit_expr_lit(&mut self, item: &'ast syn::ExprLit) {
        if !self.wanted.literals || self.function.is_empty() {
            return;
        }
        if let syn::Lit::Int(literal) = &item.lit
            && let Some(next) = operators::next_integer(literal)
        {
            self.expression(Operator::Literal, format!("replace {literal} with {next}"), item.span(), &next);
        }
    }
}

/// `_`, or a name for everything.
fn takes_everything(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(name) => {
            name.subpat.is_none()
                && name.ident.to_string().starts_with(|c: char| c.is_lowercase() || c == '_')
        }
        _ => false,
    }
}

/// Whether it is a chain with `let`, which can stand only in a condition.
fn holds_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => holds_let(&binary.left) || holds_let(&binary.right),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
