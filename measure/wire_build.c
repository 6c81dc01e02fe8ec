/* measure/wire_build.c - the wire form of build requests and results. Keys are never reused. */
#include <string.h>

#include "measure/wire.h"
#include "measure/wire_manifest.h"

#define MAX_PATH 4096
#define MAX_NAME 4096
#define MAX_TARGET 8192

static const wire_field intrin_fields[] = {
    WIRE_LIMITED(1, WIRE_TEXT, hone_build_intrin, name, MAX_NAME),
    WIRE_LIMITED(2, WIRE_TEXT, hone_build_intrin, text, HONE_WIRE_MAX_TEXT),
};
WIRE_TABLE(intrin_table, intrin_fields);

static void put_intrins(hone_str *out, const void *record) {
    const hone_build_request *r = record;
    hone_cbor_put_array(out, r->intrin_count);
    for (size_t i = 0; i < r->intrin_count; i++)
        hone_wire_put(out, &intrin_table, &r->intrins[i]);
}

static void get_intrins(wire_reader *reader, void *record) {
    hone_build_request *r = record;
    size_t count = hone_wire_get_array(reader, HONE_BUILD_MAX_INTRINS);
    hone_build_intrin *intrins = hone_wire_alloc(reader, count, sizeof *intrins);
    if (!intrins) return;
    for (size_t i = 0; i < count; i++)
        hone_wire_get(reader, &intrin_table, &intrins[i]);
    r->intrin_count = count;
    r->intrins = intrins;
}

static const wire_field request_fields[] = {
    WIRE_LIMITED(1, WIRE_TEXT, hone_build_request, program, HONE_WIRE_MAX_TEXT),
    WIRE_LIMITED(2, WIRE_TEXT, hone_build_request, func, MAX_NAME),
    WIRE_LIMITED(3, WIRE_TEXT, hone_build_request, trace, HONE_WIRE_MAX_TEXT),
    WIRE_LIMITED(4, WIRE_TEXT, hone_build_request, target, MAX_TARGET),
    WIRE_LIMITED(5, WIRE_TEXT, hone_build_request, entry, MAX_NAME),
    WIRE_LIMITED(6, WIRE_TEXT, hone_build_request, output_path, MAX_PATH),
    WIRE_LIMITED(7, WIRE_TEXT, hone_build_request, emit, MAX_NAME),
    WIRE_MEMBER(8, WIRE_INT32, hone_build_request, threads),
    WIRE_MEMBER(9, WIRE_INT64, hone_build_request, timeout_ns),
    WIRE_HOOK(10, put_intrins, get_intrins),
    WIRE_LIMITED(11, WIRE_TEXT, hone_build_request, lines_path, MAX_PATH),
    WIRE_MEMBER(12, WIRE_UINT64, hone_build_request, constants),
    WIRE_MEMBER(13, WIRE_INT64, hone_build_request, constants_distance),
    WIRE_MEMBER(14, WIRE_INT64, hone_build_request, memory_bytes),
};
WIRE_TABLE(request_table, request_fields);

hone_status hone_build_request_encode(const hone_build_request *request, hone_str *out) {
    hone_wire_put(out, &request_table, request);
    return hone_str_check(out);
}

static hone_status check_request(const hone_build_request *r) {
    if (!r->program) return HONE_ERROR(HONE_CODE_INVALID, "build request has no program");
    if (!r->target) return HONE_ERROR(HONE_CODE_INVALID, "build request has no target");
    for (size_t i = 0; i < r->intrin_count; i++) {
        if (!r->intrins[i].name || !r->intrins[i].text) {
            return HONE_ERROR(HONE_CODE_INVALID, "build request: intrinsic %zu has no name or text",
                              i);
        }
    }
    return HONE_OK;
}

hone_status hone_build_request_decode(const void *bytes, size_t count, hone_arena *arena,
                                      hone_build_request *out_request) {
    memset(out_request, 0, sizeof *out_request);
    hone_status st =
        hone_wire_read(bytes, count, arena, &request_table, "build request", out_request);
    if (!st) st = check_request(out_request);
    if (st) memset(out_request, 0, sizeof *out_request);
    return st;
}

/* ---- result ---- */

static void put_artifact(hone_str *out, const void *record) {
    const hone_build_result *r = record;
    hone_cbor_put_bytes(out, r->artifact_bytes, r->artifact_byte_count);
}

static void get_artifact(wire_reader *reader, void *record) {
    hone_build_result *r = record;
    hone_cbor_get_bytes(reader->cbor, &r->artifact_bytes, &r->artifact_byte_count);
    if (r->artifact_byte_count > HONE_WIRE_MAX_ARTIFACT) {
        hone_cbor_reader_fail(reader->cbor, "has an artifact that is too large");
    }
}

static void put_hash(hone_str *out, const void *record) {
    const hone_build_result *r = record;
    hone_cbor_put_bytes(out, r->program_hash, sizeof r->program_hash);
}

static void get_hash(wire_reader *reader, void *record) {
    hone_build_result *r = record;
    const uint8_t *bytes = NULL;
    size_t count = 0;
    hone_cbor_get_bytes(reader->cbor, &bytes, &count);
    if (bytes && count == sizeof r->program_hash) {
        memcpy(r->program_hash, bytes, count);
    } else {
        hone_cbor_reader_fail(reader->cbor, "has a hash that is not 16 bytes");
    }
}

static const wire_field times_fields[] = {
    WIRE_MEMBER(1, WIRE_INT64, hone_build_times, queue_ns),
    WIRE_MEMBER(2, WIRE_INT64, hone_build_times, replay_ns),
    WIRE_MEMBER(3, WIRE_INT64, hone_build_times, lower_ns),
    WIRE_MEMBER(4, WIRE_INT64, hone_build_times, codegen_ns),
    WIRE_MEMBER(5, WIRE_INT64, hone_build_times, link_ns),
};
WIRE_TABLE(times_table, times_fields);

static const wire_field result_fields[] = {
    WIRE_LIMITED(1, WIRE_ENUM, hone_build_result, failure, HONE_FAILURE_COUNT),
    WIRE_LIMITED(2, WIRE_TEXT, hone_build_result, message, HONE_WIRE_MAX_TEXT),
    WIRE_LIMITED(3, WIRE_TEXT, hone_build_result, artifact_path, MAX_PATH),
    WIRE_HOOK(4, put_artifact, get_artifact),
    {5, WIRE_STRUCT, offsetof(hone_build_result, manifest), .sub = &hone_wire_manifest_table},
    {6, WIRE_STRUCT, offsetof(hone_build_result, times),    .sub = &times_table             },
    WIRE_HOOK(7, put_hash, get_hash),
};
WIRE_TABLE(result_table, result_fields);

hone_status hone_build_result_encode(const hone_build_result *result, hone_str *out) {
    hone_wire_put(out, &result_table, result);
    return hone_str_check(out);
}

hone_status hone_build_result_decode(const void *bytes, size_t count, hone_arena *arena,
                                     hone_build_result *out_result) {
    memset(out_result, 0, sizeof *out_result);
    hone_status st = hone_wire_read(bytes, count, arena, &result_table, "build result", out_result);
    if (!st && out_result->failure == HONE_FAILURE_NONE) {
        st = hone_manifest_check(&out_result->manifest);
    }
    if (st) memset(out_result, 0, sizeof *out_result);
    return st;
}
