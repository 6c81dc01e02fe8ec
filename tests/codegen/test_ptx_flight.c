/* tests/codegen/test_ptx_flight.c - products of groups of warps (wgmma) that go on while threads
 * compute: attention's kernels keep the rules of the instruction set, on all ways through their
 * text, and one that breaks a rule is noticed. */
#include <string.h>

#include "codegen/codegen.h"
#include "graph/operators/attention_kernel.h"
#include "lower/ground/lower.h"
#include "support/core/attributes.h"
#include "tests/support/gpu/cuda_tools.h"
#include "tests/support/gpu/ptx_flight.h"
#include "tests/support/hone_test.h"

/* A bias is of float32. */
static const struct row {
    const char *name;
    hone_attention is;
    bool is_bfloat;
    unsigned products; /* at least */
} rows[] = {
    {"short heads",               {.batch = 1, .heads = 2, .queries = 128, .keys = 512, .size = 64}, false, 24},
    {"long heads, causal, edges",
     {.batch = 1,
      .heads = 2,
      .queries = 200,
      .keys = 330,
      .size = 128,
      .is_causal = true,
      .past = 130},
     true,                                                                                                  32},
    {"a bias, few keys",
     {.batch = 2,
      .heads = 4,
      .queries = 64,
      .keys = 64,
      .size = 64,
      .bias_shape = {1, 1, 64, 64},
      .takes_nothing = true},
     false,                                                                                                 8 },
};

/* What must not be missing. */
static const char *const needed[] = {"wgmma.fence.sync.aligned;", "fence.proxy.async.shared::cta;",
                                     "wgmma.wait_group.sync.aligned"};

static hone_attention whole_of(const struct row *row) {
    hone_attention a = row->is;
    a.has_groups = true;
    a.k_heads = a.v_heads = a.heads;
    a.scale = 0.125;
    a.dtype = row->is_bfloat ? HONE_DTYPE_BF16 : HONE_DTYPE_F16;
    a.bias_dtype = HONE_DTYPE_F32;
    a.bias_rank = a.bias_shape[0] ? 4 : -1;
    return a;
}

static hone_status write_ptx(const hone_attention *a, hone_arena *arena, hone_str *out) {
    hone_func *func, *lowered;
    hone_target target;
    HONE_TRY(hone_target_parse("cuda -arch=sm_90a", &target));
    HONE_TRY(hone_attention_kernel(a, "attention", arena, &func));
    hone_lower_options options = {.target = &target};
    HONE_TRY(hone_lower_func(func, &options, arena, &lowered));
    hone_codegen_kernel kernel = {.func = lowered, .symbol = "kernel"};
    hone_codegen_options how = {.target = &target, .form = HONE_FORM_SOURCE, .verify = true};
    return hone_codegen_ptx(&kernel, 1, &how, out);
}

static void check_damage(char *text, const char *word) {
    unsigned products;
    size_t length = strlen(word);
    assert_non_null(strstr(text, word));
    for (char *at = strstr(text, word); at; at = strstr(at, word))
        memset(at, ' ', length);
    hone_status st = test_ptx_flight(text, &products);
    assert_int_equal(hone_status_code(st), HONE_CODE_INVALID);
    hone_status_free(st);
}

/* ptxas ends each product before the next one where it cannot follow the registers, and says so. */
static void check_tool(const hone_str *text) {
    static const char *const options[] = {"-arch=sm_90a", "-v", NULL};
    hone_test_tool tool;
    hone_str said = {0};
    if (!hone_test_find_tool("ptxas", &tool)) return;
    HONE_ASSERT_OK(hone_test_call_tool(&tool, text, ".ptx", options, &said));
    assert_null(strstr(hone_str_text(&said), "serialized"));
    hone_str_deinit(&said);
}

static void check(void **state) {
    const struct row *row = *state;
    hone_attention a = whole_of(row);
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_str text = {0};
    unsigned products;
    HONE_ASSERT_OK(write_ptx(&a, arena, &text));
    HONE_ASSERT_OK(test_ptx_flight(hone_str_text(&text), &products));
    assert_true(products >= row->products);
    check_tool(&text);
    for (size_t i = 0; i < HONE_COUNT(needed); i++) {
        char *damaged = hone_arena_strdup(arena, hone_str_text(&text));
        assert_non_null(damaged);
        check_damage(damaged, needed[i]);
    }
    hone_str_deinit(&text);
    hone_arena_destroy(arena);
}

int main(void) {
    return HONE_RUN_ROWS("codegen/ptx_flight", rows, check);
}
