/* tests/ir/region/test_region_relax.c - the region of block B over some of the loops outside, and
 * whether all of the box is touched. */
#include <stdio.h>
#include <string.h>

#include "ir/region/region.h"
#include "ir/text/print/script_print.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

#define HEAD                                                                                       \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((128, 128), \"float32\"), C: T.Buffer((128, 128), \"float32\")):\n"

/* clang-format off */
static const struct row {
    const char *name, *body;
    const char *loops; /* names of the loops that run, with a space behind each */
    const char *want;  /* "min..max, min..max" of the first thing that B writes */
    bool is_exact;
} rows[] = {
    {"all loops",
     "  for i, j in T.grid(128, 64):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = A[vi, vj]\n",
     "i j ", "0..127, 0..63", true},
    {"inner loop",
     "  for i, j in T.grid(128, 64):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = A[vi, vj]\n",
     "j ", "i..i, 0..63", true},
    {"a tile",
     "  for i, j, k in T.grid(16, 8, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i * 8 + j)\n"
     "      vk = T.axis.spatial(128, k)\n"
     "      C[vi, vk] = A[vi, vk]\n",
     "j ", "i * 8..i * 8 + 7, k..k", true},
    {"digits of one number, of which a part is enough for some",
     "  for i, k, j in T.grid(2, 32, 4):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(16, (i * 32 + k) // 3)\n"
     "      vj = T.axis.spatial(12, (i * 128 + k * 4 + j) % 12)\n"
     "      T.where(i * 32 + k < 48)\n"
     "      C[vi, vj] = A[vi, vj]\n",
     "i k j ", "0..15, 0..11", true},
    {"digits of a number, of which a whole multiple stands outside of one",
     "  for i, k, j in T.grid(2, 16, 3):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(15, i * 12 + (k * 3 + j) // 4)\n"
     "      vj = T.axis.spatial(4, (k * 3 + j) % 4)\n"
     "      T.where(i * 48 + k * 3 + j < 60)\n"
     "      C[vi, vj] = A[vi, vj]\n",
     "i k j ", "0..14, 0..3", true},
    {"the same, from where a loop outside is",
     "  for r, i, k, j in T.grid(3, 2, 16, 3):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(18, r + i * 12 + (k * 3 + j) // 4)\n"
     "      vj = T.axis.spatial(4, (k * 3 + j) % 4)\n"
     "      T.where(i * 48 + k * 3 + j < 60)\n"
     "      C[vi, vj] = A[vi, vj]\n",
     "i k j ", "r..r + 14, 0..3", true},
    {"the same, under a condition without what says nothing",
     "  for i, k, j in T.grid(2, 16, 3):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(15, i * 12 + (k * 3 + j) // 4)\n"
     "      vj = T.axis.spatial(4, (k * 3 + j) % 4)\n"
     "      T.where(i * 16 + k < 20)\n"
     "      C[vi, vj] = A[vi, vj]\n",
     "i k j ", "0..14, 0..3", true},
    {"digits of two numbers",
     "  for i, k, j in T.grid(2, 32, 4):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(16, (i * 32 + k) // 3)\n"
     "      vj = T.axis.spatial(12, (i * 128 + k * 4 + j + 1) % 12)\n"
     "      T.where(i * 32 + k < 48)\n"
     "      C[vi, vj] = A[vi, vj]\n",
     "i k j ", "0..21, 0..11", false},
    {"every second",
     "  for i in range(64):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(64, i)\n"
     "      C[vi * 2, 0] = A[vi, 0]\n",
     "i ", "0..126, 0..0", false},
    {"the predicate cuts the end",
     "  for i, j in T.grid(13, 10):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i * 10 + j)\n"
     "      T.where(i * 10 + j < 128)\n"
     "      C[vi, 0] = A[vi, 0]\n",
     "i j ", "0..127, 0..0", true},
    {"the predicate cuts the last tile",
     "  for i, j in T.grid(13, 10):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i * 10 + j)\n"
     "      T.where(i * 10 + j < 128)\n"
     "      C[vi, 0] = A[vi, 0]\n",
     "j ", "i * 10..T.min(i * 10 + 9, 127), 0..0", true},
    {"a diagonal is not its box",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      C[vi, vi] = A[vi, 0]\n",
     "i ", "0..127, 0..127", false},
    {"the longest run of a triangle is left out",
     "  for i in range(1, 9):\n"
     "    for j in range(i):\n"
     "      with T.block(\"B\"):\n"
     "        vj = T.axis.spatial(8, j)\n"
     "        T.where(i < 2)\n"
     "        C[vj, 0] = A[vj, 0]\n",
     "i j ", "0..7, 0..0", false},
    {"a triangle of a triangle is no box",
     "  for i in range(1, 6):\n"
     "    for k in range(i):\n"
     "      for j in range(k):\n"
     "        with T.block(\"B\"):\n"
     "          vi = T.axis.spatial(6, i)\n"
     "          vj = T.axis.spatial(6, j)\n"
     "          C[vj, vi] = A[vj, vi]\n",
     "i k j ", "0..3, 1..5", false},
    {"the longest run of a triangle is there",
     "  for i in range(1, 9):\n"
     "    for j in range(i):\n"
     "      with T.block(\"B\"):\n"
     "        vj = T.axis.spatial(8, j)\n"
     "        C[vj, 0] = A[vj, 0]\n",
     "i j ", "0..7, 0..0", true},
    {"a predicate on what does not run",
     "  for i, j in T.grid(64, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      T.where(i < 60)\n"
     "      C[vi, vj] = A[vi, vj]\n",
     "j ", "i..i, 0..127", false},
    {"cuts of whole steps, and one that another makes too",
     "  for i, j, k, m in T.grid(2, 3, 3, 8):\n"
     "    with T.block(\"B\"):\n"
     "      v = T.axis.spatial(128, i * 72 + j * 24 + k * 8 + m)\n"
     "      T.where(i * 72 + j * 24 + k * 8 + m < 120 and i * 9 + j * 3 + k < 16)\n"
     "      C[v, 0] = A[v, 0]\n",
     "i j k m ", "0..119, 0..0", true},
    {"a cut of the steps, and one of what fills them",
     "  for i, j in T.grid(16, 8):\n"
     "    with T.block(\"B\"):\n"
     "      v = T.axis.spatial(128, i * 8 + j)\n"
     "      T.where(i < 10 and j < 7)\n"
     "      C[v, 0] = A[v, 0]\n",
     "i j ", "0..78, 0..0", false},
    {"boxes side by side are cut between two of them",
     "  for i in range(32):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(32, i)\n"
     "      T.where(i * 4 < 10)\n"
     "      for j in range(4):\n"
     "        C[vi * 4 + j, 0] = A[vi * 4 + j, 0]\n",
     "i ", "0..11, 0..0", true},
    {"element by element, row by row, up to the last one",
     "  for i, j in T.grid(164, 100):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      T.where((i * 100 + j) // 128 < 128)\n"
     "      C[(vi * 100 + vj) // 128, (vi * 100 + vj) % 128] = A[0, 0]\n",
     "i j ", "0..127, 0..127", true},
    {"row by row, but for the last one",
     "  for i, j in T.grid(164, 100):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      T.where(i * 100 + j < 16383)\n"
     "      C[(vi * 100 + vj) // 128, (vi * 100 + vj) % 128] = A[0, 0]\n",
     "i j ", "0..128, 0..127", false},
    {"two rows at once, beyond the end of the first",
     "  for i, j in T.grid(65, 256):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      T.where(i * 256 + j < 16384)\n"
     "      C[vi * 2, vj] = A[0, 0]\n",
     "i j ", "0..126, 0..255", false},
    {"a region with extents",
     "  for i in range(16):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(16, i)\n"
     "      for j in range(8):\n"
     "        C[vi * 8 + j, 0] = A[vi * 8 + j, 0]\n",
     "i ", "0..127, 0..0", true},
};
/* clang-format on */

