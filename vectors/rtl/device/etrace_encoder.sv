// A small E-Trace encoder for one instruction per clock: instruction trace in delta and full address mode.
//
// It is the device on which the testbench, the packs and `check-rtl` are tested, right or with a deliberate mistake
// (input `defect`). It is no product: packets that find no place are lost and reported, not announced by a support
// packet.

module etrace_encoder #(
    parameter int XLEN = 32,             // iaddress_width_p
    parameter int LSB = 1,               // iaddress_lsb_p
    parameter int PRIVILEGE = 2,         // privilege_width_p
    parameter int ECAUSE = 4,            // ecause_width_p
    parameter int CONTEXT = 0,           // context_width_p, 0 if nocontext_p
    parameter int TIME = 0,              // time_width_p, 0 if notime_p
    parameter bit COMPRESS = 1,          // whole-packet compression also for format 3
    parameter bit SEPARATE = 0,          // interrupts at an uninferable target by themselves (RVET-ENC-081)
    parameter bit CONTEXT_LAST = 0       // context packets after the packet of their instruction, not before
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [7:0]   defect,         // a deliberate mistake, see etrace_pkg.sv; 0 = none
    // ingress port
    input  logic [3:0]   itype,
    input  logic         iretire,
    input  logic         ilastsize,
    input  logic [63:0]  iaddr, cause, tval, ctx, tstamp,
    input  logic [3:0]   priv,
    input  logic [1:0]   ctype,
    input  logic         trace_on, trace_off, notify, halted, hart_reset,
    // registers of the Trace Control Interface
    input  logic         write_valid,
    input  logic [11:0]  write_address,
    input  logic [31:0]  write_data,
    // packets
    output logic         out_valid,
    output logic [7:0]   out_length,
    output logic [287:0] out_bytes,
    input  logic         out_ready,
    output logic         overflow        // an item found no place
);
    import etrace_pkg::*;

    // Control. Bits of trTeControl and trTeInstFeatures.

    logic [31:0] control;
    logic full_address;

    always_ff @(posedge clk) begin
        if (rst) begin
            control <= 0;
            full_address <= 0;
        end else if (write_valid) begin
            if (write_address == 12'h000) control <= write_data;
            if (write_address == 12'h008) full_address <= write_data[0];
        end
    end

    // Where tracing is switched. Spec: RVET-ENC-047 to 050.

    wire tracing = control[2:0] == 3'b111;
    wire stopped = halted || hart_reset;
    wire triggers = control[11];
    logic was_tracing, was_stopped, triggered_q;
    wire triggered = triggered_q || trace_on || !triggers;

    always_ff @(posedge clk) begin
        if (rst) begin
            was_tracing <= 0;
            was_stopped <= 0;
            triggered_q <= 1;
        end else begin
            was_tracing <= tracing;
            was_stopped <= stopped;
            triggered_q <= triggered && !trace_off;
        end
    end

    wire enabled_now = tracing && !was_tracing;
    wire disabled_now = !tracing && was_tracing;
    wire marker_valid = enabled_now || disabled_now || (tracing && stopped && !was_stopped);

    // The item of this clock

    localparam int ITEM = 25 + 5 * 64;

    wire traps = itype == 1 || itype == 2;
    wire is_updiscon = itype == 6 || itype == 8 || itype == 10 || itype == 12 || itype == 13 || itype == 14
        || (itype == 3 && defect != TRAP_RETURN_INFERABLE);
    wire qualified = tracing && triggered && !stopped;
    wire [3:0] halfwords = ilastsize ? 2 : 1;
    wire [ITEM-1:0] item = {1'b0, 1'b0, 1'b0, full_address, qualified, iretire, traps, itype == 2,
                            itype == 4 || itype == 5, itype == 5, is_updiscon && iretire,
                            notify && iretire && defect != NOTIFY_IGNORED,
                            iretire ? ctype : 2'd0, 3'd0, iretire ? halfwords : 4'd0, priv,
                            iaddr, cause, tval, ctx, tstamp};
    wire [ITEM-1:0] marker = {1'b1, enabled_now, tracing, full_address, {(ITEM-4){1'b0}}};

    wire head_valid, take;
    wire [ITEM-1:0] head;

    etrace_items #(.ITEM(ITEM)) items (
        .clk, .rst, .marker_valid, .item_valid(iretire || traps), .marker, .item, .overflow, .head_valid, .head, .take
    );

    // Window of three items: previous (p), current (c), next (n)

    logic [ITEM-1:0] previous, current;
    logic current_valid;

    wire p_marker, p_qualified, p_retires, p_traps, p_interrupt, p_updiscon;
    wire [3:0] p_priv;
    wire [63:0] p_addr, p_cause, p_tval, p_ctx, p_time;
    wire [14:0] p_unused;
    assign {p_marker, p_unused[14:12], p_qualified, p_retires, p_traps, p_interrupt, p_unused[11:10], p_updiscon,
            p_unused[9:0], p_priv, p_addr, p_cause, p_tval, p_ctx, p_time} = previous;

    wire c_marker, c_enables, c_ienable, c_full, c_qualified, c_retires, c_traps, c_interrupt, c_branch, c_taken;
    wire c_updiscon, c_notify;
    wire [1:0] c_ctype;
    wire [2:0] c_unused;
    wire [3:0] c_halfwords, c_priv;
    wire [63:0] c_addr, c_cause, c_tval, c_ctx, c_time;
    assign {c_marker, c_enables, c_ienable, c_full, c_qualified, c_retires, c_traps, c_interrupt, c_branch, c_taken,
            c_updiscon, c_notify, c_ctype, c_unused, c_halfwords, c_priv, c_addr, c_cause, c_tval, c_ctx, c_time}
        = current;

    wire n_marker, n_ienable, n_qualified, n_retires, n_traps;
    wire [1:0] n_ctype;
    wire [3:0] n_priv;
    wire [333:0] n_unused;
    assign {n_marker, n_unused[333], n_ienable, n_unused[332], n_qualified, n_retires, n_traps, n_unused[331:327],
            n_ctype, n_unused[326:320], n_priv, n_unused[319:0]} = head;

    wire p_live = p_qualified && !p_marker;
    wire c_live = c_qualified && !c_marker;
    wire n_live = n_qualified && !n_marker;

    // Outcomes. Spec: RVET-ENC-028, RVET-PKT-033.

    logic [4:0] branches;
    logic [30:0] map;
    wire [4:0] count = branches + 5'(c_branch);
    wire [30:0] outcomes = map | (31'(c_branch && !c_taken) << branches);

    // What surrounds the item

    logic trap_reported;
    wire flush, start_due;
    wire first = !p_live;
    wire after_updiscon = p_live && p_retires && !p_traps && p_updiscon;
    wire after_trap = !p_marker && p_traps;
    wire level_changed = p_priv != c_priv && defect != PRIVILEGE_UNREPORTED;
    wire changed = p_live && (level_changed || c_ctype >= 2);

    wire n_is_trap = c_traps || (n_live && n_traps && !n_retires);
    wire n_is_retire = !c_traps && n_live && n_retires;
    wire n_level = n_priv != c_priv && defect != PRIVILEGE_UNREPORTED;
    wire n_changed = n_is_retire && (n_level || n_ctype >= 2);
    wire ends = !c_traps && !n_live && defect != FINAL_MISSING;

    // The packet of a trap by itself. Spec: RVET-ENC-022 to 026, RVET-ENC-076.

    wire chained = p_live && p_traps;
    wire of_previous = chained && !trap_reported;
    wire at_target = (first || after_updiscon) && (!c_interrupt || SEPARATE);
    wire trap_packet = chained ? !(of_previous && defect == CHAINED_TRAP_LOST) : at_target;

    // The packet of an instruction, first match. Spec: RVET-ENC-001 to 006, RVET-ENC-015, RVET-ENC-018 to 021, ...

    wire handler = after_trap && !trap_reported;
    wire sync = after_trap ? trap_reported : (first || changed || start_due);
    wire asked = c_notify || (flush && count != 0);
    wire precedes = n_is_trap || (n_changed && (count != 0 || n_ctype == 3)) || ends;
    wire full = count == 31;

    wire [2:0] instruction_packet = handler ? TRAP : sync ? START : (after_updiscon || asked || precedes) ? ADDRESS
        : full ? (defect == FULL_MAP_LOST ? NOTHING : FULL_MAP) : NOTHING;
    wire [2:0] item_packet = !c_live ? NOTHING : c_retires ? instruction_packet : trap_packet ? TRAP : NOTHING;

    wire is_sync = item_packet == START || item_packet == TRAP;
    wire has_address = item_packet == ADDRESS;
    // Spec: RVET-ENC-034, RVET-ENC-035.
    wire flag_notify = c_notify && !after_updiscon;
    wire sync_follows = n_is_trap || n_changed || (flush && n_is_retire);
    wire flag_updiscon = after_updiscon && (sync_follows || defect == UPDISCON_ALWAYS);

    // What else is sent for the item, one packet per clock. Spec: RVET-ENC-007, RVET-ENC-008, RVET-ENC-041.

    wire is_ended = c_live && !n_live;
    wire ended_ntr = has_address && after_updiscon && !flag_updiscon && defect != ALWAYS_ENDED_REP;
    wire want_packet = item_packet != NOTHING;
    wire want_again = item_packet == FULL_MAP && defect == FULL_MAP_REPEATED;
    wire want_context = c_live && c_retires && c_ctype == 1 && !is_sync;
    wire want_support = is_ended || (c_marker && c_enables);
    // In the order in which they are sent: 0 context, 1 packet of the item, 2 the same again, 3 context, 4 support.
    logic [3:0] sent;
    wire [3:0] wanted = {want_context && CONTEXT_LAST, want_again, want_packet, want_context && !CONTEXT_LAST};
    wire [4:0] left = {want_support, wanted & ~sent};

    wire ready = current_valid && (c_marker || head_valid);
    wire free = !out_valid || out_ready;
    wire is_last = (left & (left - 1)) == 0;
    wire step = ready && free && is_last;
    wire [4:0] now = left & ~(left - 1);
    wire [2:0] kind = (now[0] || now[3]) ? CONTEXT_CHANGE : (now[1] || now[2]) ? item_packet
        : now[4] ? SUPPORT : NOTHING;

    assign take = head_valid && (step || !current_valid);

    // Fields

    logic [63:0] base;
    logic full_mode;
    wire thaddr = c_retires;
    wire level_of_previous = kind == TRAP && !thaddr && of_previous;
    wire trap_of_previous = thaddr || of_previous;
    wire [63:0] epc = defect == EPC_OF_WRONG_CYCLE ? p_addr : c_addr;
    wire [63:0] reported = kind == ADDRESS ? (full_mode ? c_addr : c_addr - base)
        : (kind == TRAP && !thaddr) ? (c_interrupt ? 0 : epc) : c_addr;
    wire early = defect == HANDLER_LEVEL_EARLY && kind == TRAP && !thaddr;
    wire is_taken = c_branch && c_taken && defect != START_BRANCH_STUCK;

    wire [7:0] length;
    wire [287:0] bytes;

    etrace_packet #(
        .XLEN(XLEN), .LSB(LSB), .PRIVILEGE(PRIVILEGE), .ECAUSE(ECAUSE), .CONTEXT(CONTEXT), .TIME(TIME),
        .COMPRESS(COMPRESS)
    ) packet (
        .kind,
        .defect,
        .privilege(early ? 4'd3 : level_of_previous ? p_priv : c_priv),
        .stamp(level_of_previous ? p_time : c_time),
        .ctx(level_of_previous ? p_ctx : c_ctx),
        .branch(!(c_retires && is_taken)),
        .address(reported),
        .cause(trap_of_previous ? p_cause : c_cause),
        .tval(trap_of_previous ? p_tval : c_tval),
        .interrupt(trap_of_previous ? p_interrupt : c_interrupt),
        .thaddr,
        .branches(count),
        .map(outcomes),
        .notify(flag_notify),
        .updiscon(flag_updiscon),
        .ienable(c_marker ? c_ienable : !(n_marker && !n_ienable)),
        .full_address(c_marker ? c_full : full_mode),
        .qual_status(c_marker ? 2'd0 : ended_ntr ? 2'd3 : 2'd1),
        .length,
        .bytes
    );

    etrace_resync resync (
        .clk, .rst,
        .mode(control[17:16]), .max(control[23:20]),
        .step(step && c_live && c_retires),
        .halfwords((c_live && c_retires && current_valid) ? c_halfwords : 4'd0),
        .is_target(c_updiscon && !c_traps),
        .sent_packet(step && want_packet),
        .sent_address(has_address),
        .sent_sync(step && is_sync),
        .flush, .start(start_due)
    );

    logic idle_seen;

    always_ff @(posedge clk) begin
        if (rst) begin
            current_valid <= 0;
            previous <= {1'b1, {(ITEM-1){1'b0}}};
            current <= 0;
            idle_seen <= 0;
        end else begin
            if (step || !current_valid) begin
                current <= head;
                current_valid <= head_valid;
                idle_seen <= 0;
            end else if (!head_valid) begin
                idle_seen <= 1;
            end
            if (step) begin
                previous <= current;
                if (defect == IDLE_LOSES_REPORT && idle_seen) previous[ITEM-11] <= 0;
            end
        end
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            {sent, trap_reported, branches, map, base, full_mode} <= 0;
            out_valid <= 0;
            out_length <= 0;
            out_bytes <= 0;
        end else begin
            if (free) begin
                out_valid <= ready && kind != NOTHING;
                out_length <= length;
                out_bytes <= bytes;
            end
            if (step) sent <= 0;
            else if (ready && free) sent <= sent | now[3:0];
            if (step) begin
                trap_reported <= c_live && !c_retires && (chained ? trap_reported : at_target);
                // Spec: RVET-ENC-037.
                if (want_packet || full) {branches, map} <= 0;
                else if (c_live && c_retires) {branches, map} <= {count, outcomes};
                if (defect == OUTCOME_TWICE && item_packet == START)
                    {branches, map} <= {5'(c_branch), 31'(c_branch && !c_taken)};
                // Spec: RVET-ENC-031.
                if ((has_address || (is_sync && c_retires)) && !(item_packet == START && defect == BASE_NOT_UPDATED))
                    base <= c_addr;
                if (c_marker && c_enables) full_mode <= c_full;
            end
        end
    end

    wire unused = &{1'b0, p_unused, c_unused, n_unused, control};
endmodule
