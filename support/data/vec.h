/* support/data/vec.h - growing arrays of any type.
 *
 *     typedef HONE_VEC(int64_t) int64_vec;
 *     int64_vec v = {0};
 *     if (!hone_vec_push(&v, 42)) return HONE_ERROR(HONE_CODE_NO_MEMORY, "list");
 *     hone_vec_deinit(&v);
 *
 * A value in the caller's storage, {0} is empty; elements may move when it grows. The macros take
 * a pointer to the vector and evaluate it more than once. Thread-compatible.
 */
#ifndef HONE_SUPPORT_DATA_VEC_H
#define HONE_SUPPORT_DATA_VEC_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include "support/core/attributes.h"

#define HONE_VEC(type)                                                                             \
    struct {                                                                                       \
        type *data;                                                                                \
        size_t count, capacity;                                                                    \
    }

/* Makes room for `extra` more elements; false when memory runs out (nothing changed). */
#define hone_vec_reserve(v, extra)                                                                 \
    (hone_vec_has_room((v)->capacity, (v)->count, (size_t)(extra)) ||                              \
     hone_vec_grow(&(v)->data, &(v)->capacity, (v)->count, (size_t)(extra), sizeof *(v)->data))

/* Appends a value; false when memory runs out. */
#define hone_vec_push(v, ...)                                                                      \
    hone_vec_ok(hone_vec_reserve((v), 1) && ((v)->data[(v)->count++] = (__VA_ARGS__), true))

/* Appends `n` values from `from`; false when memory runs out. `from` is not part of the vector. */
#define hone_vec_append(v, from, n)                                                                \
    hone_vec_ok(hone_vec_reserve((v), (n)) &&                                                      \
                (hone_vec_copy((v)->data + (v)->count, (from), (size_t)(n), sizeof *(v)->data,     \
                               sizeof *(from)),                                                    \
                 (v)->count += (size_t)(n), true))

/* Removes the last element and is its value; the vector is not empty. */
#define hone_vec_pop(v) (assert((v)->count > 0), (v)->data[--(v)->count])

/* The last element, as an lvalue. */
#define hone_vec_last(v) ((v)->data[(v)->count - 1])

/* Sets the number of elements; new ones are zero. False when memory runs out. */
#define hone_vec_resize(v, n)                                                                      \
    hone_vec_ok(                                                                                   \
        ((n) <= (v)->count || hone_vec_reserve((v), (n) - (v)->count)) &&                          \
        (hone_vec_zero((v)->data, (v)->count, (n), sizeof *(v)->data), (v)->count = (n), true))

#define hone_vec_clear(v) ((void)((v)->count = 0))
#define hone_vec_deinit(v)                                                                         \
    (hone_vec_free((v)->data), (v)->data = NULL, (void)((v)->count = (v)->capacity = 0))

static inline bool hone_vec_has_room(size_t capacity, size_t count, size_t extra) {
    return extra <= capacity - count;
}

/* `data_slot` is the address of a data pointer of any type. */
HONE_NODISCARD bool hone_vec_grow(void *data_slot, size_t *capacity, size_t count, size_t extra,
                                  size_t element_bytes);
void hone_vec_copy(void *to, const void *from, size_t count, size_t to_bytes, size_t from_bytes);
void hone_vec_zero(void *data, size_t from, size_t to, size_t element_bytes);
void hone_vec_free(void *data);
HONE_NODISCARD static inline bool hone_vec_ok(bool ok) {
    return ok;
}

#endif
