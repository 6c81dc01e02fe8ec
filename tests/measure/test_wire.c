/* tests/measure/test_wire.c - messages come back as they were; other bytes are refused. */
#include <math.h>
#include <stdlib.h>

#include "measure/cborio.h"
#include "tests/measure/wire_codec.h"
#include "tests/measure/wire_samples.h"
#include "tests/support/hone_test.h"

static void encode_run_request(int which, hone_str *out) {
    (void)which;
    hone_run_request r = wire_sample_run_request();
    HONE_ASSERT_OK(hone_run_request_encode(&r, out));
}

static hone_status pass_run_request(const void *bytes, size_t count, hone_str *out) {
    hone_arena *arena = hone_arena_create(1024);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "arena");
    hone_run_request r;
    hone_status st = hone_run_request_decode(bytes, count, arena, &r);
    if (!st) st = hone_run_request_encode(&r, out);
    hone_arena_destroy(arena);
    return st;
}

static void encode_run_result(int which, hone_str *out) {
    (void)which;
    hone_run_result r;
    wire_sample_run_result(&r);
    hone_status st = hone_run_result_encode(&r, out);
    hone_run_result_deinit(&r);
    HONE_ASSERT_OK(st);
}

static hone_status pass_run_result(const void *bytes, size_t count, hone_str *out) {
    hone_run_result r;
    hone_status st = hone_run_result_decode(bytes, count, &r);
    if (!st) st = hone_run_result_encode(&r, out);
    hone_run_result_deinit(&r);
    return st;
}

static void encode_build_request(int which, hone_str *out) {
    (void)which;
    hone_build_request r = wire_sample_build_request();
    HONE_ASSERT_OK(hone_build_request_encode(&r, out));
}

static hone_status pass_build_request(const void *bytes, size_t count, hone_str *out) {
    hone_arena *arena = hone_arena_create(1024);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "arena");
    hone_build_request r;
    hone_status st = hone_build_request_decode(bytes, count, arena, &r);
    if (!st) st = hone_build_request_encode(&r, out);
    hone_arena_destroy(arena);
    return st;
}

static void encode_build_result(int which, hone_str *out) {
    (void)which;
    hone_build_result r = wire_sample_build_result();
    HONE_ASSERT_OK(hone_build_result_encode(&r, out));
}

static hone_status pass_build_result(const void *bytes, size_t count, hone_str *out) {
    hone_arena *arena = hone_arena_create(1024);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "arena");
    hone_build_result r;
    hone_status st = hone_build_result_decode(bytes, count, arena, &r);
    if (!st) st = hone_build_result_encode(&r, out);
    hone_arena_destroy(arena);
    return st;
}

static const wire_codec codecs[] = {
    {"run request",   encode_run_request,   pass_run_request,   0},
    {"run result",    encode_run_result,    pass_run_result,    0},
    {"build request", encode_build_request, pass_build_request, 0},
    {"build result",  encode_build_result,  pass_build_result,  0},
};

/* Values that bytes alone cannot show. */
static void result_values_come_back(void **state) {
    (void)state;
    hone_run_result r, back;
    hone_str out = {0};
    wire_sample_run_result(&r);
    HONE_ASSERT_OK(hone_run_result_encode(&r, &out));
    HONE_ASSERT_OK(hone_run_result_decode(out.data, out.length, &back));
    assert_true(back.median_ns == 2.5 && back.best_ns == 1.5 && back.spread == r.spread);
    assert_string_equal(back.message, r.message);
    assert_int_equal(back.times.measure_ns, 6);
    assert_int_equal(back.executor, 9);
    assert_memory_equal(back.outputs, r.outputs, 4);
    hone_run_result_deinit(&back);
    hone_run_result_deinit(&r);
    hone_str_deinit(&out);
}

