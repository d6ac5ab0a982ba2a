//! Parameters from descriptions. Expected values are those of the tables of ET 10.1, worked out by hand.

use traceproof_vectors::riscv_etrace::discovery::{ATTRIBUTES, Discovery, DiscoveryProblem, read};
use traceproof_vectors::riscv_etrace::{
    DataParameters, Encapsulation, Modes, NormalEncapsulation, Parameters, SupportLayout, Xlen,
};

fn parameters(text: &str) -> Parameters {
    read(text).unwrap_or_else(|errors| panic!("{errors:?}")).parameters
}

fn errors(text: &str) -> Vec<String> {
    read(text).expect_err("wrong").iter().map(ToString::to_string).collect()
}

/// RVET-DISC-001: an encoder that lets nothing be discovered is the default one.
#[test]
fn defaults_are_those_of_the_table() {
    let defaults: String = ATTRIBUTES.iter().map(|row| format!("{} = {}\n", row.name, row.default)).collect();
    assert_eq!(parameters(&defaults), Parameters::default());
    assert_eq!(read(""), Ok(Discovery { parameters: Parameters::default(), others: Vec::new() }));
}

/// RVET-DISC-002: every required attribute changes its own parameter and no other.
#[test]
fn attributes_become_parameters() {
    let changed = |change: fn(&mut Parameters)| {
        let mut parameters = Parameters::default();
        change(&mut parameters);
        parameters
    };
    for (text, expected) in [
        ("arch = 0", Parameters::default()),
        ("bpred_size = 7", changed(|p| p.bpred_size_p = 7)),
        ("cache_size = 5", changed(|p| p.cache_size_p = 5)),
        ("call_counter_size = 3", changed(|p| p.call_counter_size_p = 3)),
        ("context_width = 31", changed(|p| p.context_width_p = 32)),
        ("time_width = 39", changed(|p| p.time_width_p = 40)),
        ("ecause_width = 5", changed(|p| p.ecause_width_p = 6)),
        ("f0s_width = 1", changed(|p| p.f0s_width_p = 1)),
        ("iaddress_lsb = 1", changed(|p| p.iaddress_lsb_p = 2)),
        ("iaddress_width = 63", changed(|p| p.iaddress_width_p = 64)),
        ("iaddress_width = 0x26", changed(|p| p.iaddress_width_p = 39)),
        ("nocontext = 0", changed(|p| p.nocontext_p = false)),
        ("notime = false", changed(|p| p.notime_p = false)),
        ("privilege_width = 2", changed(|p| p.privilege_width_p = 3)),
        ("return_stack_size = 4", changed(|p| p.return_stack_size_p = 4)),
        ("sijump = 1", changed(|p| p.sijump_p = true)),
        ("itype_width = 2", changed(|p| p.itype_width_p = 3)),
        ("retires = 3", changed(|p| p.retires_p = 4)),
    ] {
        assert_eq!(parameters(text), expected, "{text}");
    }
    let packets = ATTRIBUTES.iter().filter(|row| row.required).count();
    assert_eq!(packets, 15, "the required attributes of ET 10.1");
}

/// The attributes of data trace, where there is any.
#[test]
fn attributes_of_data_trace_need_the_table() {
    let attributes = "daddress_width = 63\ndata_width = 63\ndtype_width = 3\nlrid_width = 2";
    let found = read(attributes).expect("right");
    assert_eq!(found.parameters, Parameters::default());
    assert_eq!(found.others.first(), Some(&("daddress_width_p", 64)));
    let source = "[data]\nsplit = true\n[encapsulation.normal]\ntype_bits = 1";
    let found = read(&format!("{attributes}\n{source}")).expect("right");
    let expected = DataParameters {
        daddress_width_p: 64,
        data_width_p: 64,
        dtype_width_p: 4,
        lrid_width_p: 3,
        split: true,
        ..DataParameters::default()
    };
    assert_eq!((found.parameters.data, found.others), (Some(expected), Vec::new()));
    assert_eq!(
        errors("daddress_width = 63\n[data]\ndaddress_width_p = 40\n[encapsulation.normal]\ntype_bits = 1"),
        ["3:1: `daddress_width_p` contradicts `daddress_width`"]
    );
}

#[test]
fn parameters_go_by_their_own_names_and_mix_with_attributes() {
    let text = "
        xlen = 'rv64'
        iaddress_width_p = 64
        iaddress_width = 63    # the same again
        ecause_width = 5
        modes = { full_address = true }
        support = { encoder_mode_width = 2, ioptions = [], data_fields = false }
        encapsulation = { normal = { src_id_bits = 8, src_id = 10 } }
    ";
    let encapsulation = NormalEncapsulation { src_id_bits: 8, src_id: 10, ..NormalEncapsulation::default() };
    let support = SupportLayout {
        encoder_mode_width: 2,
        ioptions: Vec::new(),
        data_fields: false,
        ..SupportLayout::default()
    };
    let expected = Parameters {
        xlen: Xlen::Rv64,
        iaddress_width_p: 64,
        ecause_width_p: 6,
        modes: Modes { full_address: true, ..Modes::default() },
        support,
        encapsulation: Encapsulation::Normal(encapsulation),
        ..Parameters::default()
    };
    assert_eq!(parameters(text), expected);
}

