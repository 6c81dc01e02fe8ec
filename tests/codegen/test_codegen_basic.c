/* tests/codegen/test_codegen_basic.c - whole programs through lowering, code generation, linking
 * and loading, against the interpreter. */
#include <stdio.h>
#include <string.h>

#include "ir/te/te.h"
#include "ir/text/read/script.h"
#include "runtime/model/model_rt.h"
#include "tests/support/compiled.h"
#include "tests/support/hone_test.h"

static const hone_expr *load2(hone_te *te, hone_buffer b, const hone_expr *i, const hone_expr *j) {
    const hone_expr *indices[] = {i, j};
    return hone_te_load(te, b, indices);
}

/* relu(A @ B + bias), with a second stage that reads the first. */
static hone_status make_dense(hone_arena *arena, int64_t n, int64_t m, int64_t k, hone_func **out) {
    hone_te te;
    HONE_TRY(hone_te_begin(&te, arena, "dense"));
    const hone_expr *en = hone_te_int(&te, n), *em = hone_te_int(&te, m), *ek = hone_te_int(&te, k);
    hone_buffer a = hone_te_input(&te, "A", HONE_DTYPE_F32, 2, (const hone_expr *[]){en, ek});
    hone_buffer b = hone_te_input(&te, "B", HONE_DTYPE_F32, 2, (const hone_expr *[]){ek, em});
    hone_buffer bias = hone_te_input(&te, "bias", HONE_DTYPE_F32, 1, &em);
    hone_te_stage s;
    hone_te_stage_begin(&te, &s, 2, (const hone_expr *[]){en, em}, 1, &ek);
    hone_buffer c = hone_te_reduce(&te, &s, "matmul", HONE_TE_SUM,
                                   hone_expr_mul(&te.ir, load2(&te, a, s.axis[0], s.axis[2]),
                                                 load2(&te, b, s.axis[2], s.axis[1])));
    hone_te_stage_begin(&te, &s, 2, (const hone_expr *[]){en, em}, 0, NULL);
    const hone_expr *sum = hone_expr_add(&te.ir, load2(&te, c, s.axis[0], s.axis[1]),
                                         hone_te_load(&te, bias, &s.axis[1]));
    const hone_expr *zero = hone_expr_float(&te.ir, HONE_DTYPE_F32, 0);
    hone_buffer d =
        hone_te_compute(&te, &s, "relu", hone_expr_binary(&te.ir, HONE_OP_MAX, sum, zero));
    return hone_te_finish(&te, 1, &d, out);
}

/* Sets the kind of the loop with this number, in pre-order. */
static void set_loop_kind(hone_func *func, int number, hone_loop_kind kind) {
    for (hone_node_id n = 0; n != HONE_NO_ID; n = hone_tree_next(func, 0, n)) {
        hone_node *node = hone_func_node(func, n);
        if (node->kind == HONE_NODE_FOR && number-- == 0) node->loop_kind = (uint8_t)kind;
    }
}

static const struct dense_row {
    const char *name;
    int64_t n, m, k;
    int loop;
    hone_loop_kind kind;
    const char *target;
} dense_rows[] = {
    {"as written",              8,  32,  16, -1, HONE_LOOP_SERIAL,     "host"                  },
    {"odd sizes",               7,  13,  5,  -1, HONE_LOOP_SERIAL,     "host"                  },
    {"ones",                    1,  1,   1,  -1, HONE_LOOP_SERIAL,     "host"                  },
    {"parallel rows",           33, 17,  9,  0,  HONE_LOOP_PARALLEL,   "host -num-threads=3"   },
    {"parallel second stage",   33, 17,  9,  3,  HONE_LOOP_PARALLEL,   "host -num-threads=3"   },
    {"vectorized columns",      4,  48,  9,  1,  HONE_LOOP_VECTORIZED, "host"                  },
    {"vectorized, 13 columns",  4,  13,  9,  1,  HONE_LOOP_VECTORIZED, "host"                  },
    {"vectorized, 150 columns", 2,  150, 3,  1,  HONE_LOOP_VECTORIZED, "host"                  },
    {"vectorized relu",         4,  48,  9,  4,  HONE_LOOP_VECTORIZED, "host"                  },
    {"unrolled reduction",      4,  48,  9,  2,  HONE_LOOP_UNROLLED,   "host"                  },
    {"AVX2",                    8,  32,  16, 1,  HONE_LOOP_VECTORIZED, "host -vector-width=256"},
    {"large",                   70, 90,  64, 0,  HONE_LOOP_PARALLEL,   "host -num-threads=2"   },
    {"C, parallel rows",        33, 17,  9,  0,  HONE_LOOP_PARALLEL,   "c -num-threads=3"      },
    {"C, vectorized columns",   4,  48,  9,  1,  HONE_LOOP_VECTORIZED, "c"                     },
    {"C, large",                70, 90,  64, 0,  HONE_LOOP_PARALLEL,   "c -num-threads=2"      },
};