/* A candidate can put anything into a message, and that is printed on terminals. */
static void messages_give_no_orders(void **state) {
    (void)state;
    hone_run_result r, back;
    hone_str out = {0};
    hone_run_result_init(&r);
    hone_run_result_fail(&r, HONE_FAILURE_RUN_CRASH, "%s",
                         "\033[2Ja\nb\rc\177d \302\233e \303\266 \342\202\254");
    HONE_ASSERT_OK(hone_run_result_encode(&r, &out));
    HONE_ASSERT_OK(hone_run_result_decode(out.data, out.length, &back));
    hone_str_deinit(&out);
    assert_string_equal(back.message, "?[2Ja?b?c?d ??e \303\266 \342\202\254");
}

/* A newer side sends keys that we do not know, with anything behind them. */
static void unknown_keys_are_passed_over(void **state) {
    (void)state;
    hone_str out = {0};
    hone_run_result r;
    hone_cbor_put_map(&out, 4);
    hone_cbor_put_uint(&out, 1);
    hone_cbor_put_uint(&out, HONE_FAILURE_RUN_CRASH);
    hone_cbor_put_uint(&out, 1000);
    hone_cbor_put_map(&out, 1);
    hone_cbor_put_text(&out, "deep");
    hone_cbor_put_array(&out, 3);
    hone_cbor_put_double(&out, 1.5);
    hone_cbor_put_text(&out, NULL);
    hone_cbor_put_bytes(&out, "xyz", 3);
    hone_cbor_put_uint(&out, 1001);
    hone_cbor_put_bool(&out, true);
    hone_cbor_put_uint(&out, 3);
    hone_cbor_put_int(&out, -11);
    HONE_ASSERT_OK(hone_run_result_decode(out.data, out.length, &r));
    assert_int_equal(r.failure, HONE_FAILURE_RUN_CRASH);
    assert_int_equal(r.return_code, -11);
    assert_true(isnan(r.drift));
    hone_str_deinit(&out);
}

/* clang-format off */
static const struct bad_row {
    const char *name;
    const char *bytes;
    size_t count;
    const char *message;
} bad_rows[] = {
    {"nothing", "", 0, "too early"},
    {"no map", "\x01", 1, "list or map"},
    {"a map of 2^32 pairs", "\xba\xff\xff\xff\xff", 5, "more items"},
    {"a map of more pairs than are left", "\xa2\x01\x00", 3, "more items"},
    {"an endless map", "\xbf\xff", 2, "expected form"},
    {"a negative key", "\xa1\x20\x00", 3, "unsigned"},
    {"an unknown failure", "\xa1\x01\x18\x63", 4, "out of range"},
    {"text for a number", "\xa1\x03\x61x", 4, "number"},
    {"a NUL in text", "\xa1\x02\x63x\0y", 6, "NUL"},
    {"text beyond the end", "\xa1\x02\x7b\x7f\xff\xff\xff\xff\xff\xff\xff", 11, "too early"},
    {"too many samples",
     "\xa1\x04\x98\x41\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
     69, "too long"},
    {"a negative time", "\xa1\x04\x81\x20", 4, "no time"},
    {"a time that is NaN", "\xa1\x04\x81\xf9\x7e\x00", 6, "no time"},
    {"nested too deep",
     "\xa1\x18\xff\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81"
     "\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x01",
     45, "too deep"},
};
/* clang-format on */

static void check_bad(void **state) {
    const struct bad_row *row = *state;
    hone_run_result r;
    HONE_ASSERT_ERROR(hone_run_result_decode(row->bytes, row->count, &r), HONE_CODE_INVALID,
                      row->message);
    assert_int_equal(r.sample_count, 0);
    assert_null(r.outputs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(result_values_come_back),
                                       cmocka_unit_test(messages_give_no_orders),
                                       cmocka_unit_test(unknown_keys_are_passed_over)};
    return HONE_RUN_ROWS("measure/wire", codecs, wire_codec_check) +
           HONE_RUN_ROWS("measure/wire_bad", bad_rows, check_bad) +
           cmocka_run_group_tests_name("measure/wire_values", tests, NULL, NULL);
}
