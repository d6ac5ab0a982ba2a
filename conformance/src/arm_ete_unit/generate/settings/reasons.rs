//! Everything that is wrong with a wish.

use traceproof_encoder_model::arm_ete_unit::settings::{
    AddressRange, Output, SettingsRefusal, Stall, TraceRequest,
};
use traceproof_vectors::arm_ete_unit::Parameters;

use super::check;

/// All reasons why this trace unit cannot do it; none if it can.
pub(super) fn reasons(request: &TraceRequest, unit: &Parameters) -> Vec<SettingsRefusal> {
    let TraceRequest { levels, sync_period, trace_id, output, .. } = *request;
    let realm = if unit.realms { levels.realm } else { 0 };
    // CCITMIN is at least 1, and THRESHOLD has 12 bits. Spec: ETE-KJXDK-001.
    let counts =
        |threshold: u16| threshold == 0 || threshold < request.least_threshold || threshold >> 12 != 0;
    let periods = [0, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20];
    let mut all: Vec<(bool, SettingsRefusal)> = vec![
        (
            request.ranges.len() > usize::from(unit.address_pairs),
            SettingsRefusal::TooManyRanges { pairs: unit.address_pairs },
        ),
        (levels.secure >> 4 != 0 || levels.non_secure >> 3 != 0 || realm >> 3 != 0, SettingsRefusal::Levels),
        ((levels.secure, levels.non_secure, realm) == (0, 0, 0), SettingsRefusal::Levels),
        (
            !unit.fixed_sync_period && !periods.contains(&sync_period),
            SettingsRefusal::SyncPeriod(sync_period),
        ),
        (unit.trace_id && (trace_id == 0 || trace_id >= 0x70), SettingsRefusal::TraceId(trace_id)),
        (request.stall.is_some_and(|stall| !can_stall(stall, unit)), SettingsRefusal::Stall),
        (!has_output(output, unit), SettingsRefusal::Output(output)),
    ];
    all.extend(request.cycle_counts.map(|count| (counts(count), SettingsRefusal::Threshold(count))));
    all.extend(unit.contradiction().map(|name| (true, SettingsRefusal::Parameters(name))));
    for (index, &AddressRange { start, end }) in request.ranges.iter().enumerate() {
        let granule = if request.thumb { 2 } else { 4 };
        let is_virtual = |address: u64| address >> 56 == 0 || address >> 56 == 0xFF;
        let last = end.wrapping_sub(granule);
        all.push((end <= start, SettingsRefusal::EmptyRange(index)));
        all.push((start % granule + end % granule != 0, SettingsRefusal::UnalignedRange(index)));
        all.push((!is_virtual(start) || !is_virtual(last), SettingsRefusal::NoAddress(index)));
    }
    all.into_iter().filter_map(|(is_so, reason)| is_so.then_some(reason)).collect()
}

/// Spec: ETE-RWTYJ-001, ETE-MYMKW-001.
fn can_stall(stall: Stall, unit: &Parameters) -> bool {
    let permitted = [unit.stall_control, unit.system_stall, stall.level < 16];
    permitted == [true; 3] && stall.no_overflow <= unit.no_overflow
}

/// Spec: ETE-RT-002, ETE-SVDBD-001.
fn has_output(output: Output, unit: &Parameters) -> bool {
    match output {
        Output::Interfaces => unit.interfaces != 0,
        Output::TraceBuffer if !unit.self_hosted => unit.trace_buffer && unit.trace_buffer_external,
        Output::TraceBuffer => unit.trace_buffer,
    }
}

/// The sentence of a refusal has its number.
pub(super) fn words(refusal: &SettingsRefusal) -> Result<(), String> {
    let number = match *refusal {
        SettingsRefusal::Parameters(name) => name.to_string(),
        SettingsRefusal::EmptyRange(index)
        | SettingsRefusal::UnalignedRange(index)
        | SettingsRefusal::NoAddress(index) => index.to_string(),
        SettingsRefusal::TooManyRanges { pairs } => pairs.to_string(),
        SettingsRefusal::Threshold(threshold) => format!("{threshold:#x}"),
        SettingsRefusal::SyncPeriod(period) => period.to_string(),
        SettingsRefusal::TraceId(id) => format!("{id:#04x}"),
        SettingsRefusal::Output(Output::TraceBuffer) => String::from("buffer"),
        SettingsRefusal::Output(Output::Interfaces) => String::from("interface"),
        _ => String::from(" "),
    };
    check(refusal.to_string().contains(&number), || format!("{refusal:?} is told as `{refusal}`"))
}
