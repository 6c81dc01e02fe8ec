/* runner/operands.c - makes and keeps the buffers of workloads. */
#include "runner/operands.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "support/core/alloc.h"

#define MAX_ENTRIES 16
#define MAX_BYTES (INT64_C(4) << 30) /* of all entries but the one in use */
#define MAX_PLACES 1024              /* of an argument */

struct hone_operands_cache {
    hone_device *device; /* not owned */
    hone_operands *entries[MAX_ENTRIES];
    uint64_t clock; /* counts uses */
};

hone_status hone_operands_cache_create(hone_device *device, hone_operands_cache **out_cache) {
    *out_cache = hone_calloc(1, sizeof **out_cache);
    if (!*out_cache) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operand cache");
    (*out_cache)->device = device;
    return HONE_OK;
}

static void forget_places(hone_device *device, hone_operands *o, hone_device_places *places) {
    for (size_t i = 0; i < places->count; i++) {
        o->total_bytes -= (int64_t)places->buffers[i]->bytes;
        hone_device_buffer_destroy(device, places->buffers[i]);
    }
    hone_free(places->buffers);
    *places = (hone_device_places){0};
}

static void forget_turns(hone_device *device, hone_operands *o) {
    for (size_t i = 0; i < o->turns.count; i++)
        forget_places(device, o, &o->turns.args[i]);
    hone_free(o->turns.args);
    o->turns = (hone_device_turns){0};
}

static void destroy(hone_device *device, hone_operands *o) {
    if (!o) return;
    forget_turns(device, o);
    for (size_t i = 0; i < o->count; i++) {
        hone_device_buffer_destroy(device, o->buffers[i]);
        hone_free(o->staging[i]);
    }
    hone_free(o->buffers);
    hone_free(o->staging);
    hone_check_bundle_close(&o->bundle);
    hone_free(o);
}

/* Forgets everything (a candidate may have written anywhere). */
static void clear_cache(hone_operands_cache *cache) {
    for (size_t i = 0; i < MAX_ENTRIES; i++) {
        destroy(cache->device, cache->entries[i]);
        cache->entries[i] = NULL;
    }
}

void hone_operands_cache_destroy(hone_operands_cache *cache) {
    if (!cache) return;
    clear_cache(cache);
    hone_free(cache);
}

/* A bundle file is known by its identity on disk: hashing its content per trial would be slow. */
static hone_status key_of(const hone_run_request *request, hone_hash128 *out_key) {
    hone_hasher hasher;
    hone_hasher_init(&hasher, 0);
    hone_hasher_u64(&hasher, request->seed);
    hone_hasher_text(&hasher, request->check_path);
    if (request->check_path) {
        struct stat info;
        if (stat(request->check_path, &info)) {
            return HONE_ERROR(HONE_CODE_NOT_FOUND, "check bundle '%s': %s", request->check_path,
                              strerror(errno));
        }
        hone_hasher_u64(&hasher, info.st_dev);
        hone_hasher_u64(&hasher, info.st_ino);
        hone_hasher_i64(&hasher, info.st_size);
        hone_hasher_i64(&hasher, info.st_mtim.tv_sec);
        hone_hasher_i64(&hasher, info.st_mtim.tv_nsec);
    }
    for (size_t i = 0; i < request->manifest.arg_count; i++) {
        const hone_arg *arg = &request->manifest.args[i];
        hone_hasher_text(&hasher, HONE_DTYPE_NAME(arg->dtype));
        hone_hasher_u32(&hasher, arg->role);
        hone_hasher_i64(&hasher, hone_arg_elements(arg));
    }
    *out_key = hone_hasher_finish(&hasher);
    return HONE_OK;
}

/* A bundle that says how to make inputs, and no more. */
static hone_status make_up_bundle(const hone_run_request *request, hone_check_bundle *bundle) {
    size_t count = request->manifest.arg_count;
    bundle->seed = request->seed;
    bundle->tensors = hone_calloc(count ? count : 1, sizeof *bundle->tensors);
    if (!bundle->tensors) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operands");
    bundle->count = count;
    for (size_t i = 0; i < count; i++) {
        const hone_arg *arg = &request->manifest.args[i];
        bundle->tensors[i] = (hone_check_tensor){.dtype = arg->dtype,
                                                 .role = arg->role,
                                                 .count = hone_arg_elements(arg),
                                                 .generator = hone_generator_default(arg->dtype)};
    }
    return HONE_OK;
}

static hone_status fill(hone_device *device, hone_operands *o, size_t i) {
    hone_device_buffer *buffer = o->buffers[i];
    if (buffer->host) return hone_check_bundle_fill(&o->bundle, i, buffer->host);
    HONE_TRY(hone_check_bundle_fill(&o->bundle, i, o->staging[i]));
    return hone_device_buffer_write(device, buffer, o->staging[i]);
}

