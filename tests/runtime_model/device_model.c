/* tests/runtime_model/device_model.c - the tables of device_model.h, as compile/ writes them. */
#include "tests/runtime_model/device_model.h"

#include <pthread.h>
#include <string.h>

#include "runtime/model/model_table.h"
#include "tests/runtime/device_kernels.h"

enum { WEIGHT_COUNT = 300 };

/* Numbers of a call: what they are stands in the names. */
enum {
    SIZE,
    BLOCK,
    ONE,
    FOUR,
    BLOCK_LESS,
    NONE,
    SHARED,
    PADDED,
    GRID,
    BYTES,
    OFFSET,
    BEHIND,
    WHOLE
};
static const hone_mt_value values[] = {
    [SIZE] = {HONE_MT_DIM,   0,      0,          0, 0                     },
    [BLOCK] = {HONE_MT_CONST, 0,      0,          0, DEVICE_MODEL_BLOCK    },
    [ONE] = {HONE_MT_CONST, 0,      0,          0, 1                     },
    [FOUR] = {HONE_MT_CONST, 0,      0,          0, 4                     },
    [BLOCK_LESS] = {HONE_MT_CONST, 0,      0,          0, DEVICE_MODEL_BLOCK - 1},
    [NONE] = {HONE_MT_CONST, 0,      0,          0, 0                     },
    [SHARED] = {HONE_MT_CONST, 0,      0,          0, 45000                 },
    [PADDED] = {HONE_MT_ADD,   SIZE,   BLOCK_LESS, 0, 0                     },
    [GRID] = {HONE_MT_DIV,   PADDED, BLOCK,      0, 0                     },
    [BYTES] = {HONE_MT_MUL,   SIZE,   FOUR,       0, 0                     },
    [OFFSET] = {HONE_MT_CONST, 0,      0,          0, 512                   },
    [BEHIND] = {HONE_MT_CONST, 0,      0,          0, 4096                  },
    [WHOLE] = {HONE_MT_ADD,   BYTES,  BEHIND,     0, 0                     },
};
enum { VALUES = sizeof values / sizeof values[0] };

static const int32_t shape[] = {SIZE}, workspaces[] = {WHOLE}, scratch[] = {BYTES};

enum { X, Y, BETWEEN, WEIGHT, AFTER, TENSORS };
static const hone_mt_tensor tensors[] = {
    [X] = {HONE_MT_PORT,      0, 0, 0,      BYTES, 1, 0, shape},
    [Y] = {HONE_MT_PORT,      1, 0, 0,      BYTES, 1, 0, shape},
    [BETWEEN] = {HONE_MT_WORKSPACE, 0, 0, OFFSET, BYTES, 1, 0, shape},
    [WEIGHT] = {HONE_MT_WEIGHT,    0, 0, 0,      BYTES, 1, 0, shape},
    [AFTER] = {HONE_MT_WORKSPACE, 0, 0, BEHIND, BYTES, 1, 0, shape},
};
static const hone_mt_port ports[] = {
    {.is_input = 1,   .shape = shape},
    {.is_written = 1, .shape = shape},
};

/* ---- steps ---- */

static const hone_mt_param tensor_to_tensor[] = {
    {HONE_MT_PARAM_TENSOR, 0   },
    {HONE_MT_PARAM_TENSOR, 1   },
    {HONE_MT_PARAM_VALUE,  SIZE},
};
static const hone_mt_param to_scratch[] = {
    {HONE_MT_PARAM_TENSOR,  0   },
    {HONE_MT_PARAM_SCRATCH, 0   },
    {HONE_MT_PARAM_VALUE,   SIZE},
};
static const hone_mt_param from_scratch[] = {
    {HONE_MT_PARAM_SCRATCH, 0   },
    {HONE_MT_PARAM_TENSOR,  1   },
    {HONE_MT_PARAM_VALUE,   SIZE},
};

#define LAUNCH(name, shared, list)                                                                 \
    {                                                                                              \
        .symbol = (name), .param_count = 3, .grid = {GRID, ONE, ONE}, .block = {BLOCK, ONE, ONE},  \
        .shared_bytes = (shared), .params = (list),                                                \
    }
static const hone_mt_launch twice[] = {LAUNCH("step_double", NONE, tensor_to_tensor)};
static const hone_mt_launch plus_one[] = {LAUNCH("step_add", NONE, tensor_to_tensor)};
static const hone_mt_launch stray[] = {LAUNCH("stray", NONE, tensor_to_tensor)};
static const hone_mt_launch whole[] = {LAUNCH("self_test", NONE, tensor_to_tensor)};
static const hone_mt_launch both[] = {LAUNCH("step_double", NONE, to_scratch),
                                      LAUNCH("step_add", SHARED, from_scratch)};

static int32_t add_on_host(const hone_rt *rt, void *const *buffers, const int64_t *sizes) {
    const float *from = buffers[0];
    float *to = buffers[1];
    (void)rt;
    for (int64_t i = 0; i < sizes[0]; i++)
        to[i] = from[i] + 1;
    return 0;
}

static const int32_t between_after[] = {BETWEEN, AFTER}, after_y[] = {AFTER, Y},
                     x_between[] = {X, BETWEEN}, between_y[] = {BETWEEN, Y}, x_y[] = {X, Y},
                     weight_y[] = {WEIGHT, Y};
