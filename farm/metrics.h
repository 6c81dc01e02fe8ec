/* farm/metrics.h - a page of numbers over HTTP, for Prometheus and for people.
 *
 * GET /metrics is answered with what the callback writes, GET / with a line that says where to
 * look. No thread: whoever owns it polls the descriptor and calls run. Connections and their memory
 * are bounded.
 */
#ifndef HONE_FARM_METRICS_H
#define HONE_FARM_METRICS_H

#include <stdbool.h>

#include "support/core/status.h"
#include "support/core/strbuf.h"

typedef struct hone_metrics hone_metrics;

/* `address` is "127.0.0.1:9191" or "[::1]:9191". INVALID; UNAVAILABLE: it cannot listen there. */
HONE_NODISCARD hone_status hone_metrics_open(const char *address,
                                             void (*print)(void *ctx, hone_str *out), void *ctx,
                                             hone_metrics **out_metrics);
/* Whether only this machine can reach an address that _open takes. */
bool hone_metrics_is_loopback(const char *address);
void hone_metrics_close(hone_metrics *metrics); /* NULL is allowed */

int hone_metrics_fd(const hone_metrics *metrics); /* readable: call run */
void hone_metrics_run(hone_metrics *metrics);     /* never waits */

#endif
