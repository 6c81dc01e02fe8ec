/* runtime/cuda/cuda_cards.c - what cards there are, and as what targets, without touching them; one
 * of them as a device, by the driver. */
#include <stdio.h>

#include "runtime/cuda/cuda_fault.h"
#include "runtime/cuda/device_cuda.h"
#include "runtime/device_impl.h"

static hone_status describe_all(hone_cuda *cuda, hone_cuda_facts *out_cards, int32_t *out_count) {
    int count = 0;
    HONE_TRY(hone_cuda_error(cuda, cuda->table->device_count(cuda, &count), "counting cards"));
    for (int i = 0; i < count && i < HONE_CUDA_MAX_CARDS; i++) {
        out_cards[i] = (hone_cuda_facts){.name = ""};
        HONE_TRY(hone_cuda_error(cuda, cuda->table->describe(cuda, i, &out_cards[i]),
                                 "asking a card what it is"));
        *out_count = i + 1;
    }
    return HONE_OK;
}

hone_status hone_cuda_list(hone_cuda_facts out_cards[HONE_CUDA_MAX_CARDS], int32_t *out_count) {
    hone_cuda *cuda = NULL;
    *out_count = 0;
    HONE_TRY(hone_cuda_open(HONE_CUDA_DRIVER, NULL, &cuda));
    hone_status st = describe_all(cuda, out_cards, out_count);
    hone_cuda_close(cuda);
    return st;
}

/* The "a" stands for what no later card has: groups of warps that multiply together. */
hone_status hone_cuda_target(const hone_cuda_facts *card, hone_target *out_target) {
    char text[256];
    const char *own = card->capability == 90 ? "a" : "";
    snprintf(text, sizeof text,
             "cuda -arch=sm_%d%s -num-cores=%d -l2-cache=%d -max-threads-per-block=%d "
             "-thread-warp-size=%d -max-shared-memory-per-block=%d -registers-per-block=%d",
             card->capability, own, card->processors, card->l2_bytes, card->max_threads,
             card->warp_size, card->shared_bytes, card->registers);
    return hone_target_parse(text, out_target);
}

hone_status hone_device_open_cuda(int32_t number, int64_t memory_bytes, hone_device **out_device) {
    const hone_device_cuda_options options = {.ordinal = number, .memory_bytes = memory_bytes};
    return hone_device_create_cuda(&options, out_device);
}
