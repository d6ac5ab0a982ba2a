/* An example: reads the packets of RISC-V E-Trace, without events. Put your decoder in its place. */
#include "tdut.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tdut_info(void) {
    return "{\"name\":\"example-c\",\"version\":\"1.0\",\"decoders\":{\"riscv_etrace\":{"
           "\"layers\":[\"packets\"],\"faults\":\"flag\",\"features\":[\"rv32\",\"rv64\",\"compressed\",\"context\","
           "\"time\",\"full_address\",\"implicit_exception\",\"implicit_return\",\"sijump\",\"support_layout\",\"memory_blocks\"]}}}";
}

struct decoder {
    /* Parameters; widths in bits. */
    unsigned privilege, time, context, ecause, address, lsb, irdepth, encoder_mode, ioptions, data_fields, doptions;
    uint64_t block, border;     /* bytes of a block of memory, 0 = no blocks; where the first one begins */
    int full_bit, implicit_bit; /* bits of ioptions; -1 = none */
    int first_full, first_implicit;
    /* Modes in force. */
    int full, implicit;
    /* The packet that is being read, header first. */
    uint8_t packet[32];
    unsigned have;
    /* Where it begins. */
    uint64_t index, byte;
};

/* A feature that these parameters need and tdut_info does not name; NULL if there is none. */
static const char *unclaimed(const char *parameters) {
    const char *version = tdut_find(parameters, "version");
    if (version && strncmp(version, "\"2.0\"", 5) != 0) return "standard_support";
    if (tdut_flag(parameters, "iret_ext")) return "irets";
    const char *transport = tdut_find(parameters, "encapsulation.normal");
    if (!transport) return "other transports";
    if (tdut_number(transport, "src_id_bits", 0)) return "source_id";
    if (tdut_number(transport, "timestamp_bytes", 0)) return "timestamp";
    if (tdut_number(transport, "type_bits", 0)) return "packet_type";
    if (!tdut_flag(transport, "synchronised")) return "stream_entry";
    if (tdut_flag(parameters, "modes.branch_prediction") || tdut_number(parameters, "bpred_size_p", 0))
        return "branch_prediction";
    if (tdut_flag(parameters, "modes.jump_target_cache") || tdut_number(parameters, "cache_size_p", 0))
        return "jump_target_cache";
    return tdut_find(parameters, "data") ? "data_trace" : NULL;
}

void *tdut_open(const char *family, const char *parameters, const struct tdut_section *sections, size_t count,
                const char **unsupported) {
    (void)sections;
    (void)count;
    if (strcmp(family, "riscv_etrace") != 0) {
        *unsupported = "other families";
        return NULL;
    }
    /* What is not claimed is refused: results of a decoder that guesses are worse than none. */
    *unsupported = unclaimed(parameters);
    if (*unsupported) return NULL;
    struct decoder *d = (struct decoder *)calloc(1, sizeof *d);
    if (!d) return NULL;
#define WIDTH(name) ((unsigned)tdut_number(parameters, name, 0))
    d->privilege = WIDTH("privilege_width_p");
    d->time = tdut_flag(parameters, "notime_p") ? 0 : WIDTH("time_width_p");
    d->context = tdut_flag(parameters, "nocontext_p") ? 0 : WIDTH("context_width_p");
    d->ecause = WIDTH("ecause_width_p");
    d->address = WIDTH("iaddress_width_p");
    d->lsb = WIDTH("iaddress_lsb_p");
    d->irdepth = WIDTH("return_stack_size_p") + (WIDTH("return_stack_size_p") > 0) + WIDTH("call_counter_size_p");
    d->encoder_mode = WIDTH("support.encoder_mode_width");
    d->data_fields = tdut_flag(parameters, "support.data_fields");
    d->doptions = WIDTH("support.doptions_width");
    d->block = tdut_number(parameters, "encapsulation.normal.block_bytes", 0);
    d->border = tdut_number(parameters, "encapsulation.normal.first_block", 0);
    d->full_bit = tdut_index(parameters, "support.ioptions", "full_address");
    d->implicit_bit = tdut_index(parameters, "support.ioptions", "implicit_exception");
    const char *option = tdut_find(parameters, "support.ioptions");
    for (; option && *option && *option != ']'; option++) d->ioptions += *option == '"';
    d->ioptions /= 2;
    d->first_full = tdut_flag(parameters, "modes.full_address");
    d->first_implicit = tdut_flag(parameters, "modes.implicit_exception");
    tdut_reset(d);
    return d;
}