static void check_dense(void **state) {
    const struct dense_row *row = *state;
    hone_target target;
    HONE_ASSERT_OK(hone_target_parse(row->target, &target));
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_func *func = NULL;
    hone_status st = make_dense(arena, row->n, row->m, row->k, &func);
    if (!st) {
        set_loop_kind(func, row->loop, row->kind);
        st = test_compare(func, &target, 1, 1e-6);
    }
    hone_arena_destroy(arena);
    HONE_ASSERT_OK(st);
}

static void refuses_thread_bindings(void **state) {
    (void)state;
    hone_target target;
    HONE_ASSERT_OK(hone_target_parse("host", &target));
    hone_arena *arena = hone_arena_create(1 << 14);
    hone_func *func = NULL;
    hone_status st = make_dense(arena, 4, 4, 4, &func);
    if (!st) {
        hone_node_id loop = hone_tree_first_of(func, 0, HONE_NODE_FOR);
        hone_func_node(func, loop)->loop_kind = HONE_LOOP_THREAD;
        hone_func_node(func, loop)->u.loop.thread_tag = "threadIdx.x";
        test_compiled compiled;
        st = test_compile(func, &target, &compiled);
    }
    hone_arena_destroy(arena);
    HONE_ASSERT_ERROR(st, HONE_CODE_UNSUPPORTED, "bound to thread 'threadIdx.x'");
}

static hone_status parse_func(const char *text, hone_module **out_module, hone_func **out_func) {
    const hone_member *member;
    HONE_TRY(hone_script_parse(text, strlen(text), "test", out_module));
    HONE_TRY(hone_module_pick(*out_module, NULL, &member));
    *out_func = member->func;
    return HONE_OK;
}

/* A batch that is known at run time only: one kernel for every size. */
static void takes_sizes_at_run_time(void **state) {
    static const char text[] = "from tvm.script import tir as T\n"
                               "@T.prim_func\n"
                               "def main(a: T.handle, b: T.handle):\n"
                               "    n = T.int64()\n"
                               "    A = T.match_buffer(a, (n, 5), \"float32\")\n"
                               "    B = T.match_buffer(b, (n,), \"float32\")\n"
                               "    C = T.alloc_buffer((n, 5), \"float32\")\n"
                               "    for i, j in T.grid(n, 5):\n"
                               "        with T.block(\"C\"):\n"
                               "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                               "            C[vi, vj] = A[vi, vj] * T.float32(2)\n"
                               "    for i, k in T.grid(n, 5):\n"
                               "        with T.block(\"B\"):\n"
                               "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
                               "            with T.init():\n"
                               "                B[vi] = T.float32(0)\n"
                               "            B[vi] = B[vi] + C[vi, vk]\n";
    hone_module *module = NULL;
    hone_func *func;
    hone_target target;
    test_compiled compiled = {0};
    HONE_ASSERT_OK(hone_target_parse(*state, &target));
    hone_status st = parse_func(text, &module, &func);
    if (!st) st = test_compile(func, &target, &compiled);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
    static _Alignas(64) float a[64 * 5], b[64];
    int bad = 0;
    for (int i = 0; i < 64 * 5; i++)
        a[i] = (float)i;
    for (int64_t n = 0; n <= 64; n += 16) {
        memset(b, 0, sizeof b);
        void *buffers[] = {a, b};
        bad += compiled.kernel(compiled.rt, buffers, &n) != 0;
        for (int64_t i = 0; i < 64; i++)
            bad += b[i] != (i < n ? (float)(50 * i + 20) : 0);
    }
    test_compiled_deinit(&compiled);
    assert_int_equal(bad, 0);
}

