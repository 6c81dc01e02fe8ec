/* tests/ir/text/test_script_tvm_0_27.c - constructs as TVM 0.27 prints them: each row is read,
 * printed as written, and read again. */
#include <string.h>

#include "ir/identity/structural.h"
#include "ir/text/print/script_print.h"
#include "ir/text/read/script.h"
#include "tests/support/hone_test.h"

#define PARAMS "A: T.Buffer((16,), \"float32\"), B: T.Buffer((16,), \"float32\")"

/* clang-format off */
static const struct row {
    const char *name, *params, *body; /* lines of the body without indentation */
    bool s_tir;
} rows[] = {
    {"scalar", PARAMS, "x: T.float32 = A[0]\nx = x + T.float32(1.0)\nB[0] = x", false},
    {"scalar without a value", PARAMS,
     "n: T.int32\nfor i in range(4):\n    n = i\n    B[n] = T.float32(0.0)", false},
    {"vector scalar", "A: T.Buffer((16,), \"int8\"), B: T.Buffer((16,), \"int32\")",
     "# with T.sblock(\"root\"):\nv: T.int8x4 = A[T.Ramp(0, 1, 4)]\nB[0] = "
     "T.reinterpret(\"int32\", v)",
     true},
    {"let", PARAMS, "x: T.let[T.float32] = A[0]\nB[0] = x", false},
    {"allocation between blocks", PARAMS,
     "# with T.sblock(\"root\"):\nC = T.alloc_buffer((4,), scope=\"local\")\nfor i in range(4):\n"
     "    C[i] = A[i]\n    B[i] = C[i]",
     true},
    {"allocations behind statements", PARAMS,
     "# with T.sblock(\"root\"):\nC = T.sblock_alloc_buffer((4,))\nD = T.alloc_buffer((4,))\n"
     "with T.sblock(\"c\"):\n    T.reads(A[0])\n    T.writes(C[0])\n    C[0] = A[0]\n"
     "E = T.alloc_buffer((1,))\nwith T.sblock(\"d\"):\n    T.reads(C[0])\n    T.writes(D[0])\n    "
     "D[0] = C[0]\n"
     "F = T.alloc_buffer((1,))\nG = T.alloc_buffer((1,))\nwith T.sblock(\"g\"):\n    "
     "T.reads(D[0])\n    T.writes(G[0])\n    G[0] = D[0]\n"
     "with T.sblock(\"e\"):\n    T.reads(G[0])\n    T.writes(E[0])\n    E[0] = G[0]\nwith "
     "T.sblock(\"b\"):\n    T.reads(E[0])\n    T.writes(B[0])\n    B[0] = E[0]",
     true},
    {"an allocation of loaded size", PARAMS,
     "# with T.sblock(\"root\"):\nn = T.sblock_alloc_buffer((1,), \"int32\")\n"
     "with T.sblock(\"n\"):\n    T.reads()\n    T.writes(n[0])\n    n[0] = 4\n"
     "C = T.alloc_buffer((n[0],))\nwith T.sblock(\"b\"):\n    T.reads()\n    T.writes(C[0])\n"
     "    C[0] = T.float32(0.0)",
     true},
    {"an allocation that nothing follows", PARAMS,
     "# with T.sblock(\"root\"):\nwith T.sblock(\"b\"):\n    T.reads()\n    T.writes(B[0])\n"
     "    B[0] = T.float32(0.0)\nC = T.alloc_buffer((4,))",
     true},
    {"view", PARAMS, "C = A.view(4, 4)\nB[0] = C[1, 2]", false},
    {"launched thread", PARAMS, "tx = T.launch_thread(\"threadIdx.x\", 16)\nB[tx] = A[tx]", false},
    {"launched threads in a suite", PARAMS,
     "with T.launch_thread(\"threadIdx.x\", 8) as tx:\n    B[tx] = A[tx]\n"
     "tx = T.launch_thread(\"threadIdx.x\", 8)\nB[tx] = A[tx]",
     false},
    {"index map", PARAMS,
     "for i in T.serial(16, annotations={\"m\": T.index_map(lambda i_1, j: (i_1 // T.int64(4), "
     "j))}):\n    B[i] = A[i]",
     false},
    {"narrow index map", PARAMS,
     "for i in T.serial(16, annotations={\"m\": T.index_map(lambda j: (j + 1,), "
     "index_dtype=\"int32\")}):\n    B[i] = A[i]",
     false},
    {"reducer", PARAMS,
     "with T.attr(T.comm_reducer(lambda x0, x1, y0, y1: (x0 + y0, T.max(x1, y1)), [0, "
     "T.float32(0.0)]), \"reduce_scope\", 0):\n    T.tvm_thread_allreduce(T.uint32(1), A[0], "
     "T.bool(True), B.data, 0)\nB[1] = A[1]",
     false},
    {"shuffle", PARAMS, "B[0] = T.Shuffle([A[0], A[1], A[2]], [2])", false},
    {"known by name", "A: T.Buffer((16,), \"int32\"), h: T.handle",
     "A[0] = T.tvm_struct_get(h, 0, 13, \"int32\")\nT.tvm_struct_set(h, 0, 1, A[0])\n"
     "A[0:4] = T.call_llvm_pure_intrin(\"int32x4\", \"llvm.smax\", A[T.Ramp(0, 1, 4)], "
     "A[T.Ramp(4, 1, 4)])\nT.ptx.cp.async_.wait_group(0)",
     false},
    {"sizes of parameters",
     "A: T.Buffer((\"n\", 4), \"float32\"), B: T.Buffer((n, \"m\"), \"float32\")",
     "B[0, 0] = A[0, 0]", false},
    {"assertion in parts", PARAMS,
     "assert A[0] > T.float32(0.0), (\"ValueError\", [\"the first \", \"is negative\"])\n"
     "B[0] = A[0]",
     false},
    {"buffer of an attribute", PARAMS,
     "W = T.Buffer((16,))\n# with T.sblock(\"root\"):\nfor i in range(16):\n    with "
     "T.sblock(\"b\"):\n        v = T.axis.spatial(16, i)\n        T.reads(A[v])\n        "
     "T.writes(B[v])\n        T.sblock_attr({\"layout_free\": [W]})\n        B[v] = A[v]",
     true},
    {"block without axes", PARAMS,
     "with T.sblock(\"opaque\"):\n    T.reads()\n    T.writes()\n    T.call_packed(\"f\", "
     "A.data, B.data)",
     true},
    {"vectors", PARAMS, "B[0:4] = A[T.Ramp(0, 1, 4)]\nB[T.Ramp(0, 2, 4)] = A[T.Ramp(1, 3, 4)]",
     false},
    {"pointers", "p: T.handle(\"float32\", \"global\"), q: T.handle",
     "A = T.decl_buffer((16,), data=p)\nx: T.let[T.handle(\"int32\", \"local\")] = "
     "T.reinterpret(T.handle(\"int32\", \"local\").ty, q)\nA[0] = T.float32(0.0)\n"
     "T.call_packed(\"f\", x)",
     false},
    {"pointers of lets", PARAMS ", q: T.handle(storage_scope=\"shared\")",
     "x: T.let[T.handle(\"float32\", \"global\")] = T.address_of(A[2])\n"
     "y: T.let[T.handle(\"int8\", \"global\")] = T.tvm_struct_get(q, 0, 1, "
     "T.handle(\"int8\", \"global\").ty)\nT.call_packed(\"f\", x, y)",
     false},
    {"offset of zero", "a: T.handle, b: T.handle",
     "A = T.match_buffer(a, (16,), elem_offset=0, offset_factor=8)\n"
     "B = T.match_buffer(b, (16,), offset_factor=1)\nB[0] = A[0]",
     false},
    {"masked accesses", PARAMS,
     "T.masked_store(B, T.masked_load(\"float32x4\", A, T.Ramp(0, 1, 4), "
     "T.Broadcast(T.bool(True), 4)), T.Ramp(4, 2, 4), T.Broadcast(T.bool(False), 4))",
     false},
    {"notes of an allocation", PARAMS,
     "C = T.alloc_buffer((4,), annotations={\"addresses\": [], \"tag\": \"x\"}, layout=None)\n"
     "C[0] = A[0]\nB[0] = C[0]",
     false},
    {"wide offset of zero", PARAMS,
     "C = T.decl_buffer((4,), data=A.data, elem_offset=T.int64(0))\nB[0] = C[0]", false},
    {"kernel of another device", PARAMS,
     "e: T.let[T.int32] = T.call_ffi_kernel(\"k\", A.data, 4, "
     "launch_params=[\"blockIdx.x\", \"threadIdx.x\"])\nT.evaluate(e)",
     false},
    {"call of a function", PARAMS,
     "B[0] = T.Cast(\"float32\", Module.main(A.data, 3))\nModule.main(B.data, 3)", false},
    {"undefined value", PARAMS, "B[0] = T.undef(dtype=\"float32\")", false},
    {"regions of what the block allocates", PARAMS,
     "with T.sblock(\"b\"):\n    C = T.sblock_alloc_buffer((4,))\n    T.reads(A[0:4])\n    "
     "T.writes(C[0:4])\n    for i in range(4):\n        C[i] = A[i]",
     true},
    {"target", PARAMS,
     "T.func_attr({\"target\": T.target({\"kind\": \"llvm\", \"tag\": \"\"}), \"tirx.noalias\": "
     "True})\nB[0] = A[0]",
     false},
};
/* clang-format on */