void tdut_reset(void *decoder) {
    struct decoder *d = (struct decoder *)decoder;
    d->full = d->first_full;
    d->implicit = d->first_implicit;
    d->have = 0;
    d->index = d->byte = 0;
}

void tdut_close(void *decoder) {
    free(decoder);
}

/* ---- Fields of a payload, least significant bit first; behind its end the top bit repeats itself. */

struct bits {
    const uint8_t *bytes;
    unsigned length, at;
};

static unsigned bit(const struct bits *b, unsigned at) {
    unsigned last = 8 * b->length - 1;
    at = at < last ? at : last;
    return b->bytes[at / 8] >> at % 8 & 1;
}

static uint64_t take(struct bits *b, unsigned width) {
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++) value |= (uint64_t)bit(b, b->at++) << i;
    return value;
}

/* Whether nothing but filling is left: copies of the last bit of the last field. */
static int ends(const struct bits *b) {
    unsigned all = 8 * b->length;
    for (unsigned i = b->at - 1; i < all; i++)
        if (bit(b, i) != bit(b, all - 1)) return 0;
    return b->at + 8 > all;
}

/* ---- Text that grows. */

struct text {
    char bytes[512];
    size_t length;
};

static void add(struct text *t, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int length = vsnprintf(t->bytes + t->length, sizeof t->bytes - t->length, format, values);
    va_end(values);
    if (length > 0) t->length += (size_t)length;
    if (t->length >= sizeof t->bytes) t->length = sizeof t->bytes - 1;
}

static const char *truth(uint64_t value) {
    return value ? "true" : "false";
}

/* ---- Packets. */

static uint64_t address(struct decoder *d, struct bits *b) {
    return take(b, d->address - d->lsb) << d->lsb;
}

/* Address and status bits of formats 1 and 2; each bit says whether it differs from the one before. */
static void reported(struct decoder *d, struct bits *b, struct text *t) {
    uint64_t value = address(d, b), top = value >> (d->address - 1) & 1;
    uint64_t notify = take(b, 1), updiscon = take(b, 1), irreport = take(b, 1), depth = take(b, d->irdepth);
    uint64_t beyond = d->address < 64 ? ~UINT64_C(0) << d->address : 0;
    if (d->full)
        add(t, "\"address\":\"0x%" PRIx64 "\"", value);
    else if (top)
        add(t, "\"address\":\"-0x%" PRIx64 "\"", ~(value | beyond) + 1);
    else
        add(t, "\"address\":\"+0x%" PRIx64 "\"", value);
    add(t, ",\"notify\":%s,\"updiscon\":%s,\"irreport\":%s,\"irdepth\":%" PRIu64, truth(notify != top),
        truth(updiscon != notify), truth(irreport != updiscon), irreport != updiscon ? depth : 0);
}

static void branch(struct decoder *d, struct bits *b, struct text *t) {
    unsigned branches = (unsigned)take(b, 5), width = 31;
    while (branches && branches <= width / 2) width /= 2;
    add(t, "{\"branch\":{\"branches\":%u,\"branch_map\":%" PRIu64, branches, take(b, width));
    if (branches) {
        add(t, ",");
        reported(d, b, t);
    }
    add(t, "}}");
}

static void support(struct decoder *d, struct bits *b, struct text *t, uint64_t *ioptions) {
    static const char *const qual_status[] = {"no_change", "ended_rep", "trace_lost", "ended_ntr"};
    uint64_t ienable = take(b, 1), encoder_mode = take(b, d->encoder_mode), status = take(b, 2);
    *ioptions = take(b, d->ioptions);
    add(t, "{\"support\":{\"ienable\":%s,\"encoder_mode\":%" PRIu64 ",\"qual_status\":\"%s\",\"ioptions\":%" PRIu64,
        truth(ienable), encoder_mode, qual_status[status], *ioptions);
    if (d->data_fields) {
        uint64_t denable = take(b, 1), dloss = take(b, 1);
        add(t, ",\"denable\":%s,\"dloss\":%s,\"doptions\":%" PRIu64, truth(denable), truth(dloss),
            take(b, d->doptions));
    }
    add(t, "}}");
}