/* out = in + the scalar; checks what it is given. */
static int32_t add_to(void *const *args, const int64_t *const *shapes, const int32_t *ranks,
                      int32_t count) {
    if (count != 3 || ranks[0] != 1 || shapes[0][0] != 8 || ranks[2] != 0) return -9;
    for (int i = 0; i < 8; i++) {
        ((float *)args[1])[i] = ((const float *)args[0])[i] + *(const float *)args[2];
    }
    return 0;
}

/* That kernel as a plain C function; tells how much it did. */
static int64_t add_in_c(const float *in, float *out, float x, int8_t count, double scale) {
    for (int i = 0; i < count; i++)
        out[i] = in[i] + x * (float)scale;
    return count - 100;
}

/* Row args[2] of a matrix twice, by the shape that it is told. */
static int32_t double_row(void *const *args, const int64_t *const *shapes, const int32_t *ranks,
                          int32_t count) {
    if (count != 3 || ranks[0] != 2 || shapes[0][1] != shapes[1][1]) return -9;
    int64_t row = *(const int64_t *)args[2], columns = shapes[0][1];
    for (int64_t j = row * columns; j < (row + 1) * columns; j++)
        ((float *)args[1])[j] = 2 * ((const float *)args[0])[j];
    return 0;
}

static int32_t says_no(void *const *args, const int64_t *const *shapes, const int32_t *ranks,
                       int32_t count) {
    (void)args;
    (void)shapes;
    (void)ranks;
    return 40 + count;
}

static void *find_extern(void *ctx, const char *name) {
    (void)ctx;
    hone_extern refuses = says_no;
    int32_t (*row)(void *const *, const int64_t *const *, const int32_t *, int32_t) = double_row;
    int32_t (*packed)(void *const *, const int64_t *const *, const int32_t *, int32_t) = add_to;
    int64_t (*plain)(const float *, float *, float, int8_t, double) = add_in_c;
    void *address = NULL;
    if (strcmp(name, "add_to") == 0) memcpy(&address, &packed, sizeof address);
    if (strcmp(name, "says_no") == 0) memcpy(&address, &refuses, sizeof address);
    if (strcmp(name, "double_row") == 0) memcpy(&address, &row, sizeof address);
    if (strcmp(name, "add_in_c") == 0) memcpy(&address, &plain, sizeof address);
    return address;
}

static void calls_external_functions(void **state) {
    (void)state;
    static const char *const calls[] = {
        "T.call_packed(\"add_to\", A.data, B.data, T.float32(3))",
        "T.call_extern(\"int64\", \"add_in_c\", A.data, T.address_of(B[0]), T.float32(1.5), "
        "T.int8(8), T.float64(2))",
    };
    for (int k = 0; k < 2; k++) {
        char text[400];
        snprintf(text, sizeof text,
                 "from tvm.script import tir as T\n"
                 "@T.prim_func\n"
                 "def main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
                 "    T.evaluate(%s)\n",
                 calls[k]);
        hone_module *module = NULL;
        hone_func *func;
        hone_target target;
        test_compiled compiled = {0};
        HONE_ASSERT_OK(hone_target_parse("host -num-threads=1", &target));
        hone_status st = parse_func(text, &module, &func);
        if (!st) st = test_compile(func, &target, &compiled);
        hone_module_release(module);
        HONE_ASSERT_OK(st);
        hone_rt *rt;
        hone_model_rt_options options = {.thread_count = 1, .find_extern = find_extern};
        assert_int_equal(hone_model_rt_create(&options, &rt), 0);
        static _Alignas(64) float a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8];
        memset(b, 0, sizeof b);
        void *buffers[] = {a, b};
        int32_t code = compiled.kernel(rt, buffers, NULL);
        int32_t without = compiled.kernel(compiled.rt, buffers, NULL);
        char message[128];
        hone_model_rt_take_error(compiled.rt, message, sizeof message);
        hone_model_rt_destroy(rt);
        test_compiled_deinit(&compiled);
        assert_int_equal(code, 0);
        for (int i = 0; i < 8; i++)
            assert_true(b[i] == a[i] + 3);
        assert_int_equal(without, -3);
        assert_non_null(strstr(message, k ? "'add_in_c'" : "'add_to'"));
    }
}

