/* support/core/number.h - numbers and letters as text, whatever locale the program around us has
 * set: a German one would read and write 0,5, a Turkish one keeps I as it is.
 *
 * Pure; thread-safe.
 */
#ifndef HONE_SUPPORT_CORE_NUMBER_H
#define HONE_SUPPORT_CORE_NUMBER_H

#include <stdarg.h>
#include <stddef.h>

#include "support/core/attributes.h"

#define HONE_NUMBER_BYTES 32 /* of what hone_number_print writes */

/* As strtod: the number that the text begins with; end (or NULL) gets what stands behind it, the
 * text itself where there is none. */
double hone_number_parse(const char *text, char **end);
/* hone_number_parse, rounded once to float. */
float hone_number_parse_f32(const char *text, char **end);
/* The shortest decimal form of at least `fewest` (1 to 17) digits that reads back as the same
 * number, as %g spells it: 0.1, 1e+20, 3, inf. */
char *hone_number_print(double value, int fewest, char out[HONE_NUMBER_BYTES]);
/* As snprintf and vsnprintf. */
int hone_snprintf(char *out, size_t bytes, const char *format, ...) HONE_PRINTF(3, 4);
int hone_vsnprintf(char *out, size_t bytes, const char *format, va_list args) HONE_PRINTF(3, 0);

/* Of A to Z and a to z alone; other bytes stay. */
char hone_lower(char c);
char hone_upper(char c);

#endif
