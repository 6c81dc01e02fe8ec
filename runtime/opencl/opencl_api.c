/* runtime/opencl/opencl_api.c - opens OpenCL, finds devices, compiles and loads programs. */
#include "runtime/opencl/opencl_api.h"

#include "runtime/model/device/opencl_driver.h"
#include "support/core/alloc.h"
#include "support/core/attributes.h"

/* Numbers of cl.h. */
enum {
    PLATFORM_NAME = 0x0902,
    DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
    DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
    DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101E,
    DEVICE_GLOBAL_MEM_SIZE = 0x101F,
    DEVICE_LOCAL_MEM_SIZE = 0x1023,
    DEVICE_NAME = 0x102B,
    DEVICE_PLATFORM = 0x1031,
    PROGRAM_BUILD_LOG = 0x1183,
    QUEUE_PROFILING = 2,
};
#define DEVICE_TYPE_ALL UINT64_C(0xFFFFFFFF)
#define MAX_LOG_BYTES ((size_t)1 << 16)

/* ---- errors ---- */

static const struct code_row {
    int32_t code;
    const char *name;
} code_rows[] = {
    {-1,    "CL_DEVICE_NOT_FOUND"             },
    {-2,    "CL_DEVICE_NOT_AVAILABLE"         },
    {-3,    "CL_COMPILER_NOT_AVAILABLE"       },
    {-4,    "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5,    "CL_OUT_OF_RESOURCES"             },
    {-6,    "CL_OUT_OF_HOST_MEMORY"           },
    {-7,    "CL_PROFILING_INFO_NOT_AVAILABLE" },
    {-11,   "CL_BUILD_PROGRAM_FAILURE"        },
    {-13,   "CL_MISALIGNED_SUB_BUFFER_OFFSET" },
    {-30,   "CL_INVALID_VALUE"                },
    {-36,   "CL_INVALID_COMMAND_QUEUE"        },
    {-38,   "CL_INVALID_MEM_OBJECT"           },
    {-42,   "CL_INVALID_BINARY"               },
    {-45,   "CL_INVALID_PROGRAM_EXECUTABLE"   },
    {-46,   "CL_INVALID_KERNEL_NAME"          },
    {-51,   "CL_INVALID_ARG_SIZE"             },
    {-52,   "CL_INVALID_KERNEL_ARGS"          },
    {-54,   "CL_INVALID_WORK_GROUP_SIZE"      },
    {-55,   "CL_INVALID_WORK_ITEM_SIZE"       },
    {-61,   "CL_INVALID_BUFFER_SIZE"          },
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"       },
};

const char *hone_opencl_code_name(int32_t code) {
    for (size_t i = 0; i < HONE_COUNT(code_rows); i++) {
        if (code_rows[i].code == code) return code_rows[i].name;
    }
    return "an error that is not known here";
}

hone_status hone_opencl_error(int32_t code, const char *what) {
    if (code == 0) return HONE_OK;
    bool is_memory = code == -4 || code == -6;
    return HONE_ERROR(is_memory ? HONE_CODE_NO_MEMORY : HONE_CODE_IO, "%s: %s (%d)", what,
                      hone_opencl_code_name(code), code);
}

/* ---- the library ---- */

static hone_status open_library(hone_opencl *self) {
    hone_opencl_driver driver;
    char why[256];
    if (!hone_opencl_driver_open(&driver, why, sizeof why))
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s", why);
#define HONE_OPENCL(member, result, symbol, params) self->member = driver.member;
#include "runtime/model/device/opencl.def"
#undef HONE_OPENCL
    return HONE_OK;
}

hone_status hone_opencl_open(hone_opencl **out_opencl) {
    *out_opencl = NULL;
    hone_opencl *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "OpenCL");
    hone_status st = open_library(self);
    if (st) {
        hone_opencl_close(self);
        return st;
    }
    *out_opencl = self;
    return HONE_OK;
}

/* Drivers may have threads that still run: the library stays loaded. */
void hone_opencl_close(hone_opencl *opencl) {
    if (!opencl) return;
    if (opencl->queue) (void)opencl->queue_release(opencl->queue);
    if (opencl->context) (void)opencl->context_release(opencl->context);
    hone_free(opencl);
}

/* ---- devices ---- */

void hone_opencl_list(const hone_opencl *opencl, void *out_devices[HONE_OPENCL_MAX_DEVICES],
                      int32_t *out_count) {
    void *platforms[HONE_OPENCL_MAX_DEVICES];
    uint32_t platform_count = 0;
    *out_count = 0;
    if (opencl->platforms(HONE_OPENCL_MAX_DEVICES, platforms, &platform_count) != 0) return;
    for (uint32_t i = 0; i < platform_count && i < HONE_OPENCL_MAX_DEVICES; i++) {
        uint32_t most = HONE_OPENCL_MAX_DEVICES - (uint32_t)*out_count, count = 0;
        if (most == 0) return;
        int32_t code =
            opencl->devices(platforms[i], DEVICE_TYPE_ALL, most, &out_devices[*out_count], &count);
        if (code == 0) *out_count += (int32_t)(count < most ? count : most);
    }
}

