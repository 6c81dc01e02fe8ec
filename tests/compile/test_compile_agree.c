/* tests/compile/test_compile_agree.c - compiled models compute what the interpreter says: real
 * models, programs, graphs with every way of memory; plain and with default schedules; fixed sizes,
 * open ones, and special plans. */
#include "tests/compile/compile_fixture.h"
#include "tests/support/hone_test.h"

#define HEAD                                                                                       \
    "from tvm.script import ir as I\nfrom tvm.script import relax as R\n"                          \
    "from tvm.script import tir as T\n"
#define GRAPH HEAD "@I.ir_module\nclass M:\n    @R.function\n"

/* Concat, softmax and transpose; two outputs, one of them twice used. */
static const char concat_graph[] =
    GRAPH "    def main(a: R.Tensor((3, 4), \"float32\"), b: R.Tensor((3, 5), \"float32\")):\n"
          "        with R.dataflow():\n"
          "            c = R.concat((a, b), axis=1)\n"
          "            s = R.nn.softmax(c, axis=-1)\n"
          "            t = R.permute_dims(s, axes=[1, 0])\n"
          "            r = R.nn.relu(c)\n"
          "            R.output(t, r)\n"
          "        return (t, r)\n";
/* An output that is an input, one that is another's view, one that is computed. */
static const char alias_graph[] = GRAPH "    def main(a: R.Tensor((4, 6), \"float32\")):\n"
                                        "        with R.dataflow():\n"
                                        "            v = R.reshape(a, (24,))\n"
                                        "            e = R.exp(a)\n"
                                        "            w = R.reshape(e, (6, 4))\n"
                                        "            R.output(v, e, w)\n"
                                        "        return (a, v, e, w)\n";
static const char dynamic_graph[] = GRAPH
    "    def main(x: R.Tensor((\"n\", 16), \"float32\"), w: R.Tensor((16, 8), \"float32\")):\n"
    "        n = T.int64()\n"
    "        with R.dataflow():\n"
    "            d = R.matmul(x, w)\n"
    "            e = R.tanh(d)\n"
    "            f = R.add(e, d)\n"
    "            g = R.concat((f, e), axis=1)\n"
    "            R.output(g)\n"
    "        return g\n";
/* Places that are computed, order and sums along an axis, what is made of sizes. */
static const char places_graph[] =
    GRAPH "    def main(x: R.Tensor((\"n\", 6), \"float32\")):\n"
          "        n = T.int64()\n"
          "        with R.dataflow():\n"
          "            i = R.argsort(x, axis=1, descending=True)\n"
          "            s = R.gather_elements(x, i, axis=1)\n"
          "            u = R.scatter_elements(x, i, s, axis=1, reduction=\"add\")\n"
          "            c = R.cumsum(u, axis=0)\n"
          "            p = R.cumprod(s, axis=1, exclusive=True)\n"
          "            t = R.topk(R.add(c, p), k=3, axis=1, largest=False)\n"
          "            v = R.triu(t[0], k=-1)\n"
          "            w = R.flip(t[1], axis=0)\n"
          "            a = R.arange(1, n + 1, 1, \"float32\")\n"
          "            z = R.full((n, 6), R.const(2, \"float32\"))\n"
          "            y = R.add(R.repeat(R.reshape(a, (n, 1)), repeats=6, axis=1), z)\n"
          "            r = R.nn.pad(y, pad_width=[1, 2, 0, 3], pad_mode=\"replicate\")\n"
          "            k = R.isnan(R.tile(s, repeats=[2, 1]))\n"
          "            R.output(c, v, w, r, k)\n"
          "        return (c, v, w, r, k)\n";
/* Its rows and columns may come later: vectors of a known size do not fill them. */
static const char image_graph[] =
    GRAPH "    def main(x: R.Tensor((1, 3, \"h\", \"w\"), \"float32\"), "
          "k: R.Tensor((16, 3, 5, 5), \"float32\")):\n"
          "        h = T.int64()\n        w = T.int64()\n"
          "        with R.dataflow():\n"
          "            c = R.nn.conv2d(x, k, strides=[2, 2], padding=[2, 2, 2, 2])\n"
          "            y = R.nn.relu(c)\n"
          "            R.output(y)\n"
          "        return y\n";
