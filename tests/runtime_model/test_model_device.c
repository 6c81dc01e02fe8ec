/* tests/runtime_model/test_model_device.c - models for a card on the fake driver: what is launched
 * and with what, when a graph is replayed, tensors here and there, and that whatever call fails is
 * told and leaves nothing behind. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/cuda/fake_cuda/fake_cuda.h"
#include "tests/runtime_model/device_model.h"
#include "tests/support/hone_test.h"

enum { N = 300, BLOCKS = 3, CALLS = 4, MACHINE_ERROR = 999, ILLEGAL_ADDRESS = 700, ROUNDS = 60 };

static fake_cuda_fail_function *fail_at;
static fake_cuda_look_function *look;

static void take(void *library, const char *symbol, void *out_function) {
    void *found = dlsym(library, symbol); /* ISO C has no cast for this */
    assert_non_null(found);
    memcpy(out_function, &found, sizeof found);
}

/* What is loaded is found by its soname from then on. */
static void open_fake(void) {
    char path[1024];
    snprintf(path, sizeof path, "%s", hone_test_build_path("tests/fake_cuda/libcuda.so.1"));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    take(library, "fake_cuda_fail", &fail_at);
    take(library, "fake_cuda_look", &look);
}

/* ---- one model, loaded ---- */

typedef struct loaded {
    void *library;
    device_model_call_function *call;
    device_model_watch_function *watch;
    device_model_error_function *error;
} loaded;

static loaded load(void) {
    loaded m;
    char path[1024];
    snprintf(path, sizeof path, "%s", hone_test_build_path("tests/libhone_device_model.so"));
    m.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!m.library) fail_msg("%s", dlerror());
    take(m.library, "device_model_call", &m.call);
    take(m.library, "device_model_watch", &m.watch);
    take(m.library, "device_model_error", &m.error);
    return m;
}

static void unload(loaded *m) {
    fake_cuda_record record;
    dlclose(m->library);
    look(&record);
    assert_int_equal(record.allocations, 0);
    assert_int_equal(record.events, 0);
    assert_int_equal(record.modules, 0);
    assert_int_equal(record.prepared, 0);
}

typedef struct vector {
    _Alignas(64) float data[N + 16];
    int64_t shape[1];
    DLTensor tensor;
} vector;

static void init(vector *v, bool is_input, int32_t device_type) {
    v->shape[0] = N;
    for (int i = 0; i < N; i++)
        v->data[i] = is_input ? (float)i : -1;
    v->tensor = (DLTensor){
        .data = v->data,
        .device = {device_type, 0},
        .ndim = 1,
        .dtype = { 2,         32, 1},
        .shape = v->shape
    };
}

static void check_result(const float *got) {
    for (int i = 0; i < N; i++)
        assert_true(got[i] == 2 * (float)i + 1);
}

static fake_cuda_record now(void) {
    fake_cuda_record record;
    look(&record);
    return record;
}

static void call_well(const loaded *m, device_model_kind kind, vector *x, vector *y) {
    int32_t code = m->call(kind, &x->tensor, &y->tensor);
    if (code) fail_msg("code %d: %s", (int)code, m->error());
    check_result((const float *)y->tensor.data + y->tensor.byte_offset / 4);
}

/* ---- what goes well ---- */

static void computes(void **state) {
    static const device_model_kind kinds[] = {DEVICE_MODEL_TWO, DEVICE_MODEL_SCRATCH,
                                              DEVICE_MODEL_HOST, DEVICE_MODEL_WEIGHT,
                                              DEVICE_MODEL_COPY};
    loaded m = load();
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(kinds); i++) {
        for (int n = 0; n < CALLS; n++) {
            vector x, y; /* often at the same place */
            init(&x, true, 1);
            init(&y, false, 1);
            call_well(&m, kinds[i], &x, &y);
        }
    }
    unload(&m);
}

static void launches_what_the_tables_say(void **state) {
    loaded m = load();
    vector x, y;
    (void)state;
    init(&x, true, 1);
    init(&y, false, 1);
    call_well(&m, DEVICE_MODEL_SCRATCH, &x, &y);
    fake_cuda_record record = now();
    assert_string_equal(record.last.symbol, "step_add");
    assert_int_equal(record.last.grid[0], BLOCKS);
    assert_int_equal(record.last.grid[1], 1);
    assert_int_equal(record.last.block[0], DEVICE_MODEL_BLOCK);
    assert_int_equal(record.last.shared_bytes, 45000);
    assert_int_equal(record.last.params[2], N);
    unload(&m);
}

