/* tests/measure/wire_codec.c - see wire_codec.h. */
#include "tests/measure/wire_codec.h"

#include <string.h>

#include "support/core/alloc.h"
#include "support/data/rng.h"
#include "tests/support/hone_test.h"

static void comes_back(const wire_codec *c, const hone_str *sample) {
    hone_str again = {0};
    HONE_ASSERT_OK(c->pass(sample->data, sample->length, &again));
    assert_int_equal(again.length, sample->length);
    assert_memory_equal(again.data, sample->data, sample->length);
    hone_str_deinit(&again);
}

/* In memory of exactly that size, so that a sanitizer sees each byte read too far. */
static hone_code pass_exact(const wire_codec *c, const char *bytes, size_t count) {
    char *exact = hone_malloc(count ? count : 1);
    hone_str again = {0};
    memcpy(exact, bytes, count);
    hone_code code = hone_status_consume(c->pass(exact, count, &again));
    hone_str_deinit(&again);
    hone_free(exact);
    return code;
}

static void cut_messages_are_refused(const wire_codec *c, const hone_str *sample) {
    for (size_t cut = 0; cut < sample->length; cut++) {
        assert_int_equal(pass_exact(c, sample->data, cut), HONE_CODE_INVALID);
    }
    hone_str longer = {0};
    hone_str_append_n(&longer, sample->data, sample->length);
    hone_str_append_char(&longer, 0);
    assert_int_equal(pass_exact(c, longer.data, longer.length), HONE_CODE_INVALID);
    hone_str_deinit(&longer);
}

static void mutated_messages_do_no_harm(const wire_codec *c, const hone_str *sample) {
    hone_rng rng = hone_test_rng(17);
    int refused = 0;
    for (int round = 0; round < 20000; round++) {
        hone_str copy = {0};
        hone_str_append_n(&copy, sample->data, sample->length);
        for (uint64_t k = 0; k < 1 + hone_rng_below(&rng, 3); k++) {
            copy.data[hone_rng_below(&rng, copy.length)] = (char)hone_rng_next(&rng);
        }
        if (hone_rng_below(&rng, 8) == 0) {
            hone_str_truncate(&copy, hone_rng_below(&rng, copy.length));
        }
        hone_code code = pass_exact(c, hone_str_text(&copy), copy.length);
        assert_true(code == HONE_CODE_OK || code == HONE_CODE_INVALID);
        refused += code != HONE_CODE_OK;
        hone_str_deinit(&copy);
    }
    assert_true(refused > 1000);
}

typedef struct sweep {
    const wire_codec *codec;
    const hone_str *sample;
} sweep;

static hone_status pass_once(void *context) {
    const sweep *s = context;
    hone_str again = {0};
    hone_status st = s->codec->pass(s->sample->data, s->sample->length, &again);
    hone_str_deinit(&again);
    return st;
}

void wire_codec_check(void **state) {
    const wire_codec *c = *state;
    hone_str sample = {0};
    c->encode_sample(c->which, &sample);
    comes_back(c, &sample);
    cut_messages_are_refused(c, &sample);
    mutated_messages_do_no_harm(c, &sample);
    hone_test_sweep_allocs(pass_once, &(sweep){c, &sample});
    hone_str_deinit(&sample);
}
