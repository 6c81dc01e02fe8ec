/* schedule/trace/trace_records.h - TVM's tuning records: which of them a function wants.
 *
 *   record := [workload number, body]
 *   body   := [trace, seconds or null, target or null, arguments or null]
 *
 * A file of records has one on each line. The workload's own text is TVM's and is not read:
 * whether a record is for a function is told by the arguments, ["TENSOR", "float32", [8, 24]].
 *
 * Layer: within schedule/.
 */
#ifndef HONE_SCHEDULE_TRACE_TRACE_RECORDS_H
#define HONE_SCHEDULE_TRACE_TRACE_RECORDS_H

#include "ir/core/func.h"
#include "schedule/trace/trace.h"
#include "support/json.h"

/* Reads a parsed trace, or the one in a record. Errors say the step. */
HONE_NODISCARD hone_status hone_trace_of_json(hone_arena *arena, const hone_json *json,
                                              hone_trace *out_trace);
/* The trace in whatever was given: the trace itself, or a record or the body of one around it. */
const hone_json *hone_record_trace(const hone_json *json);
/* INVALID, with the arguments of both, when json is a record with arguments that func has not.
 * func may be NULL: then all fits. */
HONE_NODISCARD hone_status hone_record_check_args(const hone_json *json, const hone_func *func);
/* Are there several lines, of which the first is a row of one of TVM's tables? */
bool hone_records_are_lines(const char *text, size_t length);
/* The record among the lines of text that is for func (NULL: any) and was measured to be the
 * fastest; the caller owns it. INVALID when a line is no record, or none is for func. */
HONE_NODISCARD hone_status hone_records_pick(const char *text, size_t length, const hone_func *func,
                                             size_t *out_line, hone_json **out_record);

#endif
