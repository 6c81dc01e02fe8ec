/* builder/builder_impl.h - for backends only; everybody else includes builder.h. */
#ifndef HONE_BUILDER_BUILDER_IMPL_H
#define HONE_BUILDER_BUILDER_IMPL_H

#include <stdatomic.h>

#include "builder/builder.h"

typedef struct hone_builder_vtable {
    const char *name;
    void (*destroy)(hone_builder *self);
    /* The dispatcher has checked the request and that there is room. */
    hone_status (*submit)(hone_builder *self, const hone_build_request *request,
                          hone_ticket ticket);
    hone_status (*next_result)(hone_builder *self, int64_t deadline_ns, hone_arena *arena,
                               hone_ticket *out_ticket, hone_build_result *out_result);
    int (*fd)(const hone_builder *self);
    void (*pause)(hone_builder *self);
    void (*resume)(hone_builder *self);
    void (*cancel_all)(hone_builder *self);
} hone_builder_vtable;

struct hone_builder {
    const hone_builder_vtable *vt;
    _Atomic int32_t references;
    int32_t slots, queue_depth, in_flight; /* set by the backend; counted by the dispatcher */
    hone_ticket last_ticket;
};

void hone_builder_init(hone_builder *builder, const hone_builder_vtable *vt, int32_t slots,
                       int32_t queue_depth);

#endif
