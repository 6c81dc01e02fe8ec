/* runtime/leave_as.c - see leave_as.h. */
#include "runtime/leave_as.h"

#include <stdint.h>

enum { LINE = 64, PAGE = 4096 };

typedef struct pages {
    uint8_t *data;
    int64_t bytes, each; /* iterations of a thread, whose pages are `step` apart */
    int64_t step;
} pages;

static void write_page(const pages *p, int64_t page) {
    int64_t begin = page * PAGE, end = begin + PAGE < p->bytes ? begin + PAGE : p->bytes;
    for (int64_t at = begin; at < end; at += LINE) {
        volatile uint8_t *line = p->data + at;
        *line = *line;
    }
}

static int32_t write_pages(const hone_rt *rt, void *closure, int64_t begin, int64_t end) {
    (void)rt;
    const pages *p = closure;
    for (int64_t i = begin; i < end; i++)
        write_page(p, i % p->each * p->step + i / p->each);
    return 0;
}

static int64_t count_pages(size_t bytes) {
    return ((int64_t)bytes + PAGE - 1) / PAGE;
}

void hone_leave_as_produced(const hone_rt *rt, void *data, size_t bytes) {
    pages p = {data, (int64_t)bytes, INT64_MAX, 1};
    (void)rt->parallel_for(rt, 0, count_pages(bytes), write_pages, &p);
}

/* Pages that there are not have no bytes. */
void hone_leave_as_mixed(const hone_rt *rt, void *data, size_t bytes) {
    int64_t threads = rt->thread_count, each = (count_pages(bytes) + threads - 1) / threads;
    pages p = {data, (int64_t)bytes, each > 0 ? each : 1, threads};
    (void)rt->parallel_for(rt, 0, each * threads, write_pages, &p);
}
