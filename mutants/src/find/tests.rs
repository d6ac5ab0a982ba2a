//! The mutants of small sources, and the source in which they can be switched on; all expected texts by hand.

use std::collections::BTreeSet;

use super::*;
use crate::splice::{Spliced, splice};

fn found(source: &str) -> (Vec<Mutant>, MutatedFile, Skipped) {
    let syntax = syn::parse_file(source).expect("parses");
    let mut constants = Constants::default();
    constants.add(&syntax);
    constants.close();
    let file = SourceFile { path: String::from("decoder/src/arm.rs"), text: source.to_owned(), syntax };
    let (mut mutants, mut skipped) = (Vec::new(), Skipped::default());
    let file = in_file(file, &constants, Wanted { literals: true }, &mut mutants, &mut skipped);
    (mutants, file, skipped)
}

/// The source with the switches written `A(n)`.
fn spliced(source: &str) -> String {
    let (_, file, _) = found(source);
    splice(&file, &|_| true).text.replace("::mutant_switch::active", "A").replace(ALLOC, "")
}

#[test]
fn a_mutant_has_a_place_a_function_and_words() {
    let (mutants, ..) =
        found("impl Frame {\n    fn len(&self) -> u8 {\n        self.a   &\n self.b\n    }\n}\n");
    let lines: Vec<String> = mutants.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "decoder/src/arm.rs:2:8: replace the body with 0 in Frame::len: len",
            "decoder/src/arm.rs:2:8: replace the body with 1 in Frame::len: len",
            "decoder/src/arm.rs:3:9: replace & with | in Frame::len: self.a & self.b",
            "decoder/src/arm.rs:3:9: replace & with ^ in Frame::len: self.a & self.b",
        ]
    );
}

#[test]
fn operators_become_others_and_the_text_around_them_stays() {
    assert_eq!(
        spliced("fn f() { let x = a as u8 > b /* c */; }"),
        "fn f() { if A(0) { return (); } let x = (if A(1) { (a as u8) == (b) } else if A(2) { (a as u8) < (b) } \
         else if A(3) { (a as u8) >= (b) } else { a as u8 > b }) /* c */; }"
    );
    assert_eq!(
        spliced("fn f() { x += 1; }"),
        "fn f() { if A(0) { return (); } (if A(1) { x -= 1 } else if A(2) { x *= 1 } \
         else { x += (if A(3) { 2 } else { 1 }) }); }"
    );
}

#[test]
fn the_text_of_a_mutant_has_no_other_mutants() {
    assert_eq!(
        spliced("fn f() -> bool { !(a == b) && c }"),
        "fn f() -> bool { if A(0) { return true; } if A(1) { return false; } \
         (if A(2) { (!(a == b)) || (c) } else { \
         (if A(3) { (a == b) } else { !((if A(4) { (a) != (b) } else { a == b })) }) && c }) }"
    );
}

#[test]
fn arms_are_deleted_where_another_one_takes_everything() {
    assert_eq!(
        spliced("fn f() -> T { match x { 1 | 2 => a, 3 if b => c, other => d } }"),
        "fn f() -> T { if A(0) { return Default::default(); } match x { 1 | 2 if !A(1) => a, \
         3 if (if A(2) { true } else if A(3) { false } else { b }) => c, other => d } }"
    );
    assert_eq!(
        spliced("fn f() -> T { match x { E::A => a, E::B => b } }"),
        "fn f() -> T { if A(0) { return Default::default(); } match x { E::A => a, E::B => b } }"
    );
}

#[test]
fn chains_with_let_stay_chains() {
    assert_eq!(
        spliced("fn f() { if let Some(y) = x && !z { g() } }"),
        "fn f() { if A(0) { return (); } if let Some(y) = x && (if A(1) { z } else { !z }) { g() } }"
    );
}

#[test]
fn fields_are_deleted_where_there_is_a_base() {
    assert_eq!(
        spliced("fn f() -> T { T { a: 1, b, ..c } }"),
        "fn f() -> T { if A(0) { return Default::default(); } \
         (if A(1) { T {  b, ..c } } else if A(2) { T { a: 1,  ..c } } \
         else { T { a: (if A(3) { 2 } else { 1 }), b, ..c } }) }"
    );
    assert_eq!(spliced("fn f() -> impl T { T { a, b } }"), "fn f() -> impl T { T { a, b } }");
}

