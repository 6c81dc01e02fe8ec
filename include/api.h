/* include/api.h - shared by the files that implement the public headers; not installed. */
#ifndef HONE_INCLUDE_API_H
#define HONE_INCLUDE_API_H

#include <hone/program.h>

#include "schedule/state/schedule.h"
#include "support/core/status.h"
#include "support/core/strbuf.h"

/* A public error is a status under another name. Takes st; NULL for HONE_OK. */
hone_error *hone_api_error(hone_status st);

/* "program is NULL", from a function that returns an error. */
#define HONE_API_NEED(argument)                                                                    \
    do {                                                                                           \
        if (!(argument)) return hone_api_missing(#argument);                                       \
    } while (0)
hone_error *hone_api_missing(const char *argument);

/* INVALID when a name is NULL or no identifier: what program text can hold. */
HONE_NODISCARD hone_status hone_api_check_name(const char *what, const char *name);

/* What arrays and tensors may hold: numbers and truths. */
bool hone_api_is_element(hone_dtype dtype);

/* A hone_program is a frozen module under another name; modules count references, and those made of
 * a frozen one share it. */
hone_program *hone_api_program(hone_module *module); /* freezes it */
hone_module *hone_api_module(const hone_program *program);

/* The module with a function in the place of that of the same name; shares what stays. */
HONE_NODISCARD hone_status hone_api_put_func(const hone_program *program, const hone_func *func,
                                             hone_program **out_program);

/* Moves the text out, to be freed with hone_text_free; empties `str` also on failure. */
HONE_NODISCARD hone_status hone_api_take_text(hone_str *str, char **out_text);

/* A refusal with the program behind it, the place marked. Takes st. */
HONE_NODISCARD hone_status hone_api_show_blame(hone_schedule *sch, hone_status st);

#endif
