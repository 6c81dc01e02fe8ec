/* runner/self_test_ptx.c - the kernel of the self test for NVIDIA's cards: B = 2 A + 1, a thread
 * for each element, as self_test_kernel.c does it on the host. */
#include "runner/self_test.h"

const char hone_self_test_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry self_test(.param .u64 a, .param .u64 b, .param .u64 n)\n"
    "{\n"
    ".reg .pred %p<2>; .reg .b32 %r<5>; .reg .f32 %f<2>; .reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [n];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r4, %r1, %r2, %r3; cvt.u64.u32 %rd4, %r4;\n"
    "setp.ge.u64 %p1, %rd4, %rd3; @%p1 bra END;\n"
    "shl.b64 %rd5, %rd4, 2; add.u64 %rd6, %rd1, %rd5; add.u64 %rd7, %rd2, %rd5;\n"
    "ld.global.f32 %f1, [%rd6];\n"
    "fma.rn.f32 %f1, %f1, 0f40000000, 0f3F800000;\n"
    "st.global.f32 [%rd7], %f1;\n"
    "END: ret;\n}\n";
const size_t hone_self_test_ptx_bytes = sizeof hone_self_test_ptx - 1;