/* Filters as vectors, whole rows that are none, and more channels of one place. */
static const char images_graph[] =
    GRAPH "    def main(x: R.Tensor((1, 16, \"h\", \"w\"), \"float32\"), "
          "k: R.Tensor((32, 16, 3, 3), \"float32\"), p: R.Tensor((10, 32, 1, 1), "
          "\"float32\")):\n"
          "        h = T.int64()\n        w = T.int64()\n"
          "        with R.dataflow():\n"
          "            c = R.nn.relu(R.nn.conv2d(x, k, padding=[1, 1, 1, 1]))\n"
          "            y = R.nn.conv2d(c, p)\n"
          "            R.output(y)\n"
          "        return y\n";
/* Rows whose length comes later: sums and extremes along them, and what goes along with them. */
static const char rows_graph[] = GRAPH
    "    def main(x: R.Tensor((2, \"h\", \"w\"), \"float32\"), "
    "y: R.Tensor((2, 3, \"w\"), \"float32\")):\n"
    "        h = T.int64()\n        w = T.int64()\n"
    "        with R.dataflow():\n"
    "            a = R.nn.softmax(x, axis=-1)\n"
    "            b = R.concat((x, y), axis=1)\n"
    "            c = R.mean(b, axis=-1, keepdims=True)\n"
    "            d = R.multiply(R.sigmoid(R.add(b, c)), b)\n"
    "            e = R.min(R.astype(R.multiply(x, R.const(9, \"float32\")), \"int64\"), axis=-1)\n"
    "            f = R.matmul(R.permute_dims(x, axes=[0, 2, 1]), x)\n"
    "            g = R.prod(R.sigmoid(y), axis=2)\n"
    "            R.output(a, d, e, f, g)\n"
    "        return (a, d, e, f, g)\n";
/* The first few of rows that may be shorter than a block of elements, or have many of them. */
static const char first_graph[] = GRAPH
    "    def main(x: R.Tensor((2, \"w\"), \"float32\")):\n"
    "        w = T.int64()\n"
    "        with R.dataflow():\n"
    "            y = R.concat((x, R.sin(R.multiply(x, R.const(37, \"float32\"))), x, x, x, x, x, "
    "x, x), axis=1)\n"
    "            a = R.topk(y, k=3, axis=1)\n"
    "            b = R.topk(y, k=9, axis=1, largest=False)\n"
    "            R.output(a, b)\n"
    "        return (a[0], a[1], b[0], b[1])\n";
/* Windows that step over elements, or reach beyond the image, along rows of any length. */
static const char windows_graph[] = GRAPH
    "    def main(x: R.Tensor((1, 5, \"h\", \"w\"), \"float32\"), "
    "k: R.Tensor((5, 1, 3, 3), \"float32\"), g: R.Tensor((6, 2, 3, 3), \"float32\")):\n"
    "        h = T.int64()\n        w = T.int64()\n"
    "        with R.dataflow():\n"
    "            a = R.nn.max_pool2d(x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])\n"
    "            b = R.nn.max_pool2d(x, pool_size=[3, 3], padding=[1, 1, 1, 1])\n"
    "            c = R.nn.avg_pool2d(x, pool_size=[2, 2], strides=[2, 2], padding=[1, 1, 1, 1])\n"
    "            d = R.nn.conv2d(x, k, strides=[2, 2], padding=[1, 1, 1, 1], groups=5)\n"
    "            e = R.nn.max_pool2d(x, pool_size=[3, 4], strides=[3, 4], padding=[2, 3, 2, 3])\n"
    "            y = R.concat((x, x, x, x), axis=1)\n"
    "            z = R.strided_slice(y, axes=[1], begin=[0], end=[6])\n"
    "            f = R.nn.conv2d(z, g, padding=[1, 1, 1, 1], groups=3)\n"
    "            R.output(a, b, c, d, e, f)\n"
    "        return (a, b, c, d, e, f)\n";
/* Transposed convolutions by phases, in one to three dimensions, and with none. */
static const char transposed_graph[] = GRAPH
    "    def main(x: R.Tensor((1, 4, \"h\", 3, \"w\"), \"float32\"), "
    "k: R.Tensor((4, 3, 3, 2, 4), \"float32\"), g: R.Tensor((4, 3, 3, 3, 3), \"float32\"), "
    "m: R.Tensor((4, 2, 3, 3), \"float32\")):\n"
    "        h = T.int64()\n        w = T.int64()\n"
    "        with R.dataflow():\n"
    "            a = R.nn.conv3d_transpose(x, k, strides=[2, 1, 3], padding=[1, 0, 1, 1, 0, 1])\n"
    "            b = R.nn.conv3d_transpose(x, g, padding=[1, 1, 1, 1, 1, 1])\n"
    "            y = R.reshape(x, (1, 4, h * 3, w))\n"
    "            c = R.nn.conv2d_transpose(y, m, padding=[1, 1, 1, 1], groups=2)\n"
    "            R.output(a, b, c)\n"
    "        return (a, b, c)\n";