/* The first call is plain, the second notes a graph; one of another size, or memory, is plain. */
static void replays_a_graph(void **state) {
    loaded m = load();
    vector x, y, other;
    (void)state;
    init(&x, true, 2);
    init(&y, false, 2);
    init(&other, false, 2);
    int64_t before = now().graphs;
    call_well(&m, DEVICE_MODEL_TWO, &x, &y);
    assert_int_equal(now().graphs, before);
    call_well(&m, DEVICE_MODEL_TWO, &x, &y);
    call_well(&m, DEVICE_MODEL_TWO, &x, &y);
    assert_int_equal(now().graphs, before + 2);
    call_well(&m, DEVICE_MODEL_TWO, &x, &other);
    assert_int_equal(now().graphs, before + 2);
    x.shape[0] = y.shape[0] = N - 1;
    y.data[N - 1] = 2 * (N - 1) + 1;
    call_well(&m, DEVICE_MODEL_TWO, &x, &y);
    assert_int_equal(now().graphs, before + 2);
    call_well(&m, DEVICE_MODEL_HOST, &x, &y); /* never one */
    call_well(&m, DEVICE_MODEL_HOST, &x, &y);
    call_well(&m, DEVICE_MODEL_HOST, &x, &y);
    assert_int_equal(now().graphs, before + 2);
    unload(&m);
}

/* In place where they are aligned and apart from each other. */
static void takes_tensors_of_the_card(void **state) {
    loaded m = load();
    vector x, y;
    (void)state;
    init(&x, true, 2);
    init(&y, false, 2);
    int64_t before = now().copies;
    call_well(&m, DEVICE_MODEL_SCRATCH, &x, &y);
    assert_int_equal(now().copies, before + 1); /* the weights */
    assert_true(now().last.params[1] == (uintptr_t)y.data);
    y.tensor.byte_offset = 4;
    call_well(&m, DEVICE_MODEL_SCRATCH, &x, &y);
    assert_true(now().last.params[1] != (uintptr_t)y.data + 4);
    call_well(&m, DEVICE_MODEL_SCRATCH, &x, &x); /* both are one */
    check_result(x.data);
    unload(&m);
}

/* Copies of a graph are done again with each replay. */
static void replays_copies(void **state) {
    loaded m = load();
    vector x, y;
    (void)state;
    init(&x, true, 2);
    init(&y, false, 2);
    int64_t before = now().graphs;
    for (int n = 0; n < CALLS; n++) {
        memset(y.data, 0, sizeof y.data);
        call_well(&m, DEVICE_MODEL_COPY, &x, &y);
    }
    assert_int_equal(now().graphs, before + CALLS - 1);
    unload(&m);
}

/* ---- several cards, several threads ---- */

/* A card has a context, memory and code of its own; what one keeps does not disturb the other. */
static void computes_where_tensors_are(void **state) {
    loaded m = load();
    int64_t astray = now().astray;
    (void)state;
    for (int n = 0; n < 2 * CALLS; n++) {
        vector x, y;
        init(&x, true, 2);
        init(&y, false, 2);
        x.tensor.device.device_id = y.tensor.device.device_id = n % 2;
        call_well(&m, n % 3 ? DEVICE_MODEL_TWO : DEVICE_MODEL_SCRATCH, &x, &y);
    }
    unload(&m);
    assert_int_equal(now().astray, astray);
}

typedef struct caller {
    const loaded *m;
    int number, failed;
} caller;

/* Results are looked at by the thread that has cmocka. */
static void *call_often(void *context) {
    caller *c = context;
    for (int n = 0; n < 10 * CALLS; n++) {
        static const device_model_kind kinds[] = {DEVICE_MODEL_TWO, DEVICE_MODEL_SCRATCH,
                                                  DEVICE_MODEL_HOST, DEVICE_MODEL_COPY};
        vector x, y;
        init(&x, true, c->number % 2 ? 2 : 1);
        init(&y, false, c->number % 2 ? 2 : 1);
        if (c->number % 2) x.tensor.device.device_id = y.tensor.device.device_id = c->number / 2;
        c->failed += c->m->call(kinds[(n / 3) % 4], &x.tensor, &y.tensor) != HONE_MODEL_OK;
        for (int i = 0; i < N; i++)
            c->failed += y.data[i] != 2 * (float)i + 1;
    }
    return NULL;
}

