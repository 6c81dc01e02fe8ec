/* tests/runtime/device_kernels.c - see device_kernels.h. */
#include "tests/runtime/device_kernels.h"

#include <stdio.h>

#include "support/core/attributes.h"

#define HEAD                                                                                       \
    ".version 7.0\n.target sm_75\n.address_size 64\n.extern .shared .align 4 .b8 shared[];\n"

/* %rd1 A, %rd2 B, %rd3 n, %rd4 number of the thread, %rd5 and %rd6 addresses of its elements;
 * threads beyond n end. */
#define BEGIN                                                                                      \
    "(.param .u64 a, .param .u64 b, .param .u64 n)\n"                                              \
    "{\n"                                                                                          \
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<10>;\n"                     \
    "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [n];\n"                    \
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"                          \
    "mad.lo.u32 %r4, %r1, %r2, %r3; cvt.u64.u32 %rd4, %r4;\n"                                      \
    "setp.ge.u64 %p1, %rd4, %rd3; @%p1 bra END;\n"                                                 \
    "shl.b64 %rd7, %rd4, 2; add.u64 %rd5, %rd1, %rd7; add.u64 %rd6, %rd2, %rd7;\n"
#define END "END: ret;\n}\n"
#define LOAD "ld.global.f32 %f1, [%rd5];\n"
#define DOUBLE "add.f32 %f1, %f1, %f1;\n"
#define ADD "add.f32 %f1, %f1, 0f3F800000;\n"
#define STORE "st.global.f32 [%rd6], %f1;\n"
#define WHOLE LOAD DOUBLE ADD STORE
#define FIRST "setp.ne.u64 %p2, %rd4, 0; @%p2 bra END;\n" /* only thread 0 goes on */
#define REVERSE                                                                                    \
    "shl.b32 %r5, %r3, 2; mov.u32 %r6, shared; add.u32 %r5, %r5, %r6;\n"                           \
    "st.shared.f32 [%r5], %f1;\n"                                                                  \
    "bar.sync 0;\n"                                                                                \
    "sub.u32 %r7, %r2, %r3; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r6;\n"                         \
    "ld.shared.f32 %f1, [%r7+-4];\n"
#define FOR_EVER                                                                                   \
    "AGAIN: ld.volatile.global.f32 %f2, [%rd5]; setp.eq.f32 %p3, %f2, %f2; @%p3 bra AGAIN;\n"

static const struct kernel {
    const char *name, *body;
} kernels[] = {
    {"self_test",   WHOLE                                                      },
    {"step_double", LOAD DOUBLE STORE                                          },
    {"step_add",    LOAD ADD STORE                                             },
    {"reverse",     LOAD REVERSE STORE                                         },
    {"behind",      WHOLE FIRST "shl.b64 %rd7, %rd3, 2; add.u64 %rd7, %rd2, %rd7;\n"
                           "st.global.f32 [%rd7], %f1;\n"        },
    {"before",      WHOLE FIRST "st.global.f32 [%rd2+-4], %f1;\n"              },
    {"into_input",  WHOLE FIRST "st.global.f32 [%rd1], %f1;\n"                 },
    {"stray",       WHOLE FIRST "mov.u64 %rd7, 0; st.global.f32 [%rd7], %f1;\n"},
    {"crooked",     WHOLE FIRST "st.global.f32 [%rd2+1], %f1;\n"               },
    {"trap",        WHOLE "trap;\n"                                            },
    {"hang",        WHOLE FOR_EVER                                             },
};

const char *device_kernels_ptx(void) {
    static char text[16384];
    int used = snprintf(text, sizeof text, HEAD);
    for (size_t i = 0; i < HONE_COUNT(kernels); i++) {
        used += snprintf(text + used, sizeof text - (size_t)used, ".visible .entry %s%s%s%s",
                         kernels[i].name, BEGIN, kernels[i].body, END);
    }
    return text;
}
