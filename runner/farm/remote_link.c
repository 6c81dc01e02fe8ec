/* runner/farm/remote_link.c - what a tuner says of itself, and which message goes where. */
#include <stdio.h>

#include "runner/farm/remote_impl.h"

static void say_hello(void *owner, hone_farm_message *message) {
    runner_remote *r = owner;
    farm_link_send(&r->link, message);
}

static void on_away(void *owner, const char *why) {
    runner_remote *r = owner;
    snprintf(r->trouble, sizeof r->trouble, "%s", why);
}

/* A key that was allowed once may be so again: then it tries on. */
static bool on_failed(void *owner, hone_net_reason reason, const char *why) {
    runner_remote *r = owner;
    snprintf(r->trouble, sizeof r->trouble, "%s", why);
    if (reason != HONE_NET_KEY_REFUSED || r->was_welcome) return false;
    r->link.is_given_up = true;
    return true;
}

static void on_welcome(void *owner, const hone_farm_welcome *welcome) {
    runner_remote *r = owner;
    (void)welcome;
    if (r->was_welcome) HONE_LOG(r->link.log, HONE_LOG_INFO, "the tracker is there again");
    r->was_welcome = true;
    r->trouble[0] = 0;
    remote_devices_restart(r);
    remote_submit_again(r);
}

static void on_refused(runner_remote *r, const hone_farm_refused *refused) {
    switch (refused->code) {
    case HONE_FARM_REFUSAL_VERSION:
    case HONE_FARM_REFUSAL_ROLE:
    case HONE_FARM_REFUSAL_KEY:
        r->link.is_given_up = true;
        snprintf(r->trouble, sizeof r->trouble, "the tracker says: %.480s", refused->text);
        return;
    case HONE_FARM_REFUSAL_HELLO:
        farm_link_greet_again(&r->link);
        return;
    default:
        break;
    }
    bool is_final = refused->code != HONE_FARM_REFUSAL_TAKEN &&
                    refused->code != HONE_FARM_REFUSAL_BUSY; /* timers repeat those */
    HONE_LOG(r->link.log, is_final ? HONE_LOG_WARNING : HONE_LOG_DEBUG,
             "the tracker refused '%s': %s", hone_farm_kind_name((hone_farm_kind)refused->about),
             refused->text);
    if (is_final && refused->about == HONE_FARM_SUBMIT) remote_on_submit_refused(r, refused);
}

static hone_status on_message(void *owner, const hone_farm_message *message) {
    runner_remote *r = owner;
    switch (message->kind) {
    case HONE_FARM_REFUSED:
        on_refused(r, &message->u.refused);
        return HONE_OK;
    case HONE_FARM_PONG:
        remote_on_pong(r, &message->u.pong);
        return HONE_OK;
    case HONE_FARM_DEVICE_LIST:
        remote_on_device_list(r, &message->u.device_list);
        return HONE_OK;
    case HONE_FARM_ACCEPTED:
        remote_on_accepted(r, message->u.accepted.trial);
        return HONE_OK;
    case HONE_FARM_OUTCOME:
        remote_on_outcome(r, &message->u.outcome);
        return HONE_OK;
    case HONE_FARM_CANCELLED:
        remote_on_cancelled(r, message->u.cancelled.trial);
        return HONE_OK;
    case HONE_FARM_BLOB_WANT:
        remote_on_blob_want(r, message);
        return HONE_OK;
    default:
        farm_link_refuse(&r->link, message, HONE_FARM_REFUSAL_INVALID,
                         "a tuner has no answer to that");
        return HONE_OK;
    }
}

const farm_link_vtable remote_link_vtable = {.say_hello = say_hello,
                                             .on_welcome = on_welcome,
                                             .on_away = on_away,
                                             .on_message = on_message,
                                             .on_failed = on_failed};
