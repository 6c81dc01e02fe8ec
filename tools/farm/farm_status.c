/* tools/farm/farm_status.c - `hone farm status`. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "support/os/clock.h"
#include "tools/cli/cli.h"
#include "tools/cli/cli_db.h"
#include "tools/cli/cli_table.h"
#include "tools/farm/farm_client.h"
#include "tools/farm/farm_status.h"
#include "tools/farm/farm_verbs.h"

/* A slot that is benched gets nothing new, as one that drains: the state has no word of its own. */
static const char *state_text(const hone_farm_status_slot *s) {
    if (!s->is_connected) return "away";
    return s->trouble[0] ? "benched" : hone_farm_slot_state_name(s->state);
}

/* ---- JSON ---- */

static hone_json *slot_json(const hone_farm_status_slot *s) {
    hone_json *json = hone_json_make_object();
    bool ok = hone_json_set_text(json, "runner", s->runner) &&
              hone_json_set_i64(json, "slot", s->slot) &&
              hone_json_set_text(json, "device_key", s->device_key) &&
              hone_json_set_text(json, "target", s->target) &&
              hone_json_set_text(json, "software", s->software) &&
              hone_json_set_text(json, "state",
                                 s->trouble[0] ? "benched" : hone_farm_slot_state_name(s->state)) &&
              hone_json_set_bool(json, "connected", s->is_connected) &&
              hone_json_set_i64(json, "connected_ns", s->connected_ns) &&
              hone_json_set_i64(json, "silent_ns", s->silent_ns) &&
              hone_json_set_i64(json, "trials", s->trials) &&
              hone_json_set_text(json, "tuner", s->tuner[0] ? s->tuner : NULL) &&
              hone_json_set_i64(json, "done", (int64_t)s->done) &&
              hone_json_set_i64(json, "failed", (int64_t)s->failed) &&
              hone_json_set_i64(json, "lost", (int64_t)s->lost) &&
              hone_json_set_i64(json, "busy_ns", s->busy_ns) &&
              hone_json_set_i64(json, "errors", (int64_t)s->errors) &&
              hone_json_set_text(json, "trouble", s->trouble[0] ? s->trouble : NULL);
    if (ok) return json;
    hone_json_destroy(json);
    return NULL;
}

static hone_json *tuner_json(const hone_farm_status_tuner *s) {
    hone_json *json = hone_json_make_object();
    char instance[HONE_HASH_HEX_BYTES];
    bool ok = hone_json_set_text(json, "name", s->name) &&
              hone_json_set_text(json, "instance", hone_hash128_print(s->instance, instance)) &&
              hone_json_set_bool(json, "connected", s->is_connected) &&
              hone_json_set_i64(json, "silent_ns", s->silent_ns) &&
              hone_json_set_i64(json, "waiting", (int64_t)s->waiting) &&
              hone_json_set_i64(json, "running", (int64_t)s->running) &&
              hone_json_set_i64(json, "done", (int64_t)s->done) &&
              hone_json_set_i64(json, "device_ns", s->device_ns);
    if (ok) return json;
    hone_json_destroy(json);
    return NULL;
}

hone_json *hone_farm_status_json(const hone_farm_status_table *t) {
    hone_json *json = hone_json_make_object(), *slots = hone_json_make_array(),
              *tuners = hone_json_make_array();
    bool ok = hone_json_set_text(json, "software", t->software) &&
              hone_json_set_i64(json, "uptime_ns", t->uptime_ns) &&
              hone_json_set_i64(json, "waiting", (int64_t)t->waiting) &&
              hone_json_set_i64(json, "running", (int64_t)t->running) &&
              hone_json_set_i64(json, "done", (int64_t)t->done) &&
              hone_json_set_i64(json, "requeued", (int64_t)t->requeued) &&
              hone_json_set_i64(json, "lost", (int64_t)t->lost) &&
              hone_json_set_i64(json, "duplicates", (int64_t)t->duplicates) &&
              hone_json_set_i64(json, "refused", (int64_t)t->refused) &&
              hone_json_set_i64(json, "errors", (int64_t)t->errors) &&
              hone_json_set_i64(json, "blob_bytes", t->blob_bytes) &&
              hone_json_set_bool(json, "truncated", t->is_truncated);
    for (size_t i = 0; i < t->slots.count; i++)
        ok &= hone_json_append(slots, slot_json(&t->slots.items[i]));
    for (size_t i = 0; i < t->tuners.count; i++)
        ok &= hone_json_append(tuners, tuner_json(&t->tuners.items[i]));
    ok &= hone_json_set(json, "slots", slots);
    ok &= hone_json_set(json, "tuners", tuners);
    if (ok) return json;
    hone_json_destroy(json);
    return NULL;
}

/* ---- text ---- */

static const char *share_text(hone_arena *arena, const hone_farm_status_slot *s) {
    if (s->connected_ns <= 0) return "-";
    double share = 100.0 * (double)s->busy_ns / (double)s->connected_ns;
    return hone_arena_printf(arena, "%.0f %%", share < 100 ? share : 100.0);
}

