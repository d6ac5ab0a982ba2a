// The golden model of RISC-V E-Trace as functions of SystemVerilog (DPI-C); docs/golden-model.md describes them.
//
// `tp_payload` needs a host that stores numbers with the least significant byte first.

package tp_golden_pkg;
    import "DPI-C" function chandle tp_golden_open(input string parameters, input string policy);
    import "DPI-C" function chandle tp_golden_open_file(input string path);
    import "DPI-C" function void tp_golden_close(input chandle model);
    import "DPI-C" function string tp_golden_error(input chandle model);
    import "DPI-C" function longint tp_golden_reset(input chandle model);
    import "DPI-C" function longint tp_golden_step(input chandle model, input string stimulus);
    import "DPI-C" function longint tp_golden_block(
        input chandle model, input byte unsigned itype, input longint unsigned iaddr, input int unsigned iretire,
        input byte unsigned ilastsize, input byte unsigned sijump, input byte unsigned notify);
    import "DPI-C" function longint tp_golden_cycle(
        input chandle model, input longint unsigned cause, input longint unsigned tval,
        input byte unsigned privilege, input longint unsigned ctx, input longint unsigned tstamp,
        input byte unsigned ctype, input byte unsigned flags);
    import "DPI-C" function longint tp_golden_field(
        input chandle model, input byte unsigned field, input longint unsigned value);
    import "DPI-C" function longint tp_golden_ready(input chandle model, input byte unsigned takes);
    import "DPI-C" function longint tp_golden_payload(
        input chandle model, output bit [511:0] bytes, input longint unsigned size);
endpackage
