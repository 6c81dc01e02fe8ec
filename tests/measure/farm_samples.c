/* tests/measure/farm_samples.c - see farm_samples.h. */
#include "tests/measure/farm_samples.h"

#include <string.h>

#include "support/core/attributes.h"

static hone_farm_slot slots[2];
static hone_farm_held helds[2];
static hone_farm_bench benches[2];
static hone_farm_blob blobs[3];
static hone_farm_device devices[2];
static hone_farm_status_slot status_slots[2];
static hone_farm_status_tuner status_tuners[1];
static hone_farm_key keys[2];
static const uint8_t some_bytes[] = {0xa1, 1, 0, 0xff};
static const hone_farm_instance tuner = {UINT64_C(0x0123456789abcdef), UINT64_MAX};
static const char public_key[] = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";

static hone_farm_hash hash_of(uint8_t first) {
    hone_farm_hash hash;
    for (int i = 0; i < HONE_FARM_HASH_BYTES; i++)
        hash.bytes[i] = (uint8_t)(first + i);
    return hash;
}

static void fill_parts(void) {
    slots[0] = (hone_farm_slot){0, "pi4", "llvm -mtriple=aarch64-linux-gnu", 4, INT64_C(1) << 32};
    slots[1] = (hone_farm_slot){63, "gpu", "cuda -arch=sm_90", 1, INT64_MAX};
    helds[0] = (hone_farm_held){UINT64_MAX, tuner, 12, 63, HONE_FARM_HELD_DONE};
    helds[1] = (hone_farm_held){1, tuner, 13, 0, HONE_FARM_HELD_RUNNING};
    benches[0] = (hone_farm_bench){3, "no space left on device"};
    benches[1] = (hone_farm_bench){63, ""};
    blobs[0] = (hone_farm_blob){HONE_FARM_BLOB_ARTIFACT, hash_of(1), 1};
    blobs[1] = (hone_farm_blob){HONE_FARM_BLOB_BUNDLE, hash_of(2), HONE_FARM_MAX_BLOB};
    blobs[2] = (hone_farm_blob){HONE_FARM_BLOB_EXTERN, hash_of(3), 4096};
    devices[0] =
        (hone_farm_device){"board-1", 0, "pi4", "llvm -mcpu=cortex-a72", 4, 1 << 30, false};
    devices[1] = (hone_farm_device){"board-2", 3, "pi5", "llvm -mcpu=cortex-a76", 4, 1 << 30, true};
    status_slots[0] = (hone_farm_status_slot){"board-1",
                                              0,
                                              "pi4",
                                              "llvm",
                                              "hone-runner 0.1.0",
                                              HONE_FARM_SLOT_BUSY,
                                              true,
                                              5,
                                              6,
                                              2,
                                              "alice",
                                              7,
                                              8,
                                              9,
                                              10,
                                              "its disk is full",
                                              3};
    status_slots[1] = (hone_farm_status_slot){.runner = "board-2", .state = HONE_FARM_SLOT_STUCK};
    status_tuners[0] = (hone_farm_status_tuner){"alice", tuner, true, 1, 2, 3, 4, 5};
    for (size_t i = 0; i < HONE_COUNT(keys); i++) {
        keys[i] = (hone_farm_key){.role = HONE_FARM_TUNER, .name = "alice"};
        memcpy(keys[i].key, public_key, sizeof public_key);
        keys[i].connections = (uint32_t)i;
    }
}

static void fill_peers(hone_farm_message *m) {
    if (m->kind == HONE_FARM_HELLO) {
        m->u.hello = (hone_farm_hello){
            1,     3,          HONE_FARM_RUNNER, "board-1",   "hone-runner 0.1.0",
            tuner, {2, slots  },
             {2, helds  },
             {2, benches}
        };
    } else if (m->kind == HONE_FARM_WELCOME) {
        m->u.welcome =
            (hone_farm_welcome){1, 2000000000, 6000000000, 262144, HONE_FARM_MAX_FRAME, tuner, 64};
    } else if (m->kind == HONE_FARM_REFUSED) {
        m->u.refused =
            (hone_farm_refused){HONE_FARM_REFUSAL_BUSY, "too many trials", HONE_FARM_SUBMIT, 17};
    } else if (m->kind == HONE_FARM_PING) {
        m->u.ping.benched = (hone_farm_benches){HONE_COUNT(benches), benches};
    } else if (m->kind == HONE_FARM_PONG) {
        m->u.pong.devices = 9;
    } else if (m->kind == HONE_FARM_BYE) {
        hone_farm_set_text(m->u.bye.text, sizeof m->u.bye.text, "stopped by a person");
    }
}

