/* builder/builder.c - checks arguments, counts and clears outputs once, so that no backend has to.
 */
#include "builder/builder.h"

#include <assert.h>
#include <string.h>

#include "builder/builder_impl.h"

void hone_builder_init(hone_builder *builder, const hone_builder_vtable *vt, int32_t slots,
                       int32_t queue_depth) {
    *builder = (hone_builder){.vt = vt, .slots = slots, .queue_depth = queue_depth};
    atomic_init(&builder->references, 1);
}

hone_builder *hone_builder_retain(hone_builder *builder) {
    atomic_fetch_add(&builder->references, 1);
    return builder;
}

void hone_builder_release(hone_builder *builder) {
    if (builder && atomic_fetch_sub(&builder->references, 1) == 1) builder->vt->destroy(builder);
}

int32_t hone_builder_slots(const hone_builder *builder) {
    return builder->slots;
}
int32_t hone_builder_in_flight(const hone_builder *builder) {
    return builder->in_flight;
}
int hone_builder_fd(const hone_builder *builder) {
    return builder->vt->fd(builder);
}
void hone_builder_pause(hone_builder *builder) {
    builder->vt->pause(builder);
}
void hone_builder_resume(hone_builder *builder) {
    builder->vt->resume(builder);
}
void hone_builder_cancel_all(hone_builder *builder) {
    builder->vt->cancel_all(builder);
}

static hone_status check(const hone_build_request *request) {
    if (!request->program || !request->program[0]) {
        return HONE_ERROR(HONE_CODE_INVALID, "a build request has no program");
    }
    if (!request->target || !request->target[0]) {
        return HONE_ERROR(HONE_CODE_INVALID, "a build request has no target");
    }
    if (request->timeout_ns < 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "timeout_ns is %lld, must not be negative",
                          (long long)request->timeout_ns);
    }
    if (request->intrin_count > HONE_BUILD_MAX_INTRINS) {
        return HONE_ERROR(HONE_CODE_INVALID, "%zu intrinsics in a build request, at most %d",
                          request->intrin_count, HONE_BUILD_MAX_INTRINS);
    }
    return HONE_OK;
}

hone_status hone_builder_submit(hone_builder *builder, const hone_build_request *request,
                                hone_ticket *out_ticket) {
    assert(builder && request && out_ticket);
    *out_ticket = 0;
    HONE_TRY(check(request));
    if (builder->in_flight >= builder->queue_depth) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%d builds are in flight, no more are taken",
                          (int)builder->in_flight);
    }
    HONE_TRY(builder->vt->submit(builder, request, builder->last_ticket + 1));
    *out_ticket = ++builder->last_ticket;
    builder->in_flight++;
    return HONE_OK;
}

hone_status hone_builder_next_result(hone_builder *builder, int64_t deadline_ns, hone_arena *arena,
                                     hone_ticket *out_ticket, hone_build_result *out_result) {
    assert(builder && arena && out_ticket && out_result);
    *out_ticket = 0;
    memset(out_result, 0, sizeof *out_result);
    if (builder->in_flight == 0) {
        return HONE_ERROR(HONE_CODE_INVALID, "no build is in flight");
    }
    HONE_TRY(builder->vt->next_result(builder, deadline_ns, arena, out_ticket, out_result));
    builder->in_flight--;
    return HONE_OK;
}
