/* tests/lower/blocks/test_lower_blocks.c - hoist_init: inits leave loops that run over the
 * reduction once and from its start. */
#include "tests/lower/pass_rows.h"
#include "tests/support/hone_test.h"

#define SUM(EXTENT, BINDING)                                                                       \
    HEAD "    for i, f in T.grid(4, " EXTENT "):\n"                                                \
         "        with T.block(\"S\"):\n"                                                          \
         "            vi = T.axis.spatial(4, i)\n"                                                 \
         "            vk = T.axis.reduce(8, " BINDING ")\n"                                        \
         "            with T.init():\n"                                                            \
         "                Y[vi] = 0\n"                                                             \
         "            Y[vi] = Y[vi] + A[vi * 8 + vk]\n"

/* clang-format off */
static const struct row init_rows[] = {
    {"a reduction that its loop goes over again and again begins within it", SUM("32", "f % 8"),
     "            with T.init():\n"},
    {"one that ends with its first value does, too", SUM("8", "7 - f"),
     "            with T.init():\n"},
    {"one of which others in the loop see the sum begins within it",
     HEAD "    for i, k in T.grid(4, 8):\n"
          "        with T.block(\"R\"):\n"
          "            vi, vk = T.axis.remap(\"SS\", [i, k])\n"
          "            Y[vi * 8 + vk + 8] = Y[vi]\n"
          "        with T.block(\"S\"):\n"
          "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "            T.reads(A[vi * 8 + vk])\n"
          "            T.writes(Y[vi])\n"
          "            with T.init():\n"
          "                Y[vi] = 0\n"
          "            Y[vi] = Y[vi] + A[vi * 8 + vk]\n",
     "            with T.init():\n"},
    {"one of which a condition asks for both loops begins where its loop does",
     HEAD "    for i, f in T.grid(4, 8):\n"
          "        with T.block(\"S\"):\n"
          "            vi, vk = T.axis.remap(\"SR\", [i, f])\n"
          "            T.where(i + f < 10)\n"
          "            with T.init():\n"
          "                Y[vi] = 0\n"
          "            Y[vi] = Y[vi] + A[vi * 8 + vk]\n",
     "            T.where(T.Add(i, 0) < 10)\n"},
    {"one that runs once begins in front of its loop", SUM("8", "f"),
     "        with T.sblock(\"S_init\"):\n"},
};
/* clang-format on */

static const struct row asked_rows[] = {
    {"one that a condition in the loop reads begins within it",
     HEAD "    for i, k in T.grid(4, 8):\n"
          "        if Y[i] > 0:\n"
          "            A[i * 8 + k] = 1\n"
          "        with T.block(\"S\"):\n"
          "            vi, vk = T.axis.remap(\"SR\", [i, k])\n"
          "            T.reads(A[vi * 8 + vk])\n"
          "            T.writes(Y[vi])\n"
          "            with T.init():\n"
          "                Y[vi] = 0\n"
          "            Y[vi] = Y[vi] + A[vi * 8 + vk]\n", "            with T.init():\n"},
};

static void begins_where_it_may(void **state) {
    hone_check_behind_pass(*state, "hoist_init");
}

int main(void) {
    return HONE_RUN_ROWS("lower/hoist_init", init_rows, begins_where_it_may) +
           HONE_RUN_ROWS("lower/hoist_init/conditions", asked_rows, begins_where_it_may);
}
