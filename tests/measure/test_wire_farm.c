/* tests/measure/test_wire_farm.c - the farm's messages come back as they were; other bytes are
 * refused. */

#include "measure/cborio.h"
#include "measure/farm.h"
#include "support/core/alloc.h"
#include "support/data/rng.h"
#include "tests/measure/farm_samples.h"
#include "tests/measure/wire_codec.h"
#include "tests/support/hone_test.h"

static void encode_sample(int which, hone_str *out) {
    hone_farm_message m = farm_sample((hone_farm_kind)which);
    HONE_ASSERT_OK(hone_farm_encode(&m, out));
}

/* A kind that is not known is dropped by receivers, so for this purpose it is refused. */
static hone_status pass(const void *bytes, size_t count, hone_str *out) {
    hone_arena *arena = hone_arena_create(1024);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "arena");
    hone_farm_message m;
    hone_status st = hone_farm_decode(bytes, count, arena, &m);
    if (hone_status_code(st) == HONE_CODE_UNSUPPORTED) {
        hone_status_free(st);
        st = HONE_ERROR(HONE_CODE_INVALID, "a kind that is not known");
    }
    if (!st) st = hone_farm_encode(&m, out);
    hone_arena_destroy(arena);
    return st;
}

static const wire_codec codecs[] = {
#define HONE_FARM_KIND(name, number, spelling, from, says) {spelling, encode_sample, pass, number},
#include "measure/farm_kinds.def"
#undef HONE_FARM_KIND
};

static void values_come_back(void **state) {
    (void)state;
    hone_farm_message m = farm_sample(HONE_FARM_HELLO), back;
    hone_str out = {0};
    hone_arena *arena = hone_arena_create(1024);
    HONE_ASSERT_OK(hone_farm_encode(&m, &out));
    HONE_ASSERT_OK(hone_farm_decode(out.data, out.length, arena, &back));
    const hone_farm_hello *h = &back.u.hello;
    assert_int_equal(back.kind, HONE_FARM_HELLO);
    assert_int_equal(back.id, m.id);
    assert_string_equal(h->name, m.u.hello.name);
    assert_true(hone_hash128_equal(h->instance, m.u.hello.instance));
    assert_int_equal(h->slots.count, m.u.hello.slots.count);
    assert_string_equal(h->slots.items[1].target, m.u.hello.slots.items[1].target);
    assert_int_equal(h->held.items[0].token, m.u.hello.held.items[0].token);
    assert_int_equal(h->held.items[0].state, m.u.hello.held.items[0].state);
    hone_arena_destroy(arena);
    hone_str_deinit(&out);
}

/* Kind and id can be read though the rest cannot: what the refusal echoes. */
static void head_of_a_bad_message_is_known(void **state) {
    (void)state;
    hone_str out = {0};
    hone_cbor_put_map(&out, 3);
    hone_cbor_put_uint(&out, 2);
    hone_cbor_put_text(&out, "not a number");
    hone_cbor_put_uint(&out, 1);
    hone_cbor_put_uint(&out, 77);
    hone_cbor_put_uint(&out, 0);
    hone_cbor_put_uint(&out, HONE_FARM_SUBMIT);
    hone_arena *arena = hone_arena_create(1024);
    hone_farm_message m;
    HONE_ASSERT_ERROR(hone_farm_decode(out.data, out.length, arena, &m), HONE_CODE_INVALID,
                      "submit: has something else where an unsigned number belongs");
    assert_int_equal(m.kind, HONE_FARM_SUBMIT);
    assert_int_equal(m.id, 77);
    hone_arena_destroy(arena);
    hone_str_deinit(&out);
}

static void unknown_kinds_are_told_apart(void **state) {
    (void)state;
    static const char frame[] = "\xa2\x00\x18\xc8\x01\x05"; /* {0: 200, 1: 5} */
    hone_arena *arena = hone_arena_create(1024);
    hone_farm_message m;
    HONE_ASSERT_ERROR(hone_farm_decode(frame, sizeof frame - 1, arena, &m), HONE_CODE_UNSUPPORTED,
                      "kind 200");
    assert_int_equal(m.id, 5);
    hone_arena_destroy(arena);
}

