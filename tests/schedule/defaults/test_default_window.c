/* tests/schedule/defaults/test_default_window.c - windows that slide along an image: whether their
 * tiles are unrolled as wholes, and read no padding. */
#include "tests/support/hone_test.h"

#include <stdio.h>

#include "schedule/primitive/primitives.h"
#include "tests/schedule/defaults/default_trial.h"
#include "tests/support/program_text.h"

/* A window of so many taps, so many elements apart, over each of some padded planes; its elements
 * are summed as they are, or with weights. */
#define PADDED_WINDOW                                                                              \
    "C, H, K, S, D, B = %d, %d, %d, %d, %d, %d\n"                                                  \
    "O = (H + 2 * B - D * (K - 1) - 1) // S + 1\n"                                                 \
    "@T.prim_func\n"                                                                               \
    "def main(X: T.Buffer((C, H, H), \"float32\"), W: T.Buffer((C, K, K), \"float32\"), "          \
    "Y: T.Buffer((C, O, O), \"float32\")):\n"                                                      \
    "    P = T.alloc_buffer((C, H + 2 * B, H + 2 * B))\n"                                          \
    "    for c, y, x in T.grid(C, H + 2 * B, H + 2 * B):\n"                                        \
    "        with T.block(\"pad\"):\n"                                                             \
    "            vc, vy, vx = T.axis.remap(\"SSS\", [c, y, x])\n"                                  \
    "            P[vc, vy, vx] = T.if_then_else(B <= vy and vy < H + B and B <= vx and "           \
    "vx < H + B, X[vc, vy - B, vx - B], T.float32(0))\n"                                           \
    "    for c, y, x, dy, dx in T.grid(C, O, O, K, K):\n"                                          \
    "        with T.block(\"conv\"):\n"                                                            \
    "            vc, vy, vx, vdy, vdx = T.axis.remap(\"SSSRR\", [c, y, x, dy, dx])\n"              \
    "            with T.init():\n"                                                                 \
    "                Y[vc, vy, vx] = T.float32(0)\n"                                               \
    "            Y[vc, vy, vx] += P[vc, vy * S + vdy * D, vx * S + vdx * D]%s\n"

#define WEIGHT " * W[vc, vdy, vdx]"
#define LAST_WEIGHT " * W[vdy, vdx, vc]"

/* Such a window with channels last. */
#define CHANNELS_LAST                                                                              \
    "C, H, K, S, D, B = %d, %d, %d, %d, %d, %d\n"                                                  \
    "O = (H + 2 * B - D * (K - 1) - 1) // S + 1\n"                                                 \
    "@T.prim_func\n"                                                                               \
    "def main(X: T.Buffer((H, H, C), \"float32\"), W: T.Buffer((K, K, C), \"float32\"), "          \
    "Y: T.Buffer((O, O, C), \"float32\")):\n"                                                      \
    "    P = T.alloc_buffer((H + 2 * B, H + 2 * B, C))\n"                                          \
    "    for y, x, c in T.grid(H + 2 * B, H + 2 * B, C):\n"                                        \
    "        with T.block(\"pad\"):\n"                                                             \
    "            vy, vx, vc = T.axis.remap(\"SSS\", [y, x, c])\n"                                  \
    "            P[vy, vx, vc] = T.if_then_else(B <= vy and vy < H + B and B <= vx and "           \
    "vx < H + B, X[vy - B, vx - B, vc], T.float32(0))\n"                                           \
    "    for y, x, c, dy, dx in T.grid(O, O, C, K, K):\n"                                          \
    "        with T.block(\"conv\"):\n"                                                            \
    "            vy, vx, vc, vdy, vdx = T.axis.remap(\"SSSRR\", [y, x, c, dy, dx])\n"              \
    "            with T.init():\n"                                                                 \
    "                Y[vy, vx, vc] = T.float32(0)\n"                                               \
    "            Y[vy, vx, vc] += P[vy * S + vdy * D, vx * S + vdx * D, vc]%s\n"

static const struct row {
    const char *name;
    int channels, side, taps, stride, apart, border;
    bool has_padding; /* where there are many registers */
    bool is_channels_last;
    const char *weight;
} rows[] = {
    {"one tile",                     3,  7,   3,  1, 1, 1, false, false, WEIGHT     },
    {"edges all around",             3,  37,  3,  1, 1, 1, false, false, WEIGHT     },
    {"by two",                       3,  23,  3,  2, 1, 1, false, false, WEIGHT     },
    {"by two, an even one",          3,  24,  3,  2, 1, 1, false, false, WEIGHT     },
    {"by three",                     2,  25,  4,  3, 1, 2, false, false, WEIGHT     },
    {"nothing in common",            2,  24,  3,  3, 1, 2, true,  false, WEIGHT     },
    {"holes",                        3,  29,  3,  1, 2, 2, false, false, WEIGHT     },
    {"five taps",                    3,  28,  5,  1, 1, 2, false, false, WEIGHT     },
    {"five taps by two",             2,  31,  5,  2, 1, 2, false, false, WEIGHT     },
    {"two taps",                     3,  12,  2,  1, 1, 1, false, false, WEIGHT     },
    {"channels last",                21, 11,  3,  1, 1, 1, false, true,  LAST_WEIGHT},
    {"channels last, by two",        32, 9,   3,  2, 1, 1, false, true,  LAST_WEIGHT},
    {"channels last, holes",         16, 9,   3,  1, 2, 2, false, true,  LAST_WEIGHT},
    {"channels last, five taps",     24, 9,   5,  1, 1, 2, false, true,  LAST_WEIGHT},
    {"thirteen taps: too much code", 2,  20,  13, 1, 1, 6, true,  false, WEIGHT     },
    {"sums",                         3,  24,  3,  1, 1, 1, false, false, ""         },
    {"sums of long rows",            1,  82,  3,  1, 1, 1, false, false, ""         },
    {"sums, channels last",          40, 9,   3,  1, 1, 1, false, true,  ""         },
    {"long rows, nothing in common", 1,  170, 2,  2, 1, 1, true,  false, ""         },
};

static bool has_block(const hone_func *func, const hone_default_limits *limits, const char *name) {
    hone_schedule *sch = NULL;
    hone_rv block;
    HONE_ASSERT_OK(hone_schedule_create(func, &sch));
    HONE_ASSERT_OK(hone_default_schedule(sch, limits));
    hone_status st = hone_sch_get_block(sch, name, &block);
    bool has = !st;
    hone_status_free(st);
    hone_schedule_destroy(sch);
    return has;
}

static void windows_are_right(void **state) {
    const struct row *row = *state;
    char text[2048];
    snprintf(text, sizeof text, row->is_channels_last ? CHANNELS_LAST : PADDED_WINDOW,
             row->channels, row->side, row->taps, row->stride, row->apart, row->border,
             row->weight);
    hone_module *module = NULL;
    const hone_func *func = hone_test_parse(text, &module);
    bool is_right = true;
    for (size_t m = 0; m < DEFAULT_MACHINES; m++)
        is_right = default_trial_is_right(func, &default_machines[m], m) && is_right;
    hone_default_limits alone = default_machines[2];
    alone.threads = 1; /* for which runs are longest */
    bool has_padding = has_block(func, &alone, "pad");
    hone_module_release(module);
    assert_true(is_right);
    assert_int_equal(has_padding, row->has_padding);
}

int main(void) {
    return HONE_RUN_ROWS("schedule/default window", rows, windows_are_right);
}