#[test]
fn what_is_evaluated_at_compile_time_stays() {
    let source = "const A: u8 = g() + 1;\n\
                  const fn g() -> u8 { 1 + 1 }\n\
                  #[cfg(test)] mod tests { fn f() -> u8 { 1 + 1 } }\n\
                  #[test] fn t() { a + b; }\n\
                  enum E { A = 1 + 1 }\n\
                  macro_rules! m { () => { 1 + 1 } }\n\
                  fn f(x: [u8; 1 + 1]) {\n\
                  let [1 | 2] = [0; 1 + 1] else { n!(1 + 1) }; T::<{ 1 + 1 }>::with_capacity(9) }\n";
    let (mutants, file, skipped) = found(source);
    let words: Vec<&str> = mutants.iter().map(|mutant| mutant.change.as_str()).collect();
    assert_eq!(words, ["replace the body with ()", "replace 0 with 1"]);
    assert_eq!(skipped, Skipped { constants: 1, const_functions: 1, macros: 2, return_types: 0 });
    assert_eq!(splice(&file, &|_| false).text, source);
}

#[test]
fn a_const_function_that_no_constant_calls_is_mutated() {
    assert_eq!(
        spliced("impl T { pub const fn f() -> bool { a } }"),
        "impl T { pub  fn f() -> bool { if A(0) { return true; } if A(1) { return false; } a } }"
    );
}

#[test]
fn a_body_does_not_become_what_it_is() {
    assert_eq!(spliced("fn f() -> bool { true }"), "fn f() -> bool { if A(0) { return false; } true }");
    assert_eq!(spliced("fn f() {}"), "fn f() {}");
}

#[test]
fn mutants_know_their_place_in_the_new_source() {
    let (_, file, _) = found("fn f() { let x = a - b; match x { C => d, _ => e } }");
    let Spliced { text, mutants, sites } = splice(&file, &|mutant| mutant != 1);
    let texts: Vec<(usize, &str)> =
        mutants.iter().map(|(range, mutant)| (*mutant, &text[range.clone()])).collect();
    assert_eq!(texts, [(0, "()"), (2, "(a) / (b)"), (3, " if !::mutant_switch::active(3)")]);
    assert_eq!(&text[sites[1].0.clone()], "(if ::mutant_switch::active(2) { (a) / (b) } else { a - b })");
    assert_eq!(sites[1].1, [2]);
}

#[test]
fn equal_mutants_of_a_function_are_numbered() {
    let (mutants, ..) = found("fn f() { g(!a); g(!a); } fn h() { g(!a); }");
    let of: Vec<(&str, usize)> = mutants
        .iter()
        .filter(|mutant| mutant.operator == Operator::Unary)
        .map(|mutant| (mutant.function.as_str(), mutant.occurrence))
        .collect();
    assert_eq!(of, [("f", 0), ("f", 1), ("h", 0)]);
}

/// The source in which these bugs, each `find` and `replace`, can be switched on.
fn with_planted(source: &str, bugs: &[(&str, &str)]) -> String {
    let syntax = syn::parse_file(source).expect("parses");
    let mut constants = Constants::default();
    constants.add(&syntax);
    constants.close();
    let path = String::from("decoder/src/arm.rs");
    let bug = |(find, replace): &(&str, &str)| crate::planted::Bug::one(&path, find, replace);
    let bugs: Vec<_> = bugs.iter().map(bug).collect();
    let file = SourceFile { path: path.clone(), text: source.to_owned(), syntax };
    let (mutants, files) = planted(vec![file], &constants, &bugs, &BTreeSet::new()).expect("have places");
    assert_eq!(mutants.len(), bugs.len());
    splice(&files[0], &|_| true).text.replace("::mutant_switch::active", "A")
}

#[test]
fn planted_bugs_are_branches_of_expressions_statements_or_blocks() {
    let source = "const fn f(a: u8) -> u8 { let b = a + 1; g(b); h(b); b }";
    let of = |bugs: &[(&str, &str)]| with_planted(source, bugs);
    assert_eq!(
        of(&[("a + 1", "a // more")]),
        " fn f(a: u8) -> u8 { let b = (if A(0) { a // more\n} else { a + 1 }); g(b); h(b); b }"
    );
    assert_eq!(
        of(&[("g(b);", ""), ("g(b);", "h(b);")]),
        " fn f(a: u8) -> u8 { let b = a + 1; if A(0) {  } else if A(1) { h(b); } else { g(b); } h(b); b }"
    );
    assert_eq!(
        of(&[("g(b); h(b);", "k();"), ("h(b); b", "0")]),
        " fn f(a: u8) -> u8 { let b = a + 1; \
            if A(0) { k(); b } else if A(1) { g(b); 0 } else { g(b); h(b); b } }"
    );
    assert_eq!(
        of(&[("let b = a + 1;", "let b = a;"), ("h(b)", "k()")]),
        " fn f(a: u8) -> u8 {if A(0) {  let b = a; g(b); h(b); b  } \
            else {  let b = a + 1; g(b); if A(1) { k() } else { h(b) }; b  }}"
    );
}
