/* tools/doctor/doctor_candidates.c - what holds candidates on this machine: an executor is started,
 * and says. */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "runner/runner.h"
#include "support/core/attributes.h"
#include "support/core/strbuf.h"
#include "tools/doctor/doctor.h"

/* Layers behind the first one: that holds without them. */
static const struct {
    const char *name; /* in what the runner says */
    bool for_root;    /* nobody else has it */
    const char *advice;
} second_layers[] = {
    {"user",       true,  "no user of its own: this container maps too few"              },
    {"namespaces", false,
     "no namespaces: sysctl kernel.unprivileged_userns_clone=1, and user.max_user_namespaces above "
     "0"                                                                                 },
    {"landlock",   false, "no Landlock: Linux 5.13, started with landlock among its lsm="},
};

static bool is_in_force(const char *layers, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = layers; *at; at += strspn(at, ", ")) {
        if (strncmp(at, name, length) == 0 && strchr(" ,", at[length])) return true;
        at += strcspn(at, ",");
    }
    return false;
}

static void say_layers(hone_checkup *checkup, const char *layers) {
    hone_str advice = {0};
    for (size_t i = 0; i < HONE_COUNT(second_layers); i++) {
        if (is_in_force(layers, second_layers[i].name)) continue;
        if (second_layers[i].for_root && geteuid() != 0) continue;
        hone_str_append(&advice, advice.length ? "; " : "the filter holds alone; ");
        hone_str_append(&advice, second_layers[i].advice);
    }
    hone_doctor_say(checkup, "candidates", advice.length ? HONE_DOCTOR_NOTE : HONE_DOCTOR_OK,
                    hone_str_text(&advice), "held by %s", layers);
    hone_str_deinit(&advice);
}

void hone_doctor_candidates(hone_checkup *checkup) {
    char layers[HONE_RUNNER_LAYERS_BYTES];
    hone_runner *runner = NULL;
    hone_status st = hone_runner_create_local(NULL, &runner);
    if (!st) st = hone_runner_local_layers(runner, layers);
    if (st) {
        hone_doctor_say(checkup, "candidates", HONE_DOCTOR_PROBLEM,
                        "they are not run until that is mended; a sandbox needs Linux 5.9 with "
                        "CONFIG_SECCOMP_FILTER, and --unsandboxed does without, which lets them do "
                        "all that you may do",
                        "%s", hone_status_message(st));
    } else {
        say_layers(checkup, layers);
    }
    hone_status_free(st);
    hone_runner_destroy(runner);
}
