/* builder/builder_null.c - answers every request at once, with one failure class; the skeleton to
 * copy for a new backend. */
#include "builder/builder_impl.h"
#include "runtime/model/abi.h"

#include "support/core/alloc.h"
#include "support/core/arena.h"

typedef struct answer {
    hone_ticket ticket;
    char *path; /* owned, or NULL */
} answer;

enum { DEPTH = 64 };

typedef struct builder_null {
    hone_builder base; /* first: a builder_null * is an hone_builder * */
    hone_failure failure;
    answer answers[DEPTH]; /* a ring */
    int32_t first, count;
} builder_null;

static builder_null *as_null(hone_builder *base) {
    return (builder_null *)base;
}

static void null_destroy(hone_builder *base) {
    builder_null *self = as_null(base);
    for (int32_t i = 0; i < self->count; i++) {
        hone_free(self->answers[(self->first + i) % DEPTH].path);
    }
    hone_free(self);
}

static hone_status null_submit(hone_builder *base, const hone_build_request *request,
                               hone_ticket ticket) {
    builder_null *self = as_null(base);
    answer *a = &self->answers[(self->first + self->count) % DEPTH];
    *a = (answer){.ticket = ticket};
    if (request->output_path && self->failure == HONE_FAILURE_NONE) {
        a->path = hone_strdup(request->output_path);
        if (!a->path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "null builder");
    }
    self->count++;
    return HONE_OK;
}

static hone_status null_next_result(hone_builder *base, int64_t deadline_ns, hone_arena *arena,
                                    hone_ticket *out_ticket, hone_build_result *out_result) {
    (void)deadline_ns;
    builder_null *self = as_null(base);
    answer *a = &self->answers[self->first];
    if (a->path) {
        out_result->artifact_path = hone_arena_strdup(arena, a->path);
        if (!out_result->artifact_path) return HONE_ERROR(HONE_CODE_NO_MEMORY, "null builder");
    }
    out_result->failure = self->failure;
    out_result->manifest = (hone_manifest){.abi_version = HONE_ABI_VERSION, .entry = "kernel"};
    if (self->failure != HONE_FAILURE_NONE) out_result->message = "the null builder builds nothing";
    *out_ticket = a->ticket;
    hone_free(a->path);
    self->first = (self->first + 1) % DEPTH;
    self->count--;
    return HONE_OK;
}

static int null_fd(const hone_builder *base) {
    (void)base;
    return -1;
}

static void null_nothing(hone_builder *base) {
    (void)base;
}

static const hone_builder_vtable null_vtable = {
    .name = "null",
    .destroy = null_destroy,
    .submit = null_submit,
    .next_result = null_next_result,
    .fd = null_fd,
    .pause = null_nothing,
    .resume = null_nothing,
    .cancel_all = null_nothing,
};

hone_status hone_builder_create_null(hone_failure failure, hone_builder **out_builder) {
    *out_builder = NULL;
    builder_null *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "null builder");
    hone_builder_init(&self->base, &null_vtable, 1, DEPTH);
    self->failure = failure;
    *out_builder = &self->base;
    return HONE_OK;
}
