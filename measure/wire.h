/* measure/wire.h - the wire form of requests and results: CBOR maps with integer keys.
 *
 * Unknown keys are skipped, so that an older side understands a newer one; a missing key has the
 * default of a zeroed member. Decoders believe nothing: sizes are bounded, strings checked for NUL,
 * enums for range; INVALID with the reason. What is decoded lives in the arena; artifact bytes
 * point into the input.
 */
#ifndef HONE_MEASURE_WIRE_H
#define HONE_MEASURE_WIRE_H

#include "measure/build.h"
#include "measure/run.h"
#include "support/core/arena.h"
#include "support/core/status.h"
#include "support/core/strbuf.h"

#define HONE_WIRE_MAX_TEXT (16u << 20) /* programs, traces */
#define HONE_WIRE_MAX_ARTIFACT (256u << 20)

HONE_NODISCARD hone_status hone_run_request_encode(const hone_run_request *request, hone_str *out);
HONE_NODISCARD hone_status hone_run_request_decode(const void *bytes, size_t count,
                                                   hone_arena *arena,
                                                   hone_run_request *out_request);
HONE_NODISCARD hone_status hone_run_result_encode(const hone_run_result *result, hone_str *out);
HONE_NODISCARD hone_status hone_run_result_decode(const void *bytes, size_t count,
                                                  hone_run_result *out_result);

HONE_NODISCARD hone_status hone_build_request_encode(const hone_build_request *request,
                                                     hone_str *out);
HONE_NODISCARD hone_status hone_build_request_decode(const void *bytes, size_t count,
                                                     hone_arena *arena,
                                                     hone_build_request *out_request);
HONE_NODISCARD hone_status hone_build_result_encode(const hone_build_result *result, hone_str *out);
HONE_NODISCARD hone_status hone_build_result_decode(const void *bytes, size_t count,
                                                    hone_arena *arena,
                                                    hone_build_result *out_result);

#endif