static void put_slots(hone_cli *cli, const hone_farm_status_table *t) {
    hone_table table;
    hone_table_init(
        &table, cli->arena,
        "device|key|state|tuner|>trials|>done|>failed|>erred|>lost|>busy|silent|~target");
    for (size_t i = 0; i < t->slots.count; i++) {
        const hone_farm_status_slot *s = &t->slots.items[i];
        char silent[HONE_DURATION_BYTES];
        hone_table_add(&table, "%s/%u", s->runner, s->slot);
        hone_table_add(&table, "%s", s->device_key);
        hone_table_add(&table, "%s", state_text(s));
        hone_table_add(&table, "%s", s->tuner[0] ? s->tuner : "-");
        hone_table_add(&table, "%u", s->trials);
        hone_table_add(&table, "%" PRIu64, s->done);
        hone_table_add(&table, "%" PRIu64, s->failed);
        hone_table_add(&table, "%" PRIu64, s->errors);
        hone_table_add(&table, "%" PRIu64, s->lost);
        hone_table_add(&table, "%s", share_text(cli->arena, s));
        hone_table_add(&table, "%s", hone_duration_print(s->silent_ns, silent));
        hone_table_add(&table, "%s", hone_cli_short_target(cli->arena, s->target));
    }
    hone_cli_put_table(cli, &table);
    for (size_t i = 0; i < t->slots.count; i++) {
        const hone_farm_status_slot *s = &t->slots.items[i];
        if (!s->trouble[0]) continue;
        hone_str_printf(&cli->out, "%s/%u is benched: %s\n", s->runner, s->slot, s->trouble);
    }
}

static void put_tuners(hone_cli *cli, const hone_farm_status_table *t) {
    hone_table table;
    hone_table_init(&table, cli->arena, "tuner|>waiting|>running|>done|>device time|silent");
    for (size_t i = 0; i < t->tuners.count; i++) {
        const hone_farm_status_tuner *s = &t->tuners.items[i];
        char silent[HONE_DURATION_BYTES], device[HONE_DURATION_BYTES];
        hone_table_add(&table, "%s%s", s->name, s->is_connected ? "" : " (away)");
        hone_table_add(&table, "%" PRIu64, s->waiting);
        hone_table_add(&table, "%" PRIu64, s->running);
        hone_table_add(&table, "%" PRIu64, s->done);
        hone_table_add(&table, "%s", hone_duration_print(s->device_ns, device));
        hone_table_add(&table, "%s", hone_duration_print(s->silent_ns, silent));
    }
    hone_cli_put_table(cli, &table);
}

static void put_text(hone_cli *cli, const hone_farm_status_table *t) {
    char uptime[HONE_DURATION_BYTES];
    if (t->slots.count) put_slots(cli, t);
    if (t->slots.count && t->tuners.count) hone_str_append_char(&cli->out, '\n');
    if (t->tuners.count) put_tuners(cli, t);
    if (t->slots.count || t->tuners.count) hone_str_append_char(&cli->out, '\n');
    if (t->is_truncated) hone_str_append(&cli->out, "(there are more than are shown)\n");
    hone_str_printf(&cli->out,
                    "%zu devices, %zu tuners; trials: %" PRIu64 " waiting, %" PRIu64
                    " running, %" PRIu64 " done, %" PRIu64 " handed out again, %" PRIu64
                    " lost; up %s\n",
                    t->slots.count, t->tuners.count, t->waiting, t->running, t->done, t->requeued,
                    t->lost, hone_duration_print(t->uptime_ns, uptime));
}

static hone_status status(hone_cli *cli, hone_farm_access *access) {
    hone_farm_client *client;
    hone_farm_message answer, question = {.kind = HONE_FARM_STATUS};
    hone_farm_access_from_environment(access);
    HONE_TRY(hone_farm_access_check(cli, access));
    HONE_TRY(hone_farm_client_open(access, HONE_FARM_VERB_TIMEOUT_NS, &client));
    hone_status st = hone_farm_client_ask(client, &question, HONE_FARM_STATUS_TABLE, &answer);
    if (!st && cli->json) {
        st = hone_cli_put_json(cli, hone_farm_status_json(&answer.u.status_table));
    } else if (!st) {
        put_text(cli, &answer.u.status_table);
    }
    hone_farm_client_close(client);
    return st;
}

int hone_farm_verb_status(int argc, char **argv) {
    hone_farm_access access = {0};
    const hone_cli_option options[] = {HONE_FARM_ACCESS_OPTIONS(access), {0}};
    const hone_cli_command command = {
        .name = "farm status",
        .usage = "--tracker URL --key FILE --tracker-key PUB [--json]",
        .summary = "Devices and tuners of a farm, with what they have done since they joined.",
        .example = "hone farm status --tracker tcp://127.0.0.1:9190 --insecure",
        .notes = "A device is RUNNER/SLOT. stuck: its runner has not let go of a trial whose time "
                 "was over. away: its runner is\nnot connected now; after three heartbeats it is "
                 "lost. The key of a tuner or an admin is needed.",
        .options = options,
        .max_args = 0,
        .reports = true,
    };
    HONE_CLI_RUN(cli, &command, argc, argv, status(&cli, &access));
}
