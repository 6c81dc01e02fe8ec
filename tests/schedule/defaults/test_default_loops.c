/* tests/schedule/defaults/test_default_loops.c - which loops default schedules make of products,
 * windows, images and transposes: parallel, vectorized, unrolled ones, and how many nests. What
 * goes along rows is in test_default_rows.c. */
#include "tests/support/hone_test.h"

#include <stdio.h>

#include "schedule/primitive/primitives.h"
#include "tests/schedule/defaults/default_trial.h"
#include "tests/schedule/defaults/loop_counts.h"
#include "tests/support/program_text.h"

/* A window of 3 x 3 goes over images of so many rows and columns. */
#define WINDOW(height, columns, stride)                                                            \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((16, " height ", " columns " * " stride " + 2), \"float32\"), "          \
    "B: T.Buffer((16, 3, 3), \"float32\"), C: T.Buffer((16, (" height " - 3) // " stride           \
    " + 1, " columns "), \"float32\")):\n"                                                         \
    "    for c, y, x, dy, dx in T.grid(16, (" height " - 3) // " stride " + 1, " columns           \
    ", 3, 3):\n"                                                                                   \
    "        with T.block(\"C\"):\n"                                                               \
    "            vc, vy, vx, vdy, vdx = T.axis.remap(\"SSSRR\", [c, y, x, dy, dx])\n"              \
    "            with T.init():\n"                                                                 \
    "                C[vc, vy, vx] = T.float32(0)\n"                                               \
    "            C[vc, vy, vx] = C[vc, vy, vx] + A[vc, vy * " stride " + vdy, vx * " stride        \
    " + vdx] * B[vc, vdy, vdx]\n"

/* A product of so many rows, columns and steps. */
#define PRODUCT(rows, columns)                                                                     \
    "@T.prim_func\n"                                                                               \
    "def main(A: T.Buffer((" rows ", 128), \"float32\"), B: T.Buffer((128, " columns "), "         \
    "\"float32\"), C: T.Buffer((" rows ", " columns "), \"float32\")):\n"                          \
    "    for i, j, k in T.grid(" rows ", " columns ", 128):\n"                                     \
    "        with T.block(\"C\"):\n"                                                               \
    "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"                                  \
    "            with T.init():\n"                                                                 \
    "                C[vi, vj] = T.float32(0)\n"                                                   \
    "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n"

static const char window_34x32[] = WINDOW("34", "32", "1");
static const char window_35x16[] = WINDOW("35", "16", "1");
static const char window_71x16[] = WINDOW("71", "16", "2");
static const char window_8x6[] = WINDOW("8", "6", "1");
static const char window_9x7[] = WINDOW("9", "7", "1");
static const char product_127x128[] = PRODUCT("127", "128");
static const char product_128x128[] = PRODUCT("128", "128");
static const char product_128x56[] = PRODUCT("128", "56");
static const char product_128x60[] = PRODUCT("128", "60");
static const char product_16x24[] = PRODUCT("16", "24");
static const char product_128x1009[] = PRODUCT("128", "1009");
static const char product_128x4097[] = PRODUCT("128", "4097");
static const char product_1x1024[] = PRODUCT("1", "1024");
static const char product_1x1001[] = PRODUCT("1", "1001");

