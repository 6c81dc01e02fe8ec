/* measure/wire_farm.c - the wire form of the farm's messages: one table per kind, keys from 2 on.
 *
 * Decoding walks the map twice: the first time for kind and id, which may stand anywhere, the
 * second time by the table of that kind. Then the rules that a table cannot say are checked.
 */
#include <assert.h>
#include <string.h>

#include "measure/farm.h"
#include "measure/frame_check.h"
#include "measure/wire_fields.h"

#define NAME(number, type, member)                                                                 \
    WIRE_LIMITED(number, WIRE_NAME, type, member, sizeof((type *)0)->member)
#define NOTE(number, type, member)                                                                 \
    WIRE_LIMITED(number, WIRE_NOTE, type, member, sizeof((type *)0)->member)
#define U32(number, type, member) WIRE_MEMBER(number, WIRE_UINT32, type, member)
#define U64(number, type, member) WIRE_MEMBER(number, WIRE_UINT64, type, member)
#define I32(number, type, member) WIRE_MEMBER(number, WIRE_INT32, type, member)
#define I64(number, type, member) WIRE_MEMBER(number, WIRE_INT64, type, member)
#define BOOL(number, type, member) WIRE_MEMBER(number, WIRE_BOOL, type, member)
#define ID(number, type, member) WIRE_MEMBER(number, WIRE_HASH, type, member)
#define ENUM(number, type, member, count) WIRE_LIMITED(number, WIRE_ENUM, type, member, count)
#define HASH(number, type, member)                                                                 \
    WIRE_LIMITED(number, WIRE_FIXED, type, member, HONE_FARM_HASH_BYTES)
#define BYTES(number, type, member, most) WIRE_LIMITED(number, WIRE_BYTES, type, member, most)

/* ---- parts ---- */

static const wire_field slot_fields[] = {
    U32(0, hone_farm_slot, slot),         NAME(1, hone_farm_slot, device_key),
    NAME(2, hone_farm_slot, target),      I32(3, hone_farm_slot, cores),
    I64(4, hone_farm_slot, memory_bytes),
};
WIRE_TABLE(slot_table, slot_fields);

static const wire_field bench_fields[] = {
    U32(0, hone_farm_bench, slot),
    NOTE(1, hone_farm_bench, text),
};
WIRE_TABLE(bench_table, bench_fields);

static const wire_field held_fields[] = {
    U64(0, hone_farm_held, token),
    ID(1, hone_farm_held, tuner),
    U64(2, hone_farm_held, trial),
    U32(3, hone_farm_held, slot),
    ENUM(4, hone_farm_held, state, HONE_FARM_HELD_STATE_COUNT),
};
WIRE_TABLE(held_table, held_fields);

static const wire_field blob_fields[] = {
    ENUM(0, hone_farm_blob, role, HONE_FARM_BLOB_ROLE_COUNT),
    HASH(1, hone_farm_blob, hash),
    I64(2, hone_farm_blob, bytes),
};
WIRE_TABLE(blob_table, blob_fields);

static const wire_field device_fields[] = {
    NAME(0, hone_farm_device, runner),      U32(1, hone_farm_device, slot),
    NAME(2, hone_farm_device, device_key),  NAME(3, hone_farm_device, target),
    I32(4, hone_farm_device, cores),        I64(5, hone_farm_device, memory_bytes),
    BOOL(6, hone_farm_device, is_draining),
};
WIRE_TABLE(device_table, device_fields);

static const wire_field status_slot_fields[] = {
    NAME(0, hone_farm_status_slot, runner),
    U32(1, hone_farm_status_slot, slot),
    NAME(2, hone_farm_status_slot, device_key),
    NAME(3, hone_farm_status_slot, target),
    NAME(4, hone_farm_status_slot, software),
    ENUM(5, hone_farm_status_slot, state, HONE_FARM_SLOT_STATE_COUNT),
    BOOL(6, hone_farm_status_slot, is_connected),
    I64(7, hone_farm_status_slot, connected_ns),
    I64(8, hone_farm_status_slot, silent_ns),
    U32(9, hone_farm_status_slot, trials),
    NAME(10, hone_farm_status_slot, tuner),
    U64(11, hone_farm_status_slot, done),
    U64(12, hone_farm_status_slot, failed),
    U64(13, hone_farm_status_slot, lost),
    I64(14, hone_farm_status_slot, busy_ns),
    NOTE(15, hone_farm_status_slot, trouble),
    U64(16, hone_farm_status_slot, errors),
};
WIRE_TABLE(status_slot_table, status_slot_fields);

