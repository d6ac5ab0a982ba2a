//! Which `const fn` are evaluated at compile time and must therefore stay `const`; in them nothing can be switched.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Expr, ImplItem, Type};

/// The name by which a function is called: with a type, or of any type (a method or a function without one).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    of: Option<String>,
    function: String,
}

/// Calls in constants and in `const fn`.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    called: BTreeSet<Name>,
    functions: Vec<(Name, BTreeSet<Name>)>,
    /// Names that the compiler demands.
    forced: BTreeSet<String>,
}

impl Constants {
    /// Also reads this file.
    pub(crate) fn add(&mut self, file: &syn::File) {
        Calls { constants: self, of: None, constant: 0, function: None }.visit_file(file);
    }

    /// Functions of this name stay `const`; true if that is new.
    pub(crate) fn force(&mut self, function: &str) -> bool {
        self.forced.insert(function.to_owned())
    }

    /// Adds what the called functions call.
    pub(crate) fn close(&mut self) {
        loop {
            let more: BTreeSet<Name> = self
                .functions
                .iter()
                .filter(|(name, _)| self.stays(name))
                .flat_map(|(_, calls)| calls.iter())
                .filter(|name| !self.called.contains(*name))
                .cloned()
                .collect();
            if more.is_empty() {
                return;
            }
            self.called.extend(more);
        }
    }

    fn stays(&self, name: &Name) -> bool {
        let anywhere = Name { of: None, function: name.function.clone() };
        self.forced.contains(&name.function)
            || self.called.contains(&anywhere)
            || (name.of.is_some() && self.called.contains(name))
    }

    /// Whether the function, of this type if it has one, must stay `const`.
    pub(crate) fn keeps(&self, of: Option<&str>, function: &str) -> bool {
        self.stays(&Name { of: of.map(str::to_owned), function: function.to_owned() })
    }
}

struct Calls<'a> {
    constants: &'a mut Constants,
    /// The type of the current `impl`.
    of: Option<String>,
    /// How many constants enclose the place.
    constant: usize,
    /// The calls of the `const fn` that encloses the place.
    function: Option<BTreeSet<Name>>,
}

impl Calls<'_> {
    fn constant(&mut self, read: impl FnOnce(&mut Self)) {
        self.constant += 1;
        read(self);
        self.constant -= 1;
    }

    fn call(&mut self, name: Name) {
        if self.constant > 0 {
            self.constants.called.insert(name);
        } else if let Some(calls) = &mut self.function {
            calls.insert(name);
        }
    }

    fn function(&mut self, signature: &syn::Signature, read: impl FnOnce(&mut Self)) {
        let outer = self.function.take();
        if signature.constness.is_some() {
            self.function = Some(BTreeSet::new());
        }
        read(self);
        if let Some(calls) = std::mem::replace(&mut self.function, outer) {
            let name = Name { of: self.of.clone(), function: signature.ident.to_string() };
            self.constants.functions.push((name, calls));
        }
    }
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.constant(|it| visit::visit_item_const(it, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.constant(|it| visit::visit_item_static(it, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.constant(|it| visit::visit_impl_item_const(it, item));
    }

    fn visit_trait_item_const(&mut self, item: &'ast syn::TraitItemConst) {
        self.constant(|it| visit::visit_trait_item_const(it, item));
    }

    fn visit_expr_const(&mut self, item: &'ast syn::ExprConst) {
        self.constant(|it| visit::visit_expr_const(it, item));
    }

    fn visit_variant(&mut self, item: &'ast syn::Variant) {
        self.constant(|it| visit::visit_variant(it, item));
    }

    /// Lengths of arrays and arguments of const generics.
    fn visit_type(&mut self, item: &'ast Type) {
        self.constant(|it| visit::visit_type(it, item));
    }

    fn visit_expr_repeat(&mut self, item: &'ast syn::ExprRepeat) {
        self.visit_expr(&item.expr);
        self.constant(|it| it.visit_expr(&item.len));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let outer = std::mem::replace(&mut self.of, type_name(&item.self_ty));
        for item in &item.items {
            match item {
                ImplItem::Fn(function) => self.visit_impl_item_fn(function),
                other => self.visit_impl_item(other),
            }
        }
        self.of = outer;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let of = self.of.take();
        self.function(&item.sig, |it| it.visit_block(&item.block));
        self.of = of;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, |it| it.visit_block(&item.block));
    }

    fn visit_expr_call(&mut self, item: &'ast syn::ExprCall) {
        if let Expr::Path(path) = &*item.func {
            let mut segments = path.path.segments.iter().rev();
            if let Some(function) = segments.next() {
                let of = segments.next().map(|of| of.ident.to_string());
                let of = match of.as_deref() {
                    Some("Self") => self.of.clone(),
                    Some(name) if name.starts_with(char::is_uppercase) => of,
                    _ => None,
                };
                self.call(Name { of, function: function.ident.to_string() });
            }
        }
        visit::visit_expr_call(self, item);
    }

    fn visit_expr_method_call(&mut self, item: &'ast syn::ExprMethodCall) {
        self.call(Name { of: None, function: item.method.to_string() });
        visit::visit_expr_method_call(self, item);
    }
}

/// The last word of a path.
pub(super) fn type_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        Type::Reference(reference) => type_name(&reference.elem),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_constants_call_stays_constant() {
        let file = syn::parse_file(
            "const A: Bits = Bits::new(1).masked();
             static T: [u8; rows()] = [const { seed() }; 2];
             impl Bits {
                 const fn new(a: u8) -> Self { Self::of(helper(a)) }
                 const fn of(a: u8) -> Self { Self(a) }
                 const fn masked(self) -> Self { self }
                 const fn other(self) -> u8 { late() }
             }
             impl Layout { const fn new() -> Self { Self } }
             const fn helper(a: u8) -> u8 { a }
             const fn late() -> u8 { 1 }
             fn ordinary() -> u8 { late() }",
        )
        .expect("parses");
        let mut constants = Constants::default();
        constants.add(&file);
        constants.close();
        for (of, name) in [
            (Some("Bits"), "new"),
            (Some("Bits"), "of"),
            (Some("Bits"), "masked"),
            (None, "helper"),
            (None, "rows"),
            (None, "seed"),
        ] {
            assert!(constants.keeps(of, name), "{name}");
        }
        for (of, name) in [(Some("Bits"), "other"), (Some("Layout"), "new"), (None, "late")] {
            assert!(!constants.keeps(of, name), "{name}");
        }
        assert!(constants.force("late") && !constants.force("late"));
        assert!(constants.keeps(None, "late"));
    }
}