static void frames_beyond_the_limit_are_refused(void **state) {
    (void)state;
    size_t count = HONE_FARM_MAX_FRAME + 1;
    char *bytes = hone_calloc(1, count);
    assert_non_null(bytes);
    hone_arena *arena = hone_arena_create(1024);
    hone_farm_message m;
    HONE_ASSERT_ERROR(hone_farm_decode(bytes, count, arena, &m), HONE_CODE_INVALID, "at most");
    hone_arena_destroy(arena);
    hone_free(bytes);
}

static void text_is_made_fit(void **state) {
    (void)state;
    char name[8];
    hone_farm_set_text(name, sizeof name,
                       "a\tb\xc3\xa9"
                       "cdefg");
    assert_string_equal(name, "a?b??cd");
    hone_farm_set_text(name, sizeof name, "");
    assert_string_equal(name, "");
}

/* The worked example of docs/protocol.md. */
static void documented_bytes(void **state) {
    (void)state;
    static const uint8_t want[] = {
        0xa5, 0x00, 0x0e, 0x01, 0x18, 0x2a, 0x02, 0x19, 0x03, 0xe9, 0x03, 0x50, 0x10, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x07,
    };
    hone_farm_message m = {.kind = HONE_FARM_TAKEN, .id = 42};
    m.u.lease = (hone_farm_lease){
        .token = 1001, .tuner = {.lo = 16, .hi = 32},
             .trial = 7
    };
    hone_str out = {0};
    HONE_ASSERT_OK(hone_farm_encode(&m, &out));
    assert_int_equal(out.length, sizeof want);
    assert_memory_equal(out.data, want, sizeof want);
    hone_str_deinit(&out);
}

/* A sealed frame is what it was, and whoever does not know seals passes over it; of one whose bits
 * have changed nothing is believed. */
static void changed_bits_are_noticed(void **state) {
    (void)state;
    hone_rng rng = hone_test_rng(29);
    hone_arena *arena = hone_arena_create(1024);
    for (int kind = 1; kind < HONE_FARM_KIND_LIMIT; kind++) {
        hone_farm_message m = farm_sample((hone_farm_kind)kind), back;
        hone_str plain = {0}, sealed = {0}, again = {0};
        HONE_ASSERT_OK(hone_farm_encode(&m, &plain));
        HONE_ASSERT_OK(hone_farm_encode_sealed(&m, &sealed));
        assert_int_equal(sealed.length, plain.length + 18);
        HONE_ASSERT_OK(hone_farm_decode(sealed.data, sealed.length, arena, &back));
        HONE_ASSERT_OK(hone_farm_encode(&back, &again));
        assert_int_equal(again.length, plain.length);
        assert_memory_equal(again.data, plain.data, plain.length);
        for (size_t bit = 0; bit < 8 * sealed.length; bit++) {
            sealed.data[bit / 8] ^= (char)(1 << bit % 8);
            uint64_t other = hone_rng_below(&rng, 8 * sealed.length);
            bool is_pair = bit % 2 && other != bit;
            if (is_pair) sealed.data[other / 8] ^= (char)(1 << other % 8);
            HONE_ASSERT_CODE(hone_farm_decode(sealed.data, sealed.length, arena, &back),
                             HONE_CODE_IO);
            if (is_pair) sealed.data[other / 8] ^= (char)(1 << other % 8);
            sealed.data[bit / 8] ^= (char)(1 << bit % 8);
        }
        hone_str_deinit(&plain);
        hone_str_deinit(&sealed);
        hone_str_deinit(&again);
        hone_arena_reset(arena);
    }
    hone_arena_destroy(arena);
}