static const wire_field status_tuner_fields[] = {
    NAME(0, hone_farm_status_tuner, name),         ID(1, hone_farm_status_tuner, instance),
    BOOL(2, hone_farm_status_tuner, is_connected), I64(3, hone_farm_status_tuner, silent_ns),
    U64(4, hone_farm_status_tuner, waiting),       U64(5, hone_farm_status_tuner, running),
    U64(6, hone_farm_status_tuner, done),          I64(7, hone_farm_status_tuner, device_ns),
};
WIRE_TABLE(status_tuner_table, status_tuner_fields);

static const wire_field key_row_fields[] = {
    NAME(0, hone_farm_key, key),
    ENUM(1, hone_farm_key, role, HONE_FARM_ROLE_COUNT),
    NAME(2, hone_farm_key, name),
    U32(3, hone_farm_key, connections),
};
WIRE_TABLE(key_row_table, key_row_fields);

/* ---- messages ---- */

static const wire_field hello_fields[] = {
    U32(2, hone_farm_hello, version_min),
    U32(3, hone_farm_hello, version_max),
    ENUM(4, hone_farm_hello, role, HONE_FARM_ROLE_COUNT),
    NAME(5, hone_farm_hello, name),
    NAME(6, hone_farm_hello, software),
    ID(7, hone_farm_hello, instance),
    WIRE_ITEMS(8, hone_farm_hello, slots, &slot_table, HONE_FARM_MAX_SLOTS),
    WIRE_ITEMS(9, hone_farm_hello, held, &held_table, HONE_FARM_MAX_HELD),
    WIRE_ITEMS(10, hone_farm_hello, benched, &bench_table, HONE_FARM_MAX_SLOTS),
};
static const wire_field welcome_fields[] = {
    U32(2, hone_farm_welcome, version),         I64(3, hone_farm_welcome, heartbeat_ns),
    I64(4, hone_farm_welcome, expiry_ns),       U32(5, hone_farm_welcome, chunk_bytes),
    U32(6, hone_farm_welcome, max_frame_bytes), ID(7, hone_farm_welcome, tracker),
    U32(8, hone_farm_welcome, max_trials),
};
static const wire_field refused_fields[] = {
    ENUM(2, hone_farm_refused, code, HONE_FARM_REFUSAL_COUNT),
    NOTE(3, hone_farm_refused, text),
    U32(4, hone_farm_refused, about),
    U64(5, hone_farm_refused, trial),
};
static const wire_field ping_fields[] = {
    WIRE_ITEMS(2, hone_farm_ping, benched, &bench_table, HONE_FARM_MAX_SLOTS),
};
static const wire_field pong_fields[] = {U64(2, hone_farm_pong, devices)};
static const wire_field bye_fields[] = {NOTE(2, hone_farm_bye, text)};
static const wire_field submit_fields[] = {
    U64(2, hone_farm_submit, trial),
    NAME(3, hone_farm_submit, device_key),
    WIRE_ITEMS(4, hone_farm_submit, blobs, &blob_table, HONE_FARM_MAX_BLOBS),
    BYTES(5, hone_farm_submit, request, HONE_FARM_MAX_REQUEST),
    I64(6, hone_farm_submit, timeout_ns),
    NAME(7, hone_farm_submit, device),
    NAME(8, hone_farm_submit, target),
    BOOL(9, hone_farm_submit, wants_time),
};
static const wire_field accepted_fields[] = {U64(2, hone_farm_accepted, trial)};
static const wire_field outcome_fields[] = {
    U64(2, hone_farm_outcome, trial),   BYTES(3, hone_farm_outcome, result, HONE_FARM_MAX_RESULT),
    NAME(4, hone_farm_outcome, runner), U32(5, hone_farm_outcome, slot),
    U32(6, hone_farm_outcome, losses),  I64(7, hone_farm_outcome, queue_ns),
};
static const wire_field outcome_ack_fields[] = {U64(2, hone_farm_outcome_ack, trial)};
static const wire_field cancel_fields[] = {U64(2, hone_farm_cancel, trial)};
static const wire_field cancelled_fields[] = {
    U64(2, hone_farm_cancelled, trial),
    BOOL(3, hone_farm_cancelled, is_known),
};
static const wire_field assign_fields[] = {
    U64(2, hone_farm_assign, token),
    ID(3, hone_farm_assign, tuner),
    U64(4, hone_farm_assign, trial),
    U32(5, hone_farm_assign, slot),
    WIRE_ITEMS(6, hone_farm_assign, blobs, &blob_table, HONE_FARM_MAX_BLOBS),
    BYTES(7, hone_farm_assign, request, HONE_FARM_MAX_REQUEST),
    I64(8, hone_farm_assign, timeout_ns),
    U32(9, hone_farm_assign, losses),
};
static const wire_field lease_fields[] = {
    U64(2, hone_farm_lease, token),
    ID(3, hone_farm_lease, tuner),
    U64(4, hone_farm_lease, trial),
};
static const wire_field returned_fields[] = {
    U64(2, hone_farm_returned, token),
    ID(3, hone_farm_returned, tuner),
    U64(4, hone_farm_returned, trial),
    NOTE(5, hone_farm_returned, text),
};
static const wire_field result_fields[] = {
    U64(2, hone_farm_result, token),
    ID(3, hone_farm_result, tuner),
    U64(4, hone_farm_result, trial),
    BYTES(5, hone_farm_result, result, HONE_FARM_MAX_RESULT),
};
static const wire_field blob_want_fields[] = {
    HASH(2, hone_farm_blob_want, hash),
    I64(3, hone_farm_blob_want, offset),
    U32(4, hone_farm_blob_want, count),
};
static const wire_field blob_chunk_fields[] = {
    HASH(2, hone_farm_blob_chunk, hash),
    I64(3, hone_farm_blob_chunk, total),
    I64(4, hone_farm_blob_chunk, offset),
    BYTES(5, hone_farm_blob_chunk, bytes, HONE_FARM_MAX_CHUNK),
};
static const wire_field blob_missing_fields[] = {
    HASH(2, hone_farm_blob_missing, hash),
    NOTE(3, hone_farm_blob_missing, text),
};
static const wire_field devices_fields[] = {NAME(2, hone_farm_devices, device_key)};
static const wire_field device_list_fields[] = {
    U64(2, hone_farm_device_list, number),
    WIRE_ITEMS(3, hone_farm_device_list, devices, &device_table, HONE_FARM_MAX_DEVICES),
};
static const wire_field status_table_fields[] = {
    I64(2, hone_farm_status_table, uptime_ns),
    WIRE_ITEMS(3, hone_farm_status_table, slots, &status_slot_table, HONE_FARM_MAX_DEVICES),
    WIRE_ITEMS(4, hone_farm_status_table, tuners, &status_tuner_table, HONE_FARM_MAX_DEVICES),
    U64(5, hone_farm_status_table, waiting),
    U64(6, hone_farm_status_table, running),
    U64(7, hone_farm_status_table, done),
    U64(8, hone_farm_status_table, requeued),
    U64(9, hone_farm_status_table, lost),
    U64(10, hone_farm_status_table, duplicates),
    U64(11, hone_farm_status_table, refused),
    I64(12, hone_farm_status_table, blob_bytes),
    NAME(13, hone_farm_status_table, software),
    BOOL(14, hone_farm_status_table, is_truncated),
    U64(15, hone_farm_status_table, errors),
};
static const wire_field drain_fields[] = {
    NAME(2, hone_farm_drain, device),
    BOOL(3, hone_farm_drain, is_over),
};
static const wire_field kick_fields[] = {NAME(2, hone_farm_kick, device)};
static const wire_field allow_fields[] = {
    NAME(2, hone_farm_key, key),
    ENUM(3, hone_farm_key, role, HONE_FARM_ROLE_COUNT),
    NAME(4, hone_farm_key, name),
};
static const wire_field revoke_fields[] = {NAME(2, hone_farm_revoke, key)};
static const wire_field key_list_fields[] = {
    WIRE_ITEMS(2, hone_farm_key_list, keys, &key_row_table, HONE_FARM_MAX_KEYS),
};
static const wire_field done_fields[] = {NOTE(2, hone_farm_done, text)};

