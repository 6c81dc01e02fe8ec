/* tools/programs/hone_runner_status.c - see hone_runner_status.h: one line of JSON, replaced as a
 * whole. */
#include "tools/programs/hone_runner_status.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "support/core/alloc.h"
#include "support/core/strbuf.h"
#include "support/os/clock.h"
#include "support/os/fs.h"

enum { FRESH_SECONDS = 30, MAX_BYTES = 4096 };

static const char serving[] = "\"serving\": true";

void runner_status_note(const char *path, const hone_daemon_stats *stats) {
    hone_str line = {0};
    hone_str_printf(&line, "{\"serving\": %s, \"held\": %zu, \"results\": %" PRIu64 "}\n",
                    stats->is_connected ? "true" : "false", stats->held, stats->results);
    hone_status st = hone_str_check(&line);
    if (!st) st = hone_fs_write_atomic(path, line.data, line.length);
    hone_status_free(st);
    hone_str_deinit(&line);
}

static hone_status check_age(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) {
        return HONE_ERROR(HONE_CODE_UNAVAILABLE, "'%s' is not there: no runner has begun", path);
    }
    int64_t age = hone_wall_time_ns() / HONE_NS_PER_S - (int64_t)info.st_mtime;
    if (age <= FRESH_SECONDS) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "'%s' is %lld s old: the runner hangs or has gone",
                      path, (long long)age);
}

hone_status runner_status_check(const char *path, bool must_serve) {
    char *text = NULL;
    size_t count = 0;
    HONE_TRY(check_age(path));
    if (!must_serve) return HONE_OK;
    HONE_TRY(hone_fs_read(path, MAX_BYTES, &text, &count));
    bool is_serving = strstr(text, serving) != NULL;
    hone_free(text);
    if (is_serving) return HONE_OK;
    return HONE_ERROR(HONE_CODE_UNAVAILABLE, "the runner is not welcome at a tracker");
}