static void synchronisation(struct decoder *d, struct bits *b, struct text *t, unsigned subformat) {
    static const char *const names[] = {"start", "trap", "context"};
    add(t, "{\"%s\":{", names[subformat]);
    if (subformat < 2) add(t, "\"branch\":%s,", truth(take(b, 1)));
    add(t, "\"privilege\":%" PRIu64, take(b, d->privilege));
    if (d->time) add(t, ",\"time\":\"0x%" PRIx64 "\"", take(b, d->time));
    if (d->context) add(t, ",\"context\":\"0x%" PRIx64 "\"", take(b, d->context));
    if (subformat == 0) add(t, ",\"address\":\"0x%" PRIx64 "\"", address(d, b));
    if (subformat == 1) {
        uint64_t ecause = take(b, d->ecause), interrupt = take(b, 1), thaddr = take(b, 1);
        add(t, ",\"ecause\":%" PRIu64 ",\"interrupt\":%s,\"thaddr\":%s", ecause, truth(interrupt), truth(thaddr));
        if (!(d->implicit && thaddr)) add(t, ",\"address\":\"0x%" PRIx64 "\"", address(d, b));
        if (!interrupt) add(t, ",\"tval\":\"0x%" PRIx64 "\"", take(b, d->address));
    }
    add(t, "}}");
}

static void result(struct decoder *d, const struct tdut_out *out, const char *kind, const char *value) {
    char json[700];
    snprintf(json, sizeof json, "{\"at\":[%" PRIu64 ",%" PRIu64 ",0],\"%s\":%s}", d->index, d->byte, kind, value);
    out->result(out->context, json);
}

static void packet(struct decoder *d, const struct tdut_out *out) {
    struct bits b = {d->packet + 1, d->have - 1, 0};
    struct text t = {{0}, 0};
    uint64_t ioptions = 0;
    unsigned format = (unsigned)take(&b, 2), subformat = format == 3 ? (unsigned)take(&b, 2) : 0;
    if (format == 0) {
        result(d, out, "fault", "\"reserved-encoding\"");
        return;
    }
    if (format == 1) {
        branch(d, &b, &t);
    } else if (format == 2) {
        add(&t, "{\"address\":{");
        reported(d, &b, &t);
        add(&t, "}}");
    } else if (subformat == 3) {
        support(d, &b, &t, &ioptions);
    } else {
        synchronisation(d, &b, &t, subformat);
    }
    if (!ends(&b)) {
        result(d, out, "fault", "\"overlong\"");
        return;
    }
    result(d, out, "packet", t.bytes);
    if (format == 3 && subformat == 3) {
        if (d->full_bit >= 0) d->full = ioptions >> d->full_bit & 1;
        if (d->implicit_bit >= 0) d->implicit = ioptions >> d->implicit_bit & 1;
    }
}

/* A header byte with the length of the payload, and the payload. No packet crosses a border of blocks. */
void tdut_push(void *decoder, const uint8_t *bytes, size_t length, const struct tdut_out *out) {
    struct decoder *d = (struct decoder *)decoder;
    for (size_t i = 0; i < length; i++) {
        d->packet[d->have++] = bytes[i];
        unsigned whole = 1 + (d->packet[0] & 31);
        uint64_t room = d->block ? d->block - (d->byte + d->block - d->border % d->block) % d->block : whole;
        if (d->have < whole && d->have < room) continue;
        /* An extended header is of another transport. */
        if (whole > room || (whole > 1 && d->packet[0] >> 7)) result(d, out, "fault", "\"framing\"");
        else if (whole > 1) packet(d, out);
        d->index += whole > 1;
        d->byte += d->have;
        d->have = 0;
    }
}

void tdut_finish(void *decoder, const struct tdut_out *out) {
    struct decoder *d = (struct decoder *)decoder;
    if (d->have) result(d, out, "fault", "\"truncated\"");
}
