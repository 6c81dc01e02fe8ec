/* builder/worker.c - the loop of hone-worker: read a request, build, answer. */
#include "builder/worker.h"

#include "builder/build_one.h"
#include "measure/wire.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/proc.h"

static hone_status answer(int fd, const hone_build_result *result) {
    hone_str reply = {0};
    hone_status st = hone_build_result_encode(result, &reply);
    if (!st) {
        st = hone_frame_write(fd, reply.data, reply.length, hone_clock_system(),
                              HONE_DEADLINE_NEVER);
    }
    hone_str_deinit(&reply);
    return st;
}

static hone_status serve_one(int fd, hone_arena *arena, const char *bytes, size_t count) {
    hone_build_request request;
    hone_build_result result = {.failure = HONE_FAILURE_BUILD_ERROR};
    hone_str artifact = {0};
    hone_status st = hone_build_request_decode(bytes, count, arena, &request);
    if (st) {
        result.message = hone_arena_strdup(arena, hone_status_message(st));
        hone_status_free(st);
    } else {
        hone_build_run(&request, arena, &artifact, &result);
    }
    st = answer(fd, &result);
    hone_str_deinit(&artifact);
    return st;
}

hone_status hone_worker_serve(int fd) {
    hone_arena *arena = hone_arena_create(1 << 18);
    if (!arena) return HONE_ERROR(HONE_CODE_NO_MEMORY, "worker");
    hone_status st = HONE_OK;
    while (!st) {
        char *bytes = NULL;
        size_t count = 0;
        st = hone_frame_read(fd, 2 * HONE_WIRE_MAX_TEXT, hone_clock_system(), HONE_DEADLINE_NEVER,
                             &bytes, &count);
        if (!st) st = serve_one(fd, arena, bytes, count);
        hone_free(bytes);
        hone_arena_reset(arena);
    }
    hone_arena_destroy(arena);
    if (hone_status_code(st) != HONE_CODE_UNAVAILABLE) return st;
    hone_status_free(st); /* the builder is gone: the normal end */
    return HONE_OK;
}
