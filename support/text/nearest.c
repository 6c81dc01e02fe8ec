/* support/text/nearest.c - distances of names, and the nearest of some. */
#include "support/text/nearest.h"

#include <string.h>

#include "support/core/number.h"

size_t hone_name_distance(const char *a, const char *b) {
    enum { MOST = 63 };
    size_t n = strlen(a), m = strlen(b), rows[3][MOST + 1];
    if (n > MOST || m > MOST) return MOST;
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            now[j] = best;
        }
        size_t *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[m];
}

bool hone_name_is_same_but_case(const char *a, const char *b) {
    while (*a && hone_lower(*a) == hone_lower(*b))
        a++, b++;
    return *a == *b;
}

/* A name is like another when two thirds of it stay: one edit in three letters, two in six. */
static size_t most_edits(size_t length) {
    return length < 3 ? 0 : length < 6 ? 1 : 2;
}

bool hone_name_is_like(const char *text, const char *name) {
    return hone_name_is_same_but_case(text, name) ||
           hone_name_distance(text, name) <= most_edits(strlen(text));
}

const char *hone_name_suggest(const char *text, const void *candidates, size_t count,
                              size_t stride) {
    const char *best = NULL;
    size_t length = strlen(text), best_distance = most_edits(length) + 1;
    for (size_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)((const char *)candidates + i * stride);
        size_t d = hone_name_distance(text, name);
        if (length >= 3 && strncmp(name, text, length) == 0) d = 1;
        if (hone_name_is_same_but_case(name, text)) d = 0;
        if (d < best_distance && (!d || d < strlen(name))) {
            best = name;
            best_distance = d;
        }
    }
    return best;
}

void hone_name_list(const void *candidates, size_t count, size_t stride, hone_str *out) {
    for (size_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)((const char *)candidates + i * stride);
        hone_str_printf(out, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", name);
    }
}

bool hone_name_is_listed(const char *list, const char *name) {
    const char *dot = strrchr(name, '.');
    if (dot) name = dot + 1;
    size_t length = strlen(name);
    for (const char *at = list; at && *at; at += strspn(at, " ")) {
        size_t here = strcspn(at, " ");
        if (here == length && strncmp(at, name, length) == 0) return true;
        at += here;
    }
    return false;
}
