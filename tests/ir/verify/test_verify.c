/* tests/ir/verify/test_verify.c - what verify says of programs: each row a program and a part of
 * its first finding. */
#include <stdio.h>
#include <string.h>

#include "ir/verify/verify.h"
#include "tests/support/hone_test.h"
#include "tests/support/program_text.h"

#define HEAD                                                                                       \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((128, 128), \"float32\"), C: T.Buffer((128, 128), \"float32\"), "        \
    "X: T.Buffer((128,), \"int32\")):\n"

#define PIPELINE(loop, stage, order)                                                               \
    "  for i in T." loop ", annotations={\"software_pipeline_stage\": " stage                      \
    ", \"software_pipeline_order\": " order "}):\n"                                                \
    "    X[i] = 0\n"                                                                               \
    "    C[i, 0] = A[i, 0]\n"

#define NESTED(stage, order)                                                                       \
    "  for i in T.serial(128, annotations={\"software_pipeline_stage\": " stage                    \
    ", \"software_pipeline_order\": " order "}):\n"                                                \
    "    X[i] = 0\n"                                                                               \
    "    for j in T.serial(1, annotations={\"software_pipeline_stage\": [0, 1], "                  \
    "\"software_pipeline_order\": [0, 1]}):\n"                                                     \
    "      C[i, j] = A[i, j]\n"                                                                    \
    "      C[i, 1] = A[i, 1]\n"