static const struct row {
    const char *name;
    const char *text;
    uint32_t top, parallel, unrolled;
    int64_t vector; /* the longest */
} rows[] = {
    {"rows share what a window reads",                                      window_34x32,     1, 1, 5, 32 },
    {"rows that nothing divides",                                           window_35x16,     1, 1, 5, 16 },
    {"a window that moves on goes row by row",                              window_71x16,     1, 1, 4, 16 },
    {"a plane that fits in registers is unrolled",                          window_8x6,       1, 0, 5, 6  },
    {"a plane that does not is taken by rows",                              window_9x7,       1, 0, 5, 7  },
    {"product",                                                             product_128x128,  1, 1, 2, 16 },
    {"product, rows that nothing divides",                                  product_127x128,  1, 1, 2, 16 },
    {"product, columns that nothing divides",                               product_128x1009, 1, 1, 2, 24 },
    {"product, columns that a short tile divides",                          product_128x4097, 1, 1, 2, 24 },
    {"product, columns with a rest in wider tiles",                         product_128x56,   1, 1, 2, 16 },
    {"product, tiles that registers do not hold",                           product_128x60,   1, 1, 2, 16 },
    {"product, all registers",                                              product_16x24,    1, 1, 2, 24 },
    {"product of one row, whose tile is longer",                            product_1x1024,   1, 1, 0, 64 },
    {"product of one row, columns with a rest",                             product_1x1001,   1, 1, 0, 64 },
    {"product, transposed weights",
     "@T.prim_func\n"
     "def main(A: T.Buffer((1, 512), \"float32\"), B: T.Buffer((128, 512), \"float32\"), "
     "C: T.Buffer((1, 128), \"float32\")):\n"
     "    for i, j, k in T.grid(1, 128, 512):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
     "            with T.init():\n"
     "                C[vi, vj] = T.float32(0)\n"
     "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]\n",                           1, 1, 2, 0  },
    {"a chain becomes one loop",
     "@T.prim_func\n"
     "def main(A: T.Buffer((256, 512), \"float32\"), C: T.Buffer((256, 512), \"float32\")):\n"
     "    B = T.alloc_buffer((256, 512))\n"
     "    for i, j in T.grid(256, 512):\n"
     "        with T.block(\"B\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            B[vi, vj] = A[vi, vj] + T.float32(1)\n"
     "    for i, j in T.grid(256, 512):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            C[vi, vj] = B[vi, vj] * T.float32(2)\n",                                    1, 1, 0, 32 },
    {"rows of 3 are vectors together",
     "@T.prim_func\n"
     "def main(A: T.Buffer((256, 512, 3), \"float32\"), B: T.Buffer((3,), \"float32\"), "
     "C: T.Buffer((256, 512, 3), \"float32\")):\n"
     "    for i, j, k in T.grid(256, 512, 3):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj, vk = T.axis.remap(\"SSS\", [i, j, k])\n"
     "            C[vi, vj, vk] = A[vi, vj, 2 - vk] + B[vk]\n",                               1, 1, 0, 24 },
    {"but not where they are read from afar",
     "@T.prim_func\n"
     "def main(A: T.Buffer((3, 256, 512), \"float32\"), C: T.Buffer((256, 512, 3), \"float32\")):\n"
     "    for i, j, k in T.grid(256, 512, 3):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj, vk = T.axis.remap(\"SSS\", [i, j, k])\n"
     "            C[vi, vj, vk] = A[vk, vi, vj]\n",                                           1, 1, 0, 3  },
    {"sums of columns have wide tiles",
     "@T.prim_func\n"
     "def main(A: T.Buffer((200, 1024), \"float32\"), C: T.Buffer((1024,), \"float32\")):\n"
     "    for j, k in T.grid(1024, 200):\n"
     "        with T.block(\"C\"):\n"
     "            vj, vk = T.axis.remap(\"SR\", [j, k])\n"
     "            with T.init():\n"
     "                C[vj] = T.float32(0)\n"
     "            C[vj] = C[vj] + A[vk, vj]\n",                                               1, 1, 0, 128},
    {"also where short ones divide the columns",
     "@T.prim_func\n"
     "def main(A: T.Buffer((200, 1111), \"float32\"), C: T.Buffer((1111,), \"float32\")):\n"
     "    for j, k in T.grid(1111, 200):\n"
     "        with T.block(\"C\"):\n"
     "            vj, vk = T.axis.remap(\"SR\", [j, k])\n"
     "            with T.init():\n"
     "                C[vj] = T.float32(0)\n"
     "            C[vj] = C[vj] + A[vk, vj]\n",                                               1, 1, 0, 128},
    {"those of products leave registers to factors",
     "@T.prim_func\n"
     "def main(A: T.Buffer((200, 1024), \"float32\"), C: T.Buffer((1024,), \"float32\")):\n"
     "    for j, k in T.grid(1024, 200):\n"
     "        with T.block(\"C\"):\n"
     "            vj, vk = T.axis.remap(\"SR\", [j, k])\n"
     "            with T.init():\n"
     "                C[vj] = T.float32(0)\n"
     "            C[vj] = C[vj] + A[vk, vj] * A[vk, vj]\n",                                   1, 1, 0, 64 },
    {"sums of columns beyond the second cache take rows beside each other",
     "@T.prim_func\n"
     "def main(A: T.Buffer((500, 1024), \"float32\"), C: T.Buffer((1024,), \"float32\")):\n"
     "    for j, k in T.grid(1024, 500):\n"
     "        with T.block(\"C\"):\n"
     "            vj, vk = T.axis.remap(\"SR\", [j, k])\n"
     "            with T.init():\n"
     "                C[vj] = T.float32(0)\n"
     "            C[vj] = C[vj] + A[vk, vj]\n",                                               1, 1, 1, 32 },
    {"short rows that lie apart go together",
     "@T.prim_func\n"
     "def main(A: T.Buffer((16, 9, 99, 2, 3), \"float32\"), C: T.Buffer((16, 99), \"float32\")):\n"
     "    for i, j, k, l, m in T.grid(16, 99, 9, 2, 3):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj, vk, vl, vm = T.axis.remap(\"SSRRR\", [i, j, k, l, m])\n"
     "            with T.init():\n"
     "                C[vi, vj] = T.float32(0)\n"
     "            C[vi, vj] = C[vi, vj] + A[vi, vk, vj, vl, vm]\n",                           1, 1, 2, 99 },
    {"sums of rows of 3 share what is read",
     "@T.prim_func\n"
     "def main(A: T.Buffer((30000, 3), \"float32\"), C: T.Buffer((30000,), \"float32\")):\n"
     "    for i, k in T.grid(30000, 3):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "            with T.init():\n"
     "                C[vi] = T.float32(0)\n"
     "            C[vi] = C[vi] + A[vi, vk]\n",                                               1, 1, 0, 16 },
    {"sums of rows of 7 go across them",
     "@T.prim_func\n"
     "def main(A: T.Buffer((30001, 7), \"float32\"), B: T.Buffer((7,), \"float32\"), "
     "C: T.Buffer((30001,), \"float32\")):\n"
     "    for i, k in T.grid(30001, 7):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "            with T.init():\n"
     "                C[vi] = T.float32(0)\n"
     "            C[vi] = C[vi] + A[vi, vk] * B[vk]\n",                                       1, 1, 1, 8  },
    {"places of floats do, in as many lanes",
     "@T.prim_func\n"
     "def main(A: T.Buffer((30001, 7), \"float32\"), B: T.Buffer((30001,), \"float32\"), "
     "C: T.Buffer((30001,), \"int64\")):\n"
     "    for i, k in T.grid(30001, 7):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
     "            with T.init():\n"
     "                C[vi] = T.int64(99)\n"
     "            C[vi] = T.min(C[vi], T.Select(A[vi, vk] == B[vi], T.Cast(\"int64\", vk), "
     "T.int64(6)))\n",                                                                        1, 1, 1, 8  },
    {"and those along two axes, below another one that is summed",
     "@T.prim_func\n"
     "def main(A: T.Buffer((16, 3, 120, 2, 3), \"float32\"), C: T.Buffer((16, 120), "
     "\"float32\")):\n"
     "    for i, j, k, l, m in T.grid(16, 120, 3, 2, 3):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj, vk, vl, vm = T.axis.remap(\"SSRRR\", [i, j, k, l, m])\n"
     "            with T.init():\n"
     "                C[vi, vj] = T.float32(0)\n"
     "            C[vi, vj] = C[vi, vj] + A[vi, vk, vj, vl, vm]\n",                           1, 1, 1, 8  },
    {"so do those along two axes, of few rows each",
     "@T.prim_func\n"
     "def main(A: T.Buffer((5000, 3, 2, 4), \"float32\"), C: T.Buffer((5000, 3), \"float32\")):\n"
     "    for i, j, k, l in T.grid(5000, 3, 2, 4):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj, vk, vl = T.axis.remap(\"SSRR\", [i, j, k, l])\n"
     "            with T.init():\n"
     "                C[vi, vj] = T.float32(0)\n"
     "            C[vi, vj] = T.max(C[vi, vj], A[vi, vj, vk, vl])\n",                         1, 1, 1, 8  },
    {"rows that others read again are laid out",
     "@T.prim_func\n"
     "def main(A: T.Buffer((64, 8), \"float32\"), B: T.Buffer((128, 8), \"float32\"), "
     "C: T.Buffer((64, 128), \"float32\")):\n"
     "    for i, j, k in T.grid(64, 128, 8):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
     "            with T.init():\n"
     "                C[vi, vj] = T.float32(0)\n"
     "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]\n",                           2, 2, 3, 16 },
    {"filters of a group share what they read",
     "@T.prim_func\n"
     "def main(A: T.Buffer((32, 34), \"float32\"), B: T.Buffer((48, 8, 3), \"float32\"), "
     "C: T.Buffer((48, 32), \"float32\")):\n"
     "    for f, x, c, d in T.grid(48, 32, 8, 3):\n"
     "        with T.block(\"C\"):\n"
     "            vf, vx, vc, vd = T.axis.remap(\"SSRR\", [f, x, c, d])\n"
     "            with T.init():\n"
     "                C[vf, vx] = T.float32(0)\n"
     "            C[vf, vx] = C[vf, vx] + A[vf // 12 * 8 + vc, vx + vd] * B[vf, vc, vd]\n",   1, 1, 2, 16 },
    {"small work stays on one thread",
     "@T.prim_func\n"
     "def main(A: T.Buffer((16, 16), \"float32\"), C: T.Buffer((16, 16), \"float32\")):\n"
     "    for i, j in T.grid(16, 16):\n"
     "        with T.block(\"C\"):\n"
     "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
     "            C[vi, vj] = A[vi, vj] + T.float32(1)\n",                                    1, 0, 0, 32 },
};

