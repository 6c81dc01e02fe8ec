/* tests/ir/ops/test_graph_ops.c - rows of ir/ops/graph_ops.def beside the operators of TVM, by
 * name, parameters and defaults: what is printed for TVM, and what is left out of a text, must mean
 * the same there. */
#include <stdio.h>
#include <string.h>

#include "ir/ops/graph_op.h"
#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/os/fs.h"
#include "tests/support/hone_test.h"

#define TABLE "tests/ir/ops/tvm_operators.txt" /* tests/peer/signatures.py makes it */

/* Words of rows that TVM has not, or has otherwise. */
static const struct exception {
    const char *word; /* operator and parameter */
    const char *tvm;  /* NULL = nothing */
} exceptions[] = {
    {"matmul transpose_a=0",     NULL        }, /* printed as R.permute_dims */
    {"matmul transpose_b=0",     NULL        },
    {"nn.batch_norm training=0", "training=1"}, /* docs/differences.md */
    {"arange step?",             "step=1"    },
};

/* Rows of ours, for ONNX, whose programs TVM does not read. */
static const char *const own[] = {"fmod",     "loop",    "resample", "roi_align", "sample_at",
                                  "roi_pool", "det",     "suppress", "bitcast",   "automaton",
                                  "couple",   "descend", "inverse",  "time_warp", "murmur_hash"};

/* "x indices axis=None mode=fast"; a mark behind an argument is a default. */
static void print_row(const hone_graph_op *op, hone_str *out) {
    hone_str_printf(out, "%s %s", op->args, op->attrs);
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

/* Ends the word that *rest begins with and goes on behind it; NULL when there is none. */
static char *next_word(char **rest, char end) {
    char *word = *rest + strspn(*rest, " ");
    char *behind = strchr(word, end);
    *rest = behind ? behind + 1 : word + strlen(word);
    if (behind) *behind = '\0';
    return *word ? word : NULL;
}

static void compare(const char *op, char *ours, char *theirs) {
    char *there = next_word(&theirs, ' ');
    for (char *here; (here = next_word(&ours, ' ')) != NULL;) {
        bool advances = true;
        bool ok = (there && is_same(here, there)) || is_excepted(op, here, there, &advances);
        if (!ok) fail_msg("%s: '%s' here, '%s' in TVM", op, here, there ? there : "nothing");
        if (advances) there = next_word(&theirs, ' ');
    }
    if (there) fail_msg("%s: '%s' is missing here", op, there);
}

static void rows_are_spelled_as_in_tvm(void **state) {
    (void)state;
    char *text = NULL;
    size_t count = 0, rows = 0;
    HONE_ASSERT_OK(hone_fs_read(hone_test_source_path(TABLE), SIZE_MAX, &text, &count));
    char *lines = text;
    next_word(&lines, '\n'); /* the comment */
    for (char *line; (line = next_word(&lines, '\n')) != NULL; rows++) {
        const char *name = next_word(&line, ' ');
        const hone_graph_op *op = hone_graph_op_find(name);
        if (!op) fail_msg("%s has no row", name);
        hone_str row = {0};
        print_row(op, &row);
        compare(name, row.data, line);
        hone_str_deinit(&row);
    }
    hone_free(text);
    for (size_t i = 0; i < HONE_COUNT(own); i++, rows++)
        assert_non_null(hone_graph_op_find(own[i]));
    assert_null(hone_graph_op_find(hone_graph_op_name_at(rows))); /* names without rows follow */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_spelled_as_in_tvm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
