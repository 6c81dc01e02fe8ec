/* tests/fuzz/fuzz_measure.c - every decoder of measure/ on any bytes. What is taken must encode
 * to something that is taken again and encodes the same. */
#include <stdlib.h>
#include <string.h>

#include "measure/check_bundle.h"
#include "measure/farm.h"
#include "measure/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

static void run_request(const uint8_t *data, size_t size, hone_arena *arena, hone_str *out) {
    hone_run_request r;
    if (hone_status_consume(hone_run_request_decode(data, size, arena, &r))) return;
    require(!hone_run_request_encode(&r, out));
    require(!hone_run_request_decode(out->data, out->length, arena, &r));
}

static void run_result(const uint8_t *data, size_t size, hone_str *out) {
    hone_run_result r, again;
    if (hone_status_consume(hone_run_result_decode(data, size, &r)) == HONE_CODE_OK) {
        require(!hone_run_result_encode(&r, out));
        require(!hone_run_result_decode(out->data, out->length, &again));
        require(again.sample_count == r.sample_count && again.output_bytes == r.output_bytes);
        hone_run_result_deinit(&again);
    }
    hone_run_result_deinit(&r);
}

static void build_request(const uint8_t *data, size_t size, hone_arena *arena, hone_str *out) {
    hone_build_request r;
    if (hone_status_consume(hone_build_request_decode(data, size, arena, &r))) return;
    require(!hone_build_request_encode(&r, out));
    require(!hone_build_request_decode(out->data, out->length, arena, &r));
}

static void build_result(const uint8_t *data, size_t size, hone_arena *arena, hone_str *out) {
    hone_build_result r;
    if (hone_status_consume(hone_build_result_decode(data, size, arena, &r))) return;
    require(!hone_build_result_encode(&r, out));
    require(!hone_build_result_decode(out->data, out->length, arena, &r));
}

static void farm_message(const uint8_t *data, size_t size, hone_arena *arena, hone_str *out) {
    hone_farm_message m;
    if (hone_status_consume(hone_farm_decode(data, size, arena, &m))) return;
    require(!hone_farm_encode(&m, out));
    hone_str again = {0};
    require(!hone_farm_decode(out->data, out->length, arena, &m));
    require(!hone_farm_encode(&m, &again));
    require(again.length == out->length && memcmp(again.data, out->data, out->length) == 0);
    hone_str_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    hone_arena *arena = hone_arena_create(4096);
    hone_str out = {0};
    hone_check_bundle bundle;
    switch (data[0] % 6) {
    case 0:
        run_request(data + 1, size - 1, arena, &out);
        break;
    case 1:
        run_result(data + 1, size - 1, &out);
        break;
    case 2:
        build_request(data + 1, size - 1, arena, &out);
        break;
    case 3:
        build_result(data + 1, size - 1, arena, &out);
        break;
    case 4:
        farm_message(data + 1, size - 1, arena, &out);
        break;
    default:
        hone_status_free(hone_check_bundle_parse(data + 1, size - 1, &bundle));
        hone_check_bundle_close(&bundle);
    }
    hone_str_deinit(&out);
    hone_arena_destroy(arena);
    return 0;
}