static void loops_are_as_wanted(void **state) {
    const struct row *row = *state;
    default_loops got = default_loops_of(row->text);
    assert_int_equal(got.top, row->top);
    assert_int_equal(got.parallel, row->parallel);
    assert_int_equal(got.unrolled, row->unrolled);
    assert_int_equal(got.longest_vector, row->vector);
}

/* What is computed for a padding is made for some planes before the first of them is read, unless
 * these are large. */
static void planes_are_padded_together(void **state) {
    (void)state;
    static const struct {
        int side;
        int64_t planes; /* that are padded at a time */
    } cases[] = {
        {7,  3},
        {34, 1}
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            "H = %d\n"
            "@T.prim_func\n"
            "def main(X: T.Buffer((9, H, H), \"float32\"), W: T.Buffer((9, 3, 3), \"float32\"), "
            "Y: T.Buffer((9, H, H), \"float32\")):\n"
            "    P = T.alloc_buffer((9, H + 2, H + 2))\n"
            "    for c, y, x in T.grid(9, H + 2, H + 2):\n"
            "        with T.block(\"pad\"):\n"
            "            vc, vy, vx = T.axis.remap(\"SSS\", [c, y, x])\n"
            "            P[vc, vy, vx] = T.if_then_else(1 <= vy and vy <= H and 1 <= vx and "
            "vx <= H, X[vc, vy - 1, vx - 1] * T.float32(2), T.float32(0))\n"
            "    for c, y, x, dy, dx in T.grid(9, H, H, 3, 3):\n"
            "        with T.block(\"conv\"):\n"
            "            vc, vy, vx, vdy, vdx = T.axis.remap(\"SSSRR\", [c, y, x, dy, dx])\n"
            "            with T.init():\n"
            "                Y[vc, vy, vx] = T.float32(0)\n"
            "            Y[vc, vy, vx] += P[vc, vy + vdy, vx + vdx] * W[vc, vdy, vdx]\n",
            cases[i].side);
        hone_module *module = NULL;
        const hone_func *func = hone_test_parse(text, &module);
        bool is_good = default_trial_is_right(func, &default_machines[0], i);
        hone_schedule *sch = NULL;
        HONE_ASSERT_OK(hone_schedule_create(func, &sch));
        HONE_ASSERT_OK(hone_default_schedule(sch, &default_machines[0]));
        hone_rv pad;
        uint32_t count;
        const hone_rv *around;
        hone_node_id outermost;
        HONE_ASSERT_OK(hone_sch_get_block(sch, "pad", &pad));
        HONE_ASSERT_OK(hone_sch_get_loops(sch, pad, &count, &around));
        HONE_ASSERT_OK(hone_schedule_node(sch, around[0], &outermost));
        int64_t groups = hone_expr_const(hone_func_node(sch->func, outermost)->u.loop.range.extent);
        hone_schedule_destroy(sch);
        hone_module_release(module);
        assert_true(is_good);
        assert_int_equal(groups, 9 / cases[i].planes);
    }
}

