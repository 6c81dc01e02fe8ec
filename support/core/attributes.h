/* support/core/attributes.h - the compiler attributes the project uses, spelled once. */
#ifndef HONE_SUPPORT_CORE_ATTRIBUTES_H
#define HONE_SUPPORT_CORE_ATTRIBUTES_H

#define HONE_NODISCARD __attribute__((warn_unused_result))
#define HONE_PRINTF(format_index, first_arg)                                                       \
    __attribute__((format(printf, format_index, first_arg)))
#define HONE_API __attribute__((visibility("default"))) /* exported from libhone.so */
#define HONE_NORETURN __attribute__((noreturn))
#define HONE_LIKELY(x) __builtin_expect(!!(x), 1)
#define HONE_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The number of elements of an array (not of a pointer). */
#define HONE_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
