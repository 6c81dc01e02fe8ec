/* lower/threads/threads.c - see threads.h. */
#include "lower/threads/threads.h"

#include <string.h>

#include "ir/core/concurrent.h"
#include "support/core/attributes.h"

static const char *const tags[LOWER_AXES] = {"blockIdx.z",  "blockIdx.y",  "blockIdx.x",
                                             "threadIdx.z", "threadIdx.y", "threadIdx.x"};

const char *lower_axis_tag(int axis) {
    return tags[axis];
}

int lower_axis_of(const hone_node *loop) {
    for (int a = 0; hone_loop_is_of_threads(loop) && a < LOWER_AXES; a++) {
        if (strcmp(loop->u.loop.thread_tag, tags[a]) == 0) return a;
    }
    return -1;
}

static lower_call_sort sort_of_name(const char *name) {
    static const struct {
        const char *prefix;
        lower_call_sort sort;
    } rows[] = {
        {"cuda.cta_sync",        LOWER_CALL_SYNC     },
        {"cuda.warp_sync",       LOWER_CALL_SYNC_WARP},
        {"tvm_thread_allreduce", LOWER_CALL_REDUCE   },
        {"tvm_warp_",            LOWER_CALL_LANES    },
        {"cuda.",                LOWER_CALL_LANES    },
        {"tvm_",                 LOWER_CALL_LANES    },
        {"mma",                  LOWER_CALL_LANES    },
        {"ptx",                  LOWER_CALL_LANES    },
    };
    for (size_t i = 0; i < HONE_COUNT(rows); i++) {
        if (strncmp(name, rows[i].prefix, strlen(rows[i].prefix)) == 0) return rows[i].sort;
    }
    return LOWER_CALL_OTHER;
}

static bool find_sort(void *ctx, const hone_expr *e) {
    lower_call_sort *found = ctx;
    if (*found != LOWER_CALL_OTHER) return false;
    if (hone_expr_is_call(e, HONE_INTRIN_STORAGE_SYNC)) {
        bool is_warp = e->count > 0 && e->args[0]->kind == HONE_EXPR_STRING &&
                       strcmp(e->args[0]->u.s, "warp") == 0;
        *found = is_warp ? LOWER_CALL_SYNC_WARP : LOWER_CALL_SYNC;
    } else if (hone_expr_is_call(e, HONE_INTRIN_NAMED) && e->count &&
               e->args[0]->kind == HONE_EXPR_STRING) {
        *found = sort_of_name(e->args[0]->u.s);
    }
    return *found == LOWER_CALL_OTHER;
}

lower_call_sort lower_call_sort_of(const hone_expr *e) {
    lower_call_sort found = LOWER_CALL_OTHER;
    hone_expr_walk(e, find_sort, &found);
    return found;
}

hone_node_id lower_next_launch(const hone_func *func, hone_node_id from) {
    hone_node_id n = from == HONE_NODE_TOP ? hone_tree_next(func, HONE_NODE_TOP, from)
                                           : hone_tree_next_over(func, HONE_NODE_TOP, from);
    while (n != HONE_NO_ID && lower_axis_of(hone_func_node(func, n)) < 0)
        n = hone_tree_next(func, HONE_NODE_TOP, n);
    return n;
}