/* Sums, and running ones, across rows whose length comes later. */
static const char across_graph[] =
    GRAPH "    def main(x: R.Tensor((2, \"h\", \"w\"), \"float32\"), "
          "y: R.Tensor((2, \"w\", \"h\"), \"float32\")):\n"
          "        h = T.int64()\n        w = T.int64()\n"
          "        with R.dataflow():\n"
          "            a = R.mean(x, axis=[1])\n"
          "            b = R.cumsum(x, axis=1)\n"
          "            c = R.nn.softmax(x, axis=1)\n"
          "            d = R.matmul(x, y)\n"
          "            e = R.cumsum(x, axis=0)\n"
          "            R.output(a, b, c, d, e)\n"
          "        return (a, b, c, d, e)\n"; /* What sums nothing: turned in squares that rows of
                                                 any length leave over, and rows that are one. */
static const char maps_graph[] = GRAPH
    "    def main(x: R.Tensor((2, \"h\", \"w\"), \"float32\"), "
    "y: R.Tensor((2, \"w\", \"h\"), \"float32\"), b: R.Tensor((2, 1, 1), \"float32\"), "
    "v: R.Tensor((\"h\", \"w\", 3), \"uint8\")):\n"
    "        h = T.int64()\n        w = T.int64()\n"
    "        with R.dataflow():\n"
    "            a = R.permute_dims(x, axes=[0, 2, 1])\n"
    "            c = R.permute_dims(x, axes=[2, 1, 0])\n"
    "            d = R.add(R.exp(x), R.permute_dims(y, axes=[0, 2, 1]))\n"
    "            e = R.nn.relu(R.add(x, b))\n"
    "            f = R.flip(R.strided_slice(x, axes=[2], begin=[0], end=[9999], strides=[2]), "
    "axis=2)\n"
    "            g = R.permute_dims(v, axes=[1, 0, 2])\n"
    "            k = R.permute_dims(v, axes=[2, 0, 1])\n"
    "            R.output(a, c, d, e, f, g, k)\n"
    "        return (a, c, d, e, f, g, k)\n";
/* Products whose rows, columns and sums may all be left over of a tile. */
static const char products_graph[] =
    GRAPH "    def main(x: R.Tensor((2, \"h\", \"w\"), \"float32\"), "
          "y: R.Tensor((2, \"w\", \"h\"), \"float32\"), z: R.Tensor((\"w\", 40), \"float32\"), "
          "k: R.Tensor((9, 2, 3, 3), \"float32\")):\n"
          "        h = T.int64()\n        w = T.int64()\n"
          "        with R.dataflow():\n"
          "            a = R.matmul(x, y)\n"
          "            b = R.nn.relu(R.matmul(y, x))\n"
          "            c = R.matmul(x, z)\n"
          "            d = R.matmul(R.astype(x, \"float16\"), R.astype(y, \"float16\"))\n"
          "            e = R.nn.conv2d(R.reshape(x, (1, 2, h, w)), k, padding=[1, 1, 1, 1])\n"
          "            R.output(a, b, c, d, e)\n"
          "        return (a, b, c, d, e)\n";
/* A convolution of bytes, whose image is turned so that channels come last. */
static const char bytes_graph[] =
    GRAPH "    def main(x: R.Tensor((1, 8, \"h\", \"w\"), \"uint8\"), "
          "k: R.Tensor((16, 8, 3, 3), \"uint8\")):\n"
          "        h = T.int64()\n        w = T.int64()\n"
          "        with R.dataflow():\n"
          "            c = R.nn.conv2d(x, k, padding=[1, 1, 1, 1], out_dtype=\"int32\")\n"
          "            y = R.clip(R.right_shift(c, R.const(9, \"int32\")), 0, 255)\n"
          "            R.output(y)\n"
          "        return y\n";

/* Two functions with no graph: one entry each; the second's size is open. */
static const char two_funcs[] =
    HEAD "@I.ir_module\nclass M:\n"
         "    @T.prim_func\n"
         "    def scale(A: T.Buffer((7, 9), \"float32\"), B: T.Buffer((7, 9), \"float32\")):\n"
         "        for i, j in T.grid(7, 9):\n"
         "            with T.block(\"B\"):\n"
         "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "                B[vi, vj] = A[vi, vj] * T.float32(3)\n"
         "    @T.prim_func\n"
         "    def twice(a: T.handle, b: T.handle):\n"
         "        n = T.int64()\n"
         "        A = T.match_buffer(a, (n, 3), \"int32\")\n"
         "        B = T.match_buffer(b, (n, 3), \"int32\")\n"
         "        for i, j in T.grid(n, 3):\n"
         "            with T.block(\"B\"):\n"
         "                vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "                B[vi, vj] = A[vi, vj] + A[vi, vj]\n";

