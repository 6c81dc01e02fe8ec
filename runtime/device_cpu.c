/* runtime/device_cpu.c - kernels as shared objects in this process, on the thread pool that is also
 * embedded in compiled models, so that what is measured is what is shipped. */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/cache_flush.h"
#include "runtime/device_impl.h"
#include "runtime/guarded.h"
#include "runtime/leave_as.h"
#include "runtime/library.h"
#include "runtime/manners.h"
#include "runtime/model/model_rt.h"
#include "runtime/pinning.h"
#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/fs.h"
#include "target/target.h"

typedef struct device_cpu {
    hone_device base; /* first: a device_cpu * is an hone_device * */
    const hone_clock *clock;
    int32_t threads;
    hone_rt *rt;          /* for `threads`; made when first needed */
    void *extern_library; /* of the module that is running */
    hone_pinning pinning;
    bool is_pinned;
    hone_manners manners; /* that this thread and the pool's have */
    cpu_set_t cpus;       /* that this thread may run on; what a candidate changes is put back */
} device_cpu;

typedef struct cpu_buffer {
    hone_device_buffer base;
    hone_guarded memory;
} cpu_buffer;

struct hone_device_module {
    void *library, *extern_library;
    hone_kernel kernel;
    size_t arg_count;
    int64_t sizes[HONE_MANIFEST_MAX_SIZES];
    size_t size_count;
};

static device_cpu *as_cpu(hone_device *base) {
    return (device_cpu *)base;
}

static void cpu_destroy(hone_device *base) {
    device_cpu *self = as_cpu(base);
    hone_model_rt_destroy(self->rt);
    if (self->is_pinned) hone_pinning_end(&self->pinning);
    hone_free(base);
}

/* Called by kernels, from any thread of theirs. */
static void *find_extern(void *ctx, const char *name) {
    const device_cpu *self = ctx;
    return self->extern_library ? hone_model_rt_find_symbol(self->extern_library, name) : NULL;
}

static hone_status cpu_set_threads(hone_device *base, int32_t threads) {
    device_cpu *self = as_cpu(base);
    if (self->rt && self->threads == threads) return HONE_OK;
    hone_model_rt_destroy(self->rt);
    self->rt = NULL;
    if (self->is_pinned) hone_pinning_end(&self->pinning);
    hone_pinning_begin(&self->pinning);
    hone_model_rt_options options = {
        .thread_count = threads, .find_extern = find_extern, .extern_ctx = self};
    if (hone_model_rt_create(&options, &self->rt) != 0) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "%d threads cannot be started", threads);
    }
    self->threads = threads;
    self->is_pinned = hone_pinning_apply(&self->pinning);
    if (sched_getaffinity(0, sizeof self->cpus, &self->cpus)) CPU_ZERO(&self->cpus);
    return HONE_OK;
}

/* ---- what candidates leave ---- */

#define GATHER_NS (20 * HONE_NS_PER_MS) /* in which all threads come, where they get processors */

typedef struct manners_check {
    const hone_manners *wanted;
    const hone_clock *clock;
    int64_t until_ns;
    _Atomic int64_t expected; /* threads that have not come */
    _Atomic bool was_changed;
} manners_check;

/* A share each: who has one waits for the others, or it would take theirs as well. */
static int32_t restore_one(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    manners_check *check = closure;
    (void)rt;
    if (!hone_manners_restore(check->wanted)) check->was_changed = true;
    check->expected -= end - begin;
    while (check->expected > 0 && hone_clock_now(check->clock) < check->until_ns)
        sched_yield();
    return 0;
}

/* In this thread and those of the pool; true: all were as they should be. */
static bool restore_manners(device_cpu *self) {
    manners_check check = {.wanted = &self->manners,
                           .clock = self->clock,
                           .until_ns = hone_deadline_after(self->clock, GATHER_NS),
                           .expected = self->threads};
    if (!hone_manners_restore(&self->manners)) check.was_changed = true;
    if (self->threads > 1) {
        (void)self->rt->parallel_for(self->rt, 0, self->threads, restore_one, &check);
    }
    return !check.was_changed;
}

static void restore_cpus(const device_cpu *self) {
    cpu_set_t now;
    if (CPU_COUNT(&self->cpus) == 0 || sched_getaffinity(0, sizeof now, &now)) return;
    if (!CPU_EQUAL(&now, &self->cpus)) sched_setaffinity(0, sizeof self->cpus, &self->cpus);
}

/* ---- buffers ---- */

