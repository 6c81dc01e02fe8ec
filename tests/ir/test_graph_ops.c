/* Rows of ir/graph_ops.def beside the operators of TVM, by name, parameters and defaults: what is
 * printed for TVM, and what is left out of a text, must mean the same there. */
#include <stdio.h>
#include <string.h>

#include "ir/graph_op.h"
#include "support/alloc.h"
#include "support/fs.h"
#include "support/strbuf.h"
#include "tests/support/hone_test.h"

#define TABLE "tests/ir/tvm_operators.txt" /* tests/peer/signatures.py makes it */

/* Words of rows that TVM has not, or has otherwise. */
static const struct exception {
    const char *word; /* operator and parameter */
    const char *tvm;  /* NULL = nothing */
} exceptions[] = {
    {"matmul transpose_a=0",     NULL        }, /* printed as R.permute_dims */
    {"matmul transpose_b=0",     NULL        },
    {"nn.batch_norm training=0", "training=1"}, /* docs/differences.md */
};

/* "take x indices axis=None mode=fast"; a mark behind an argument is a default. */
static void print_row(const hone_graph_op *op, hone_str *out) {
    hone_str_printf(out, "%s %s %s", op->name, op->args, op->attrs);
    char *mark;
    while ((mark = strpbrk(out->data, "*")) != NULL)
        memmove(mark, mark + 1, strlen(mark));
    out->length = strlen(out->data);
}

static bool is_excepted(const char *op, const char *ours, const char *theirs, bool *out_advance) {
    char word[128];
    snprintf(word, sizeof word, "%s %s", op, ours);
    for (size_t i = 0; i < HONE_COUNT(exceptions); i++) {
        if (strcmp(exceptions[i].word, word) != 0) continue;
        *out_advance = exceptions[i].tvm != NULL;
        return !exceptions[i].tvm || (theirs && strcmp(exceptions[i].tvm, theirs) == 0);
    }
    return false;
}

/* A parameter without a default there may have one here; "bias?" is "bias=None". */
static bool is_same(const char *ours, const char *theirs) {
    size_t length = strcspn(ours, "=?");
    if (strncmp(ours, theirs, length) != 0) return false;
    if (!theirs[length]) return true;
    return strcmp(ours + length, "?") == 0 ? strcmp(theirs + length, "=None") == 0
                                           : strcmp(ours + length, theirs + length) == 0;
}

static void compare(const char *op, char *ours, char *theirs) {
    char *rest[2];
    strtok_r(ours, " ", &rest[0]); /* the name */
    strtok_r(theirs, " ", &rest[1]);
    char *there = strtok_r(NULL, " ", &rest[1]);
    for (char *here; (here = strtok_r(NULL, " ", &rest[0])) != NULL;) {
        bool advances = true;
        bool ok = (there && is_same(here, there)) || is_excepted(op, here, there, &advances);
        if (!ok) fail_msg("%s: '%s' here, '%s' in TVM", op, here, there ? there : "nothing");
        if (advances) there = strtok_r(NULL, " ", &rest[1]);
    }
    if (there) fail_msg("%s: '%s' is missing here", op, there);
}

static void rows_are_spelled_as_in_tvm(void **state) {
    (void)state;
    char *text = NULL, *lines;
    size_t count = 0, rows = 0;
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path(TABLE), SIZE_MAX, &text, &count));
    char *line = strtok_r(text, "\n", &lines); /* the comment */
    while ((line = strtok_r(NULL, "\n", &lines)) != NULL) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line, " "), line);
        const hone_graph_op *op = hone_graph_op_find(name);
        if (!op) fail_msg("%s has no row", name);
        hone_str row = {0};
        print_row(op, &row);
        compare(op->name, row.data, line);
        hone_str_deinit(&row);
        rows++;
    }
    hone_free(text);
    assert_null(hone_graph_op_find(hone_graph_op_name_at(rows))); /* names without rows follow */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_spelled_as_in_tvm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