/* Names that every model has, and that collide with each other; a scalar; an update in place. */
static const char odd_names[] =
    HEAD "@I.ir_module\nclass M:\n"
         "    @T.prim_func\n"
         "    def info(A: T.Buffer((4,), \"float32\"), B: T.Buffer((4,), \"float32\")):\n"
         "        for i in range(4):\n"
         "            with T.block(\"B\"):\n"
         "                v = T.axis.spatial(4, i)\n"
         "                B[v] = A[v] + T.float32(1)\n"
         "    @T.prim_func\n"
         "    def f(A: T.Buffer((5,), \"float32\"), x: T.int32, B: T.Buffer((5,), \"float32\")):\n"
         "        for i in range(5):\n"
         "            with T.block(\"B\"):\n"
         "                v = T.axis.spatial(5, i)\n"
         "                B[v] = A[v] + T.Cast(\"float32\", x)\n"
         "    @T.prim_func\n"
         "    def f_shapes(A: T.Buffer((6,), \"float32\"), y: T.float32,\n"
         "                 B: T.Buffer((6,), \"float16\")):\n"
         "        for i in range(6):\n"
         "            with T.block(\"B\"):\n"
         "                v = T.axis.spatial(6, i)\n"
         "                B[v] = T.Cast(\"float16\", A[v] * y)\n";
/* Open strides are those of a dense tensor. */
static const char open_strides[] =
    HEAD "@T.prim_func\n"
         "def main(a: T.handle, b: T.handle):\n"
         "    n = T.int64()\n    s = T.int64()\n    o = T.int64()\n"
         "    A = T.match_buffer(a, (n, 3), \"float32\", strides=(s, 1), elem_offset=o)\n"
         "    B = T.match_buffer(b, (n, 3), \"float32\")\n"
         "    for i, j in T.grid(n, 3):\n"
         "        with T.block(\"B\"):\n"
         "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "            B[vi, vj] = A[vi, vj] - T.float32(2)\n";
/* No kernel and no input at all. */
static const char constant_graph[] = GRAPH
    "    def main():\n"
    "        with R.dataflow():\n"
    "            a = R.add(R.const([1.0, 2.0], \"float32\"), R.const([3.0, 4.0], \"float32\"))\n"
    "            R.output(a)\n"
    "        return a\n";

/* Inputs and outputs of each short float that ONNX has. */
static const char short_graph[] = GRAPH
    "    def main(a: R.Tensor((5,), \"float8_e4m3fnuz\"), b: R.Tensor((5,), \"float8_e5m2fnuz\"),\n"
    "             c: R.Tensor((5,), \"float4_e2m1fn\"), d: R.Tensor((5,), \"float8_e8m0fnu\")):\n"
    "        with R.dataflow():\n"
    "            x = R.astype(a, dtype=\"float32\")\n"
    "            y = R.add(R.astype(b, dtype=\"float32\"), R.astype(c, dtype=\"float32\"))\n"
    "            e = R.astype(y, dtype=\"float8_e4m3fnuz\")\n"
    "            f = R.astype(x, dtype=\"float8_e5m2fnuz\")\n"
    "            g = R.astype(x, dtype=\"float4_e2m1fn\")\n"
    "            h = R.astype(R.astype(d, dtype=\"float32\"), dtype=\"float8_e8m0fnu\")\n"
    "            R.output(e, f, g, h)\n"
    "        return (e, f, g, h)\n";

#define MODELS "examples/fashion_mnist/"
#define PROGRAMS "tests/programs/"

