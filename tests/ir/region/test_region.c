/* tests/ir/region/test_region.c - regions of blocks as they are inferred when T.reads and T.writes
 * are left out; of a block over the loops outside; and covering. The block in question is named B.
 */
#include <stdio.h>
#include <string.h>

#include "ir/text/print/script_print.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

#define HEAD                                                                                       \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((128, 128), \"float32\"), C: T.Buffer((128, 128), \"float32\"), "        \
    "X: T.Buffer((128,), \"int32\")):\n"

/* clang-format off */
static const struct row {
    const char *name, *body, *reads, *writes;
} rows[] = {
    {"points",
     "  for i, j in T.grid(128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = A[vj, vi] * 2.0\n",
     "A[vj, vi]", "C[vi, vj]"},
    {"loop inside is relaxed",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      for j in range(64):\n"
     "        C[vi, j + 3] = A[j * 2, vi]\n",
     "A[0:127, vi]", "C[vi, 3:67]"},
    {"union of points",
     "  for i in range(126):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(126, i)\n"
     "      C[vi, 0] = A[vi, 0] + A[vi + 2, 5]\n",
     "A[vi:vi + 3, 0:6]", "C[vi, 0]"},
    {"a reduction does not read its output",
     "  for i, k in T.grid(128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "      with T.init():\n"
     "        C[vi, 0] = 0.0\n"
     "      C[vi, 0] = C[vi, 0] + A[vi, vk]\n",
     "A[vi, vk]", "C[vi, 0]"},
    {"an update without init reads it",
     "  for i, k in T.grid(128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "      C[vi, 0] = C[vi, 0] + A[vi, vk]\n",
     "C[vi, 0], A[vi, vk]", "C[vi, 0]"},
    {"padding keeps the point",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      C[vi, 0] = T.if_then_else(vi >= 1 and vi < 100, A[vi - 1, 0], 0.0)\n",
     "A[vi - 1, 0]", "C[vi, 0]"},
    {"a condition tightens a loop",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      for j in range(128):\n"
     "        if j < 10:\n"
     "          C[vi, j] = A[vi, j]\n",
     "A[vi, 0:10]", "C[vi, 0:10]"},
    {"a place that is told by storage made inside is any place",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      J = T.alloc_buffer((1,), \"int32\")\n"
     "      J[0] = vi\n"
     "      C[vi, 0] = A[vi, J[0]]\n",
     "A[vi, 0:128]", "C[vi, 0]"},
    {"the else part knows the negation",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      for j in range(128):\n"
     "        if j < 10:\n"
     "          C[vi, 0] = 1.0\n"
     "        else:\n"
     "          C[vi, 1] = A[vi, j]\n",
     "A[vi, 10:128]", "C[vi, 0:2]"},
    {"a condition over two loops",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      for j, k in T.grid(3, 4):\n"
     "        if j * 4 + k < 10:\n"
     "          C[vi, j * 4 + k] = A[j * 4 + k, vi]\n",
     "A[0:10, vi]", "C[vi, 0:10]"},
    {"a triangle",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      for j in range(vi + 1):\n"
     "        C[vi, j] = A[vi - j, 0]\n",
     "A[0:vi + 1, 0]", "C[vi, 0:vi + 1]"},
    {"gather",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      C[vi, 0] = A[X[vi], 0]\n",
     "A[X[vi], 0], X[vi]", "C[vi, 0]"},
    {"gather in a loop is everything",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      for j in range(128):\n"
     "        C[vi, j] = A[X[j], vi]\n",
     "A[0:128, vi], X[0:128]", "C[vi, 0:128]"},
    {"own allocations do not show",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      D = T.alloc_buffer((128,), \"float32\")\n"
     "      for j in range(128):\n"
     "        D[j] = A[vi, j]\n"
     "      C[vi, 0] = D[5]\n",
     "A[vi, 0:128]", "C[vi, 0]"},
    {"nested block by its declaration",
     "  for i in range(16):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(16, i)\n"
     "      for j, k in T.grid(8, 128):\n"
     "        with T.block(\"inner\"):\n"
     "          vj = T.axis.spatial(128, vi * 8 + j)\n"
     "          vk = T.axis.spatial(128, k)\n"
     "          T.reads(A[vj, vk])\n"
     "          T.writes(C[vj, vk])\n"
     "          C[vj, vk] = A[vj, vk]\n",
     "A[vi * 8:vi * 8 + 8, 0:128]", "C[vi * 8:vi * 8 + 8, 0:128]"},
    {"match_buffer maps to its source",
     "  for i in range(16):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(16, i)\n"
     "      T.reads(A[vi * 8:vi * 8 + 8, 0:128])\n"
     "      V = T.match_buffer(C[vi * 8:vi * 8 + 8, 0:128], (8, 128), \"float32\")\n"
     "      for j in range(4):\n"
     "        V[j, 2] = 1.0\n",
     "A[vi * 8:vi * 8 + 8, 0:128]", "C[vi * 8:vi * 8 + 4, 2]"},
    {"an address is everything",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      T.evaluate(T.call_extern(\"int32\", \"f\", T.address_of(C[vi, 0]), A.data))\n",
     "C[0:128, 0:128], A[0:128, 0:128]", "C[0:128, 0:128], A[0:128, 0:128]"},
    {"access_ptr says how",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      T.evaluate(T.call_extern(\"int32\", \"f\", "
     "T.tvm_access_ptr(T.type_annotation(\"float32\"), C.data, vi, 1, 2), "
     "T.tvm_access_ptr(T.type_annotation(\"float32\"), A.data, vi, 1, 1)))\n",
     "A[0:128, 0:128]", "C[0:128, 0:128]"},
    {"vectors",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      C[vi, T.Ramp(0, 1, 4)] = A[vi, T.Ramp(8, 2, 4)]\n",
     "A[vi, 8:15]", "C[vi, 0:4]"},
};
/* clang-format on */

/* The text between "T.reads(" and the end of its line, in the block named B. */
static void clause(const char *text, const char *what, char *out, size_t size) {
    const char *block = strstr(text, "(\"B\")");
    const char *from = block ? strstr(block, what) : NULL;
    out[0] = 0;
    if (!from) return;
    from += strlen(what);
    const char *end = strchr(from, '\n');
    snprintf(out, size, "%.*s", (int)(end - from - 1), from);
}

static void infers(void **state) {
    const struct row *row = *state;
    char text[4096], reads[512], writes[512];
    hone_module *module = NULL;
    hone_str printed = {0};
    snprintf(text, sizeof text, "%s%s", HEAD, row->body);
    const hone_func *func = hone_test_parse(text, &module);
    HONE_ASSERT_OK(hone_func_print(func, NULL, &printed));
    clause(hone_str_text(&printed), "T.reads(", reads, sizeof reads);
    clause(hone_str_text(&printed), "T.writes(", writes, sizeof writes);
    hone_str_deinit(&printed);
    hone_module_release(module);
    assert_string_equal(reads, row->reads);
    assert_string_equal(writes, row->writes);
}

int main(void) {
    return HONE_RUN_ROWS("ir/region", rows, infers);
}