static void fill_trials(hone_farm_message *m) {
    hone_farm_bytes bytes = {some_bytes, sizeof some_bytes};
    switch (m->kind) {
    case HONE_FARM_SUBMIT:
        m->u.submit = (hone_farm_submit){
            5, "pi4", {3, blobs},
              bytes, 30000000000, "board-1/2", "llvm -mcpu=cortex-a72", true
        };
        break;
    case HONE_FARM_ACCEPTED:
    case HONE_FARM_OUTCOME_ACK:
    case HONE_FARM_CANCEL:
        m->u.accepted.trial = 5; /* they look the same */
        break;
    case HONE_FARM_OUTCOME:
        m->u.outcome = (hone_farm_outcome){5, bytes, "board-1", 2, 1, 123456789};
        break;
    case HONE_FARM_CANCELLED:
        m->u.cancelled = (hone_farm_cancelled){5, true};
        break;
    case HONE_FARM_ASSIGN:
        m->u.assign = (hone_farm_assign){
            1001, tuner, 5, 2, {3, blobs},
                bytes, 30000000000, 1
        };
        break;
    case HONE_FARM_TAKEN:
    case HONE_FARM_RESULT_ACK:
    case HONE_FARM_ABORT:
        m->u.lease = (hone_farm_lease){1001, tuner, 5};
        break;
    case HONE_FARM_RETURNED:
        m->u.returned = (hone_farm_returned){1001, tuner, 5, "stopping"};
        break;
    case HONE_FARM_RESULT:
        m->u.result = (hone_farm_result){1001, tuner, 5, bytes};
        break;
    default:
        break;
    }
}

static void fill_blobs_and_tables(hone_farm_message *m) {
    switch (m->kind) {
    case HONE_FARM_BLOB_WANT:
        m->u.blob_want = (hone_farm_blob_want){hash_of(9), 262144, 262144};
        break;
    case HONE_FARM_BLOB_CHUNK:
        m->u.blob_chunk = (hone_farm_blob_chunk){
            hash_of(9), 262148, 262144, {some_bytes, sizeof some_bytes}
        };
        break;
    case HONE_FARM_BLOB_MISSING:
        m->u.blob_missing = (hone_farm_blob_missing){hash_of(9), "no trial wants it"};
        break;
    case HONE_FARM_DEVICES:
        memcpy(m->u.devices.device_key, "pi4", sizeof "pi4");
        break;
    case HONE_FARM_DEVICE_LIST:
        m->u.device_list.number = 3;
        m->u.device_list.devices.count = HONE_COUNT(devices);
        m->u.device_list.devices.items = devices;
        break;
    case HONE_FARM_STATUS_TABLE:
        m->u.status_table = (hone_farm_status_table){
            .uptime_ns = 1,
            .slots = {2, status_slots },
            .tuners = {1, status_tuners},
            .waiting = 2,
            .running = 3,
            .done = 4,
            .requeued = 5,
            .lost = 6,
            .duplicates = 7,
            .refused = 8,
            .blob_bytes = 9,
            .software = "hone 0.1.0",
            .is_truncated = true
        };
        break;
    default:
        break;
    }
}

static void fill_admin(hone_farm_message *m) {
    switch (m->kind) {
    case HONE_FARM_DRAIN:
        m->u.drain = (hone_farm_drain){"board-1/2", true};
        break;
    case HONE_FARM_KICK:
        memcpy(m->u.kick.device, "board-1", sizeof "board-1");
        break;
    case HONE_FARM_ALLOW:
        m->u.allow = keys[0];
        break;
    case HONE_FARM_REVOKE:
        memcpy(m->u.revoke.key, public_key, sizeof public_key);
        break;
    case HONE_FARM_KEY_LIST:
        m->u.key_list.keys.count = HONE_COUNT(keys);
        m->u.key_list.keys.items = keys;
        break;
    case HONE_FARM_DONE:
        hone_farm_set_text(m->u.done.text, sizeof m->u.done.text, "allowed");
        break;
    default:
        break;
    }
}

hone_farm_message farm_sample(hone_farm_kind kind) {
    hone_farm_message m;
    memset(&m, 0, sizeof m);
    m.kind = kind;
    m.id = UINT64_C(1) << 40;
    fill_parts();
    fill_peers(&m);
    fill_trials(&m);
    fill_blobs_and_tables(&m);
    fill_admin(&m);
    return m;
}
