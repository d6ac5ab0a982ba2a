// What the modules of the test device share: kinds of packets, and deliberate mistakes.
//
// Mistakes are of kinds that open trace encoders in hardware had. +defect=NUMBER selects one.
// vectors/rtl/defects.json lists the clause that each breaks.

package etrace_pkg;
    localparam logic [2:0] NOTHING = 0, START = 1, TRAP = 2, CONTEXT_CHANGE = 3, SUPPORT = 4, FULL_MAP = 5, ADDRESS = 6;

    localparam logic [7:0] FULL_MAP_LOST = 1;          // 31 outcomes are forgotten, no packet reports them
    localparam logic [7:0] FULL_MAP_REPEATED = 2;      // the packet of a full map is sent twice
    localparam logic [7:0] OUTCOME_TWICE = 3;          // the outcome of a start packet is also in the next map
    localparam logic [7:0] UPDISCON_ALWAYS = 4;        // the flag updiscon on every target of an uninferable jump
    localparam logic [7:0] SIGN_CUT = 5;               // compression of formats 1 and 2 cuts the sign off
    localparam logic [7:0] IDLE_LOSES_REPORT = 6;      // an idle clock after an uninferable jump forgets it
    localparam logic [7:0] LONG_MAP_COUNT_ZERO = 7;    // 16 to 30 outcomes are reported with a count of 0
    localparam logic [7:0] CHAINED_TRAP_LOST = 8;      // the first of two traps in a row has no packet
    localparam logic [7:0] EPC_OF_WRONG_CYCLE = 9;     // the EPC is the address of the instruction before
    localparam logic [7:0] FINAL_MISSING = 10;         // the final instruction is not reported
    localparam logic [7:0] TVAL_WITH_INTERRUPT = 11;   // packets of interrupts have a tval
    localparam logic [7:0] PAD_WITH_ZERO = 12;         // the last byte is filled with 0, not with the sign
    localparam logic [7:0] MAP_INVERTED = 13;          // 1 = taken
    localparam logic [7:0] BASE_NOT_UPDATED = 14;      // a start packet is no base of the next difference
    localparam logic [7:0] HANDLER_LEVEL_EARLY = 15;   // trap packets without handler have the level after the trap
    localparam logic [7:0] ALWAYS_ENDED_REP = 16;      // ended_ntr is never used
    localparam logic [7:0] PRIVILEGE_UNREPORTED = 17;  // a change of level has no start packet
    localparam logic [7:0] NOTIFY_IGNORED = 18;        // nothing is reported for a trigger
    localparam logic [7:0] START_BRANCH_STUCK = 19;    // `branch` of start packets is always 1
    localparam logic [7:0] TRAP_RETURN_INFERABLE = 20; // itype 3 is no uninferable discontinuity
endpackage
