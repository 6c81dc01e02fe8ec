/* tests/ir/identity/test_structural.c - equality and hash of programs: the hash agrees with
 * equality, differences are named, and the golden values never change within a version (databases
 * hold them).
 */
#include <stdio.h>
#include <string.h>

#include "ir/identity/structural.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"
#include "tests/support/random_program.h"

#define COPY                                                                                       \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((8, 4), \"float32\"), C: T.Buffer((8, 4), \"float32\")):\n"              \
    "  for i, j in T.grid(8, 4):\n"                                                                \
    "    with T.block(\"B\"):\n"                                                                   \
    "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"                                                \
    "      C[vi, vj] = A[vi, vj] + T.float32(1)\n"
#define MATMUL                                                                                     \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((16, 16), \"float32\"), B: T.Buffer((16, 16), \"float32\"), "            \
    "C: T.Buffer((16, 16), \"float32\")):\n"                                                       \
    "  T.func_attr({\"global_symbol\": \"main\", \"tir.noalias\": True})\n"                        \
    "  for i, j, k in T.grid(16, 16, 16):\n"                                                       \
    "    with T.block(\"C\"):\n"                                                                   \
    "      vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"                                        \
    "      with T.init():\n"                                                                       \
    "        C[vi, vj] = T.float32(0)\n"                                                           \
    "      C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"

#define THREAD(axis)                                                                               \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((8,), \"float32\"), C: T.Buffer((8,), \"float32\")):\n"                  \
    "  for i in T.thread_binding(8, thread=\"threadIdx." axis "\"):\n"                             \
    "    C[i] = A[i]\n"