#[test]
fn attributes_without_packets_are_kept() {
    let found =
        read("filters = 1\ncomparators = 3\nctype_width_p = 2\ncontext_type_width = 1").expect("right");
    assert_eq!(found.parameters, Parameters::default());
    assert_eq!(found.others, [("comparators_p", 4), ("filters_p", 2), ("ctype_width_p", 2)]);
}

#[test]
fn errors_tell_line_and_column_all_at_once() {
    assert_eq!(
        errors("iaddress_width = 64\n  iaddres_lsb = 1\necause_width = 'six'\nvendor = 0\nnotime = 2\n"),
        [
            "1:18: `iaddress_width` = 64 is not 0 to 63",
            "2:3: `iaddres_lsb` is no attribute and no parameter",
            "3:16: `ecause_width` must be a whole number",
            "4:1: `vendor` is no attribute and no parameter",
            "5:10: `notime` = 2 is not 0 to 1",
        ]
    );
    assert_eq!(errors("bpred_size = -1"), ["1:14: `bpred_size` = -1 is not 0 to 15"]);
    assert_eq!(errors("ctype_width_p = 0"), ["1:17: `ctype_width_p` = 0 is not 1 to 2"]);
    // Too large for any integer of the machine.
    assert!(errors(&format!("retires = {}", "9".repeat(50)))[0].contains("retires"), "no panic");
}

#[test]
fn contradictions_are_reported_at_the_second_name() {
    assert_eq!(
        errors("iaddress_width_p = 64\niaddress_width = 31"),
        ["2:1: `iaddress_width` contradicts `iaddress_width_p`"]
    );
    assert_eq!(
        errors("iaddress_width = 31\niaddress_width_p = 64"),
        ["2:1: `iaddress_width_p` contradicts `iaddress_width`"]
    );
    assert_eq!(
        errors("ctype_width = 0\ncontext_type_width = 1"),
        ["2:1: `context_type_width` contradicts `ctype_width`"]
    );
    assert_eq!(errors("notime = 0\nnotime = 0").len(), 1, "twice the same name");
}

#[test]
fn impossible_hardware_is_reported_at_the_name_that_says_it() {
    for (text, place) in [
        ("arch = 1", "1:1: `arch_p` "),
        ("bpred_size = 4\ncache_size = 4\nf0s_width = 0", "3:1: `f0s_width_p` "),
        ("bpred_size = 4\ncache_size = 4", "1:1: `f0s_width_p` "),
        ("\nitype_width = 2\nreturn_stack_size = 4", "2:1: `itype_width_p` "),
        ("filter_excint = 0\nfilter_tval = 1", "2:1: `filter_tval_p` "),
        ("\n[encapsulation.normal]\nsrc_id_bits = 17", "2:2: `src_id_bits` "),
    ] {
        let errors = errors(text);
        assert!(errors.len() == 1 && errors[0].starts_with(place), "{text}: {errors:?}");
    }
}

#[test]
fn text_that_is_no_description_is_a_syntax_error() {
    for (text, place) in [("xlen = \n", (1, 8)), ("sijump\n", (1, 7)), ("xlen = 'rv128'", (1, 8))] {
        let errors = read(text).expect_err("wrong");
        assert!(matches!(errors[0].problem, DiscoveryProblem::Syntax(_)), "{errors:?}");
        assert_eq!((errors[0].line, errors[0].column), place, "{errors:?}");
    }
}

/// A description of many unknown names takes time in proportion to its length, and every error has its place. One that
/// is 32 times longer took a thousand times longer when each place was counted from the beginning.
///
/// As many names are read in 32 pieces and at once, one after the other, so that a busy machine slows both down. When
/// that is linear, one of a few rounds shows it; when it is not, all of them are 32 times slower.
#[test]
fn long_descriptions_are_read_in_linear_time() {
    let seconds = |pieces: usize, names: usize| {
        let text: String = (0..names).map(|number| format!("name{number} = 1\n")).collect();
        let start = std::time::Instant::now();
        let errors: Vec<_> = (0..pieces).map(|_| read(&text).expect_err("unknown names")).collect();
        let seconds = start.elapsed().as_secs_f64();
        for errors in errors {
            let places = errors.iter().map(|error| (error.line, error.column));
            assert!(places.eq((1..=names).map(|line| (line, 1))));
        }
        seconds
    };
    let mut slower = Vec::new();
    for _ in 0..8 {
        let times = seconds(1, 32_000) / seconds(32, 1_000);
        if times < 8.0 {
            return;
        }
        slower.push(times);
    }
    panic!("times as long as in 32 pieces: {slower:?}");
}