/* clang-format off */
static const struct row {
    const char *name, *body;
    const char *want; /* part of the first finding; NULL = no finding */
    bool is_warning;
} rows[] = {
    {"matmul is well formed",
     "  for i, j, k in T.grid(128, 128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
     "      with T.init():\n"
     "        C[vi, vj] = 0.0\n"
     "      C[vi, vj] = C[vi, vj] + A[vi, vk] * A[vk, vj]\n",
     NULL, false},
    {"a pipeline", PIPELINE("serial(128", "[0, 1]", "[0, 1]"), NULL, false},
    {"a pipeline of one iteration", PIPELINE("serial(1", "[0]", "[5, 5, 5]"), NULL, false},
    {"a pipeline with a stage too few", PIPELINE("serial(128", "[0]", "[0, 1]"),
     "loop 'i' has 1 numbers in 'software_pipeline_stage', but 2 statements in its body", false},
    {"a pipeline with a place too many", PIPELINE("serial(128", "[0, 1]", "[0, 1, 2]"),
     "loop 'i' has 3 numbers in 'software_pipeline_order', but 2 statements in its body", false},
    {"a pipeline with a stage below 0", PIPELINE("serial(128", "[0, -1]", "[0, 1]"),
     "loop 'i' has -1 in 'software_pipeline_stage', which is not a number from 0 to 64", false},
    {"a pipeline with an order twice", PIPELINE("serial(128", "[0, 1]", "[1, 1]"),
     "loop 'i' gives statements 0 and 1 of its body the same order, 1", false},
    {"a pipeline that runs at once", PIPELINE("parallel(128", "[0, 1]", "[0, 1]"),
     "loop 'i' cannot be pipelined: its iterations have no order", false},
    {"a pipeline of one statement",
     "  for i in T.serial(128, annotations={\"software_pipeline_stage\": [0], \"software_pipeline_order\": [0]}):\n"
     "    X[i] = 0\n",
     "loop 'i' cannot be pipelined: its body is not a sequence of statements", false},
    {"a pipeline of one iteration in another counts three", NESTED("[0, 0, 0, 1]", "[0, 1, 2, 3]"), NULL, false},
    {"a pipeline of one iteration in another, counted as one", NESTED("[0, 1]", "[0, 1]"),
     "loop 'i' has 2 numbers in 'software_pipeline_stage', but 4 statements in its body", false},
    {"two copies of what is not written",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      T.block_attr({\"double_buffer_scope\": 1})\n"
     "      X[vi] = 0\n",
     "block 'B' has 'double_buffer_scope' 1, but 1 regions that it writes", false},
    {"a loop that its sizes rule out",
     "  for q in range(1):\n"
     "    if q + 8 > 20:\n"
     "      for i in range(8 - 20):\n"
     "        X[i] = 0\n",
     "this condition never holds", true},
    {"axis of 128, loop of 127",
     "  for i, j in T.grid(127, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      vj = T.axis.spatial(128, j)\n"
     "      C[vi, vj] = A[vi, vj]\n",
     "spatial axis 'vi' of block 'B' has 128 values (0 to 127), its binding takes only 127 (0 to "
     "126)",
     false},
    {"the rest of the axis lies outside of the output",
     "  for i, j in T.grid(130, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      T.where(i < 128)\n"
     "      C[vi, vj] = A[vi, vj]\n",
     NULL, false},
    {"the rest of the axis lies outside, more is said to be written",
     "  for i, j in T.grid(130, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      T.where(i < 128)\n"
     "      T.reads(A[vi, vj])\n"
     "      T.writes(C[0:128, vj])\n"
     "      T.block_attr({\"explicit_write_region\": [0]})\n"
     "      C[vi, vj] = A[vi, vj]\n",
     NULL, false},
    {"the rest of the axis lies outside, times a number and with another",
     "  for i, j, k in T.grid(66, 2, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj, vk = T.axis.remap(\"SSS\", [i, j, k])\n"
     "      T.where(i * 2 + j < 128)\n"
     "      C[vi * 2 + vj, vk] = A[vi * 2 + vj, vk]\n",
     NULL, false},
    {"some of the rest lies in the output",
     "  for i, j, k in T.grid(66, 2, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj, vk = T.axis.remap(\"SSS\", [i, j, k])\n"
     "      T.where(i * 2 + j < 127)\n"
     "      C[vi * 2 + vj, vk] = A[vi * 2 + vj, vk]\n",
     "spatial axis 'vi' of block 'B' has 66 values (0 to 65), its binding takes only", false},
    {"the rest lies behind the last row, whatever the other indices are",
     "  for i, j in T.grid(256, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(20000, i * 128 + j)\n"
     "      T.where(i < 128)\n"
     "      C[vi // 128, vi % 128] = A[vi // 128, vi % 128]\n",
     NULL, false},
    {"a row of the rest lies in the output",
     "  for i, j in T.grid(256, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(20000, i * 128 + j)\n"
     "      T.where(i < 127)\n"
     "      C[vi // 128, vi % 128] = A[vi // 128, vi % 128]\n",
     "spatial axis 'vi' of block 'B' has 20000 values (0 to 19999), its binding takes only 16256 ",
     false},
    {"the rest of the axis lies in the output",
     "  for i, j in T.grid(128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      T.where(i < 120)\n"
     "      C[vi, vj] = A[vi, vj]\n",
     "spatial axis 'vi' of block 'B' has 128 values (0 to 127), its binding takes only 120 (0 to "
     "119)",
     false},
    {"axis of 128, loop of 129",
     "  for i, j in T.grid(129, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      vj = T.axis.spatial(128, j)\n"
     "      C[vi, vj] = A[vi, vj]\n",
     "binding of spatial axis 'vi' of block 'B' runs from 0 to 128, outside of its domain [0, 128)",
     false},
    {"a loop that does not run keeps it inside",
     "  for i in range(130):\n"
     "    for j in range(T.max(T.min(128 - i, 1), 0)):\n"
     "      C[i, 0] = 0.0\n",
     NULL, false},
    {"a number in a loop that does not run",
     "  for i in range(0):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial((1, 1), 1)\n"
     "      vj = T.axis.spatial((1, 1), i + 1)\n"
     "      C[vi, vj] = 0.0\n",
     "loop 'i' has the extent 0", true},
    {"a part of an axis in a block that never runs",
     "  for i, j in T.grid(128, 2):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      vj = T.axis.spatial(128, j + 5)\n"
     "      T.where(T.bool(False))\n"
     "      C[vi, vj] = 0.0\n",
     "have 16384 values together", true},
    {"a part of an axis in a block of two conditions",
     "  for i, j in T.grid(128, 2):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      vj = T.axis.spatial(128, j + 5)\n"
     "      T.where(T.And(T.bool(False), j < 1))\n"
     "      C[vi, vj] = 0.0\n",
     "have 16384 values together", true},
    {"a predicate keeps it inside",
     "  for i, j in T.grid(13, 10):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i * 10 + j)\n"
     "      T.where(i * 10 + j < 128)\n"
     "      C[vi, 0] = A[vi, 0]\n",
     NULL, false},
    {"without it the binding leaves",
     "  for i, j in T.grid(13, 10):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i * 10 + j)\n"
     "      C[vi, 0] = A[vi, 0]\n",
     "runs from 0 to 129", false},
    {"half a reduction",
     "  for i, k in T.grid(128, 64):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      vk = T.axis.reduce(128, k)\n"
     "      with T.init():\n"
     "        C[vi, 0] = 0.0\n"
     "      C[vi, 0] = C[vi, 0] + A[vi, vk]\n",
     "reduction axis 'vk' of block 'B' has 128 values", false},
    {"a reduction in steps, cut where its number ends",
     "  for i, k0, k1 in T.grid(128, 64, 3):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vk0, vk1 = T.axis.remap(\"SRR\", [i, k0, k1])\n"
     "      T.where(k0 * 3 + k1 < 128)\n"
     "      with T.init():\n"
     "        C[vi, 0] = 0.0\n"
     "      C[vi, 0] = C[vi, 0] + A[vi, vk0 * 3 + vk1]\n",
     "reduction axis 'vk0' of block 'B' has 64 values", true},
    {"two reduction axes of one loop, cut together",
     "  for i, k in T.grid(128, 256):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      vk0 = T.axis.reduce(16, k // 16)\n"
     "      vk1 = T.axis.reduce(16, k % 16)\n"
     "      T.where(k < 128)\n"
     "      with T.init():\n"
     "        C[vi, 0] = 0.0\n"
     "      C[vi, 0] = C[vi, 0] + A[vi, vk0 * 16 + vk1]\n",
     "reduction axis 'vk0' of block 'B' has 16 values", true},
    {"half a reduction by a condition",
     "  for i, k0, k1 in T.grid(128, 8, 16):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      vk = T.axis.reduce(128, k0 * 16 + k1)\n"
     "      T.where(k0 * 16 + k1 < 64)\n"
     "      with T.init():\n"
     "        C[vi, 0] = 0.0\n"
     "      C[vi, 0] = C[vi, 0] + A[vi, vk]\n",
     "reduction axis 'vk' of block 'B' has 128 values", false},
    {"two blocks may do a half each",
     "  for i in range(64):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      C[vi, 0] = A[vi, 0]\n"
     "  for i in range(64):\n"
     "    with T.block(\"D\"):\n"
     "      vi = T.axis.spatial(128, i + 64)\n"
     "      C[vi, 0] = A[vi, 1]\n",
     "has 128 values", true},
    {"a producer may make what is wanted",
     "  D = T.alloc_buffer((128,), \"float32\")\n"
     "  for i in range(64):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      D[vi] = A[vi, 0]\n"
     "  for i in range(64):\n"
     "    with T.block(\"E\"):\n"
     "      vi = T.axis.spatial(64, i)\n"
     "      C[vi, 0] = D[vi]\n",
     "has 128 values", true},
    {"an axis that only chooses what is read",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      vk = T.axis.spatial(2, 0)\n"
     "      for j in range(128):\n"
     "        C[vi, j] = A[vk, j]\n",
     "spatial axis 'vk' of block 'B' has 2 values (0 to 1), its binding takes only 1 (0 to 0)",
     true},
    {"an axis that chooses what is added",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      vk = T.axis.spatial(2, 0)\n"
     "      C[vi, 0] = C[vi, 0] + A[vi, vk]\n",
     "spatial axis 'vk' of block 'B' has 2 values (0 to 1), its binding takes only 1 (0 to 0)",
     false},
    {"an axis that chooses where a loop writes",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      vk = T.axis.spatial(2, 0)\n"
     "      T.reads(A[vi, 0:128])\n"
     "      T.writes(C[vi, 0:128])\n"
     "      for j in range(vk * 64, vk * 64 + 64):\n"
     "        C[vi, j] = A[vi, j]\n",
     "spatial axis 'vk' of block 'B' has 2 values (0 to 1), its binding takes only 1 (0 to 0)",
     false},
    {"a loop that moves no axis of a reduction",
     "  for i, k, r in T.grid(128, 128, 2):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "      with T.init():\n"
     "        C[vi, 0] = 0.0\n"
     "      C[vi, 0] = C[vi, 0] + A[vi, vk]\n",
     "loop 'r' moves no axis of block 'B', so its updates run 2 times", false},
    {"the same where nothing runs",
     "  for i, k, r in T.grid(128, 128, 2):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "      T.where(T.And(k < 200, T.bool(False)))\n"
     "      with T.init():\n"
     "        C[vi, 0] = 0.0\n"
     "      C[vi, 0] = C[vi, 0] + A[vi, vk]\n",
     NULL, false},
    {"the same outside of the reduction repeats it whole",
     "  for r, i, k in T.grid(2, 128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "      with T.init():\n"
     "        C[vi, 0] = 0.0\n"
     "      C[vi, 0] = C[vi, 0] + A[vi, vk]\n",
     NULL, false},
    {"an update in place that is repeated",
     "  for r, i in T.grid(2, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      C[vi, 0] = C[vi, 0] + A[vi, 0]\n",
     "block 'B' updates in place, and loop 'r' repeats it", true},
    {"a region that leaves by one",
     "  for i, j in T.grid(128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      T.reads(A[vi:vi + 2, vj])\n"
     "      T.writes(C[vi, vj])\n"
     "      C[vi, vj] = A[vi, vj]\n",
     "block 'B' says that it reads A[vi:vi + 2, vj], which leaves dimension 0 of 'A'", true},
    {"a region that reaches the end",
     "  for i, j in T.grid(128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      T.reads(A[vi // 2:vi // 2 + 65, vj])\n"
     "      T.writes(C[vi, vj])\n"
     "      C[vi, vj] = A[vi // 2 + 64, vj]\n",
     NULL, false},
    {"two iterations that run at once",
     "  for i in T.parallel(2):\n"
     "    C[0, 0] = A[i, 0]\n",
     "'C' is written by all iterations of the parallel loop 'i' at the same element", true},
    {"a reduction as long as a parallel loop says",
     "  for i in T.parallel(12):\n"
     "    for k0 in range(3):\n"
     "      for k1 in range(i // 3 + 1):\n"
     "        with T.block(\"B\"):\n"
     "          vi = T.axis.spatial(12, i)\n"
     "          vk = T.axis.reduce(12, k0 * (i // 3 + 1) + k1)\n"
     "          with T.init():\n"
     "            C[vi, 0] = 0.0\n"
     "          C[vi, 0] = C[vi, 0] + A[vi, vk]\n",
     NULL, false},
    {"parallel over a reduction",
     "  for i in range(128):\n"
     "    for k in T.parallel(128):\n"
     "      with T.block(\"B\"):\n"
     "        vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "        with T.init():\n"
     "          C[vi, 0] = 0.0\n"
     "        C[vi, 0] = C[vi, 0] + A[vi, vk]\n",
     "loop 'k' is parallel and runs over a reduction axis of block 'B'", false},
    {"output moves with the reduction",
     "  for i, k in T.grid(128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "      with T.init():\n"
     "        C[vi, vk] = 0.0\n"
     "      C[vi, vk] = C[vi, vk] + A[vi, vk]\n",
     "block 'B' writes 'C' at an index that moves with a reduction axis", false},
    {"loop variable inside a block",
     "  for i, j in T.grid(128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      C[vi, j] = A[vi, j]\n",
     "loop variable 'j' is used inside block 'B'", false},
    {"beyond the shape",
     "  for i, j in T.grid(128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = A[vi + 1, vj]\n",
     "'A' is read in 'B' at index 128 (vi = 127) of dimension 0, whose extent is 128", false},
    {"asked for beyond the shape",
     "  for i in range(128):\n"
     "    T.evaluate(T.prefetch(T.address_of(A[i + 99, 0]), 0, 3, 1))\n"
     "    C[i, 0] = A[i, 0]\n",
     NULL, false},
    {"read beyond the shape to ask for another place",
     "  for i in range(128):\n"
     "    T.evaluate(T.prefetch(T.address_of(A[T.Cast(\"int32\", A[i + 1, 0]), 0]), 0, 3, 1))\n"
     "    C[i, 0] = A[i, 0]\n",
     "'A' is read in 'main' at index 128 (i = 127) of dimension 0, whose extent is 128", false},
    {"guarded beyond the shape",
     "  for i, j in T.grid(128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = T.if_then_else(vi < 127, A[vi + 1, vj], 0.0)\n",
     NULL, false},
    {"a condition that does not keep it inside",
     "  for i, j in T.grid(128, 128):\n"
     "    with T.block(\"B\"):\n"
     "      vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "      C[vi, vj] = T.if_then_else(vj < 127, A[vi + 1, vj], 0.0)\n",
     "'A' is read in 'B' at index 128 (vi = 127) of dimension 0, whose extent is 128", false},
    {"a condition that is one too wide",
     "  for i in range(20):\n"
     "    for j in range(8):\n"
     "      if i * 8 + j <= 128:\n"
     "        C[i * 8 + j, 0] = 0.0\n",
     "'C' is written in 'main' at index 128 (i = 16, j = 0) of dimension 0", false},
    {"a predicate that leaves out the last element",
     "  for i in range(200):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(200, i)\n"
     "      T.where(i < 127)\n"
     "      C[vi, 0] = A[vi, 0]\n",
     "block 'B' has 200 values (0 to 199), its binding takes only 127 (0 to 126)", false},
    {"a predicate over fused loops",
     "  for i, j in T.grid(20, 7):\n"
     "    with T.block(\"B\"):\n"
     "      T.where(i * 7 + j < 128)\n"
     "      T.reads(A[0:128, 0:128])\n"
     "      T.writes(C[i * 7 + j, 0:128])\n"
     "      C[i * 7 + j, 0] = A[(i * 7 + j) // 2 * 2, (i * 7 + j) % 128]\n",
     NULL, false},
    {"a condition on a quotient",
     "  for i in range(300):\n"
     "    if i // 3 < 42 and i % 3 == 0:\n"
     "      C[i, 0] = A[i // 3, i % 3]\n",
     NULL, false},
    {"the other branch",
     "  for i in range(256):\n"
     "    if i >= 128:\n"
     "      C[i - 128, 0] = 0.0\n"
     "    else:\n"
     "      C[i, 0] = 1.0\n",
     NULL, false},
    {"what follows an assertion",
     "  for i in range(256):\n"
     "    assert i < 128, \"small\"\n"
     "    C[i, 0] = 1.0\n",
     NULL, false},
    {"what follows a continue",
     "  for i in range(256):\n"
     "    if i >= 128:\n"
     "      continue\n"
     "    C[i, 0] = 1.0\n",
     NULL, false},
    {"a loop that ends early",
     "  for i in range(256):\n"
     "    C[i, 0] = 1.0\n"
     "    if i == 127:\n"
     "      break\n",
     NULL, false},
    {"a condition that reads",
     "  for i in range(256):\n"
     "    if X[i % 128] > i:\n"
     "      C[i, 0] = 1.0\n",
     NULL, false},
    {"a variable of a let",
     "  for i in range(128):\n"
     "    j: T.int32 = i + 1\n"
     "    with T.LetStmt(i * 2) as k:\n"
     "      C[k, 0] = 1.0\n",
     "at index 128 (k = 128) of dimension 0", false},
    {"an inner loop that depends on the outer one",
     "  for i in range(127):\n"
     "    for j in range(i, 129 - i):\n"
     "      C[i + j, 0] = 1.0\n",
     "(i = 0, j = 128)", false},
    {"T.Select evaluates both",
     "  for i in range(128):\n"
     "    C[i, 0] = T.Select(i < 127, A[i + 1, 0], 0.0)\n",
     "where the condition beside it does not hold", true},
    {"fewer reads declared",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      T.reads(A[vi, 0:3])\n"
     "      T.writes(C[vi, 0])\n"
     "      C[vi, 0] = A[vi, 0] + A[vi, 3]\n",
     "block 'B' reads more of 'A' than it declares", true},
    {"write not declared",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      T.reads(A[vi, 0:3])\n"
     "      T.writes()\n"
     "      C[vi, 0] = A[vi, 0]\n",
     "block 'B' writes 'C', which it does not declare", true},
    {"an address says less than what is declared",
     "  for i in range(1):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(1, i)\n"
     "      T.reads()\n"
     "      T.writes(C[0:16, 0:16])\n"
     "      T.tvm_fill_fragment(C.data, 16, 16, 16, 0, T.float32(0))\n",
     NULL, false},
    {"an address of what is not declared",
     "  for i in range(1):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(1, i)\n"
     "      T.reads(A[0:16, 0:16])\n"
     "      T.writes()\n"
     "      T.tvm_fill_fragment(C.data, 16, 16, 16, 0, T.float32(0))\n",
     "block 'B' reads 'C', which it does not declare", true},
    {"a tile that is written anew",
     "  S = T.alloc_buffer((16,), \"float32\", scope=\"shared\")\n"
     "  for k in range(8):\n"
     "    for i in range(16):\n"
     "      with T.block(\"S\"):\n"
     "        v = T.axis.spatial(128, k * 16 + i)\n"
     "        S[v % 16] = A[v, 0]\n"
     "    for i in range(16):\n"
     "      with T.block(\"B\"):\n"
     "        v = T.axis.spatial(128, k * 16 + i)\n"
     "        C[v, 0] = S[v % 16]\n",
     NULL, false},
    {"a tile that is read later",
     "  S = T.alloc_buffer((16,), \"float32\", scope=\"shared\")\n"
     "  for k in range(8):\n"
     "    for i in range(16):\n"
     "      with T.block(\"S\"):\n"
     "        v = T.axis.spatial(128, k * 16 + i)\n"
     "        S[v % 16] = A[v, 0]\n"
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      v = T.axis.spatial(128, i)\n"
     "      C[v, 0] = S[v % 16]\n",
     "block 'S' writes one element of 'S' where spatial axis 'v' is 0 and 16", true},
    {"a tile that is too small",
     "  S = T.alloc_buffer((8,), \"float32\", scope=\"shared\")\n"
     "  for k in range(8):\n"
     "    for i in range(16):\n"
     "      with T.block(\"S\"):\n"
     "        v = T.axis.spatial(128, k * 16 + i)\n"
     "        S[v % 8] = A[v, 0]\n"
     "    for i in range(16):\n"
     "      with T.block(\"B\"):\n"
     "        v = T.axis.spatial(128, k * 16 + i)\n"
     "        C[v, 0] = S[v % 8]\n",
     "block 'S' writes one element of 'S' where spatial axis 'v' is 0 and 8", true},
    {"a tile that its threads share",
     "  S = T.alloc_buffer((1,), \"float32\", scope=\"shared\")\n"
     "  for k in range(4):\n"
     "    for i in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
     "      with T.block(\"S\"):\n"
     "        v = T.axis.spatial(128, k * 32 + i)\n"
     "        T.where(A[k * 32 + i, 0] > T.float32(0))\n"
     "        S[0] = A[v, 0]\n"
     "      with T.block(\"B\"):\n"
     "        v = T.axis.spatial(128, k * 32 + i)\n"
     "        C[v, 0] = S[0]\n",
     "block 'S' writes one element of 'S' where spatial axis 'v' is 0 and 1", true},
    {"a tile for each block of threads",
     "  S = T.alloc_buffer((32,), \"float32\", scope=\"shared\")\n"
     "  for k in T.thread_binding(4, thread=\"blockIdx.x\"):\n"
     "    for i in T.thread_binding(32, thread=\"threadIdx.x\"):\n"
     "      with T.block(\"S\"):\n"
     "        v = T.axis.spatial(128, k * 32 + i)\n"
     "        S[v % 32] = A[v, 0]\n"
     "      with T.block(\"B\"):\n"
     "        v = T.axis.spatial(128, k * 32 + i)\n"
     "        C[v, 0] = S[v % 32]\n",
     NULL, false},
    {"an element of two threads that are far apart",
     "  S = T.alloc_buffer((512,), \"float32\", scope=\"shared\")\n"
     "  for i in T.thread_binding(1024, thread=\"threadIdx.x\"):\n"
     "    with T.block(\"S\"):\n"
     "      v = T.axis.spatial(1024, i)\n"
     "      S[v % 512] = A[v % 128, v // 128]\n"
     "  for i in T.thread_binding(1024, thread=\"threadIdx.x\"):\n"
     "    with T.block(\"B\"):\n"
     "      v = T.axis.spatial(1024, i)\n"
     "      C[v % 128, v // 128] = S[v % 512]\n",
     "threads i = 0 and i = 512 both write S[0]", true},
    {"an element of each of many threads",
     "  S = T.alloc_buffer((1024,), \"float32\", scope=\"shared\")\n"
     "  for i in T.thread_binding(1024, thread=\"threadIdx.x\"):\n"
     "    with T.block(\"S\"):\n"
     "      v = T.axis.spatial(1024, i)\n"
     "      S[v % 1024] = A[v % 128, v // 128]\n"
     "  for i in T.thread_binding(1024, thread=\"threadIdx.x\"):\n"
     "    with T.block(\"B\"):\n"
     "      v = T.axis.spatial(1024, i)\n"
     "      C[v % 128, v // 128] = S[v % 1024]\n",
     NULL, false},
    {"more declared is fine",
     "  for i in range(128):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      T.reads(A[0:128, 0:128])\n"
     "      T.writes(C[vi, 0:128])\n"
     "      C[vi, 0] = A[vi, 0]\n",
     NULL, false},
    {"no such thread",
     "  for i in T.thread_binding(128, thread=\"threadIdx.w\"):\n"
     "    with T.block(\"B\"):\n"
     "      vi = T.axis.spatial(128, i)\n"
     "      C[vi, 0] = A[vi, 0]\n",
     "loop 'i' is bound to 'threadIdx.w', which is no thread", false},
    {"one thread, two extents",
     "  for i in T.thread_binding(64, thread=\"threadIdx.x\"):\n"
     "    for j in T.thread_binding(2, thread=\"threadIdx.x\"):\n"
     "      with T.block(\"B\"):\n"
     "        vi = T.axis.spatial(128, i * 2 + j)\n"
     "        C[vi, 0] = A[vi, 0]\n",
     "loops 'i' and 'j' are both bound to threadIdx.x, with different extents", false},
    {"lowered form",
     "  for i in range(128):\n"
     "    for j in T.vectorized(4):\n"
     "      C[i, j] = A[i, j] + T.Cast(\"float32\", X[i])\n",
     NULL, false},
    {"division by zero",
     "  for i in range(128):\n"
     "    C[i, 0] = A[i % 0, 0]\n",
     "division by zero in 'main'", false},
};
/* clang-format on */

static void finds(void **state) {
    const struct row *row = *state;
    char text[4096], got[512] = "";
    hone_module *module = NULL;
    bool is_warning = false;
    snprintf(text, sizeof text, "%s%s", HEAD, row->body);
    hone_test_parse(text, &module);
    hone_findings findings = {.arena = hone_arena_create(4096)};
    HONE_ASSERT_OK(hone_verify_module(module, &findings));
    if (findings.count > 0) {
        snprintf(got, sizeof got, "%s", findings.items[0].text);
        is_warning = findings.items[0].is_warning;
    }
    hone_status st = hone_check_module(module);
    bool is_refused = st != HONE_OK;
    hone_status_free(st);
    hone_arena_destroy(findings.arena);
    hone_module_release(module);
    if (!row->want) {
        assert_string_equal(got, "");
        assert_false(is_refused);
        return;
    }
    if (!strstr(got, row->want)) assert_string_equal(got, row->want);
    assert_int_equal(is_warning, row->is_warning);
    assert_int_equal(is_refused, !row->is_warning);
}

int main(void) {
    return HONE_RUN_ROWS("ir/verify", rows, finds);
}