static void is_called_by_threads(void **state) {
    enum { CALLERS = 4 };
    loaded m = load();
    caller callers[CALLERS];
    pthread_t threads[CALLERS];
    int64_t astray = now().astray;
    (void)state;
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (caller){.m = &m, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(callers[i].failed, 0);
    unload(&m);
    assert_int_equal(now().astray, astray);
}

/* ---- who looks on ---- */

static char seen[256];

/* By the clock of the card, or not: then nobody knows the time here. */
static void see(const hone_rt *rt, const hone_seen_step *step) {
    size_t at = strlen(seen);
    (void)rt;
    if (step->is_over == 2)
        snprintf(seen + at, sizeof seen - at, "%s %lld ns; ", step->name, (long long)step->ns);
    else if (step->is_over)
        snprintf(seen + at, sizeof seen - at, "%s here; ", step->name);
}

/* A launch takes a microsecond of the fake. */
static void tells_what_the_card_took(void **state) {
    static const struct {
        device_model_kind kind;
        const char *seen;
    } cases[] = {
        {DEVICE_MODEL_TWO,     "twice 1000 ns; plus_one 1000 ns; "},
        {DEVICE_MODEL_SCRATCH, "both 2000 ns; "                   },
        {DEVICE_MODEL_HOST,    "plus_one here; twice 1000 ns; "   },
    };
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        loaded m = load();
        for (int n = 0; n < CALLS; n++) {
            vector x, y;
            init(&x, true, 1);
            init(&y, false, 1);
            seen[0] = '\0';
            assert_int_equal(m.watch(cases[i].kind, &x.tensor, &y.tensor, see), HONE_MODEL_OK);
            check_result(y.data);
            assert_string_equal(seen, cases[i].seen);
        }
        unload(&m);
    }
}

/* What cannot be read is not told; without marks there is no call. */
static void fails_to_look_on(void **state) {
    static const char *const symbols[] = {"cuEventCreate", "cuEventRecord", "cuEventElapsedTime"};
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(symbols); i++) {
        for (int after = 0; after < 2; after++) {
            vector x, y;
            loaded m = load();
            init(&x, true, 1);
            init(&y, false, 1);
            seen[0] = '\0';
            fail_at(symbols[i], after, MACHINE_ERROR);
            int32_t code = m.watch(DEVICE_MODEL_TWO, &x.tensor, &y.tensor, see);
            fail_at(symbols[i], 0, 0);
            assert_int_equal(code, i < 2 ? HONE_MODEL_FAILED : HONE_MODEL_OK);
            assert_string_equal(seen, i < 2   ? ""
                                      : after ? "twice 1000 ns; "
                                              : "plus_one 1000 ns; ");
            unload(&m);
        }
    }
}

/* ---- what does not ---- */

static void refuses(void **state) {
    loaded m = load();
    vector x, y;
    (void)state;
    init(&x, true, 4); /* of OpenCL */
    init(&y, false, 1);
    assert_int_equal(m.call(DEVICE_MODEL_TWO, &x.tensor, &y.tensor), HONE_MODEL_BAD_ARGUMENT);
    assert_non_null(strstr(m.error(), "device type 4, wants the CPU or CUDA"));
    init(&x, true, 2);
    init(&y, false, 2);
    y.tensor.device.device_id = 1;
    assert_int_equal(m.call(DEVICE_MODEL_TWO, &x.tensor, &y.tensor), HONE_MODEL_BAD_ARGUMENT);
    assert_non_null(strstr(m.error(), "'y' is on another device"));
    x.tensor.device.device_id = y.tensor.device.device_id = 2;
    assert_int_equal(m.call(DEVICE_MODEL_TWO, &x.tensor, &y.tensor), HONE_MODEL_NO_DEVICE);
    assert_non_null(strstr(m.error(), "there is no NVIDIA card 2: 2 found"));
    unload(&m);
}

static void loses_its_context(void **state) {
    loaded m = load();
    vector x, y;
    (void)state;
    init(&x, true, 1);
    init(&y, false, 1);
    assert_int_equal(m.call(DEVICE_MODEL_STRAY, &x.tensor, &y.tensor), HONE_MODEL_FAILED);
    assert_non_null(strstr(m.error(), "FAKE_ERROR_700"));
    assert_non_null(strstr(m.error(), "the context on the card has ended"));
    assert_int_equal(m.call(DEVICE_MODEL_TWO, &x.tensor, &y.tensor), HONE_MODEL_NO_DEVICE);
    assert_non_null(strstr(m.error(), "ended with an earlier error"));
    unload(&m);
}

