/* support/text/json.h - JSON values: parse, look at, build, print.
 *
 * A hone_json is a tree with one owner: builders return values owned by the caller, adding a value
 * to an array or object takes it, looking returns borrowed pointers that live as long as the tree.
 * Objects keep the order in which keys were added. NULL in gives NULL out, and adding NULL fails,
 * so builders nest. Integers are int64, other numbers doubles (finite only), text is UTF-8 without
 * NUL. Thread-compatible.
 */
#ifndef HONE_SUPPORT_TEXT_JSON_H
#define HONE_SUPPORT_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/core/attributes.h"
#include "support/core/status.h"
#include "support/core/strbuf.h"

typedef struct hone_json hone_json;

typedef enum hone_json_kind {
    HONE_JSON_NULL,
    HONE_JSON_BOOL,
    HONE_JSON_INT,
    HONE_JSON_REAL,
    HONE_JSON_TEXT,
    HONE_JSON_ARRAY,
    HONE_JSON_OBJECT,
} hone_json_kind;

/* Parses one value (of any kind) that fills the text; the caller owns it. INVALID with line and
 * column: not JSON, a key twice, a number out of range, nested deeper than 2000. */
HONE_NODISCARD hone_status hone_json_parse(const char *text, size_t count, hone_json **out_json);
void hone_json_destroy(hone_json *json); /* NULL is allowed */

/* ---- look ---- */

hone_json_kind hone_json_get_kind(const hone_json *json); /* NULL pointer: HONE_JSON_NULL */
const char *hone_json_kind_name(hone_json_kind kind);     /* "an integer", "text", … */
bool hone_json_is(const hone_json *json, hone_json_kind kind);

/* Values of the kind; the json has it (assert), except that _f64 also takes integers. */
bool hone_json_bool(const hone_json *json);
int64_t hone_json_i64(const hone_json *json);
double hone_json_f64(const hone_json *json);
const char *hone_json_text(const hone_json *json);

/* Elements of an array or members of an object; 0 for other kinds. */
size_t hone_json_count(const hone_json *json);
const hone_json *hone_json_at(const hone_json *array, size_t index);       /* NULL: out of range */
const hone_json *hone_json_find(const hone_json *object, const char *key); /* NULL: absent */

/* Walks an object in order: start with *cursor = NULL; false at the end. */
bool hone_json_next(const hone_json *object, void **cursor, const char **out_key,
                    const hone_json **out_value);

/* Members that must be there with the right kind, else INVALID with key, kind found and wanted.
 * Outputs are cleared on failure; texts and trees are borrowed. */
HONE_NODISCARD hone_status hone_json_get_i64(const hone_json *object, const char *key,
                                             int64_t *out_value);
HONE_NODISCARD hone_status hone_json_get_f64(const hone_json *object, const char *key,
                                             double *out_value);
HONE_NODISCARD hone_status hone_json_get_text(const hone_json *object, const char *key,
                                              const char **out_value);
HONE_NODISCARD hone_status hone_json_get_array(const hone_json *object, const char *key,
                                               const hone_json **out_value);

/* ---- build ---- (all return NULL when memory runs out)
 * Text and keys may come from anywhere (names of files, what a program said before it died): a byte
 * that is not UTF-8 becomes U+FFFD, so that what is printed is always JSON. */

hone_json *hone_json_make_null(void);
hone_json *hone_json_make_i64(int64_t value);
hone_json *hone_json_make_f64(double value); /* NaN and infinities become null */
hone_json *hone_json_make_text(const char *value);
hone_json *hone_json_make_text_n(const char *value, size_t count); /* NULL for a zero byte, too */
hone_json *hone_json_make_array(void);
hone_json *hone_json_make_object(void);

/* Take `value` in any case; false when it or the container is NULL or memory runs out. */
bool hone_json_append(hone_json *array, hone_json *value);
bool hone_json_set(hone_json *object, const char *key, hone_json *value);

bool hone_json_set_bool(hone_json *object, const char *key, bool value);
bool hone_json_set_i64(hone_json *object, const char *key, int64_t value);
bool hone_json_set_f64(hone_json *object, const char *key, double value);
bool hone_json_set_text(hone_json *object, const char *key, const char *value); /* NULL: null */

/* ---- print and compare ---- */

typedef struct hone_json_style {
    int indent;      /* 0 = on one line, ", " and ": " as separators */
    bool is_sorted;  /* keys in byte order instead of order of insertion */
    bool is_compact; /* one line without any space; for hashing and the wire */
} hone_json_style;

/* Appends the text; doubles are the shortest form that reads back the same and keep a point or an
 * exponent, so kinds survive. `style` NULL: one line. */
void hone_json_print(const hone_json *json, const hone_json_style *style, hone_str *out);

/* Appends text as a JSON string, quotes included (no tree needed). */
void hone_json_print_text(const char *text, size_t count, hone_str *out);
/* Appends a double as above; null when it is not finite. */
void hone_json_print_f64(double value, hone_str *out);

bool hone_json_equal(const hone_json *a, const hone_json *b); /* order of keys does not count */

#endif
