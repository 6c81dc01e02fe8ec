/* tools/doctor/doctor_farm.c - the checks of `hone doctor --tracker`: keys, connection, the farm
 * behind it. */
#include <inttypes.h>

#include "net/key.h"
#include "support/os/clock.h"
#include "tools/doctor/doctor.h"
#include "tools/farm/farm_client.h"

#define ANSWER_NS (5 * HONE_NS_PER_S)
#define SLOW_NS (50 * HONE_NS_PER_MS)

static void say_problem(hone_checkup *checkup, const char *check, hone_status st,
                        const char *advice) {
    hone_doctor_say(checkup, check, HONE_DOCTOR_PROBLEM, advice, "%s", hone_status_message(st));
    hone_status_free(st);
}

/* True when there are options to connect with. */
static bool check_keys(hone_checkup *checkup, const hone_farm_access *access) {
    hone_net_client_options net;
    char text[HONE_KEY_TEXT_BYTES];
    hone_status st = hone_farm_access_resolve(access, &net);
    if (st) {
        say_problem(checkup, "farm keys", st, "docs/farm.md sets a farm up step by step");
        return false;
    }
    if (access->is_insecure) {
        hone_doctor_say(checkup, "farm keys", HONE_DOCTOR_NOTE,
                        "anybody on this machine can use the farm; make keys before others join",
                        "none: the connection is insecure");
    } else {
        hone_doctor_say(checkup, "farm keys", HONE_DOCTOR_OK, NULL, "yours is %s",
                        hone_key_print(&net.keys.public_key, text));
    }
    hone_key_pair_wipe(&net.keys);
    return true;
}

/* The shortest of a few round trips. */
static hone_status time_round_trip(hone_farm_client *client, int64_t *out_ns) {
    const hone_clock *clock = hone_clock_system();
    const hone_farm_message ping = {.kind = HONE_FARM_PING};
    *out_ns = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        hone_farm_message answer;
        int64_t begin_ns = hone_clock_now(clock);
        HONE_TRY(hone_farm_client_ask(client, &ping, HONE_FARM_PONG, &answer));
        int64_t ns = hone_clock_now(clock) - begin_ns;
        if (ns < *out_ns) *out_ns = ns;
    }
    return HONE_OK;
}

static void check_connection(hone_checkup *checkup, hone_farm_client *client) {
    const hone_farm_welcome *terms = hone_farm_client_terms(client);
    char trip[HONE_DURATION_BYTES], beat[HONE_DURATION_BYTES];
    int64_t ns;
    hone_status st = time_round_trip(client, &ns);
    if (st) {
        say_problem(checkup, "tracker", st, NULL);
        return;
    }
    hone_doctor_say(checkup, "tracker", ns > SLOW_NS ? HONE_DOCTOR_NOTE : HONE_DOCTOR_OK,
                    "far away: devices stay busy only with trials that take longer than that",
                    "answers in %s, protocol %u, heartbeat %s", hone_duration_print(ns, trip),
                    terms->version, hone_duration_print(terms->heartbeat_ns, beat));
}

static void check_farm(hone_checkup *checkup, hone_farm_client *client) {
    const hone_farm_message question = {.kind = HONE_FARM_STATUS};
    hone_farm_message answer;
    hone_status st = hone_farm_client_ask(client, &question, HONE_FARM_STATUS_TABLE, &answer);
    if (hone_status_code(st) == HONE_CODE_INVALID) { /* a runner's key */
        hone_doctor_say(checkup, "farm", HONE_DOCTOR_OK, NULL,
                        "this key may not look at the farm, as is right for a runner's");
        hone_status_free(st);
        return;
    }
    if (st) {
        say_problem(checkup, "farm", st, NULL);
        return;
    }
    const hone_farm_status_table *t = &answer.u.status_table;
    size_t usable = 0;
    for (size_t i = 0; i < t->slots.count; i++) {
        hone_farm_slot_state state = t->slots.items[i].state;
        usable += t->slots.items[i].is_connected &&
                  (state == HONE_FARM_SLOT_IDLE || state == HONE_FARM_SLOT_BUSY);
    }
    hone_doctor_say(checkup, "farm", usable ? HONE_DOCTOR_OK : HONE_DOCTOR_WARNING,
                    "start 'hone-runner' on a machine; 'hone farm status' tells the rest",
                    "%zu of %zu devices take work, %zu tuners, %" PRIu64 " trials wait", usable,
                    t->slots.count, t->tuners.count, t->waiting);
}

void hone_doctor_farm(hone_checkup *checkup, const hone_farm_access *access) {
    hone_farm_client *client;
    if (!check_keys(checkup, access)) return;
    hone_status st = hone_farm_client_open(access, ANSWER_NS, &client);
    if (st) {
        say_problem(checkup, "tracker", st,
                    "is 'hone tracker' running there, and does it know your key? docs/farm.md, "
                    "section 7");
        return;
    }
    check_connection(checkup, client);
    check_farm(checkup, client);
    hone_farm_client_close(client);
}