#define TABLE(kind, rows) [HONE_FARM_##kind] = {sizeof(rows) / sizeof *(rows), rows}

static const wire_table tables[HONE_FARM_KIND_LIMIT] = {
    TABLE(HELLO, hello_fields),
    TABLE(WELCOME, welcome_fields),
    TABLE(REFUSED, refused_fields),
    TABLE(PING, ping_fields),
    TABLE(PONG, pong_fields),
    TABLE(BYE, bye_fields),
    TABLE(SUBMIT, submit_fields),
    TABLE(ACCEPTED, accepted_fields),
    TABLE(OUTCOME, outcome_fields),
    TABLE(OUTCOME_ACK, outcome_ack_fields),
    TABLE(CANCEL, cancel_fields),
    TABLE(CANCELLED, cancelled_fields),
    TABLE(ASSIGN, assign_fields),
    TABLE(TAKEN, lease_fields),
    TABLE(RETURNED, returned_fields),
    TABLE(RESULT, result_fields),
    TABLE(RESULT_ACK, lease_fields),
    TABLE(ABORT, lease_fields),
    TABLE(BLOB_WANT, blob_want_fields),
    TABLE(BLOB_CHUNK, blob_chunk_fields),
    TABLE(BLOB_MISSING, blob_missing_fields),
    TABLE(DEVICES, devices_fields),
    TABLE(DEVICE_LIST, device_list_fields),
    TABLE(STATUS_TABLE, status_table_fields),
    TABLE(DRAIN, drain_fields),
    TABLE(KICK, kick_fields),
    TABLE(ALLOW, allow_fields),
    TABLE(REVOKE, revoke_fields),
    TABLE(KEY_LIST, key_list_fields),
    TABLE(DONE, done_fields),
};

