/* measure/wire_run.c - the wire form of run requests and results. Keys are never reused. */
#include <string.h>

#include "measure/wire.h"
#include "measure/wire_manifest.h"
#include "support/core/alloc.h"

#define MAX_PATH 4096

/* ---- request ---- */

static void put_artifact(hone_str *out, const void *record) {
    const hone_run_request *r = record;
    hone_cbor_put_bytes(out, r->artifact_bytes, r->artifact_byte_count);
}

static void get_artifact(wire_reader *reader, void *record) {
    hone_run_request *r = record;
    hone_cbor_get_bytes(reader->cbor, &r->artifact_bytes, &r->artifact_byte_count);
    if (r->artifact_byte_count > HONE_WIRE_MAX_ARTIFACT) {
        hone_cbor_reader_fail(reader->cbor, "has an artifact that is too large");
    }
}

static void put_distances(hone_str *out, const void *record) {
    const hone_run_request *r = record;
    hone_cbor_put_array(out, r->distance_count);
    for (size_t i = 0; i < r->distance_count; i++)
        hone_cbor_put_int(out, r->distances[i]);
}

static void get_distances(wire_reader *reader, void *record) {
    hone_run_request *r = record;
    size_t count = hone_wire_get_array(reader, HONE_MANIFEST_MAX_ARGS);
    int64_t *distances = hone_wire_alloc(reader, count, sizeof *distances);
    if (!distances) return;
    for (size_t i = 0; i < count; i++)
        distances[i] = hone_cbor_get_int(reader->cbor);
    r->distance_count = count;
    r->distances = distances;
}

static const wire_field timing_fields[] = {
    WIRE_MEMBER(1, WIRE_INT64, hone_timing_policy, min_repeat_ns),
    WIRE_MEMBER(2, WIRE_INT64, hone_timing_policy, min_sample_ns),
    WIRE_MEMBER(3, WIRE_INT32, hone_timing_policy, min_samples),
    WIRE_MEMBER(4, WIRE_INT32, hone_timing_policy, max_samples),
    WIRE_MEMBER(5, WIRE_DOUBLE, hone_timing_policy, incumbent_ns),
    WIRE_MEMBER(6, WIRE_DOUBLE, hone_timing_policy, slow_ratio),
};
WIRE_TABLE(timing_table, timing_fields);

static const wire_field simulated_fields[] = {
    WIRE_MEMBER(1, WIRE_DOUBLE, hone_simulated_facts, cost_ns),
    WIRE_MEMBER(2, WIRE_DOUBLE, hone_simulated_facts, noise),
    WIRE_MEMBER(3, WIRE_UINT64, hone_simulated_facts, noise_seed),
    WIRE_MEMBER(4, WIRE_INT64, hone_simulated_facts, latency_ns),
    WIRE_LIMITED(5, WIRE_ENUM, hone_simulated_facts, failure, HONE_FAILURE_COUNT),
};
WIRE_TABLE(simulated_table, simulated_fields);

static const wire_field request_fields[] = {
    WIRE_LIMITED(1, WIRE_TEXT, hone_run_request, artifact_path, MAX_PATH),
    WIRE_HOOK(2, put_artifact, get_artifact),
    WIRE_SUB(3, hone_run_request, manifest, &hone_wire_manifest_table),
    WIRE_LIMITED(4, WIRE_TEXT, hone_run_request, check_path, MAX_PATH),
    WIRE_LIMITED(5, WIRE_TEXT, hone_run_request, extern_path, MAX_PATH),
    WIRE_MEMBER(6, WIRE_INT32, hone_run_request, threads),
    WIRE_LIMITED(7, WIRE_ENUM, hone_run_request, cache, HONE_CACHE_MODEL + 1),
    WIRE_SUB(8, hone_run_request, timing, &timing_table),
    WIRE_MEMBER(9, WIRE_INT64, hone_run_request, timeout_ns),
    WIRE_MEMBER(10, WIRE_UINT64, hone_run_request, seed),
    WIRE_MEMBER(11, WIRE_BOOL, hone_run_request, want_outputs),
    WIRE_MEMBER(12, WIRE_BOOL, hone_run_request, skip_timing),
    WIRE_SUB(13, hone_run_request, simulated, &simulated_table),
    WIRE_MEMBER(14, WIRE_UINT64, hone_run_request, weights),
    WIRE_HOOK(16, put_distances, get_distances), /* 15: of versions before this one */
};
WIRE_TABLE(request_table, request_fields);

hone_status hone_run_request_encode(const hone_run_request *request, hone_str *out) {
    hone_wire_put(out, &request_table, request);
    return hone_str_check(out);
}

hone_status hone_run_request_decode(const void *bytes, size_t count, hone_arena *arena,
                                    hone_run_request *out_request) {
    memset(out_request, 0, sizeof *out_request);
    hone_status st =
        hone_wire_read(bytes, count, arena, &request_table, "run request", out_request);
    if (!st) st = hone_run_request_check(out_request);
    if (st) memset(out_request, 0, sizeof *out_request);
    return st;
}

/* ---- result ---- */

static void put_message(hone_str *out, const void *record) {
    hone_cbor_put_text(out, ((const hone_run_result *)record)->message);
}

