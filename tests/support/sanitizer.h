/* tests/support/sanitizer.h - UNDER_SANITIZER is defined where address space cannot be limited: the
 * sanitizers for addresses and threads want terabytes of it. */
#ifndef HONE_TESTS_SUPPORT_SANITIZER_H
#define HONE_TESTS_SUPPORT_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif

#endif
