/* runtime/cuda/device_cuda.h - one NVIDIA card as a device; what cards there are.
 *
 * Memory lies between zones of a known pattern, which are looked at after a run: a card has no
 * guard pages. What kernels may only read is known by its hash. Code is PTX, which the driver
 * compiles (and keeps, in its own cache, CUDA_CACHE_PATH), or a cubin.
 */
#ifndef HONE_RUNTIME_CUDA_DEVICE_CUDA_H
#define HONE_RUNTIME_CUDA_DEVICE_CUDA_H

#include "runtime/cuda/cuda_api.h"
#include "runtime/device.h"
#include "target/target.h"

typedef struct hone_device_cuda_options {
    int32_t ordinal;           /* of the card, as CUDA counts */
    int64_t memory_bytes;      /* of the card that may be used; 0: all */
    hone_cuda_library library; /* by which it is reached */
    const char *library_path;  /* NULL: as the loader finds it */
} hone_device_cuda_options;

/* UNAVAILABLE: no library, no driver, no such card. */
HONE_NODISCARD hone_status hone_device_create_cuda(const hone_device_cuda_options *options,
                                                   hone_device **out_device);

enum { HONE_CUDA_MAX_CARDS = 64 };

/* The cards of this machine, without touching them. UNAVAILABLE: there is no driver. */
HONE_NODISCARD hone_status hone_cuda_list(hone_cuda_facts out_cards[HONE_CUDA_MAX_CARDS],
                                          int32_t *out_count);
/* The target that describes a card. */
HONE_NODISCARD hone_status hone_cuda_target(const hone_cuda_facts *card, hone_target *out_target);

#endif
