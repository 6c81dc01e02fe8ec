/* runner/operands.h - the buffers that a workload's candidates run on, kept between trials.
 *
 * Inputs are made once and then read-only; outputs are poisoned before each checked run. A cache
 * holds the buffers of the workloads that were measured lately.
 * Lifetime: create/destroy by one owner. Threads: thread-compatible.
 */
#ifndef HONE_RUNNER_OPERANDS_H
#define HONE_RUNNER_OPERANDS_H

#include "measure/check_bundle.h"
#include "measure/run.h"
#include "runtime/device.h"
#include "support/data/hash.h"

typedef struct hone_operands {
    hone_hash128 key;         /* of bundle file, arguments, seed */
    bool is_checked;          /* there is a bundle, and references in it */
    hone_check_bundle bundle; /* made up from default generators when there is none */
    size_t count;
    hone_device_buffer **buffers; /* owned, like the next */
    void **staging;               /* host copies, for devices whose memory the host cannot see */
    int64_t total_bytes;
    uint64_t last_used;
    hone_device_turns turns; /* its buffers are owned */
} hone_operands;

typedef struct hone_operands_cache hone_operands_cache;

HONE_NODISCARD hone_status hone_operands_cache_create(hone_device *device,
                                                      hone_operands_cache **out_cache);
void hone_operands_cache_destroy(hone_operands_cache *cache); /* NULL is allowed */

/* The operands for a request, made or found; owned by the cache, valid until the next call. What
 * hone_check_bundle_open and _fits return, and NO_MEMORY. */
HONE_NODISCARD hone_status hone_operands_get(hone_operands_cache *cache,
                                             const hone_run_request *request,
                                             hone_operands **out_operands);

/* Makes the places that arguments lie at in turn, as far as the request asks for them and there is
 * memory, and lets those be written that others would make between runs. *out_turns: NULL when all
 * stays as it is. */
HONE_NODISCARD hone_status hone_operands_take_turns(hone_operands_cache *cache,
                                                    hone_operands *operands,
                                                    const hone_run_request *request,
                                                    hone_device_turns **out_turns);
/* Inputs are read-only again. */
HONE_NODISCARD hone_status hone_operands_end_turns(hone_operands_cache *cache,
                                                   hone_operands *operands);
/* Makes ready for a run: INOUT filled again; OUT poisoned when `poison`. */
HONE_NODISCARD hone_status hone_operands_reset(hone_operands_cache *cache, hone_operands *operands,
                                               bool poison);
/* What argument i holds now, for the host to read. */
HONE_NODISCARD hone_status hone_operands_view(hone_operands_cache *cache, hone_operands *operands,
                                              size_t index, const void **out_data);

#endif
