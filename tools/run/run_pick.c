/* tools/run/run_pick.c - which function of a module is run. */
#include <string.h>

#include "graph/module/module_parts.h"
#include "support/os/log.h"
#include "tools/run/run_job.h"

hone_status hone_run_pick(const hone_run_job *job, const hone_module *module,
                          const hone_member **out_member) {
    uint32_t count;
    *out_member = job->o->func ? NULL : hone_module_first(module, &count);
    return *out_member ? HONE_OK : hone_module_pick(module, job->o->func, out_member);
}

void hone_run_say_which(const hone_run_job *job, const char *name, uint32_t count) {
    if (job->o->func || count < 2 || strcmp(name, "main") == 0) return;
    HONE_LOG(&job->cli->log, HONE_LOG_WARNING,
             "'%s' is run, the first of %u functions; --func names another", name, (unsigned)count);
}
