/* runtime/cuda/cuda_api.c - which library is used, and what both are asked about a card. */
#include "runtime/cuda/cuda_api.h"

#include "support/core/attributes.h"

hone_status hone_cuda_open(hone_cuda_library library, const char *path, hone_cuda **out_cuda) {
    *out_cuda = NULL;
    if (library == HONE_CUDA_RUNTIME) return hone_cuda_open_runtime(path, out_cuda);
    if (library == HONE_CUDA_DRIVER) return hone_cuda_open_driver(path, out_cuda);
    hone_status st = hone_cuda_open_runtime(path, out_cuda);
    if (hone_status_code(st) != HONE_CODE_UNAVAILABLE) return st;
    hone_status_free(st);
    return hone_cuda_open_driver(path, out_cuda); /* and what lacks there is what lacks */
}

void hone_cuda_close(hone_cuda *cuda) {
    if (cuda) cuda->table->destroy(cuda);
}

hone_cuda_code hone_cuda_facts_ask(hone_cuda *self, int ordinal, hone_cuda_ask ask,
                                   hone_cuda_facts *facts) {
    int major = 0, minor = 0;
    const struct {
        int attribute;
        int *to;
    } wanted[] = {
        {HONE_CUDA_COMPUTE_CAPABILITY_MAJOR,          &major              },
        {HONE_CUDA_COMPUTE_CAPABILITY_MINOR,          &minor              },
        {HONE_CUDA_MULTIPROCESSOR_COUNT,              &facts->processors  },
        {HONE_CUDA_MAX_THREADS_PER_BLOCK,             &facts->max_threads },
        {HONE_CUDA_WARP_SIZE,                         &facts->warp_size   },
        {HONE_CUDA_MAX_REGISTERS_PER_BLOCK,           &facts->registers   },
        {HONE_CUDA_L2_CACHE_SIZE,                     &facts->l2_bytes    },
        {HONE_CUDA_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &facts->shared_bytes},
        {HONE_CUDA_PCI_DOMAIN_ID,                     &facts->pci_domain  },
        {HONE_CUDA_PCI_BUS_ID,                        &facts->pci_bus     },
        {HONE_CUDA_PCI_DEVICE_ID,                     &facts->pci_device  },
    };
    for (size_t i = 0; i < HONE_COUNT(wanted); i++) {
        hone_cuda_code code = ask(self, ordinal, wanted[i].attribute, wanted[i].to);
        if (code) return code;
    }
    facts->capability = 10 * major + minor;
    return 0;
}