/* clang-format off */
static const struct row {
    const char *name, *a, *b;
    const char *difference; /* part of it; NULL = equal */
} rows[] = {
    {"itself", COPY, COPY, NULL},
    {"names do not count", COPY,
     "@T.prim_func\n"
     "def other(X: T.Buffer((8, 4), \"float32\"), Y: T.Buffer((8, 4), \"float32\")):\n"
     "  for a, b in T.grid(8, 4):\n"
     "    with T.block(\"named\"):\n"
     "      p, q = T.axis.remap(\"SS\", [a, b])\n"
     "      Y[p, q] = X[p, q] + T.float32(1)\n",
     NULL},
    {"regions that are inferred or written", COPY,
     "@T.prim_func\n"
     "def main(A: T.Buffer((8, 4), \"float32\"), C: T.Buffer((8, 4), \"float32\")):\n"
     "  for i, j in T.grid(8, 4):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      T.reads(A[vi, vj])\n"
     "      T.writes(C[vi, vj])\n"
     "      C[vi, vj] = A[vi, vj] + T.float32(1)\n",
     NULL},
    {"match_buffer or a typed parameter", COPY,
     "@T.prim_func\n"
     "def main(a: T.handle, c: T.handle):\n"
     "  A = T.match_buffer(a, (8, 4), \"float32\")\n"
     "  C = T.match_buffer(c, (8, 4), \"float32\")\n"
     "  for i, j in T.grid(8, 4):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = A[vi, vj] + T.float32(1)\n",
     NULL},
    {"a constant", COPY,
     "@T.prim_func\n"
     "def main(A: T.Buffer((8, 4), \"float32\"), C: T.Buffer((8, 4), \"float32\")):\n"
     "  for i, j in T.grid(8, 4):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = A[vi, vj] + T.float32(2)\n",
     "stored value differs: 'A[vi, vj] + T.float32(1.0)' and 'A[vi, vj] + T.float32(2.0)'"},
    {"which variable", COPY,
     "@T.prim_func\n"
     "def main(A: T.Buffer((8, 4), \"float32\"), C: T.Buffer((8, 4), \"float32\")):\n"
     "  for i, j in T.grid(8, 4):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      T.reads(A[vi, vj])\n"
     "      T.writes(C[vi, vj])\n"
     "      C[vi, vj] = A[vi, vi] + T.float32(1)\n",
     "stored value differs"},
    {"a loop extent", COPY,
     "@T.prim_func\n"
     "def main(A: T.Buffer((8, 4), \"float32\"), C: T.Buffer((8, 4), \"float32\")):\n"
     "  for i, j in T.grid(8, 5):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = A[vi, vj] + T.float32(1)\n",
     "extent of the loop differs: '4' and '5'"},
    {"a loop kind", COPY,
     "@T.prim_func\n"
     "def main(A: T.Buffer((8, 4), \"float32\"), C: T.Buffer((8, 4), \"float32\")):\n"
     "  for i in T.parallel(8):\n"
     "    for j in range(4):\n"
     "      with T.block(\"B\"):\n"
     "        vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "        C[vi, vj] = A[vi, vj] + T.float32(1)\n",
     "loop kind differs"},
    {"an annotation", COPY,
     "@T.prim_func\n"
     "def main(A: T.Buffer((8, 4), \"float32\"), C: T.Buffer((8, 4), \"float32\")):\n"
     "  for i in T.serial(8, annotations={\"k\": 1}):\n"
     "    for j in range(4):\n"
     "      with T.block(\"B\"):\n"
     "        vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "        C[vi, vj] = A[vi, vj] + T.float32(1)\n",
     "differs: end of the attributes"},
    {"a shape", COPY,
     "@T.prim_func\n"
     "def main(A: T.Buffer((8, 6), \"float32\"), C: T.Buffer((8, 4), \"float32\")):\n"
     "  for i, j in T.grid(8, 4):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = A[vi, vj] + T.float32(1)\n",
     "extent of the buffer differs: '4' and '6'"},
    {"an offset factor", COPY,
     "@T.prim_func\n"
     "def main(a: T.handle, C: T.Buffer((8, 4), \"float32\")):\n"
     "  A = T.match_buffer(a, (8, 4), \"float32\", elem_offset=0, offset_factor=4)\n"
     "  for i, j in T.grid(8, 4):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = A[vi, vj] + T.float32(1)\n",
     "alignment differs"},
    {"which thread", THREAD("x"), THREAD("y"), "thread differs: 'threadIdx.x' and 'threadIdx.y'"},
    {"a dtype", COPY,
     "@T.prim_func\n"
     "def main(A: T.Buffer((8, 4), \"float16\"), C: T.Buffer((8, 4), \"float32\")):\n"
     "  for i, j in T.grid(8, 4):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = T.Cast(\"float32\", A[vi, vj]) + T.float32(1)\n",
     "dtype of the buffer differs"},
    {"the order of parameters", COPY,
     "@T.prim_func\n"
     "def main(C: T.Buffer((8, 4), \"float32\"), A: T.Buffer((8, 4), \"float32\")):\n"
     "  for i, j in T.grid(8, 4):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = A[vi, vj] + T.float32(1)\n",
     "differs: two that are called 'A'"},
    {"an axis kind", MATMUL,
     "@T.prim_func\n"
     "def main(A: T.Buffer((16, 16), \"float32\"), B: T.Buffer((16, 16), \"float32\"), "
     "C: T.Buffer((16, 16), \"float32\")):\n"
     "  T.func_attr({\"tir.noalias\": True})\n"
     "  for i, j, k in T.grid(16, 16, 16):\n"
     "    with T.block(\"C\"):\n"
     "      vi, vj, vk = T.axis.remap(\"SSS\", [i, j, k])\n"
     "      with T.init():\n"
     "        C[vi, vj] = T.float32(0)\n"
     "      C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n",
     "kind of an axis differs"},
};
/* clang-format on */

static void compares(void **state) {
    const struct row *row = *state;
    hone_module *a = NULL, *b = NULL;
    hone_str difference = {0};
    char got[1024];
    const hone_func *fa = hone_test_parse(row->a, &a), *fb = hone_test_parse(row->b, &b);
    bool is_equal = hone_func_equal(fa, fb, &difference);
    bool hashes_alike = hone_hash128_equal(hone_func_hash(fa), hone_func_hash(fb));
    snprintf(got, sizeof got, "%s", hone_str_text(&difference));
    hone_str_deinit(&difference);
    hone_module_release(a);
    hone_module_release(b);
    assert_int_equal(hashes_alike, is_equal);
    if (!row->difference) {
        assert_string_equal(got, "");
        assert_true(is_equal);
        return;
    }
    assert_false(is_equal);
    if (!strstr(got, row->difference)) assert_string_equal(got, row->difference);
}

/* ---- golden values of version 1 ---- */