/* Both sides of a product lie along its sum: a few rows share what is read of columns, and columns
 * what is read of rows. */
static void products_along_their_sum_have_tiles(void **state) {
    (void)state;
    static const struct {
        int rows, columns, sum;
        uint32_t collected;
        int64_t sums;
    } cases[] = {
        {1,   40, 96, 1, 8 },
        {3,   40, 96, 1, 6 },
        {3,   40, 97, 1, 6 },
        {4,   37, 45, 1, 12}, /* columns with a rest */
        {5,   40, 19, 1, 10},
        {3,   40, 15, 0, 1 }, /* a sum too short for two vectors */
        {200, 40, 96, 0, 1 }, /* rows for which the right side is laid out */
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "@T.prim_func\n"
                 "def main(A: T.Buffer((%d, %d), \"float32\"), B: T.Buffer((%d, %d), \"float32\"), "
                 "C: T.Buffer((%d, %d), \"float32\")):\n"
                 "    for i, j, k in T.grid(%d, %d, %d):\n"
                 "        with T.block(\"C\"):\n"
                 "            vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                 "            with T.init():\n"
                 "                C[vi, vj] = T.float32(0)\n"
                 "            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]\n",
                 cases[i].rows, cases[i].sum, cases[i].columns, cases[i].sum, cases[i].rows,
                 cases[i].columns, cases[i].rows, cases[i].columns, cases[i].sum);
        hone_module *module = NULL;
        const hone_func *func = hone_test_parse(text, &module);
        bool is_good = true;
        for (size_t m = 0; m < DEFAULT_MACHINES; m++)
            is_good = is_good && default_trial_is_right(func, &default_machines[m], m);
        hone_module_release(module);
        assert_true(is_good);
        default_loops got = default_loops_of(text);
        assert_int_equal(got.collected, cases[i].collected);
        assert_int_equal(got.sums, cases[i].sums);
        assert_int_equal(got.vectorized == 0, cases[i].collected);
    }
}

