/* codegen/source/dialects.c - the rows of dialect.h. */
#include "codegen/source/dialect.h"

#include <stddef.h>

const c_dialect c_dialect_c11 = {
    .name = "C source",
    .has_double = true,
    .prelude = "",
    .helper_words = "static inline",
    .table_words = "static const",
    .array_words = "_Alignas(64) ",
    .float_end = "f",
    .round = "nearbyint",
    .space = {"", "", ""},
    .keywords = "",
};

/* clang-format off */
const c_dialect c_dialect_cuda = {
    .name = "CUDA C",
    .column = C_COLUMN_CUDA,
    .is_device = true,
    .has_double = true,
    .has_wide_copies = true,
    .has_wide_atomics = true,
    .has_warp_mma = true,
    .small_floats = {{"f16", "return __half2float(__ushort_as_half(bits));",
                      "return __half_as_ushort(__float2half_rn(value));"},
                     {"bf16", "return __uint_as_float((uint32_t)bits << 16);",
                      "return __bfloat16_as_ushort(__float2bfloat16_rn(value));"}},
    .prelude = "#include <math.h>\n#include <stdint.h>\n#include <cuda_bf16.h>\n"
               "#include <cuda_fp16.h>\n#include <mma.h>\n",
    .helper_words = "static __device__ inline",
    .table_words = "const",
    .array_words = "__align__(16) ",
    .float_end = "f",
    .round = "nearbyint",
    .space = {"", "", ""},
    .shared_words = "__shared__ __align__(128) ",
    .dynamic_shared = "extern __shared__ __align__(1024) unsigned char hone_dynamic_shared[];",
    .block_axes = {"blockIdx.x", "blockIdx.y", "blockIdx.z"},
    .thread_axes = {"threadIdx.x", "threadIdx.y", "threadIdx.z"},
    .barrier = "__syncthreads();",
    .warp_barrier = "__syncwarp();",
    .keywords =
        "alignas alignof and and_eq bitand bitor catch char16_t char32_t class compl concept "
        "const_cast constexpr decltype delete dynamic_cast explicit export false friend half half2 "
        "mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected "
        "public reinterpret_cast static_assert static_cast template this thread_local throw true "
        "try typeid typename using virtual wchar_t xor xor_eq threadIdx blockIdx blockDim gridDim "
        "warpSize nvcuda nv_bfloat16 clock min max",
    .entry_words = "extern \"C\" __global__ void __launch_bounds__($P) ",
    .entry_buffer = "$T *__restrict__ $N",
    .entry_read_only = "const $T *__restrict__ $N",
    .entry_scalar = "const int64_t $N",
    .entry_places = "",
};
/* clang-format on */

/* Several texts may be put into one file. */
static const char opencl_prelude[] = "#ifndef HONE_TYPES\n"
                                     "#define HONE_TYPES\n"
                                     "#ifdef cl_khr_fp64\n"
                                     "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                                     "#endif\n"
                                     "typedef char int8_t;\n"
                                     "typedef uchar uint8_t;\n"
                                     "typedef short int16_t;\n"
                                     "typedef ushort uint16_t;\n"
                                     "typedef int int32_t;\n"
                                     "typedef uint uint32_t;\n"
                                     "typedef long int64_t;\n"
                                     "typedef ulong uint64_t;\n"
                                     "#define UINT32_C(x) x##U\n"
                                     "#define INT64_C(x) x##L\n"
                                     "#define UINT64_C(x) x##UL\n"
                                     "#define INT64_MIN LONG_MIN\n"
                                     "#endif\n";

const c_dialect c_dialect_opencl = {
    .name = "OpenCL C",
    .column = C_COLUMN_OPENCL,
    .is_device = true,
    .has_double = true,
    .small_floats = {{"f16", "return vload_half(0, (const __private half *)&bits);",
                      "uint16_t bits;\n    vstore_half_rte(value, 0, (__private half *)&bits);\n"
                      "    return bits;"}},
    .prelude = opencl_prelude,
    .helper_words = "static inline",
    .table_words = "const",
    .array_words = "__attribute__((aligned(16))) ",
    .float_end = "",
    .round = "rint",
    .space = { "__global ",       "__local ", ""},
    .shared_words = "__local __attribute__((aligned(128))) ",
    .block_axes = {                                       "get_group_id(0)", "get_group_id(1)", "get_group_id(2)"},
    .thread_axes = {                        "get_local_id(0)", "get_local_id(1)", "get_local_id(2)"},
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .keywords = "kernel global local constant private generic read_only write_only read_write half "
                "uchar ushort uint ulong quad complex imaginary image sampler_t event_t size_t "
                "ptrdiff_t pipe uniform vload vstore rint barrier select all any",
    .entry_words = "__kernel __attribute__((reqd_work_group_size($X, $Y, $Z))) void ",
    .entry_buffer = "__global $T *restrict $N",
    .entry_read_only = "__global const $T *restrict $N",
    .entry_scalar = "const int64_t $N",
    .entry_places = "",
};

/* clang-format off */
const c_dialect c_dialect_metal = {
    .name = "Metal",
    .column = C_COLUMN_METAL,
    .is_device = true,
    .has_wide_copies = true,
    .small_floats = {{"f16", "return float(as_type<half>(bits));",
                      "return as_type<uint16_t>(half(value));"}},
    .prelude = "#include <metal_stdlib>\nusing namespace metal;\n",
    .helper_words = "static inline",
    .table_words = "const",
    .array_words = "alignas(16) ",
    .float_end = "",
    .round = "rint",
    .space = {"device ", "threadgroup ", "thread "},
    .shared_words = "threadgroup alignas(16) ",
    .block_axes = {"hone_block.x", "hone_block.y", "hone_block.z"},
    .thread_axes = {"hone_thread.x", "hone_thread.y", "hone_thread.z"},
    .barrier = "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);",
    .warp_barrier = "simdgroup_barrier(mem_flags::mem_threadgroup);",
    .keywords =
        "alignas alignof and and_eq bitand bitor catch class compl const_cast constexpr decltype "
        "delete dynamic_cast explicit export friend half mutable namespace new noexcept not not_eq "
        "nullptr operator or or_eq private protected public reinterpret_cast static_assert "
        "static_cast template this thread_local throw try typeid typename using virtual wchar_t "
        "xor "
        "xor_eq device threadgroup thread constant kernel vertex fragment uint ushort uchar ulong "
        "metal bfloat simd quad ray_data object_data size_t min max clamp select dot",
    .entry_words = "kernel [[max_total_threads_per_threadgroup($P)]] void ",
    .entry_buffer = "device $T *$N [[buffer($I)]]",
    .entry_read_only = "device const $T *$N [[buffer($I)]]",
    .entry_scalar = "constant int64_t &$N [[buffer($I)]]",
    .entry_places = "uint3 hone_block [[threadgroup_position_in_grid]], "
                    "uint3 hone_thread [[thread_position_in_threadgroup]]",
};
/* clang-format on */
