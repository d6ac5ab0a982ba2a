// Builds the payload of one packet: fields in order, sign extension, compression. No state.

module etrace_packet #(
    parameter int XLEN = 32,        // iaddress_width_p
    parameter int LSB = 1,          // iaddress_lsb_p
    parameter int PRIVILEGE = 2,    // privilege_width_p
    parameter int ECAUSE = 4,       // ecause_width_p
    parameter int CONTEXT = 0,      // context_width_p, 0 if nocontext_p
    parameter int TIME = 0,         // time_width_p, 0 if notime_p
    parameter bit COMPRESS = 1      // whole-packet compression also for format 3 (RVET-PKT-005)
) (
    input  logic [7:0]   defect,
    input  logic [2:0]   kind,
    input  logic [3:0]   privilege,
    input  logic [63:0]  stamp, ctx,
    input  logic         branch,
    input  logic [63:0]  address,     // absolute, or the difference to the base
    // format 3.1
    input  logic [63:0]  cause, tval,
    input  logic         interrupt, thaddr,
    // formats 1 and 2
    input  logic [4:0]   branches,
    input  logic [30:0]  map,
    input  logic         notify, updiscon,
    // format 3.3
    input  logic         ienable, full_address,
    input  logic [1:0]   qual_status,
    output logic [7:0]   length,
    output logic [287:0] bytes
);
    import etrace_pkg::*;

    localparam int W = 288;
    localparam int A = XLEN - LSB;

    function automatic logic [W-1:0] field(input logic [63:0] value, input int width, input int at);
        logic [63:0] mask;
        mask = width >= 64 ? ~64'd0 : (64'd1 << width) - 1;
        field = {{(W-64){1'b0}}, value & mask} << at;
    endfunction

    // Format 3. Spec: RVET-PKT-011, RVET-PKT-016, RVET-PKT-020, RVET-PKT-021.
    localparam int CONTEXT_AT = 5 + PRIVILEGE + TIME;
    localparam int AFTER = CONTEXT_AT + CONTEXT;
    localparam int TRAP_ADDRESS_AT = AFTER + ECAUSE + 2;
    localparam int TVAL_AT = TRAP_ADDRESS_AT + A;

    // Simulators compute wide vectors only where there is a packet.
    wire idle = kind == NOTHING;
    wire [63:0] shifted = idle ? 0 : address >> LSB;
    wire [63:0] stamp_in = idle ? 0 : stamp, ctx_in = idle ? 0 : ctx;
    wire [63:0] cause_in = kind == TRAP ? cause : 0, tval_in = kind == TRAP ? tval : 0;
    wire [30:0] map_in = idle ? 0 : map;
    wire has_tval = !interrupt || defect == TVAL_WITH_INTERRUPT;

    wire [W-1:0] level = field(64'(privilege), PRIVILEGE, 5) | field(stamp_in, TIME, 5 + PRIVILEGE)
        | field(ctx_in, CONTEXT, CONTEXT_AT);
    wire [W-1:0] start = field(64'd3, 4, 0) | field(64'(branch), 1, 4) | level | field(shifted, A, AFTER);
    wire [W-1:0] trap = field(64'd7, 4, 0) | field(64'(branch), 1, 4) | level | field(cause_in, ECAUSE, AFTER)
        | field({62'd0, thaddr, interrupt}, 2, AFTER + ECAUSE) | field(shifted, A, TRAP_ADDRESS_AT)
        | (has_tval ? field(tval_in, XLEN, TVAL_AT) : 0);
    wire [W-1:0] context_change = field(64'd11, 4, 0) | (level >> 1);
    // ienable, encoder_mode 1 bit, qual_status, ioptions 5 bits, denable, dloss, doptions 4 bits
    wire [W-1:0] support = field(64'd15, 4, 0) | field(64'(ienable), 1, 4) | field(64'(qual_status), 2, 6)
        | field({61'd0, full_address, 2'd0}, 5, 8);

    // Formats 1 and 2. Spec: RVET-PKT-024 to 027, RVET-PKT-031, RVET-PKT-032.
    function automatic int map_width(input logic [4:0] count);
        map_width = count > 15 ? 31 : count > 7 ? 15 : count > 3 ? 7 : count > 1 ? 3 : 1;
    endfunction

    wire [4:0] count = (defect == LONG_MAP_COUNT_ZERO && branches > 15 && branches != 31) ? 0 : branches;
    wire [30:0] outcomes = defect == MAP_INVERTED ? ~map_in & ((31'd1 << branches) - 1) : map_in;
    wire [30:0] all_outcomes = defect == MAP_INVERTED ? ~map_in : map_in;
    wire sign = shifted[A-1];
    wire [2:0] status = {{2{sign ^ notify ^ updiscon}}, sign ^ notify};
    wire [W-1:0] reported = field(shifted, A, 0) | field(64'(status), 3, A);
    wire [W-1:0] with_map = field(64'd1, 2, 0) | field(64'(count), 5, 2) | field(64'(outcomes), 31, 7);
    wire [W-1:0] full_map = field(64'd1, 2, 0) | field(64'(all_outcomes), 31, 7);
    wire [W-1:0] address_packet = branches == 0 ? (field(64'd2, 2, 0) | (reported << 2))
        : (with_map | (reported << (7 + map_width(branches))));
    wire [31:0] address_bits = A + 3 + (branches == 0 ? 2 : 7 + map_width(branches));

    // The packet, its bits, its sign in all higher bits. Spec: RVET-PKT-003.
    function automatic logic [W-1:0] signed_from(input logic [W-1:0] value, input logic [31:0] bits);
        signed_from = value[bits - 1] ? (value | ({W{1'b1}} << bits)) : value;
    endfunction

    function automatic logic [31:0] bits_of(input logic [2:0] which, input logic with_tval,
                                            input logic [31:0] one_or_two);
        case (which)
            START: bits_of = AFTER + A;
            TRAP: bits_of = TVAL_AT + (with_tval ? XLEN : 0);
            CONTEXT_CHANGE: bits_of = AFTER - 1;
            SUPPORT: bits_of = 19;
            FULL_MAP: bits_of = 38;
            default: bits_of = one_or_two;
        endcase
    endfunction

    wire [W-1:0] packed_fields = kind == START ? start : kind == TRAP ? trap : kind == CONTEXT_CHANGE ? context_change
        : kind == SUPPORT ? support : kind == FULL_MAP ? full_map : address_packet;
    wire [31:0] bits = bits_of(kind, has_tval, address_bits);
    wire [W-1:0] whole = signed_from(packed_fields, bits);

    // The least number of bytes whose top bit restores all others. Spec: RVET-PKT-006, RVET-PKT-007.
    function automatic logic [7:0] least(input logic [W-1:0] value, input logic with_sign);
        least = 1;
        // Bytes above the lowest are needed if they, or the sign in the byte below them, differ from the sign of all.
        for (int i = 1; i < W / 8; i++) if (value[8*i-int'(with_sign) +: 8] != {8{value[W-1]}}) least = 8'(i + 1);
    endfunction

    wire is_short = kind == ADDRESS || kind == FULL_MAP;
    wire [7:0] padded = 8'((bits + 7) >> 3);
    assign length = (COMPRESS || is_short) ? least(whole, !(defect == SIGN_CUT && is_short)) : padded;
    assign bytes = defect == PAD_WITH_ZERO ? packed_fields : whole;
endmodule
