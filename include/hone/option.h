/* hone/option.h - what an operator is told beside its tensors: attributes and sizes, by name.
 *
 * Names and defaults are those of Relax: axis, strides, padding, epsilon, shape, … An option is a
 * value: lists and texts in it are looked at during the call that it is given to.
 */
#ifndef HONE_OPTION_H
#define HONE_OPTION_H

#include <stddef.h>
#include <stdint.h>

#include <hone/term.h>

HONE_BEGIN_DECLS

typedef enum hone_option_kind {
    HONE_OPTION_INTEGER,
    HONE_OPTION_FLAG, /* integer is 0 or 1 */
    HONE_OPTION_NUMBER,
    HONE_OPTION_TEXT,
    HONE_OPTION_INTEGERS, /* count integers */
    HONE_OPTION_TERMS     /* count terms: extents over symbolic sizes */
} hone_option_kind;

typedef struct hone_option {
    const char *name;
    hone_option_kind kind;
    int64_t integer;
    double number;
    const char *text;
    size_t count;
    const int64_t *integers;
    const hone_term *const *terms;
} hone_option;

static inline hone_option hone_option_integer(const char *name, int64_t value) {
    hone_option o = {name, HONE_OPTION_INTEGER, value, 0, NULL, 0, NULL, NULL};
    return o;
}
static inline hone_option hone_option_flag(const char *name, int is_set) {
    hone_option o = {name, HONE_OPTION_FLAG, is_set != 0, 0, NULL, 0, NULL, NULL};
    return o;
}
static inline hone_option hone_option_number(const char *name, double value) {
    hone_option o = {name, HONE_OPTION_NUMBER, 0, value, NULL, 0, NULL, NULL};
    return o;
}
static inline hone_option hone_option_text(const char *name, const char *value) {
    hone_option o = {name, HONE_OPTION_TEXT, 0, 0, value, 0, NULL, NULL};
    return o;
}
static inline hone_option hone_option_integers(const char *name, size_t count,
                                               const int64_t *values) {
    hone_option o = {name, HONE_OPTION_INTEGERS, 0, 0, NULL, count, values, NULL};
    return o;
}
static inline hone_option hone_option_terms(const char *name, size_t count,
                                            const hone_term *const *values) {
    hone_option o = {name, HONE_OPTION_TERMS, 0, 0, NULL, count, NULL, values};
    return o;
}

HONE_END_DECLS

#endif