static void print_expr(const hone_func *func, const hone_expr *e, hone_str *out) {
    hone_status_free(hone_expr_print(func, e, out));
}

static void relaxes(void **state) {
    const struct row *row = *state;
    char text[4096], name[32];
    hone_module *module = NULL;
    hone_arith arith;
    bool relax[64] = {false}, is_exact = false;
    hone_interval box[2];
    snprintf(text, sizeof text, "%s%s", HEAD, row->body);
    const hone_func *func = hone_test_parse(text, &module);
    hone_node_id block = hone_test_block(func, "B");
    hone_arena *arena = hone_arena_create(4096);
    hone_arith_init(&arith, arena);
    for (hone_node_id n = block; n != HONE_NO_ID; n = hone_func_node(func, n)->parent) {
        const hone_node *node = hone_func_node(func, n);
        if (node->kind != HONE_NODE_FOR) continue;
        hone_arith_bind(&arith, node->u.loop.var, node->u.loop.range);
        snprintf(name, sizeof name, "%s ", func->vars[node->u.loop.var].name);
        relax[node->u.loop.var] = strstr(row->loops, name) != NULL;
    }
    const hone_region *written = &hone_func_node(func, block)->u.block.block->writes[0];
    HONE_ASSERT_OK(
        hone_region_relax(&arith, func, block, written, relax, func->var_count, box, &is_exact));
    hone_str got = {0};
    for (int d = 0; d < 2; d++) {
        hone_str_append(&got, d ? ", " : "");
        print_expr(func, box[d].min, &got);
        hone_str_append(&got, "..");
        print_expr(func, box[d].max, &got);
    }
    snprintf(text, sizeof text, "%s", hone_str_text(&got));
    hone_str_deinit(&got);
    hone_arena_destroy(arena);
    hone_module_release(module);
    assert_string_equal(text, row->want);
    assert_int_equal(is_exact, row->is_exact);
}

int main(void) {
    return HONE_RUN_ROWS("ir/region_relax", rows, relaxes);
}