/* It may be a candidate's own words, and is shown on terminals, which take some bytes for orders:
 * those of C0, and of C1 as UTF-8 has them. */
static void disarm(char *text) {
    for (unsigned char *at = (unsigned char *)text; *at; at++) {
        bool is_c1 = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;
        if (is_c1) at[1] = '?';
        if (is_c1 || *at < ' ' || *at == 0x7f) *at = '?';
    }
}

/* Text that is too long is cut, not refused: it only explains. */
static void get_message(wire_reader *reader, void *record) {
    hone_run_result *r = record;
    const char *text = NULL;
    size_t count = 0;
    hone_cbor_get_text(reader->cbor, &text, &count);
    if (count >= sizeof r->message) count = sizeof r->message - 1;
    if (count) memcpy(r->message, text, count);
    r->message[count] = 0;
    disarm(r->message);
}

static void put_samples(hone_str *out, const void *record) {
    const hone_run_result *r = record;
    hone_cbor_put_array(out, (size_t)r->sample_count);
    for (int32_t i = 0; i < r->sample_count; i++)
        hone_cbor_put_double(out, r->samples_ns[i]);
}

static void get_samples(wire_reader *reader, void *record) {
    hone_run_result *r = record;
    r->sample_count = (int32_t)hone_wire_get_array(reader, HONE_RUN_MAX_SAMPLES);
    for (int32_t i = 0; i < r->sample_count; i++) {
        r->samples_ns[i] = hone_cbor_get_double(reader->cbor);
        if (!(r->samples_ns[i] >= 0)) { /* also NaN: a median would be nonsense */
            hone_cbor_reader_fail(reader->cbor, "has a time that is no time");
        }
    }
}

static void put_outputs(hone_str *out, const void *record) {
    const hone_run_result *r = record;
    hone_cbor_put_bytes(out, r->outputs, r->output_bytes);
}

static void get_outputs(wire_reader *reader, void *record) {
    hone_run_result *r = record;
    const uint8_t *bytes = NULL;
    size_t count = 0;
    hone_cbor_get_bytes(reader->cbor, &bytes, &count);
    if (!count) return;
    r->outputs = hone_malloc(count);
    if (!r->outputs) {
        hone_cbor_reader_fail_memory(reader->cbor);
        return;
    }
    memcpy(r->outputs, bytes, count);
    r->output_bytes = count;
}

static const wire_field times_fields[] = {
    WIRE_MEMBER(1, WIRE_INT64, hone_run_times, queue_ns),
    WIRE_MEMBER(2, WIRE_INT64, hone_run_times, transfer_ns),
    WIRE_MEMBER(3, WIRE_INT64, hone_run_times, load_ns),
    WIRE_MEMBER(4, WIRE_INT64, hone_run_times, check_ns),
    WIRE_MEMBER(5, WIRE_INT64, hone_run_times, wait_ns),
    WIRE_MEMBER(6, WIRE_INT64, hone_run_times, measure_ns),
};
WIRE_TABLE(times_table, times_fields);

/* median, best and spread are made again from the samples. */
static const wire_field result_fields[] = {
    WIRE_LIMITED(1, WIRE_ENUM, hone_run_result, failure, HONE_FAILURE_COUNT),
    WIRE_HOOK(2, put_message, get_message),
    WIRE_MEMBER(3, WIRE_INT32, hone_run_result, return_code),
    WIRE_HOOK(4, put_samples, get_samples),
    WIRE_MEMBER(5, WIRE_INT64, hone_run_result, batch),
    WIRE_MEMBER(6, WIRE_BOOL, hone_run_result, stopped_early),
    WIRE_MEMBER(7, WIRE_BOOL, hone_run_result, checked),
    WIRE_MEMBER(8, WIRE_DOUBLE, hone_run_result, max_error),
    WIRE_MEMBER(9, WIRE_DOUBLE, hone_run_result, error_ratio),
    WIRE_MEMBER(10, WIRE_DOUBLE, hone_run_result, reference_ns),
    WIRE_MEMBER(11, WIRE_DOUBLE, hone_run_result, drift),
    WIRE_MEMBER(12, WIRE_BOOL, hone_run_result, drift_flagged),
    WIRE_MEMBER(13, WIRE_DOUBLE, hone_run_result, round_trip_ns),
    WIRE_SUB(14, hone_run_result, times, &times_table),
    WIRE_MEMBER(15, WIRE_BOOL, hone_run_result, retried),
    WIRE_MEMBER(16, WIRE_UINT32, hone_run_result, executor),
    WIRE_HOOK(17, put_outputs, get_outputs),
};
WIRE_TABLE(result_table, result_fields);

hone_status hone_run_result_encode(const hone_run_result *result, hone_str *out) {
    hone_wire_put(out, &result_table, result);
    return hone_str_check(out);
}

hone_status hone_run_result_decode(const void *bytes, size_t count, hone_run_result *out_result) {
    hone_run_result_init(out_result);
    hone_status st = hone_wire_read(bytes, count, NULL, &result_table, "run result", out_result);
    if (st) {
        hone_run_result_deinit(out_result);
        hone_run_result_init(out_result);
        return st;
    }
    hone_run_result_summarize(out_result);
    return HONE_OK;
}