/* Changes a sample so that it makes no sense, and what is said then. */
static void no_instance(hone_farm_message *m) {
    m->u.hello.instance = (hone_farm_instance){0, 0};
}
static void slot_twice(hone_farm_message *m) {
    m->u.hello.slots.items[1].slot = m->u.hello.slots.items[0].slot;
}
static void slot_too_large(hone_farm_message *m) {
    m->u.hello.slots.items[1].slot = HONE_FARM_MAX_SLOTS;
}
static void slot_unnamed(hone_farm_message *m) {
    m->u.hello.slots.items[1].device_key[0] = 0;
}
static void no_slot(hone_farm_message *m) {
    m->u.hello.slots.count = 0;
}
static void tuner_with_slots(hone_farm_message *m) {
    m->u.hello.role = HONE_FARM_TUNER;
}
static void versions_swapped(hone_farm_message *m) {
    m->u.hello.version_max = 0;
}
static void no_timeout(hone_farm_message *m) {
    m->u.submit.timeout_ns = 0;
}
static void empty_file(hone_farm_message *m) {
    m->u.submit.blobs.items[0].bytes = 0;
}
static void huge_file(hone_farm_message *m) {
    m->u.submit.blobs.items[0].bytes = HONE_FARM_MAX_BLOB + 1;
}
static void past_the_end(hone_farm_message *m) {
    m->u.blob_chunk.offset = m->u.blob_chunk.total;
}
static void negative_total(hone_farm_message *m) {
    m->u.blob_chunk.total = -1;
}
static void want_nothing(hone_farm_message *m) {
    m->u.blob_want.count = 0;
}
static void want_before(hone_farm_message *m) {
    m->u.blob_want.offset = -1;
}

static const struct odd_row {
    const char *name;
    hone_farm_kind kind;
    void (*change)(hone_farm_message *m);
    const char *message;
} odd_rows[] = {
    {"no instance",           HONE_FARM_HELLO,      no_instance,      "no instance"          },
    {"a slot twice",          HONE_FARM_HELLO,      slot_twice,       "a slot twice"         },
    {"slot number too large", HONE_FARM_HELLO,      slot_too_large,   "slot number"          },
    {"slot without a key",    HONE_FARM_HELLO,      slot_unnamed,     "without a device key" },
    {"runner without a slot", HONE_FARM_HELLO,      no_slot,          "runner without a slot"},
    {"tuner with slots",      HONE_FARM_HELLO,      tuner_with_slots, "is no runner"         },
    {"versions swapped",      HONE_FARM_HELLO,      versions_swapped, "wrong way round"      },
    {"no timeout",            HONE_FARM_SUBMIT,     no_timeout,       "no timeout"           },
    {"empty file",            HONE_FARM_SUBMIT,     empty_file,       "size out of range"    },
    {"huge file",             HONE_FARM_SUBMIT,     huge_file,        "size out of range"    },
    {"chunk beyond the end",  HONE_FARM_BLOB_CHUNK, past_the_end,     "beyond the end"       },
    {"a negative total",      HONE_FARM_BLOB_CHUNK, negative_total,   "total out of range"   },
    {"wanting nothing",       HONE_FARM_BLOB_WANT,  want_nothing,     "count out of range"   },
    {"wanting from before",   HONE_FARM_BLOB_WANT,  want_before,      "offset out of range"  },
};

static void check_odd(void **state) {
    const struct odd_row *row = *state;
    hone_farm_message m = farm_sample(row->kind), back;
    row->change(&m);
    hone_str out = {0};
    hone_arena *arena = hone_arena_create(1024);
    HONE_ASSERT_OK(hone_farm_encode(&m, &out));
    HONE_ASSERT_ERROR(hone_farm_decode(out.data, out.length, arena, &back), HONE_CODE_INVALID,
                      row->message);
    assert_int_equal(back.kind, row->kind);
    hone_arena_destroy(arena);
    hone_str_deinit(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(head_of_a_bad_message_is_known),
        cmocka_unit_test(unknown_kinds_are_told_apart),
        cmocka_unit_test(frames_beyond_the_limit_are_refused),
        cmocka_unit_test(text_is_made_fit),
        cmocka_unit_test(documented_bytes),
        cmocka_unit_test(changed_bits_are_noticed),
    };
    return HONE_RUN_ROWS("measure/wire_farm", codecs, wire_codec_check) +
           HONE_RUN_ROWS("measure/wire_farm_odd", odd_rows, check_odd) +
           cmocka_run_group_tests_name("measure/wire_farm_values", tests, NULL, NULL);
}
