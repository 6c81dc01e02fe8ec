#include "support/nearest.h"

#include <ctype.h>
#include <string.h>

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
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b))
        a++, b++;
    return *a == *b;
}