/* ---- what a table cannot say; NULL = fine ---- */

static const char *check_slots(const hone_farm_slots *slots) {
    uint64_t seen = 0;
    for (size_t i = 0; i < slots->count; i++) {
        const hone_farm_slot *s = &slots->items[i];
        if (s->slot >= HONE_FARM_MAX_SLOTS) return "has a slot number that is too large";
        if (seen & UINT64_C(1) << s->slot) return "has a slot twice";
        seen |= UINT64_C(1) << s->slot;
        if (!s->device_key[0]) return "has a slot without a device key";
        if (s->cores < 0 || s->memory_bytes < 0) return "has a slot with less than nothing";
    }
    return NULL;
}

static const char *check_hello(const hone_farm_hello *m) {
    if (hone_hash128_is_zero(m->instance)) return "has no instance";
    if (m->version_min > m->version_max) return "has its versions the wrong way round";
    if ((m->role == HONE_FARM_RUNNER) != (m->slots.count > 0)) {
        return m->slots.count ? "has slots, but is no runner" : "is a runner without a slot";
    }
    return check_slots(&m->slots);
}

static const char *check_blobs(const hone_farm_blobs *blobs) {
    for (size_t i = 0; i < blobs->count; i++) {
        int64_t bytes = blobs->items[i].bytes;
        if (bytes < 1 || bytes > HONE_FARM_MAX_BLOB) return "has a file of a size out of range";
    }
    return NULL;
}

static const char *check_work(const hone_farm_blobs *blobs, int64_t timeout_ns) {
    if (timeout_ns < 1) return "has no timeout";
    return check_blobs(blobs);
}

static const char *check_chunk(const hone_farm_blob_chunk *m) {
    if (m->total < 1 || m->total > HONE_FARM_MAX_BLOB) return "has a total out of range";
    if (m->offset < 0 || m->offset > m->total) return "has an offset out of range";
    if ((int64_t)m->bytes.count > m->total - m->offset) return "reaches beyond the end of the file";
    return NULL;
}

static const char *check_want(const hone_farm_blob_want *m) {
    if (m->offset < 0 || m->offset >= HONE_FARM_MAX_BLOB) return "has an offset out of range";
    return m->count >= 1 && m->count <= HONE_FARM_MAX_CHUNK ? NULL : "has a count out of range";
}

static const char *check_message(const hone_farm_message *m) {
    switch (m->kind) {
    case HONE_FARM_HELLO:
        return check_hello(&m->u.hello);
    case HONE_FARM_WELCOME:
        return m->u.welcome.heartbeat_ns > 0 && m->u.welcome.expiry_ns > 0 &&
                       m->u.welcome.chunk_bytes > 0 &&
                       m->u.welcome.chunk_bytes <= HONE_FARM_MAX_CHUNK
                   ? NULL
                   : "has terms that make no sense";
    case HONE_FARM_SUBMIT:
        return check_work(&m->u.submit.blobs, m->u.submit.timeout_ns);
    case HONE_FARM_ASSIGN:
        return check_work(&m->u.assign.blobs, m->u.assign.timeout_ns);
    case HONE_FARM_BLOB_WANT:
        return check_want(&m->u.blob_want);
    case HONE_FARM_BLOB_CHUNK:
        return check_chunk(&m->u.blob_chunk);
    default:
        return NULL;
    }
}

/* ---- frames ---- */

enum { KEY_KIND = 0, KEY_ID = 1 };

static bool is_kind(uint64_t kind) {
    return kind > 0 && kind < HONE_FARM_KIND_LIMIT;
}

