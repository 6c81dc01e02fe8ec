/* tests/package/test_public_threads.c - one program, read and transformed by several threads at
 * once; formulas and schedules of their own in each. Run under TSan. */
#include "support/os/thread.h"
#include "tests/package/public_test.h"

enum { THREADS = 4, ROUNDS = 5 };

typedef struct job {
    const hone_program *program;
    bool is_right;
} job;

static const hone_term *keep(void *context, hone_terms *terms, const hone_term *item) {
    (void)context;
    (void)terms;
    return item;
}

static bool build(hone_program **out) {
    static const int64_t shape[] = {8, 8};
    hone_formula *f = NULL;
    if (hone_formula_create("main", &f)) return false;
    hone_array x = hone_formula_input(f, "x", "float32", 2, shape);
    hone_array y = hone_topi_softmax(f, hone_topi_matmul(f, x, x, 0, 1), -1);
    hone_error *error = hone_formula_finish(f, 1, &y, out);
    hone_formula_free(f);
    return !error;
}

static bool schedule(const hone_program *program) {
    hone_steps *steps = NULL;
    if (hone_steps_create(program, NULL, 1, &steps)) return false;
    hone_error *error =
        hone_steps_add(steps, "b = sch.get_sblock(\"C\")\ni, j, k = sch.get_loops(b)\n"
                              "i0, i1 = sch.split(i, [None, 8])");
    hone_steps_free(steps);
    return !error;
}

static bool round_of(const hone_program *program) {
    hone_program *part = NULL, *same = NULL, *joined = NULL, *made = NULL;
    char *text = NULL, hash[33], again[33];
    bool ok = !hone_program_print(program, &text) && !hone_program_hash(program, NULL, hash) &&
              !hone_program_get(program, "main", &part) &&
              !hone_program_rewrite(program, NULL, keep, NULL, &same) &&
              !hone_program_update(program, same, &joined) &&
              !hone_program_hash(joined, NULL, again) && strcmp(hash, again) == 0 && build(&made) &&
              schedule(program);
    hone_text_free(text);
    hone_program_free(part);
    hone_program_free(same);
    hone_program_free(joined);
    hone_program_free(made);
    return ok;
}

static void work(void *context) {
    job *j = context;
    j->is_right = true;
    for (int i = 0; i < ROUNDS; i++)
        j->is_right &= round_of(j->program);
}

static void shares_programs(void **state) {
    (void)state;
    hone_program *program = public_parse(product);
    job jobs[THREADS];
    hone_thread threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){.program = program};
        HONE_ASSERT_OK(hone_thread_start(&threads[i], "reader", work, &jobs[i]));
    }
    bool ok = true;
    for (int i = 0; i < THREADS; i++) {
        hone_thread_join(&threads[i]);
        ok &= jobs[i].is_right;
    }
    hone_program_free(program);
    assert_true(ok);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares_programs)};
    return cmocka_run_group_tests_name("package/threads", tests, NULL, NULL);
}