static void hash_is(const char *text, const char *want) {
    hone_module *module = NULL;
    char got[HONE_HASH_HEX_BYTES], again[HONE_HASH_HEX_BYTES];
    const hone_func *func = hone_test_parse(text, &module);
    hone_arena *arena = hone_arena_create(4096);
    hone_hash128_print(hone_func_hash(func), got);
    hone_hash128_print(hone_func_hash(hone_func_copy_deep(arena, func)), again);
    hone_arena_destroy(arena);
    hone_module_release(module);
    assert_string_equal(got, want);
    assert_string_equal(again, want);
}

static void golden(void **state) {
    (void)state;
    assert_int_equal(HONE_STRUCTURAL_VERSION, 1);
    hash_is(COPY, "169e94bca58ec9af6e7d9d49504184e9");
    hash_is(MATMUL, "48919653f7e5adf592794d7d91e084cb");
    hash_is(
        "@T.prim_func\n"
        "def main(a: T.handle, b: T.handle):\n"
        "  n = T.int32()\n"
        "  A = T.match_buffer(a, (n,), \"int8\")\n"
        "  B = T.match_buffer(b, (n,), \"int8\", scope=\"global\", align=64)\n"
        "  for i in T.thread_binding(n, thread=\"blockIdx.x\", annotations={\"z\": [1, 2.5]}):\n"
        "    with T.block(\"b\"):\n"
        "      v = T.axis.spatial(n, i)\n"
        "      T.where(i * 2 < n)\n"
        "      T.block_attr({\"k\": \"text\", \"a\": 1})\n"
        "      B[v] = T.Select(A[v] > T.int8(3), T.max(A[v], T.int8(7)), T.int8(-1))\n",
        "2dfb43b1c2c1d43cc6ba1db40be6ef90");
}

/* ---- programs of a kind ---- */

static hone_hash128 kind_of(const char *text) {
    hone_module *module = NULL;
    hone_hash128 kind = hone_func_kind_hash(hone_test_parse(text, &module));
    hone_module_release(module);
    return kind;
}

static void sizes_do_not_make_a_kind(void **state) {
    (void)state;
    static const char larger[] = "@T.prim_func\n"
                                 "def main(A: T.Buffer((300, 5), \"float32\"), "
                                 "C: T.Buffer((300, 5), \"float32\")):\n"
                                 "  for i, j in T.grid(300, 5):\n"
                                 "    with T.block(\"B\"):\n"
                                 "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                                 "      C[vi, vj] = A[vi, vj] + T.float32(";
    hone_str same = {0}, other = {0};
    hone_str_printf(&same, "%s1)\n", larger);
    hone_str_printf(&other, "%s2)\n", larger); /* what is computed is no size */
    assert_true(hone_hash128_equal(kind_of(COPY), kind_of(hone_str_text(&same))));
    assert_false(hone_hash128_equal(kind_of(COPY), kind_of(hone_str_text(&other))));
    assert_false(hone_hash128_equal(kind_of(COPY), kind_of(MATMUL)));
    hone_str_deinit(&same);
    hone_str_deinit(&other);
}

/* ---- random programs ---- */

static void random_programs(void **state) {
    (void)state;
    enum { COUNT = 200 };
    hone_hash128 hashes[COUNT];
    uint32_t equal_pairs = 0;
    hone_arena *arena = hone_arena_create(1 << 16);
    hone_func *funcs[COUNT];
    uint64_t first = hone_test_seed(0);
    for (uint32_t i = 0; i < COUNT; i++) {
        funcs[i] = hone_random_program(arena, first + i, NULL);
        hashes[i] = hone_func_hash(funcs[i]);
        assert_true(hone_func_equal(funcs[i], hone_func_copy_deep(arena, funcs[i]), NULL));
    }
    for (uint32_t i = 1; i < COUNT; i++) {
        bool is_equal = hone_func_equal(funcs[i - 1], funcs[i], NULL);
        equal_pairs += is_equal;
        assert_int_equal(is_equal, hone_hash128_equal(hashes[i - 1], hashes[i]));
    }
    assert_true(equal_pairs < 5);
    hone_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(sizes_do_not_make_a_kind),
        cmocka_unit_test(random_programs),
    };
    int failed = HONE_RUN_ROWS("ir/structural", rows, compares);
    return cmocka_run_group_tests_name("ir/structural", tests, NULL, NULL) + failed;
}
