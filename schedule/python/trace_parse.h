/* schedule/python/trace_parse.h - reads traces that are Python, and files of any kind. */
#ifndef HONE_SCHEDULE_PYTHON_TRACE_PARSE_H
#define HONE_SCHEDULE_PYTHON_TRACE_PARSE_H

#include "schedule/trace/trace.h"

/* The Python that TVM prints: def apply_trace(sch) … or bare `b0 = sch.get_block(…)` lines; or what
 * people write (trace_parse.c says what is read of it). Errors with file:line:column and caret. */
HONE_NODISCARD hone_status hone_trace_parse_script(hone_arena *arena,
                                                   const hone_trace_context *context,
                                                   const char *text, size_t length,
                                                   const char *source_name, hone_trace *out_trace);
/* hone_trace_parse_script without a program at hand. */
HONE_NODISCARD hone_status hone_trace_parse_python(hone_arena *arena, const char *text,
                                                   size_t length, const char *source_name,
                                                   hone_trace *out_trace);
/* Reads a file by its ending (.json, .py) or, for "-" and others, by its first character. A file of
 * TVM's tuning records gives the fastest one whose arguments are those of the program (context
 * NULL: of any); out_line (may be NULL): its line, or 0 where there is no choice. */
HONE_NODISCARD hone_status hone_trace_load(hone_arena *arena, const char *path,
                                           const hone_trace_context *context, size_t *out_line,
                                           hone_trace *out_trace);

#endif
