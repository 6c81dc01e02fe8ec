/* tests/runtime/cuda/test_cuda_declared.c - what runtime/ declares of CUDA is what NVIDIA declares:
 * the compiler compares the types of functions, numbers and structures. Built where the toolkit is
 * installed; all is said when it has compiled. */
#define __CUDA_API_VERSION_INTERNAL /* also the functions that a newer version replaces */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "runtime/cuda/cuda_api.h"
#include "runtime/cuda/cudart_api.h"

/* An enumeration is an unsigned int to C, so functions of the one are functions of the other. */
#define SAME(symbol, parameters)                                                                   \
    _Static_assert(_Generic(&symbol, unsigned int(*) parameters : 1, default : 0),                 \
                   #symbol " is declared in another way");
#define HONE_CU(member, symbol, parameters) SAME(symbol, parameters)
#include "runtime/model/device/cuda_driver.def"
#undef HONE_CU
#define HONE_CUDART(member, symbol, parameters) SAME(symbol, parameters)
#include "runtime/cuda/cudart.def"
#undef HONE_CUDART
_Static_assert(_Generic(&cudaGetErrorName, const char *(*)(unsigned int) : 1, default : 0), "");
_Static_assert(_Generic(&cudaGetErrorString, const char *(*)(unsigned int) : 1, default : 0), "");

#define EQUAL(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
#define ATTRIBUTE(ours, driver, runtime)                                                           \
    EQUAL(ours, driver);                                                                           \
    EQUAL(ours, runtime)
ATTRIBUTE(HONE_CUDA_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
          cudaDevAttrMaxThreadsPerBlock);
ATTRIBUTE(HONE_CUDA_WARP_SIZE, CU_DEVICE_ATTRIBUTE_WARP_SIZE, cudaDevAttrWarpSize);
ATTRIBUTE(HONE_CUDA_MAX_REGISTERS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
          cudaDevAttrMaxRegistersPerBlock);
ATTRIBUTE(HONE_CUDA_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
          cudaDevAttrMultiProcessorCount);
ATTRIBUTE(HONE_CUDA_PCI_BUS_ID, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, cudaDevAttrPciBusId);
ATTRIBUTE(HONE_CUDA_PCI_DEVICE_ID, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, cudaDevAttrPciDeviceId);
ATTRIBUTE(HONE_CUDA_L2_CACHE_SIZE, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, cudaDevAttrL2CacheSize);
ATTRIBUTE(HONE_CUDA_PCI_DOMAIN_ID, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, cudaDevAttrPciDomainId);
ATTRIBUTE(HONE_CUDA_COMPUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
          cudaDevAttrComputeCapabilityMajor);
ATTRIBUTE(HONE_CUDA_COMPUTE_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
          cudaDevAttrComputeCapabilityMinor);
ATTRIBUTE(HONE_CUDA_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
          CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
          cudaDevAttrMaxSharedMemoryPerBlockOptin);

ATTRIBUTE(HONE_CU_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING, cudaStreamNonBlocking);
ATTRIBUTE(HONE_CU_CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
          cudaStreamCaptureModeThreadLocal);
ATTRIBUTE(HONE_CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER, cudaJitErrorLogBuffer);
ATTRIBUTE(HONE_CU_JIT_ERROR_LOG_BUFFER_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
          cudaJitErrorLogBufferSizeBytes);
ATTRIBUTE(HONE_CU_FUNCTION_MAX_DYNAMIC_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
          cudaFuncAttributeMaxDynamicSharedMemorySize);
EQUAL(1, cudaMemcpyHostToDevice); /* cudart_api.c */
EQUAL(2, cudaMemcpyDeviceToHost);

_Static_assert(offsetof(hone_cudart_facts, name) == offsetof(struct cudaDeviceProp, name), "");
_Static_assert(offsetof(hone_cudart_facts, memory_bytes) ==
                   offsetof(struct cudaDeviceProp, totalGlobalMem),
               "");
_Static_assert(sizeof(hone_cudart_facts) >= sizeof(struct cudaDeviceProp), "");

#define MEMBER(ours, theirs)                                                                       \
    _Static_assert(offsetof(hone_cudart_launch, ours) == offsetof(cudaLaunchConfig_t, theirs),     \
                   #ours)
MEMBER(grid, gridDim);
MEMBER(block, blockDim);
MEMBER(shared_bytes, dynamicSmemBytes);
MEMBER(stream, stream);
MEMBER(attributes, attrs);
MEMBER(attribute_count, numAttrs);
_Static_assert(sizeof(hone_cudart_launch) == sizeof(cudaLaunchConfig_t), "");

int main(void) {
    return 0;
}