static const struct row {
    const char *name, *source;
    bool no_schedule;
    const char *shape; /* for special plans */
    int64_t sizes[6];  /* of open dimensions; 0 ends */
} rows[] = {
    {"mlp plain",                  MODELS "mlp.onnx",               true,  NULL,    {1}                   },
    {"mlp default",                MODELS "mlp.onnx",               false, NULL,    {1}                   },
    {"mlp batch plain",            MODELS "mlp_batch.onnx",         true,  NULL,    {1, 7}                },
    {"mlp batch default",          MODELS "mlp_batch.onnx",         false, NULL,    {1, 7, 64}            },
    {"mlp batch special",          MODELS "mlp_batch.onnx",         false, "N=1,7", {1, 7, 64}            },
    {"cnn plain",                  MODELS "cnn.onnx",               true,  NULL,    {1}                   },
    {"cnn default",                MODELS "cnn.onnx",               false, NULL,    {1}                   },
    {"cnn batch default",          MODELS "cnn_batch.onnx",         false, NULL,    {1, 3}                },
    {"cnn batch special",          MODELS "cnn_batch.onnx",         false, "N=2",   {2, 3}                },
    {"concat, softmax, transpose", concat_graph,                    false, NULL,    {1}                   },
    {"concat plain",               concat_graph,                    true,  NULL,    {1}                   },
    {"outputs that are inputs",    alias_graph,                     false, NULL,    {1}                   },
    {"open size",                  dynamic_graph,                   false, NULL,    {1, 7, 64, 13}        },
    {"open size, special",         dynamic_graph,                   false, "n=7",   {7, 1, 64}            },
    {"places, order, sizes",       places_graph,                    false, NULL,    {1, 7, 64, 13}        },
    {"places plain",               places_graph,                    true,  NULL,    {5}                   },
    {"open image",                 image_graph,                     false, NULL,    {1, 7, 64, 13}        },
    {"open rows",                  rows_graph,                      false, NULL,    {1, 7, 33, 64}        },
    {"open images",                images_graph,                    false, NULL,    {1, 7, 17, 64}        },
    {"first of open rows",         first_graph,                     false, NULL,    {1, 7, 33, 99}        },
    {"windows of open rows",       windows_graph,                   false, NULL,    {1, 7, 33, 64}        },
    {"transposed, open",           transposed_graph,                false, NULL,    {1, 7, 17, 64}        },
    {"across open rows",           across_graph,                    false, NULL,    {1, 7, 33, 64}        },
    {"maps of open rows",          maps_graph,                      false, NULL,    {1, 7, 16, 33, 60, 62}},
    {"products, open",             products_graph,                  false, NULL,    {1, 7, 17, 48, 61, 77}},
    {"bytes of open images",       bytes_graph,                     false, NULL,    {1, 7, 17, 33}        },
    {"two functions",              two_funcs,                       false, NULL,    {1, 5, 64}            },
    {"names that collide",         odd_names,                       false, NULL,    {1}                   },
    {"open strides",               open_strides,                    false, NULL,    {1, 6}                },
    {"constants alone",            constant_graph,                  false, NULL,    {1}                   },
    {"short floats",               short_graph,                     false, NULL,    {1}                   },
    {"matmul_relu",                PROGRAMS "matmul_relu.py",       false, NULL,    {1}                   },
    {"batch_matmul_relu",          PROGRAMS "batch_matmul_relu.py", false, NULL,    {1}                   },
    {"conv2d",                     PROGRAMS "conv2d.py",            false, NULL,    {1}                   },
    {"mlp_call_tir",               PROGRAMS "mlp_call_tir.py",      false, NULL,    {1}                   },
    {"mlp_fused",                  PROGRAMS "mlp_fused.py",         true,  NULL,    {1}                   },
    {"add_int64",                  PROGRAMS "add_int64.py",         false, NULL,    {1}                   },
    {"window_sum",                 PROGRAMS "window_sum.py",        false, NULL,    {1}                   },
};

static fixture shared;

static void check_row(void **state) {
    const struct row *row = *state;
    hone_compile_options options = fixture_options(&shared, "model");
    hone_dim_variants variants = {0};
    hone_module *module = NULL;
    hone_loaded_model *model = NULL;
    options.no_schedule = row->no_schedule;
    hone_status st = hone_dim_variants_parse(&row->shape, row->shape ? 1 : 0, &variants);
    options.variants = &variants;
    if (!st) st = fixture_module(row->source, &module);
    if (!st) st = fixture_compile(module, &options, NULL, &model);
    for (int i = 0; i < 6 && row->sizes[i] && !st; i++) {
        st = hone_status_annotate(fixture_agree(module, model, row->sizes[i], (uint64_t)i + 1),
                                  "size %d", (int)row->sizes[i]);
    }
    hone_loaded_model_close(model);
    hone_module_release(module);
    hone_dim_variants_deinit(&variants);
    HONE_ASSERT_OK(st);
}

int main(void) {
    if (fixture_begin(&shared) != 0) return 1;
    int code = HONE_RUN_ROWS("compile/agree", rows, check_row);
    fixture_end(&shared);
    return code;
}