/* The code is the function's, the failure one of its own. */
static void tells_of_functions_that_fail(void **state) {
    static const char text[] =
        "from tvm.script import tir as T\n"
        "@T.prim_func\n"
        "def main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n"
        "    T.evaluate(T.call_packed(\"says_no\", A.data, B.data))\n";
    hone_module *module = NULL;
    hone_func *func;
    hone_target target;
    test_compiled compiled = {0};
    HONE_ASSERT_OK(hone_target_parse(*state, &target));
    hone_status st = parse_func(text, &module, &func);
    if (!st) st = test_compile(func, &target, &compiled);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
    hone_rt *rt;
    hone_model_rt_options options = {.thread_count = 1, .find_extern = find_extern};
    assert_int_equal(hone_model_rt_create(&options, &rt), 0);
    static _Alignas(64) float a[8], b[8];
    void *buffers[] = {a, b};
    char message[128];
    int32_t code = compiled.kernel(rt, buffers, NULL);
    int32_t kind = hone_model_rt_take_error(rt, message, sizeof message);
    hone_model_rt_destroy(rt);
    test_compiled_deinit(&compiled);
    assert_int_equal(code, 42);
    assert_int_equal(kind, HONE_KERNEL_EXTERN_FAILED);
    assert_string_equal(message, "external function 'says_no' failed");
}

/* The sizes of a shape are used nowhere else in the loop's body. */
static void hands_sizes_into_parallel_loops(void **state) {
    static const char text[] = "from tvm.script import tir as T\n"
                               "@T.prim_func\n"
                               "def main(a: T.handle, b: T.handle):\n"
                               "    n = T.int64()\n"
                               "    m = T.int64()\n"
                               "    A = T.match_buffer(a, (n, m), \"float32\")\n"
                               "    B = T.match_buffer(b, (n, m), \"float32\")\n"
                               "    for i in T.parallel(n):\n"
                               "        T.call_packed(\"double_row\", A.data, B.data, i)\n";
    enum { ROWS = 7, COLUMNS = 5 };
    hone_module *module = NULL;
    hone_func *func;
    hone_target target;
    test_compiled compiled = {0};
    HONE_ASSERT_OK(hone_target_parse(*state, &target));
    hone_status st = parse_func(text, &module, &func);
    if (!st) st = test_compile(func, &target, &compiled);
    hone_module_release(module);
    HONE_ASSERT_OK(st);
    hone_rt *rt;
    hone_model_rt_options options = {.thread_count = 2, .find_extern = find_extern};
    assert_int_equal(hone_model_rt_create(&options, &rt), 0);
    static _Alignas(64) float a[ROWS * COLUMNS], b[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        a[i] = (float)(i + 1);
    void *buffers[] = {a, b};
    int64_t sizes[] = {ROWS, COLUMNS};
    int32_t code = compiled.kernel(rt, buffers, sizes);
    hone_model_rt_destroy(rt);
    test_compiled_deinit(&compiled);
    assert_int_equal(code, 0);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        assert_true(b[i] == 2 * a[i]);
}

int main(void) {
    static char llvm[] = "host -num-threads=1", c[] = "c -num-threads=1";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_thread_bindings),
        cmocka_unit_test_prestate(takes_sizes_at_run_time, llvm),
        cmocka_unit_test_prestate(takes_sizes_at_run_time, c),
        cmocka_unit_test_prestate(calls_external_functions, llvm),
        cmocka_unit_test_prestate(calls_external_functions, c),
        cmocka_unit_test_prestate(tells_of_functions_that_fail, llvm),
        cmocka_unit_test_prestate(tells_of_functions_that_fail, c),
        cmocka_unit_test_prestate(hands_sizes_into_parallel_loops, llvm),
        cmocka_unit_test_prestate(hands_sizes_into_parallel_loops, c),
    };
    int failed = HONE_RUN_ROWS("codegen/dense", dense_rows, check_dense);
    return failed + cmocka_run_group_tests_name("codegen", tests, NULL, NULL);
}
