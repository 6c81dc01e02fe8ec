/* runtime/cuda/cuda_fault.h - whose fault an error of CUDA is, and what is left of the context. */
#ifndef HONE_RUNTIME_CUDA_CUDA_FAULT_H
#define HONE_RUNTIME_CUDA_CUDA_FAULT_H

#include <stdbool.h>

#include "measure/failure.h"
#include "runtime/cuda/cuda_api.h"

typedef struct hone_cuda_fault {
    hone_failure failure; /* DEVICE_LOST where no kernel can be blamed */
    bool kills;           /* nothing works in this context any more */
    const char *meaning;  /* "" when there is no row */
} hone_cuda_fault;

hone_cuda_fault hone_cuda_fault_of(hone_cuda_code code); /* not 0 */

/* A status of an error that is no kernel's: NO_MEMORY, or IO; "copying to the card: CUDA_ERROR_…".
 */
HONE_NODISCARD hone_status hone_cuda_error(hone_cuda *cuda, hone_cuda_code code, const char *what);

/* INVALID: what was loaded is no code; UNSUPPORTED: code for another card or a newer driver. `log`:
 * what the compiler of PTX said. */
HONE_NODISCARD hone_status hone_cuda_load_error(hone_cuda *cuda, hone_cuda_code code,
                                                const char *log);

#endif
