//! The process that runs OpenCSD: questions on standard input, answers on standard output.

fn main() -> std::io::Result<()> {
    traceproof_conformance::peers::opencsd::serve(std::io::stdin().lock(), std::io::stdout().lock())
}
