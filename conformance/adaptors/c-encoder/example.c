/* An example: a CoreSight formatter, which packs the bytes of trace sources into frames. Put your encoder in its place. */
#include "tdut.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY, NORMAL, CONTINUOUS };
enum { NO_ID = -1, NULL_ID = 0, LAST_SOURCE = 0x6f, TRIGGER_ID = 0x7d };

struct formatter {
    int framing;
    uint64_t full_sync_frames, id_repeat_frames; /* of the policy; 0 = never */
    /* The frame that has begun. */
    uint8_t auxiliary;
    unsigned pair;     /* pairs of it that have left, 0 to 7 */
    int named;         /* it has an ID */
    int waiting;       /* the byte for the even place of the next pair; -1 = none */
    int id;            /* the one that was sent last */
    uint64_t unnamed;  /* whole frames since the latest one with an ID */
    uint64_t frames;   /* whole frames since the latest full synchronisation packet */
    int synchronised;  /* there was one */
    /* Bytes that leave in this step. */
    uint8_t *wire;
    size_t length, room;
};

const char *tdut_info(void) {
    return "{\"name\":\"example-c\",\"version\":\"1.0\",\"encoders\":{\"arm_etm_formatter\":{\"layers\":[\"events\"]}}}";
}

/* A key of the policy that asks for a choice that this formatter has not; NULL if there is none. */
static const char *other_choice(const char *policy) {
    static const char *const keys[] = {"half_sync_pairs", "id_repeat_pairs"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (tdut_number(policy, keys[i], 0)) return keys[i];
    return tdut_flag(policy, "repeat_delayed") ? "repeat_delayed" : NULL;
}

void *tdut_encoder_open(const char *family, const char *parameters, const char *policy, const char **unsupported) {
    if (strcmp(family, "arm_etm_formatter") != 0) {
        *unsupported = "other families";
        return NULL;
    }
    /* What it cannot do is refused: bytes of an encoder that guesses are worse than none. */
    *unsupported = other_choice(policy);
    if (*unsupported) return NULL;
    struct formatter *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    const char *framing = tdut_find(parameters, "framing");
    f->framing = tdut_is(framing, "normal") ? NORMAL : tdut_is(framing, "continuous") ? CONTINUOUS : MEMORY;
    f->full_sync_frames = tdut_number(policy, "full_sync_frames", 0);
    f->id_repeat_frames = tdut_number(policy, "id_repeat_frames", 0);
    f->waiting = -1;
    f->id = NO_ID;
    return f;
}

void tdut_encoder_close(void *encoder) {
    struct formatter *f = encoder;
    free(f->wire);
    free(f);
}

static void send(struct formatter *f, uint8_t byte) {
    if (f->length == f->room) {
        f->room = f->room ? 2 * f->room : 64;
        f->wire = realloc(f->wire, f->room);
        if (!f->wire) abort();
    }
    f->wire[f->length++] = byte;
}

/* Two bytes of a frame; the last pair of a frame has the auxiliary byte in its odd place. */
static void pair(struct formatter *f, uint8_t even, int auxiliary, uint8_t odd) {
    if (f->pair == 0 && f->framing != MEMORY) {
        if (!f->synchronised || (f->full_sync_frames && f->frames >= f->full_sync_frames)) {
            for (int i = 0; i < 4; i++) send(f, i < 3 ? 0xff : 0x7f);
            f->frames = 0;
            f->synchronised = 1;
        }
    }
    f->auxiliary |= (uint8_t)(auxiliary << f->pair);
    send(f, even);
    send(f, f->pair == 7 ? f->auxiliary : odd);
    if (++f->pair < 8) return;
    f->unnamed = f->named ? 0 : f->unnamed + 1;
    f->frames++;
    f->pair = f->auxiliary = 0;
    f->named = 0;
}

/* An ID in the even place; `delayed`: it takes effect after the odd byte. */
static void id_pair(struct formatter *f, int id, int delayed, uint8_t odd) {
    f->id = id;
    f->named = 1;
    pair(f, (uint8_t)(id << 1 | 1), delayed, odd);
}

static void data_pair(struct formatter *f, uint8_t even, uint8_t odd) {
    pair(f, even & 0xfe, even & 1, odd);
}

static void take(struct formatter *f, int id, uint8_t byte) {
    int repeat = f->id_repeat_frames && f->unnamed >= f->id_repeat_frames && !f->named;
    if (f->id != id || repeat) {
        if (f->waiting >= 0) {
            /* The waiting byte needs the odd place; a repeated ID may as well take effect at once. */
            uint8_t last = (uint8_t)f->waiting;
            int delayed = f->id != id;
            f->waiting = -1;
            id_pair(f, id, delayed, last);
        } else if (f->pair == 7) {
            id_pair(f, id, 0, 0);
        } else {
            id_pair(f, id, 0, byte);
            return;
        }
    }
    if (f->waiting >= 0) {
        uint8_t even = (uint8_t)f->waiting;
        f->waiting = -1;
        data_pair(f, even, byte);
    } else if (f->pair == 7) {
        data_pair(f, byte, 0);
    } else {
        f->waiting = byte;
    }
}

/* Fills the frame with the null ID and zeros. */
static void flush(struct formatter *f) {
    if (f->pair == 0 && f->waiting < 0) return;
    int last = f->waiting;
    f->waiting = -1;
    id_pair(f, NULL_ID, last >= 0, last >= 0 ? (uint8_t)last : 0);
    while (f->pair) data_pair(f, 0, 0);
}

void tdut_encoder_step(void *encoder, const char *stimulus, const struct tdut_out *out) {
    struct formatter *f = encoder;
    const char *data = tdut_find(stimulus, "data.bytes");
    f->length = 0;
    if (data) {
        int id = (int)tdut_number(stimulus, "data.id", 0);
        size_t length;
        uint8_t *bytes = tdut_bytes(data, &length);
        for (size_t i = 0; i < length && NULL_ID < id && id <= LAST_SOURCE; i++) take(f, id, bytes[i]);
        free(bytes);
    } else if (tdut_is(stimulus, "trigger")) {
        take(f, TRIGGER_ID, 0);
    } else if (tdut_is(stimulus, "flush")) {
        flush(f);
    } else if (f->framing == CONTINUOUS) {
        uint64_t idle = tdut_number(stimulus, "idle", 0);
        for (uint64_t i = 0; i < idle; i++) {
            send(f, 0xff);
            send(f, 0x7f);
        }
    }
    tdut_wire(out, f->wire, f->length);
}

void tdut_encoder_finish(void *encoder, const struct tdut_out *out) {
    /* A formatter without a flush keeps what waits. */
    (void)encoder;
    (void)out;
}