static cpu_buffer *as_buffer(hone_device_buffer *base) {
    return (cpu_buffer *)base;
}

static hone_status cpu_buffer_create(hone_device *base, size_t bytes, size_t index,
                                     hone_device_buffer **out_buffer) {
    (void)base;
    cpu_buffer *b = hone_calloc(1, sizeof *b);
    if (!b) return HONE_ERROR(HONE_CODE_NO_MEMORY, "buffer");
    hone_status st =
        hone_guarded_map(bytes, index % 2 ? HONE_GUARD_START : HONE_GUARD_END, &b->memory);
    if (st) {
        hone_free(b);
        return st;
    }
    b->base = (hone_device_buffer){bytes, b->memory.data};
    *out_buffer = &b->base;
    return HONE_OK;
}

static void cpu_buffer_destroy(hone_device *base, hone_device_buffer *buffer) {
    (void)base;
    hone_guarded_unmap(&as_buffer(buffer)->memory);
    hone_free(buffer);
}

static hone_status cpu_buffer_write(hone_device *base, hone_device_buffer *buffer,
                                    const void *data) {
    (void)base;
    memcpy(buffer->host, data, buffer->bytes);
    return HONE_OK;
}

static hone_status cpu_buffer_read(hone_device *base, const hone_device_buffer *buffer,
                                   void *data) {
    (void)base;
    memcpy(data, buffer->host, buffer->bytes);
    return HONE_OK;
}

static hone_status cpu_buffer_poison(hone_device *base, hone_device_buffer *buffer) {
    (void)base;
    hone_guarded_poison(&as_buffer(buffer)->memory);
    return HONE_OK;
}

static hone_status cpu_buffer_protect(hone_device *base, hone_device_buffer *buffer,
                                      bool writable) {
    (void)base;
    return hone_guarded_protect(&as_buffer(buffer)->memory, writable);
}

static int64_t cpu_buffer_damage(hone_device *base, hone_device_buffer *buffer) {
    (void)base;
    return hone_guarded_damage(&as_buffer(buffer)->memory);
}

static bool cpu_buffer_contains(const hone_device *base, const hone_device_buffer *buffer,
                                const void *address, int64_t *out_offset) {
    (void)base;
    return hone_guarded_contains(&((const cpu_buffer *)buffer)->memory, address, out_offset);
}

/* ---- modules ---- */

static hone_status check_target(const hone_manifest *manifest) {
    if (!manifest->target || !manifest->target[0]) return HONE_OK;
    hone_target target;
    HONE_TRY(hone_target_parse(manifest->target, &target));
    return hone_target_check_here(&target);
}

static hone_status open_path(const char *path, void **out_library) {
    return hone_status_annotate(hone_library_open(path, out_library), "'%s'", path);
}

static hone_status open_bytes(const hone_device_artifact *artifact, void **out_library) {
    char path[64];
    int fd = memfd_create("hone-artifact", MFD_CLOEXEC);
    if (fd < 0) return HONE_ERROR(HONE_CODE_IO, "memory file: %s", strerror(errno));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    hone_status st = hone_fd_write_full(fd, artifact->bytes, artifact->byte_count);
    if (!st) st = open_path(path, out_library);
    close(fd);
    return st;
}

static hone_status find_externs(const hone_device_artifact *artifact, const hone_manifest *manifest,
                                hone_device_module *module) {
    if (artifact->extern_path) HONE_TRY(open_path(artifact->extern_path, &module->extern_library));
    for (size_t i = 0; i < manifest->extern_count; i++) {
        const char *name = manifest->externs[i];
        if (!module->extern_library) {
            return HONE_ERROR(HONE_CODE_NOT_FOUND,
                              "external function '%s' is needed and no library was given", name);
        }
        if (!hone_model_rt_find_packed(module->extern_library, name)) {
            return HONE_ERROR(HONE_CODE_NOT_FOUND, "external function '%s' is not in '%s'", name,
                              artifact->extern_path);
        }
    }
    return HONE_OK;
}

static void cpu_unload(hone_device *base, hone_device_module *module) {
    device_cpu *self = as_cpu(base);
    if (self->extern_library == module->extern_library) self->extern_library = NULL;
    if (module->library) dlclose(module->library);
    if (module->extern_library) dlclose(module->extern_library);
    (void)restore_manners(self); /* destructors */
    restore_cpus(self);
    hone_free(module);
}

