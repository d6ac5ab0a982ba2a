//! What a function may return at once, by its return type.

use syn::spanned::Spanned as _;
use syn::{GenericArgument, PathArguments, ReturnType, Type};

/// Where `alloc` is found from every crate of the copy.
pub(crate) const ALLOC: &str = "::mutant_switch::alloc::";

/// No more values than this of one type.
const MOST: usize = 6;

/// The values for the type; none where a constant cannot be written (`impl Trait`, `dyn Trait`, `!`, functions).
pub(super) fn of_return(output: &ReturnType, source: &str) -> Vec<String> {
    match output {
        ReturnType::Default => vec![String::from("()")],
        ReturnType::Type(_, of) => of_type(of, source),
    }
}

fn of_type(of: &Type, source: &str) -> Vec<String> {
    let mut values = match of {
        Type::Path(path) if path.qself.is_none() => {
            let Some(last) = path.path.segments.last() else { return Vec::new() };
            let arguments: Vec<&Type> = match &last.arguments {
                PathArguments::AngleBracketed(list) => list
                    .args
                    .iter()
                    .filter_map(|it| if let GenericArgument::Type(of) = it { Some(of) } else { None })
                    .collect(),
                _ => Vec::new(),
            };
            of_named(&last.ident.to_string(), &arguments, source)
        }
        Type::Path(_) => default(),
        Type::Tuple(tuple) => of_tuple(&tuple.elems.iter().collect::<Vec<_>>(), source),
        Type::Paren(inner) => of_type(&inner.elem, source),
        Type::Array(array) => {
            let length = source.get(array.len.span().byte_range()).unwrap_or("0");
            of_type(&array.elem, source).iter().map(|value| format!("[{value}; {length}]")).collect()
        }
        Type::Reference(reference) => of_reference(reference, source),
        _ => Vec::new(),
    };
    values.truncate(MOST);
    values
}

fn of_named(name: &str, arguments: &[&Type], source: &str) -> Vec<String> {
    let fixed = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    let each = |wrap: &str| match arguments.first() {
        Some(of) => of_type(of, source).iter().map(|value| format!("{wrap}({value})")).collect(),
        None => Vec::new(),
    };
    let none_or = |none: &str, mut some: Vec<String>| {
        some.insert(0, none.to_owned());
        some
    };
    match name {
        "bool" => fixed(&["true", "false"]),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => fixed(&["0", "1"]),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => fixed(&["0", "1", "-1"]),
        "f32" | "f64" => fixed(&["0.0", "1.0", "-1.0"]),
        "String" => {
            vec![format!("{ALLOC}string::String::new()"), format!("{ALLOC}string::String::from(\"xyzzy\")")]
        }
        "Option" => none_or("None", each("Some")),
        "Result" => each("Ok"),
        "Vec" => none_or(&format!("{ALLOC}vec::Vec::new()"), each_in_vec(arguments, source)),
        "Box" => each(&format!("{ALLOC}boxed::Box::new")),
        _ => default(),
    }
}

fn each_in_vec(arguments: &[&Type], source: &str) -> Vec<String> {
    let Some(of) = arguments.first() else { return Vec::new() };
    of_type(of, source).iter().map(|value| format!("{ALLOC}vec![{value}]")).collect()
}

fn of_reference(reference: &syn::TypeReference, source: &str) -> Vec<String> {
    match &*reference.elem {
        Type::Path(path) if path.path.is_ident("str") && reference.mutability.is_none() => {
            vec![String::from("\"\""), String::from("\"xyzzy\"")]
        }
        Type::Slice(_) if reference.mutability.is_some() => vec![String::from("&mut []")],
        Type::Slice(_) => vec![String::from("&[]")],
        Type::TraitObject(_) => Vec::new(),
        of => of_type(of, source)
            .iter()
            .map(|value| format!("{ALLOC}boxed::Box::leak({ALLOC}boxed::Box::new({value}))"))
            .collect(),
    }
}

/// Every combination of the elements' values.
fn of_tuple(elements: &[&Type], source: &str) -> Vec<String> {
    let mut rows: Vec<Vec<String>> = vec![Vec::new()];
    for element in elements {
        let values = of_type(element, source);
        rows = rows
            .iter()
            .flat_map(|row| {
                values.iter().map(move |value| [row.as_slice(), std::slice::from_ref(value)].concat())
            })
            .take(MOST)
            .collect();
    }
    let comma = if elements.len() == 1 { "," } else { "" };
    rows.iter().map(|row| format!("({}{comma})", row.join(", "))).collect()
}

fn default() -> Vec<String> {
    vec![String::from("Default::default()")]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(of: &str) -> Vec<String> {
        let source = format!("fn f() -> {of} {{ loop {{}} }}");
        let function: syn::ItemFn = syn::parse_str(&source).expect("parses");
        of_return(&function.sig.output, &source).iter().map(|value| value.replace(ALLOC, "")).collect()
    }

    #[test]
    fn values_follow_the_return_type() {
        assert_eq!(values("()"), ["()"]);
        assert_eq!(values("bool"), ["true", "false"]);
        assert_eq!(values("u8"), ["0", "1"]);
        assert_eq!(values("i64"), ["0", "1", "-1"]);
        assert_eq!(values("Option<bool>"), ["None", "Some(true)", "Some(false)"]);
        assert_eq!(values("Result<(), Fault>"), ["Ok(())"]);
        assert_eq!(
            values("core::result::Result<Option<u8>, ()>"),
            ["Ok(None)", "Ok(Some(0))", "Ok(Some(1))"]
        );
        assert_eq!(values("Vec<Packet>"), ["vec::Vec::new()", "vec![Default::default()]"]);
        assert_eq!(values("(bool, u8)"), ["(true, 0)", "(true, 1)", "(false, 0)", "(false, 1)"]);
        assert_eq!(values("(u8,)"), ["(0,)", "(1,)"]);
        assert_eq!(values("[bool; 2 + N]"), ["[true; 2 + N]", "[false; 2 + N]"]);
        assert_eq!(values("Self"), ["Default::default()"]);
        assert_eq!(values("&'static str"), ["\"\"", "\"xyzzy\""]);
        assert_eq!(values("&[u8]"), ["&[]"]);
        assert_eq!(
            values("&mut u8"),
            ["boxed::Box::leak(boxed::Box::new(0))", "boxed::Box::leak(boxed::Box::new(1))"]
        );
    }

    #[test]
    fn some_types_have_no_constant() {
        for of in ["impl Iterator<Item = u8>", "&dyn Sink", "!", "fn(u8) -> u8", "(u8, impl Copy)"] {
            assert_eq!(values(of), [""; 0], "{of}");
        }
    }
}
