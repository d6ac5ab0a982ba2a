//! Which operators and literals become which.

use syn::{BinOp, LitInt};

/// The operator, and what it becomes: as in `cargo-mutants`.
pub(super) fn of_binary(operator: &BinOp) -> Option<(&'static str, &'static [&'static str])> {
    Some(match operator {
        BinOp::Eq(_) => ("==", &["!="]),
        BinOp::Ne(_) => ("!=", &["=="]),
        BinOp::And(_) => ("&&", &["||"]),
        BinOp::Or(_) => ("||", &["&&"]),
        BinOp::Lt(_) => ("<", &["==", ">", "<="]),
        BinOp::Gt(_) => (">", &["==", "<", ">="]),
        BinOp::Le(_) => ("<=", &[">"]),
        BinOp::Ge(_) => (">=", &["<"]),
        BinOp::Add(_) => ("+", &["-", "*"]),
        BinOp::Sub(_) => ("-", &["+", "/"]),
        BinOp::Mul(_) => ("*", &["+", "/"]),
        BinOp::Div(_) => ("/", &["%", "*"]),
        BinOp::Rem(_) => ("%", &["/", "+"]),
        BinOp::Shl(_) => ("<<", &[">>"]),
        BinOp::Shr(_) => (">>", &["<<"]),
        BinOp::BitAnd(_) => ("&", &["|", "^"]),
        BinOp::BitOr(_) => ("|", &["&", "^"]),
        BinOp::BitXor(_) => ("^", &["|", "&"]),
        BinOp::AddAssign(_) => ("+=", &["-=", "*="]),
        BinOp::SubAssign(_) => ("-=", &["+=", "/="]),
        BinOp::MulAssign(_) => ("*=", &["+=", "/="]),
        BinOp::DivAssign(_) => ("/=", &["%=", "*="]),
        BinOp::RemAssign(_) => ("%=", &["/=", "+="]),
        BinOp::ShlAssign(_) => ("<<=", &[">>="]),
        BinOp::ShrAssign(_) => (">>=", &["<<="]),
        BinOp::BitAndAssign(_) => ("&=", &["|=", "^="]),
        BinOp::BitOrAssign(_) => ("|=", &["&=", "^="]),
        BinOp::BitXorAssign(_) => ("^=", &["|=", "&="]),
        _ => return None,
    })
}

/// The next integer; of a mask of eight bits or more the one before, because the next may not fit into the type.
pub(super) fn next_integer(literal: &LitInt) -> Option<String> {
    let value: u128 = literal.base10_parse().ok()?;
    let bits = 128 - value.leading_zeros();
    let mask = value.trailing_ones() == bits && bits >= 7;
    let next = if mask { value - 1 } else { value.checked_add(1)? };
    let text = literal.to_string();
    let suffix = literal.suffix();
    Some(match text.get(..2) {
        Some("0x") => format!("{next:#x}{suffix}"),
        Some("0b") => format!("{next:#b}{suffix}"),
        Some("0o") => format!("{next:#o}{suffix}"),
        _ => format!("{next}{suffix}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_keep_base_and_suffix() {
        let next = |text: &str| next_integer(&syn::parse_str(text).expect("parses"));
        for (literal, expected) in [
            ("0", "1"),
            ("1_000u32", "1001u32"),
            ("0x80", "0x81"),
            ("0x7f", "0x7e"),
            ("0xff_u8", "0xfeu8"),
            ("0b11", "0b100"),
            ("255", "254"),
        ] {
            assert_eq!(next(literal).as_deref(), Some(expected), "{literal}");
        }
    }

    #[test]
    fn no_operator_becomes_itself() {
        for text in ["a + b", "a < b", "a | b", "a ^= b", "a >>= b", "a && b", "a % b"] {
            let expression: syn::ExprBinary = syn::parse_str(text).expect("parses");
            let (now, others) = of_binary(&expression.op).expect("known");
            assert!(text.contains(now) && !others.is_empty() && !others.contains(&now), "{text}");
        }
    }
}
