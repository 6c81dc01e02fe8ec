/* runtime/model/device/device_seen.c - what steps take on a device, for who looks on. Where it has
 * a clock, marks stand around each step and are read when the call has ended: nothing waits
 * meanwhile. Elsewhere a step is seen from its beginning to its end, alone. */
#include <stdlib.h>

#include "runtime/model/device/on_device.h"

static int32_t run_alone(mt_run *run, int32_t index, mt_run_step go) {
    const hone_mt_step *step = &run->call->plan->steps[index];
    int32_t code = run->remote->table->wait(run->remote->device);
    hone_mt_tell(run->call, step, run->frame, false, 0);
    if (!code) code = go(run, index);
    if (!code) code = run->remote->table->wait(run->remote->device);
    hone_mt_tell(run->call, step, run->frame, true, code);
    return code;
}

static mt_seen *add(mt_run *run, const hone_mt_step *step) {
    if (run->seen_count == run->seen_capacity) {
        int32_t capacity = 2 * run->seen_capacity + 16;
        mt_seen *seen = realloc(run->seen, (size_t)capacity * sizeof *seen);
        if (!seen) return NULL;
        run->seen = seen;
        run->seen_capacity = capacity;
    }
    mt_seen *last = &run->seen[run->seen_count++];
    *last = (mt_seen){.step = step};
    return last;
}

int32_t mt_seen_run(mt_run *run, int32_t index, mt_run_step go) {
    const hone_mt_device_table *table = run->remote->table;
    if (!table->mark) return run_alone(run, index, go);
    mt_seen *seen = add(run, &run->call->plan->steps[index]);
    if (!seen) return hone_mt_fail(HONE_MODEL_NO_MEMORY, "no memory");
    int32_t code = table->mark(run->remote->device, &seen->from);
    if (!code) code = go(run, index);
    return code ? code : table->mark(run->remote->device, &seen->to);
}

void mt_seen_tell(mt_run *run, int32_t code) {
    hone_mt_remote *remote = run->remote;
    for (int32_t i = 0; i < run->seen_count; i++) {
        const mt_seen *seen = &run->seen[i];
        int64_t ns = 0;
        if (!code && !remote->table->elapsed(remote->device, seen->from, seen->to, &ns))
            hone_mt_tell_time(run->call, seen->step, run->frame, ns);
        if (seen->from) remote->table->unmark(remote->device, seen->from);
        if (seen->to) remote->table->unmark(remote->device, seen->to);
    }
    free(run->seen);
    run->seen = NULL;
    run->seen_count = run->seen_capacity = 0;
}