/* The extent of the first loop that is one. */
static int64_t first_extent(const hone_func *func) {
    hone_node_id root = hone_func_root_block(func);
    for (hone_node_id n = root; n != HONE_NO_ID; n = hone_tree_next(func, root, n)) {
        const hone_node *node = hone_func_node(func, n);
        int64_t extent =
            node->kind == HONE_NODE_FOR ? hone_expr_const(node->u.loop.range.extent) : 1;
        if (extent > 1) return extent;
    }
    return 1;
}

/* 24 filters share an image of 18 rows; a small cache holds the filters, not the image. */
static void large_images_are_gone_over_once(void **state) {
    static const char text[] =
        "@T.prim_func\n"
        "def main(A: T.Buffer((4, 20, 34), \"float32\"), B: T.Buffer((24, 4), \"float32\"), "
        "C: T.Buffer((24, 18, 32), \"float32\")):\n"
        "    for f, y, x, c in T.grid(24, 18, 32, 4):\n"
        "        with T.block(\"C\"):\n"
        "            vf, vy, vx, vc = T.axis.remap(\"SSSR\", [f, y, x, c])\n"
        "            with T.init():\n"
        "                C[vf, vy, vx] = T.float32(0)\n"
        "            C[vf, vy, vx] = C[vf, vy, vx] + A[vc, vy + 1, vx + 1] * B[vf, vc]\n";
    (void)state;
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(text, &module);
    for (int is_small = 0; is_small < 2; is_small++) {
        hone_default_limits limits = default_machines[0];
        hone_schedule *sch = NULL;
        limits.threads = 1;
        if (is_small) limits.l2_bytes = 4096;
        assert_true(default_trial_is_right(func, &limits, (uint64_t)is_small));
        HONE_ASSERT_OK(hone_schedule_create(func, &sch));
        HONE_ASSERT_OK(hone_default_schedule(sch, &limits));
        assert_int_equal(first_extent(sch->func) == 18, is_small);
        hone_schedule_destroy(sch);
    }
    hone_module_release(module);
}

