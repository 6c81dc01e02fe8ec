/* tools/serve/serve_farm.c - see serve_farm.h. */
#include "tools/serve/serve_farm.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "support/core/alloc.h"
#include "support/os/clock.h"
#include "support/os/thread.h"
#include "tools/farm/farm_status.h"

enum { BETWEEN_MS = 2000 };
#define ANSWER_NS (2 * HONE_NS_PER_S)

struct hone_serve_farm {
    const hone_farm_access *access;
    hone_thread thread;
    int stop_fd;
    hone_mutex lock;
    hone_str status, trouble; /* under the lock; the last answer, or why there is none */
};

/* ---- the thread ---- */

static hone_status ask(const hone_farm_access *access, hone_str *out) {
    hone_farm_client *client;
    hone_farm_message answer, question = {.kind = HONE_FARM_STATUS};
    HONE_TRY(hone_farm_client_open(access, ANSWER_NS, &client));
    hone_status st = hone_farm_client_ask(client, &question, HONE_FARM_STATUS_TABLE, &answer);
    hone_json *json = st ? NULL : hone_farm_status_json(&answer.u.status_table);
    hone_farm_client_close(client);
    HONE_TRY(st);
    if (!json) return HONE_ERROR(HONE_CODE_NO_MEMORY, "status of the farm");
    hone_json_print(json, &(hone_json_style){.is_compact = true}, out);
    hone_json_destroy(json);
    return hone_str_check(out);
}

static void keep(hone_serve_farm *self, hone_str *status, hone_status st) {
    hone_mutex_lock(&self->lock);
    hone_str_clear(&self->status);
    hone_str_clear(&self->trouble);
    if (st) {
        hone_str_append(&self->trouble, hone_status_message(st));
    } else {
        hone_str_append(&self->status, status->data);
    }
    hone_mutex_unlock(&self->lock);
    hone_status_free(st);
}

static bool is_stopped(const hone_serve_farm *self, int wait_ms) {
    struct pollfd fd = {.fd = self->stop_fd, .events = POLLIN};
    return poll(&fd, 1, wait_ms) > 0;
}

static void run(void *context) {
    hone_serve_farm *self = context;
    do {
        hone_str status = {0};
        keep(self, &status, ask(self->access, &status));
        hone_str_deinit(&status);
    } while (!is_stopped(self, BETWEEN_MS));
}

/* ---- life ---- */

static hone_status check_access(const hone_farm_access *access) {
    hone_net_client_options net;
    HONE_TRY(hone_farm_access_resolve(access, &net));
    hone_key_pair_wipe(&net.keys);
    return HONE_OK;
}

hone_status hone_serve_farm_start(const hone_farm_access *access, hone_serve_farm **out_farm) {
    *out_farm = NULL;
    HONE_TRY(check_access(access));
    hone_serve_farm *self = hone_calloc(1, sizeof *self);
    if (!self) return HONE_ERROR(HONE_CODE_NO_MEMORY, "farm");
    self->access = access;
    hone_mutex_init(&self->lock);
    hone_str_append(&self->trouble, "it has not been asked yet");
    self->stop_fd = eventfd(0, EFD_CLOEXEC);
    hone_status st = self->stop_fd >= 0 ? hone_thread_start(&self->thread, "farm", run, self)
                                        : HONE_ERROR(HONE_CODE_IO, "no descriptor is left");
    if (st) {
        hone_serve_farm_stop(self);
        return st;
    }
    *out_farm = self;
    return HONE_OK;
}

void hone_serve_farm_stop(hone_serve_farm *farm) {
    if (!farm) return;
    if (farm->stop_fd >= 0) {
        (void)!write(farm->stop_fd, &(uint64_t){1}, sizeof(uint64_t));
        hone_thread_join(&farm->thread);
        close(farm->stop_fd);
    }
    hone_mutex_deinit(&farm->lock);
    hone_str_deinit(&farm->status);
    hone_str_deinit(&farm->trouble);
    hone_free(farm);
}

void hone_serve_farm_print(hone_serve_farm *farm, hone_str *out) {
    hone_mutex_lock(&farm->lock);
    hone_str_printf(
        out, "{\"status\":%s,\"trouble\":", farm->status.length ? farm->status.data : "null");
    if (farm->trouble.length) {
        hone_json_print_text(farm->trouble.data, farm->trouble.length, out);
    } else {
        hone_str_append(out, "null");
    }
    hone_str_append_char(out, '}');
    hone_mutex_unlock(&farm->lock);
}
