/* farm/metrics.c - see metrics.h. */
#include "farm/metrics.h"

#include <string.h>

#include "http/http.h"
#include "support/core/alloc.h"

struct hone_metrics {
    hone_http *http;
    void (*print)(void *ctx, hone_str *out);
    void *ctx;
};

static void answer(void *ctx, const hone_http_request *request, hone_http_answer *answer) {
    const hone_metrics *self = ctx;
    if (strcmp(request->path, "/metrics") == 0) {
        answer->type = "text/plain; version=0.0.4; charset=utf-8";
        self->print(self->ctx, &answer->text);
        return;
    }
    answer->code = strcmp(request->path, "/") == 0 ? 200 : 404;
    hone_str_append(&answer->text, "a hone tracker; look at /metrics\n");
}

hone_status hone_metrics_open(const char *address, void (*print)(void *ctx, hone_str *out),
                              void *ctx, hone_metrics **out_metrics) {
    *out_metrics = NULL;
    hone_metrics *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "metrics");
    self->print = print;
    self->ctx = ctx;
    hone_status st = hone_http_open(address, answer, self, &self->http);
    if (st) {
        hone_free(self);
        return hone_status_annotate(st, "metrics");
    }
    *out_metrics = self;
    return HONE_OK;
}

void hone_metrics_close(hone_metrics *metrics) {
    if (!metrics) return;
    hone_http_close(metrics->http);
    hone_free(metrics);
}

int hone_metrics_fd(const hone_metrics *metrics) {
    return hone_http_fd(metrics->http);
}

void hone_metrics_run(hone_metrics *metrics) {
    hone_http_run(metrics->http);
}