/* What is read across its rows is computed in squares; where rows of the output lie 4 KB apart, a
 * buffer holds some of them. Copies along rows are not, nor are the few columns of a narrow one. */
static void transposes_have_tiles(void **state) {
    (void)state;
    static const struct {
        const char *x, *y, *index;
        uint32_t unrolled, vectorized;
        int64_t vector;
    } cases[] = {
        {"(1, 48, 1, 56)",  "(1, 56, 1, 48)",  "vd, vc, vb", 1, 1, 8 },
        {"(1, 17, 7, 5)",   "(1, 7, 5, 17)",   "vd, vb, vc", 1, 1, 8 }, /* one loop of two */
        {"(2, 6, 9, 4)",    "(2, 4, 9, 6)",    "vd, vc, vb", 1, 1, 6 },
        {"(1, 1027, 1, 9)", "(1, 9, 1, 1027)", "vd, vc, vb", 1, 2, 64},
        {"(2, 6, 9, 40)",   "(2, 9, 6, 40)",   "vc, vb, vd", 0, 1, 40},
        {"(1, 3, 9, 40)",   "(1, 9, 40, 3)",   "vd, vb, vc", 0, 1, 3 },
    };
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "@T.prim_func\n"
                 "def main(X: T.Buffer(%s, \"float32\"), Y: T.Buffer(%s, \"float32\")):\n"
                 "    for a, b, c, d in T.grid%s:\n"
                 "        with T.block(\"Y\"):\n"
                 "            va, vb, vc, vd = T.axis.remap(\"SSSS\", [a, b, c, d])\n"
                 "            Y[va, vb, vc, vd] = X[va, %s] + T.float32(1)\n",
                 cases[i].x, cases[i].y, cases[i].y, cases[i].index);
        hone_module *module = NULL;
        const hone_func *func = hone_test_parse(text, &module);
        bool is_good = true;
        for (size_t m = 0; m < DEFAULT_MACHINES; m++)
            is_good = is_good && default_trial_is_right(func, &default_machines[m], m);
        hone_module_release(module);
        assert_true(is_good);
        default_loops got = default_loops_of(text);
        assert_int_equal(got.unrolled, cases[i].unrolled);
        assert_int_equal(got.vectorized, cases[i].vectorized);
        assert_int_equal(got.longest_vector, cases[i].vector);
    }
}

int main(void) {
    int failed = HONE_RUN_ROWS("schedule/default loops", rows, loops_are_as_wanted);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_are_padded_together),
        cmocka_unit_test(products_along_their_sum_have_tiles),
        cmocka_unit_test(large_images_are_gone_over_once),
        cmocka_unit_test(transposes_have_tiles),
    };
    return failed + cmocka_run_group_tests_name("schedule/default loops", tests, NULL, NULL);
}