/* What fails while a graph is noted, which forbids to wait, is no failure of the call. */
static void outlives_what_cannot_be_noted(void **state) {
    static const struct {
        const char *symbol;
        int after; /* calls of it until the graph is noted */
        device_model_kind kind;
    } cases[] = {
        {"cuLaunchKernel",       2, DEVICE_MODEL_TWO    },
        {"cuLaunchKernel",       4, DEVICE_MODEL_SCRATCH},
        {"cuMemcpyDtoDAsync_v2", 3, DEVICE_MODEL_COPY   },
    };
    (void)state;
    for (size_t i = 0; i < HONE_COUNT(cases); i++) {
        loaded m = load();
        vector x, y;
        init(&x, true, 2);
        init(&y, false, 2);
        int64_t graphs = now().graphs;
        fail_at(cases[i].symbol, cases[i].after, MACHINE_ERROR);
        for (int n = 0; n < CALLS; n++)
            call_well(&m, cases[i].kind, &x, &y);
        fail_at(cases[i].symbol, 0, 0);
        assert_int_equal(now().graphs, graphs);
        unload(&m);
    }
}

/* A graph that cannot be made is no failure: the launches are made as they are. */
static const struct row {
    const char *symbol;
    int calls; /* at least so many in all of it */
    bool is_of_graphs;
} rows[] = {
    {"cuInit",                      1, false},
    {"cuDeviceGetCount",            1, false},
    {"cuDeviceGet",                 1, false},
    {"cuDevicePrimaryCtxRetain",    1, false},
    {"cuCtxPushCurrent_v2",         4, false},
    {"cuStreamCreate",              2, false},
    {"cuMemAlloc_v2",               4, false},
    {"cuMemcpyHtoDAsync_v2",        4, false},
    {"cuMemcpyDtoHAsync_v2",        3, false},
    {"cuModuleLoadDataEx",          1, false},
    {"cuModuleGetFunction",         2, false},
    {"cuLaunchKernel",              2, false},
    {"cuStreamBeginCapture_v2",     1, true },
    {"cuStreamEndCapture",          1, true },
    {"cuGraphInstantiateWithFlags", 1, true },
    {"cuGraphLaunch",               2, false},
};

static bool fails(device_model_kind kind) {
    loaded m = load();
    bool is_failure = false;
    for (int n = 0; n < CALLS; n++) {
        vector x, y;
        init(&x, true, 1);
        init(&y, false, 1);
        int32_t code = m.call(kind, &x.tensor, &y.tensor);
        if (code) assert_true(m.error()[0]);
        if (!code) check_result(y.data);
        is_failure |= code != 0;
    }
    unload(&m);
    return is_failure;
}

/* The n-th call of each function fails, for every n that there is. */
static void check_row(void **state) {
    const struct row *row = *state;
    int failed = 0;
    for (int after = 0; after < ROUNDS; after++) {
        fail_at(row->symbol, after, MACHINE_ERROR);
        bool is_failure = fails(DEVICE_MODEL_TWO);
        fail_at(row->symbol, 0, 0);
        failed += is_failure;
        if (row->is_of_graphs) assert_false(is_failure);
        if (!is_failure && !row->is_of_graphs) break;
        if (row->is_of_graphs && after > CALLS) break;
    }
    if (!row->is_of_graphs && failed < row->calls)
        fail_msg("%d calls failed, want %d", failed, row->calls);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes),
        cmocka_unit_test(launches_what_the_tables_say),
        cmocka_unit_test(replays_a_graph),
        cmocka_unit_test(takes_tensors_of_the_card),
        cmocka_unit_test(replays_copies),
        cmocka_unit_test(computes_where_tensors_are),
        cmocka_unit_test(is_called_by_threads),
        cmocka_unit_test(tells_what_the_card_took),
        cmocka_unit_test(fails_to_look_on),
        cmocka_unit_test(refuses),
        cmocka_unit_test(loses_its_context),
        cmocka_unit_test(outlives_what_cannot_be_noted),
    };
    open_fake();
    return HONE_RUN_ROWS("runtime_model/model_device", rows, check_row) +
           cmocka_run_group_tests_name("runtime_model/model_device", tests, NULL, NULL);
}