static hone_status load(const hone_device_artifact *artifact, const hone_manifest *manifest,
                        hone_device_module *module) {
    HONE_TRY(check_target(manifest));
    HONE_TRY(artifact->path ? open_path(artifact->path, &module->library)
                            : open_bytes(artifact, &module->library));
    void *symbol = dlsym(module->library, manifest->entry);
    if (!symbol) {
        return HONE_ERROR(HONE_CODE_INVALID, "the artifact has no function '%s'", manifest->entry);
    }
    memcpy(&module->kernel, &symbol, sizeof symbol); /* ISO C has no cast for this */
    HONE_TRY(find_externs(artifact, manifest, module));
    module->arg_count = manifest->arg_count;
    module->size_count = manifest->size_count;
    for (size_t i = 0; i < manifest->size_count; i++)
        module->sizes[i] = manifest->sizes[i];
    return HONE_OK;
}

static hone_status cpu_load(hone_device *base, const hone_device_artifact *artifact,
                            const hone_manifest *manifest, hone_device_module **out_module) {
    hone_device_module *module = hone_calloc(1, sizeof *module);
    if (!module) return HONE_ERROR(HONE_CODE_NO_MEMORY, "module");
    hone_status st = load(artifact, manifest, module);
    (void)restore_manners(
        as_cpu(base)); /* a library made by -ffast-math changes them as it loads */
    if (st) {
        cpu_unload(base, module);
        return st;
    }
    *out_module = module;
    return HONE_OK;
}

/* ---- running ---- */

/* What one thread does takes as long as it has a CPU, whatever else the machine does meanwhile;
 * what external functions do may be on threads of theirs. (The clock of the process would count
 * those, but moves by ticks alone where CPU time is limited.) */
typedef struct stopwatch {
    const hone_clock *clock, *own; /* own: of this thread; NULL = others work for the kernel */
    int64_t start_ns, own_start_ns;
} stopwatch;

static stopwatch begin_timing(const device_cpu *self, const hone_device_module *module) {
    bool is_alone = self->threads == 1 && !module->extern_library;
    stopwatch w = {.clock = self->clock, .own = is_alone ? hone_clock_thread() : NULL};
    if (w.own) w.own_start_ns = hone_clock_now(w.own);
    w.start_ns = hone_clock_now(w.clock);
    return w;
}

/* The clock of the thread, which takes longer to read, is looked at from outside: of an
 * undisturbed run it says a little more. */
static int64_t end_timing(const stopwatch *w) {
    int64_t ns = hone_clock_now(w->clock) - w->start_ns;
    int64_t own_ns = w->own ? hone_clock_now(w->own) - w->own_start_ns : ns;
    return own_ns < ns ? own_ns : ns;
}

static int32_t run_cold(device_cpu *self, const hone_device_launch *launch, void *const *data,
                        const int64_t *sizes, int64_t *out_ns) {
    int32_t code = 0;
    for (int64_t i = 0; i < launch->count && !code; i++) {
        for (size_t k = 0; k < launch->module->arg_count; k++) {
            hone_cache_flush(data[k], launch->buffers[k]->bytes);
        }
        const stopwatch watch = begin_timing(self, launch->module);
        code = launch->module->kernel(self->rt, data, sizes);
        *out_ns += end_timing(&watch);
    }
    return code;
}

/* Puts the next buffers in the place of those that take turns. */
static void take_turn(hone_device_turns *turns, void **data) {
    for (size_t i = 0; i < turns->count; i++) {
        hone_device_places *places = &turns->args[i];
        if (!places->count) continue;
        data[i] = places->buffers[places->next]->host;
        places->next = (places->next + 1) % places->count;
    }
}

static bool touches(const hone_device_turns *turns) {
    for (size_t i = 0; i < turns->count; i++)
        if (turns->args[i].touch) return true;
    return false;
}

static void touch(const device_cpu *self, const hone_device_launch *launch, void *const *data,
                  hone_device_touch what) {
    const hone_device_turns *turns = launch->turns;
    for (size_t i = 0; i < turns->count; i++) {
        if (turns->args[i].touch != what) continue;
        size_t bytes = launch->buffers[i]->bytes;
        if (what == HONE_TOUCH_MAKE) hone_leave_as_produced(self->rt, data[i], bytes);
        if (what == HONE_TOUCH_USE) hone_leave_as_mixed(self->rt, data[i], bytes);
    }
}

