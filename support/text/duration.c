/* support/text/duration.c - "1h30m" as nanoseconds. */
#include "support/text/duration.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/attributes.h"
#include "support/core/number.h"

bool hone_duration_parse(const char *text, int64_t *out_ns) {
    static const struct {
        const char *unit;
        double ns;
    } units[] = {
        {"ms", 1e6    },
        {"s",  1e9    },
        {"m",  60e9   },
        {"h",  3600e9 },
        {"d",  86400e9}
    };
    double total = 0;
    *out_ns = 0;
    if (!*text) return false;
    while (*text) {
        if (!isdigit((unsigned char)*text) && *text != '.') return false;
        char *end = NULL;
        double value = hone_number_parse(text, &end);
        size_t length = strcspn(end, "0123456789."), i = 0;
        if (end == text) return false;
        if (length == 0) {
            total += value * 1e9; /* a bare number: seconds */
        } else {
            while (i < HONE_COUNT(units) &&
                   (strlen(units[i].unit) != length || strncmp(units[i].unit, end, length) != 0)) {
                i++;
            }
            if (i == HONE_COUNT(units)) return false;
            total += value * units[i].ns;
        }
        text = end + length;
    }
    if (!(total >= 0 && total < 9e18)) return false;
    *out_ns = (int64_t)total;
    return true;
}