static hone_status make_buffer(hone_device *device, hone_operands *o, const hone_arg *arg,
                               size_t i) {
    size_t bytes = (size_t)hone_arg_bytes(arg);
    HONE_TRY(hone_device_buffer_create(device, bytes, i, &o->buffers[i]));
    o->total_bytes += (int64_t)bytes;
    if (!o->buffers[i]->host) {
        o->staging[i] = hone_malloc(bytes ? bytes : 1);
        if (!o->staging[i]) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operands");
    }
    if (arg->role != HONE_ARG_IN) return HONE_OK;
    HONE_TRY(fill(device, o, i));
    return hone_device_buffer_protect(device, o->buffers[i], false);
}

static hone_status make(hone_device *device, const hone_run_request *request, hone_operands *o) {
    const hone_manifest *manifest = &request->manifest;
    size_t count = manifest->arg_count;
    if (request->check_path) {
        HONE_TRY(hone_check_bundle_open(request->check_path, &o->bundle));
        HONE_TRY(hone_check_bundle_fits(&o->bundle, manifest));
        o->is_checked = hone_check_bundle_is_complete(&o->bundle);
    } else {
        HONE_TRY(make_up_bundle(request, &o->bundle));
    }
    o->buffers = hone_calloc(count ? count : 1, sizeof(hone_device_buffer *));
    o->staging = hone_calloc(count ? count : 1, sizeof(void *));
    if (!o->buffers || !o->staging) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operands");
    o->count = count;
    for (size_t i = 0; i < count; i++)
        HONE_TRY(make_buffer(device, o, &manifest->args[i], i));
    return HONE_OK;
}

/* The oldest entry that must go to make room, or a free place. */
static size_t place_for_one(hone_operands_cache *cache) {
    for (;;) {
        size_t oldest = MAX_ENTRIES, unused = MAX_ENTRIES;
        int64_t bytes = 0;
        for (size_t i = 0; i < MAX_ENTRIES; i++) {
            const hone_operands *o = cache->entries[i];
            if (!o) {
                unused = i;
                continue;
            }
            bytes += o->total_bytes;
            if (oldest == MAX_ENTRIES || o->last_used < cache->entries[oldest]->last_used) {
                oldest = i;
            }
        }
        if (unused < MAX_ENTRIES && bytes <= MAX_BYTES) return unused;
        destroy(cache->device, cache->entries[oldest]);
        cache->entries[oldest] = NULL;
    }
}

hone_status hone_operands_get(hone_operands_cache *cache, const hone_run_request *request,
                              hone_operands **out_operands) {
    hone_hash128 key;
    *out_operands = NULL;
    HONE_TRY(key_of(request, &key));
    for (size_t i = 0; i < MAX_ENTRIES; i++) {
        hone_operands *o = cache->entries[i];
        if (!o || !hone_hash128_equal(o->key, key)) continue;
        o->last_used = ++cache->clock;
        *out_operands = o;
        return HONE_OK;
    }
    size_t place = place_for_one(cache);
    hone_operands *o = hone_calloc(1, sizeof *o);
    if (!o) return HONE_ERROR(HONE_CODE_NO_MEMORY, "operands");
    o->key = key;
    o->last_used = ++cache->clock;
    hone_status st = make(cache->device, request, o);
    if (st) {
        destroy(cache->device, o);
        return st;
    }
    cache->entries[place] = o;
    *out_operands = o;
    return HONE_OK;
}

/* ---- places in turn ---- */

static int64_t bytes_of_run(const hone_operands *o) {
    int64_t bytes = 1;
    for (size_t i = 0; i < o->count; i++)
        bytes += (int64_t)o->buffers[i]->bytes;
    return bytes;
}

/* As many as let runs touch the distance before one of them is used again; 0: it stays where it is.
 * What is read and written has one place, as the next run goes on from it. */
static size_t count_places(const hone_operands *o, const hone_run_request *r, size_t arg) {
    bool is_moved = arg < r->distance_count && o->bundle.tensors[arg].role != HONE_ARG_INOUT;
    if (!is_moved || !o->buffers[arg]->host || !o->buffers[arg]->bytes) return 0;
    bool is_short = r->distances[arg] < HONE_RUN_MAX_DISTANCE;
    int64_t more = (is_short ? r->distances[arg] : HONE_RUN_MAX_DISTANCE) / bytes_of_run(o);
    if (more >= MAX_PLACES) return MAX_PLACES;
    return more ? (size_t)more + 1 : 0;
}