/* Time that passes between two looks at the clock. */
static int64_t clock_ns(const hone_clock *clock) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < 16; i++) {
        int64_t start = hone_clock_now(clock), ns = hone_clock_now(clock) - start;
        if (ns < least) least = ns;
    }
    return least;
}

/* Each run is timed by itself, as what others do between them is not. */
static int32_t run_among_others(device_cpu *self, const hone_device_launch *launch, void **data,
                                const int64_t *sizes, int64_t *out_ns) {
    int64_t looking = clock_ns(self->clock);
    int32_t code = 0;
    for (int64_t i = 0; i < launch->count && !code; i++) {
        take_turn(launch->turns, data);
        touch(self, launch, data, HONE_TOUCH_MAKE);
        int64_t start = hone_clock_now(self->clock);
        code = launch->module->kernel(self->rt, data, sizes);
        int64_t ns = hone_clock_now(self->clock) - start - looking;
        *out_ns += ns > 0 ? ns : 0;
        touch(self, launch, data, HONE_TOUCH_USE);
    }
    return code;
}

static int32_t run_in_turns(device_cpu *self, const hone_device_launch *launch, void **data,
                            const int64_t *sizes, int64_t *out_ns) {
    const hone_device_module *m = launch->module;
    int32_t code = 0;
    if (touches(launch->turns)) return run_among_others(self, launch, data, sizes, out_ns);
    const stopwatch watch = begin_timing(self, m);
    for (int64_t i = 0; i < launch->count && !code; i++) {
        take_turn(launch->turns, data);
        code = m->kernel(self->rt, data, sizes);
    }
    *out_ns = end_timing(&watch);
    return code;
}

static int32_t run_all(device_cpu *self, const hone_device_launch *launch, int64_t *out_ns) {
    const hone_device_module *m = launch->module;
    void *data[HONE_MANIFEST_MAX_ARGS];
    for (size_t i = 0; i < m->arg_count; i++)
        data[i] = launch->buffers[i]->host;
    const int64_t *sizes = m->size_count ? m->sizes : NULL;
    self->extern_library = m->extern_library;
    if (launch->cache == HONE_CACHE_COLD) return run_cold(self, launch, data, sizes, out_ns);
    if (launch->turns) return run_in_turns(self, launch, data, sizes, out_ns);
    const hone_kernel kernel = m->kernel;
    int32_t code = 0;
    const stopwatch watch = begin_timing(self, m);
    for (int64_t i = 0; i < launch->count && !code; i++)
        code = kernel(self->rt, data, sizes);
    *out_ns = end_timing(&watch);
    return code;
}

static int32_t cpu_run(hone_device *base, const hone_device_launch *launch, int64_t *out_ns) {
    device_cpu *self = as_cpu(base);
    int32_t code = run_all(self, launch, out_ns);
    bool is_as_found = restore_manners(self);
    return code || is_as_found ? code : HONE_DEVICE_LEFT_CHANGED;
}

static void cpu_take_error(hone_device *base, char *message, size_t capacity) {
    hone_model_rt_take_error(as_cpu(base)->rt, message, capacity);
}

/* What fails in this process without ending it returned a code. */
static hone_failure cpu_fault(const hone_device *base) {
    (void)base;
    return HONE_FAILURE_RUN_CRASH;
}

static const hone_device_vtable cpu_vtable = {
    .name = "cpu",
    .destroy = cpu_destroy,
    .set_threads = cpu_set_threads,
    .buffer_create = cpu_buffer_create,
    .buffer_destroy = cpu_buffer_destroy,
    .buffer_write = cpu_buffer_write,
    .buffer_read = cpu_buffer_read,
    .buffer_poison = cpu_buffer_poison,
    .buffer_protect = cpu_buffer_protect,
    .buffer_damage = cpu_buffer_damage,
    .buffer_contains = cpu_buffer_contains,
    .load = cpu_load,
    .unload = cpu_unload,
    .run = cpu_run,
    .take_error = cpu_take_error,
    .fault = cpu_fault,
};

hone_status hone_device_open_cpu(int32_t number, int64_t memory_bytes, hone_device **out_device) {
    (void)number;
    (void)memory_bytes; /* it has none of its own */
    *out_device = NULL;
    device_cpu *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "cpu device");
    self->base.vtable = &cpu_vtable;
    self->clock = hone_clock_system();
    hone_manners_note(&self->manners);
    hone_status st = cpu_set_threads(&self->base, 1);
    if (st) {
        cpu_destroy(&self->base);
        return st;
    }
    *out_device = &self->base;
    return HONE_OK;
}
