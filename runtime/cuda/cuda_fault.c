/* runtime/cuda/cuda_fault.c - see cuda_fault.h. */
#include "runtime/cuda/cuda_fault.h"

#include <string.h>

enum {
    OUT_OF_MEMORY = 2,
    NO_BINARY = 209, /* for this card */
    INVALID_PTX = 218,
    NO_JIT = 221,          /* the compiler of PTX is not installed */
    UNSUPPORTED_PTX = 222, /* of a version that this driver does not know */
    INVALID_IMAGE = 200,
    INVALID_SOURCE = 300,
    NOT_FOUND = 500,
};

hone_cuda_fault hone_cuda_fault_of(hone_cuda_code code) {
    switch (code) {
#define HONE_CUDA_FAULT(number, failure, kills, meaning)                                           \
    case number:                                                                                   \
        return (hone_cuda_fault){HONE_FAILURE_##failure, kills, meaning};
#include "runtime/cuda/cuda_faults.def"
#undef HONE_CUDA_FAULT
    default:
        return (hone_cuda_fault){HONE_FAILURE_DEVICE_LOST, true, ""};
    }
}

hone_status hone_cuda_error(hone_cuda *cuda, hone_cuda_code code, const char *what) {
    if (!code) return HONE_OK;
    return HONE_ERROR(code == OUT_OF_MEMORY ? HONE_CODE_NO_MEMORY : HONE_CODE_IO, "%s: %s, %s",
                      what, cuda->table->error_name(cuda, code),
                      cuda->table->error_text(cuda, code));
}

/* The first line that says something: logs begin with where they were written. */
static int first_words(const char *log) {
    return (int)strcspn(log, "\r\n");
}

hone_status hone_cuda_load_error(hone_cuda *cuda, hone_cuda_code code, const char *log) {
    hone_code kind = HONE_CODE_IO;
    if (code == INVALID_PTX || code == INVALID_IMAGE || code == INVALID_SOURCE || code == NOT_FOUND)
        kind = HONE_CODE_INVALID;
    if (code == NO_BINARY || code == UNSUPPORTED_PTX || code == NO_JIT)
        kind = HONE_CODE_UNSUPPORTED;
    if (code == OUT_OF_MEMORY) kind = HONE_CODE_NO_MEMORY;
    return HONE_ERROR(kind, "the CUDA %s cannot load it: %s%s%.*s", cuda->table->name,
                      cuda->table->error_name(cuda, code), log[0] ? ": " : "", first_words(log),
                      log);
}