/* Inputs hold what the argument holds. */
static hone_status add_place(hone_device *device, hone_operands *o, size_t arg) {
    hone_device_places *places = &o->turns.args[arg];
    hone_device_buffer *place;
    HONE_TRY(hone_device_buffer_create(device, o->buffers[arg]->bytes, arg, &place));
    places->buffers[places->count++] = place;
    o->total_bytes += (int64_t)place->bytes;
    if (o->bundle.tensors[arg].role != HONE_ARG_IN)
        return hone_device_buffer_poison(device, place); /* so that the memory is there */
    memcpy(place->host, o->buffers[arg]->host, place->bytes);
    return hone_device_buffer_protect(device, place, false);
}

static hone_status make_places(hone_device *device, hone_operands *o, size_t arg, size_t count) {
    hone_device_places *places = &o->turns.args[arg];
    if (places->count == count) return HONE_OK;
    forget_places(device, o, places);
    places->buffers = hone_calloc(count + 1, sizeof(hone_device_buffer *));
    if (!places->buffers) return HONE_ERROR(HONE_CODE_NO_MEMORY, "places of arguments");
    for (size_t i = 0; i < count; i++)
        HONE_TRY(add_place(device, o, arg));
    return HONE_OK;
}

/* With several threads it matters whose core has what: what stays where it is was made in front of
 * the kernel, and others had an output's memory before. One thread finds it as the run before left
 * it. */
static hone_device_touch touch_of(const hone_operands *o, const hone_run_request *r, size_t arg) {
    bool is_weight = arg < 64 && r->weights >> arg & 1;
    if (!o->buffers[arg]->host || r->threads < 2) return HONE_TOUCH_NONE;
    if (o->bundle.tensors[arg].role == HONE_ARG_OUT) return HONE_TOUCH_USE;
    return is_weight || o->turns.args[arg].count ? HONE_TOUCH_NONE : HONE_TOUCH_MAKE;
}

static hone_status make_turns(hone_device *device, hone_operands *o,
                              const hone_run_request *request, bool *out_any) {
    *out_any = false;
    if (!o->turns.args) o->turns.args = hone_calloc(o->count + 1, sizeof *o->turns.args);
    if (!o->turns.args) return HONE_ERROR(HONE_CODE_NO_MEMORY, "places of arguments");
    o->turns.count = o->count;
    for (size_t i = 0; i < o->count; i++) {
        size_t count = count_places(o, request, i);
        HONE_TRY(make_places(device, o, i, count));
        o->turns.args[i].touch = touch_of(o, request, i);
        *out_any |= count > 0 || o->turns.args[i].touch;
    }
    return HONE_OK;
}

/* Whether runs may write inputs that others make between them. */
static hone_status let_make(hone_device *device, hone_operands *o, bool writable) {
    for (size_t i = 0; i < o->turns.count; i++) {
        bool is_input = o->bundle.tensors[i].role == HONE_ARG_IN;
        if (o->turns.args[i].touch != HONE_TOUCH_MAKE || !is_input) continue;
        HONE_TRY(hone_device_buffer_protect(device, o->buffers[i], writable));
    }
    return HONE_OK;
}

hone_status hone_operands_end_turns(hone_operands_cache *cache, hone_operands *operands) {
    return let_make(cache->device, operands, false);
}

hone_status hone_operands_take_turns(hone_operands_cache *cache, hone_operands *operands,
                                     const hone_run_request *request,
                                     hone_device_turns **out_turns) {
    bool has_any;
    *out_turns = NULL;
    if (request->cache != HONE_CACHE_MODEL) return HONE_OK;
    hone_status st = make_turns(cache->device, operands, request, &has_any);
    if (!st) st = let_make(cache->device, operands, true);
    if (!st && has_any) *out_turns = &operands->turns;
    if (st) forget_turns(cache->device, operands);
    return st;
}

hone_status hone_operands_reset(hone_operands_cache *cache, hone_operands *operands, bool poison) {
    for (size_t i = 0; i < operands->count; i++) {
        hone_arg_role role = operands->bundle.tensors[i].role;
        if (role == HONE_ARG_INOUT) HONE_TRY(fill(cache->device, operands, i));
        if (role == HONE_ARG_OUT && poison) {
            HONE_TRY(hone_device_buffer_poison(cache->device, operands->buffers[i]));
        }
    }
    return HONE_OK;
}

hone_status hone_operands_view(hone_operands_cache *cache, hone_operands *operands, size_t index,
                               const void **out_data) {
    *out_data = operands->buffers[index]->host;
    if (*out_data) return HONE_OK;
    *out_data = operands->staging[index];
    return hone_device_buffer_read(cache->device, operands->buffers[index],
                                   operands->staging[index]);
}