static int64_t number_fact(const hone_opencl *cl, void *device, uint32_t what) {
    uint64_t value = 0; /* of 4 or 8 bytes, the lower ones first */
    return cl->device_fact(device, what, sizeof value, &value, NULL) == 0 ? (int64_t)value : 0;
}

static void describe_platform(const hone_opencl *cl, void *device, hone_opencl_facts *facts) {
    void *platform = NULL;
    if (cl->device_fact(device, DEVICE_PLATFORM, sizeof platform, &platform, NULL) != 0) return;
    if (cl->platform_fact(platform, PLATFORM_NAME, sizeof facts->platform, facts->platform, NULL))
        facts->platform[0] = 0;
}

hone_status hone_opencl_describe(const hone_opencl *opencl, void *device,
                                 hone_opencl_facts *out_facts) {
    *out_facts = (hone_opencl_facts){
        .memory_bytes = number_fact(opencl, device, DEVICE_GLOBAL_MEM_SIZE),
        .max_memory_bytes = number_fact(opencl, device, DEVICE_MAX_MEM_ALLOC_SIZE),
        .cache_bytes = number_fact(opencl, device, DEVICE_GLOBAL_MEM_CACHE_SIZE),
        .shared_bytes = number_fact(opencl, device, DEVICE_LOCAL_MEM_SIZE),
        .max_threads = (int32_t)number_fact(opencl, device, DEVICE_MAX_WORK_GROUP_SIZE),
    };
    size_t most = sizeof out_facts->name;
    if (opencl->device_fact(device, DEVICE_NAME, most, out_facts->name, NULL) != 0)
        out_facts->name[0] = 0;
    describe_platform(opencl, device, out_facts);
    if (out_facts->max_threads > 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "OpenCL device '%s' does not say what it is",
                      out_facts->name);
}

static hone_status unavailable(int32_t code, const char *what) {
    if (code == 0) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%s: %s (%d)", what, hone_opencl_code_name(code),
                      code);
}

hone_status hone_opencl_enter(hone_opencl *opencl, int32_t number) {
    void *devices[HONE_OPENCL_MAX_DEVICES];
    int32_t count, code = 0;
    hone_opencl_list(opencl, devices, &count);
    if (number < 0 || number >= count) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "there is no OpenCL device %d: %d found", number,
                          count);
    }
    opencl->device = devices[number];
    HONE_TRY(hone_opencl_describe(opencl, opencl->device, &opencl->facts));
    opencl->context = opencl->context_create(NULL, 1, &opencl->device, NULL, NULL, &code);
    HONE_TRY(unavailable(code, "making an OpenCL context"));
    opencl->queue = opencl->queue_create(opencl->context, opencl->device, QUEUE_PROFILING, &code);
    return unavailable(code, "making an OpenCL queue");
}

/* ---- programs ---- */

/* What the compiler said, as the failure that it is. */
static hone_status build_failure(const hone_opencl *cl, void *program, int32_t code) {
    char *log = hone_calloc(1, MAX_LOG_BYTES);
    if (!log) return HONE_ERROR(HONE_CODE_NO_MEMORY, "what OpenCL's compiler said");
    (void)cl->build_fact(program, cl->device, PROGRAM_BUILD_LOG, MAX_LOG_BYTES - 1, log, NULL);
    hone_status st = HONE_ERROR(HONE_CODE_ILLEGAL, "OpenCL does not build it: %s (%d)%s%.2000s",
                                hone_opencl_code_name(code), code, log[0] ? ": " : "", log);
    hone_free(log);
    return st;
}

static hone_status build(const hone_opencl *cl, void *program, void **out_program) {
    int32_t code = cl->build(program, 1, &cl->device, "", NULL, NULL);
    if (code == 0) {
        *out_program = program;
        return HONE_OK;
    }
    hone_status st = build_failure(cl, program, code);
    (void)cl->program_release(program);
    return st;
}

hone_status hone_opencl_compile(const hone_opencl *opencl, const char *text, size_t length,
                                void **out_program) {
    int32_t code = 0;
    *out_program = NULL;
    void *program = opencl->from_source(opencl->context, 1, &text, &length, &code);
    HONE_TRY(hone_opencl_error(code, "taking OpenCL C"));
    return build(opencl, program, out_program);
}