#define STEP(name_, launches_, args_)                                                              \
    {                                                                                              \
        .kind = HONE_MT_LAUNCH, .arg_count = 2, .detail = 1, .name = (name_), .args = (args_),     \
        .launch_count = 1, .launches = (launches_),                                                \
    }
static const hone_mt_step two[] = {STEP("twice", twice, x_between),
                                   STEP("plus_one", plus_one, between_y)};
static const hone_mt_step in_one[] = {
    {.kind = HONE_MT_LAUNCH,
     .arg_count = 2,
     .detail = 1,
     .name = "both",
     .args = x_y,
     .launch_count = 2,
     .scratch_count = 1,
     .launches = both,
     .scratch = scratch}
};
static const hone_mt_step on_host[] = {
    STEP("twice", twice, x_between),
    {.kind = HONE_MT_KERNEL,
                                 .arg_count = 2,
                                 .size_count = 1,
                                 .detail = 1,
                                 .name = "plus_one",
                                 .kernel = add_on_host,
                                 .args = between_y,
                                 .sizes = shape}
};
static const hone_mt_step copying[] = {
    {.kind = HONE_MT_COPY, .arg_count = 2, .detail = 1, .name = "in",  .args = x_between},
    STEP("whole", whole, between_after),
    {.kind = HONE_MT_COPY, .arg_count = 2, .detail = 1, .name = "out", .args = after_y  },
};
static const hone_mt_step of_weight[] = {STEP("whole", whole, weight_y)};
static const hone_mt_step astray[] = {STEP("astray", stray, x_y)};

/* ---- models ---- */

#define PLAN(list, count)                                                                          \
    {                                                                                              \
        .value_count = VALUES, .tensor_count = TENSORS, .step_count = (count), .max_args = 2,      \
        .max_sizes = 1, .phase_count = 1, .values = values, .ports = ports, .tensors = tensors,    \
        .steps = (list), .workspaces = workspaces,                                                 \
    }
static const hone_mt_plan plans[DEVICE_MODELS] = {
    [DEVICE_MODEL_TWO] = PLAN(two, 2),      [DEVICE_MODEL_SCRATCH] = PLAN(in_one, 1),
    [DEVICE_MODEL_HOST] = PLAN(on_host, 2), [DEVICE_MODEL_WEIGHT] = PLAN(of_weight, 1),
    [DEVICE_MODEL_COPY] = PLAN(copying, 3), [DEVICE_MODEL_STRAY] = PLAN(astray, 1),
};

static const int64_t any[] = {-1};
static const hone_model_port vector[] = {
    {.name = "x", .dtype_name = "float32", .dtype = {2, 32, 1}, .ndim = 1, .shape = any},
    {.name = "y", .dtype_name = "float32", .dtype = {2, 32, 1}, .ndim = 1, .shape = any},
};
#define INFO(name_)                                                                                \
    { .name = (name_), 1, 1, &vector[0], &vector[1], NULL, NULL }
static const hone_model_entry infos[DEVICE_MODELS] = {
    INFO("two"), INFO("scratch"), INFO("host"), INFO("weight"), INFO("copy"), INFO("stray")};
static const hone_model_info info = {
    .version = HONE_MODEL_VERSION, .threads = 1, .entry_count = DEVICE_MODELS, .entries = infos};

#define ENTRY(number)                                                                              \
    { 1, 0, &plans[number] }
static const hone_mt_entry entries[DEVICE_MODELS] = {ENTRY(0), ENTRY(1), ENTRY(2),
                                                     ENTRY(3), ENTRY(4), ENTRY(5)};

static float weights[WEIGHT_COUNT];
static hone_mt_program program = {.name = "all"};
static hone_mt_model model = {
    .version = HONE_MT_VERSION,
    .device = HONE_MT_CUDA,
    .info = &info,
    .entries = entries,
    .cpu_features = "",
    .weights = (const uint8_t *)weights,
    .weights_bytes = sizeof weights,
    .program_count = 1,
    .programs = &program,
};

static void fill_tables(void) {
    program.code = device_kernels_ptx();
    for (int i = 0; i < WEIGHT_COUNT; i++)
        weights[i] = (float)i;
}

static int32_t call(device_model_kind kind, const hone_rt *rt, DLTensor *input, DLTensor *output) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_tables);
    return hone_mt_run(&model, rt, &input, &output, (int32_t)kind);
}

__attribute__((visibility("default"))) int32_t
device_model_call(device_model_kind kind, DLTensor *input, DLTensor *output) {
    return call(kind, NULL, input, output);
}

static hone_observer watcher;

static void *find_watcher(const hone_rt *rt, const char *name) {
    void *found = NULL;
    (void)rt;
    if (strcmp(name, HONE_OBSERVER) == 0) memcpy(&found, &watcher, sizeof found);
    return found;
}

__attribute__((visibility("default"))) int32_t device_model_watch(device_model_kind kind,
                                                                  DLTensor *input, DLTensor *output,
                                                                  hone_observer observer) {
    hone_rt *base = NULL;
    if (hone_model_rt_create(NULL, &base) != 0) return HONE_MODEL_NO_MEMORY;
    hone_rt rt = *base;
    rt.find_extern = find_watcher;
    watcher = observer;
    int32_t code = call(kind, &rt, input, output);
    hone_model_rt_destroy(base);
    return code;
}

__attribute__((visibility("default"))) const char *device_model_error(void) {
    return hone_mt_last_error();
}