static void put_frame(const hone_farm_message *message, size_t more_pairs, hone_str *out) {
    assert(is_kind(message->kind));
    const wire_table *table = &tables[message->kind];
    hone_cbor_put_map(out, 2 + table->count + more_pairs);
    hone_cbor_put_uint(out, KEY_KIND);
    hone_cbor_put_uint(out, message->kind);
    hone_cbor_put_uint(out, KEY_ID);
    hone_cbor_put_uint(out, message->id);
    hone_wire_put_pairs(out, table, &message->u);
}

hone_status hone_farm_encode(const hone_farm_message *message, hone_str *out) {
    put_frame(message, 0, out);
    return hone_str_check(out);
}

hone_status hone_farm_encode_sealed(const hone_farm_message *message, hone_str *out) {
    size_t at = out->length;
    put_frame(message, 1, out);
    hone_frame_seal(out, at);
    return hone_str_check(out);
}

/* Kind and id, which are kept when something later cannot be read. */
static uint64_t get_head(hone_cbor_reader *cbor, uint64_t *out_id) {
    uint64_t kind = 0;
    size_t pairs = hone_cbor_get_map(cbor);
    for (size_t i = 0; i < pairs && hone_cbor_reader_ok(cbor); i++) {
        uint64_t key = hone_cbor_get_uint(cbor);
        if (key == KEY_KIND) {
            kind = hone_cbor_get_uint(cbor);
        } else if (key == KEY_ID) {
            *out_id = hone_cbor_get_uint(cbor);
        } else {
            hone_cbor_skip(cbor);
        }
    }
    return kind;
}

hone_status hone_farm_decode(const void *bytes, size_t count, hone_arena *arena,
                             hone_farm_message *out_message) {
    memset(out_message, 0, sizeof *out_message);
    if (count > HONE_FARM_MAX_FRAME) {
        return HONE_ERROR(HONE_CODE_INVALID, "frame: has %zu bytes, at most %d are allowed", count,
                          HONE_FARM_MAX_FRAME);
    }
    if (!hone_frame_is_whole(bytes, count)) {
        return HONE_ERROR(HONE_CODE_IO, "frame: it has changed on the way");
    }
    hone_cbor_reader head, body;
    hone_cbor_reader_init(&head, bytes, count);
    uint64_t kind = get_head(&head, &out_message->id);
    if (is_kind(kind)) out_message->kind = (hone_farm_kind)kind;
    HONE_TRY(hone_cbor_reader_check(&head, "frame", true));
    if (!is_kind(kind)) {
        return HONE_ERROR(kind ? HONE_CODE_UNSUPPORTED : HONE_CODE_INVALID,
                          "frame: kind %llu is not known here", (unsigned long long)kind);
    }
    hone_cbor_reader_init(&body, bytes, count);
    wire_reader reader = {&body, arena};
    hone_wire_get(&reader, &tables[kind], &out_message->u);
    if (hone_cbor_reader_ok(&body)) {
        const char *problem = check_message(out_message);
        if (problem) hone_cbor_reader_fail(&body, problem);
    }
    return hone_cbor_reader_check(&body, hone_farm_kind_name(out_message->kind), true);
}

/* ---- names ---- */

const char *hone_farm_kind_name(hone_farm_kind kind) {
    switch (kind) {
#define HONE_FARM_KIND(name, number, spelling, from, says)                                         \
    case HONE_FARM_##name:                                                                         \
        return spelling;
#include "measure/farm_kinds.def"
#undef HONE_FARM_KIND
    default:
        return "unknown";
    }
}

static const char *const role_names[HONE_FARM_ROLE_COUNT] = {"runner", "tuner", "admin"};

const char *hone_farm_role_name(hone_farm_role role) {
    return role < HONE_FARM_ROLE_COUNT ? role_names[role] : "unknown";
}

bool hone_farm_role_parse(const char *text, hone_farm_role *out_role) {
    *out_role = HONE_FARM_RUNNER;
    for (unsigned i = 0; i < HONE_FARM_ROLE_COUNT; i++) {
        if (strcmp(text, role_names[i]) != 0) continue;
        *out_role = (hone_farm_role)i;
        return true;
    }
    return false;
}

const char *hone_farm_slot_state_name(hone_farm_slot_state state) {
    static const char *const names[HONE_FARM_SLOT_STATE_COUNT] = {"idle", "busy", "stuck",
                                                                  "draining"};
    return state < HONE_FARM_SLOT_STATE_COUNT ? names[state] : "unknown";
}

void hone_farm_set_text(char *member, size_t capacity, const char *text) {
    size_t count = 0;
    for (; text[count] && count + 1 < capacity; count++) {
        char c = text[count];
        member[count] = c >= ' ' && c <= '~' ? c : '?';
    }
    memset(member + count, 0, capacity - count);
}