static void write_text(const struct row *row, hone_str *out) {
    hone_str_append(out, "# from tvm.script import ir as I\n# from tvm.script import tirx as T\n\n"
                         "@I.ir_module\nclass Module:\n    @T.prim_func");
    hone_str_printf(out, "%s\n    def main(%s):\n", row->s_tir ? "(s_tir=True)" : "", row->params);
    for (const char *line = row->body; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        hone_str_printf(out, "        %.*s\n", (int)strcspn(line, "\n"), line);
    }
}

static void check_row(void **state) {
    const struct row *row = *state;
    hone_module *module = NULL, *copy = NULL;
    hone_str text = {0}, printed = {0}, difference = {0};
    write_text(row, &text);
    HONE_ASSERT_OK(hone_script_parse(text.data, text.length, "p.py", &module));
    HONE_ASSERT_OK(hone_module_print(module, NULL, &printed));
    HONE_ASSERT_OK(hone_script_parse(printed.data, printed.length, "again.py", &copy));
    bool same = hone_module_equal(module, copy, &difference);
    if (!same) print_error("%s\n", hone_str_text(&difference));
    bool as_written = strcmp(hone_str_text(&text), hone_str_text(&printed)) == 0;
    if (!as_written) print_error("%s", hone_str_text(&printed));
    hone_module_release(module);
    hone_module_release(copy);
    hone_str_deinit(&text);
    hone_str_deinit(&printed);
    hone_str_deinit(&difference);
    assert_true(same);
    assert_true(as_written);
}

int main(void) {
    return HONE_RUN_ROWS("ir/script_tvm_0_27", rows, check_row);
}
