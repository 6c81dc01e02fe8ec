/* farm/metrics.h - a page of numbers over HTTP, for Prometheus and for people.
 *
 * GET /metrics is answered with what the callback writes, GET / with a line that says where to
 * look. No thread: whoever owns it polls the descriptor and calls run. Connections and their memory
 * are bounded.
 */
#ifndef HONE_FARM_METRICS_H
#define HONE_FARM_METRICS_H

#include "support/core/status.h"
#include "support/core/strbuf.h"

typedef struct hone_metrics hone_metrics;

/* `address` as hone_http_open takes it, whose codes these are. */
HONE_NODISCARD hone_status hone_metrics_open(const char *address,
                                             void (*print)(void *ctx, hone_str *out), void *ctx,
                                             hone_metrics **out_metrics);
void hone_metrics_close(hone_metrics *metrics); /* NULL is allowed */

int hone_metrics_fd(const hone_metrics *metrics); /* readable: call run */
void hone_metrics_run(hone_metrics *metrics);     /* never waits */

#endif
