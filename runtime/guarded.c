/* runtime/guarded.c - guard pages around buffers, a pattern in the slack. */
#include "runtime/guarded.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT 64
/* On each side: far overruns, by a row or a tile, must not reach whatever is mapped next. Odd, so
 * that equal buffers do not come to lie a power of two apart. */
#define GUARD_PAGES 65
#define SLACK_PATTERN 0xA5
#define POISON 0xFF /* all ones: a quiet NaN in f16, bf16, f32, f64 and the fp8 formats */

static size_t round_up(size_t value, size_t to) {
    return (value + to - 1) / to * to;
}

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t guard_bytes(void) {
    return GUARD_PAGES * page_bytes();
}

static uint8_t *inner(const hone_guarded *g) {
    return g->base + guard_bytes();
}

static size_t inner_bytes(const hone_guarded *g) {
    return g->map_bytes - 2 * guard_bytes();
}

static void fill_slack(hone_guarded *g) {
    uint8_t *end = g->data + g->bytes;
    memset(inner(g), SLACK_PATTERN, (size_t)(g->data - inner(g)));
    memset(end, SLACK_PATTERN, (size_t)(inner(g) + inner_bytes(g) - end));
}

hone_status hone_guarded_map(size_t bytes, hone_guard_side side, hone_guarded *out_guarded) {
    const size_t page = page_bytes(), guard = guard_bytes();
    *out_guarded = (hone_guarded){0};
    if (bytes > SIZE_MAX / 2) return HONE_ERROR(HONE_CODE_NO_MEMORY, "buffer of %zu bytes", bytes);
    const size_t span = round_up(bytes ? bytes : 1, page);
    const size_t total = span + 2 * guard;
    uint8_t *base =
        mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "buffer of %zu bytes: %s", bytes, strerror(errno));
    }
    *out_guarded = (hone_guarded){.bytes = bytes, .base = base, .map_bytes = total};
    if (mprotect(base + guard, span, PROT_READ | PROT_WRITE)) {
        hone_status st =
            HONE_ERROR(HONE_CODE_NO_MEMORY, "buffer of %zu bytes: %s", bytes, strerror(errno));
        hone_guarded_unmap(out_guarded);
        return st;
    }
    size_t room = span - round_up(bytes, ALIGNMENT);
    out_guarded->data = base + guard + (side == HONE_GUARD_END ? room : 0);
    fill_slack(out_guarded);
    return HONE_OK;
}

void hone_guarded_unmap(hone_guarded *guarded) {
    if (guarded->base) munmap(guarded->base, guarded->map_bytes);
    *guarded = (hone_guarded){0};
}

hone_status hone_guarded_protect(hone_guarded *guarded, bool writable) {
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    if (mprotect(inner(guarded), inner_bytes(guarded), protection)) {
        return HONE_ERROR(HONE_CODE_NO_MEMORY, "protecting a buffer: %s", strerror(errno));
    }
    return HONE_OK;
}

int64_t hone_guarded_damage(hone_guarded *guarded) {
    const uint8_t *low = inner(guarded), *high = low + inner_bytes(guarded);
    const uint8_t *end = guarded->data + guarded->bytes;
    int64_t found = INT64_MIN;
    for (const uint8_t *p = end; p < high && found == INT64_MIN; p++) {
        if (*p != SLACK_PATTERN) found = p - guarded->data;
    }
    for (const uint8_t *p = guarded->data; p > low && found == INT64_MIN; p--) {
        if (p[-1] != SLACK_PATTERN) found = p - 1 - guarded->data;
    }
    if (found != INT64_MIN) fill_slack(guarded);
    return found;
}

bool hone_guarded_contains(const hone_guarded *guarded, const void *address, int64_t *out_offset) {
    const uint8_t *p = address;
    if (!guarded->base || p < guarded->base || p >= guarded->base + guarded->map_bytes) {
        return false;
    }
    *out_offset = p - guarded->data;
    return true;
}

void hone_guarded_poison(hone_guarded *guarded) {
    memset(guarded->data, POISON, guarded->bytes);
}
