/* tuner/search/search.c - the table of search strategies. */
#include "tuner/search/search.h"

#include <string.h>

#include "support/text/nearest.h"

static const struct {
    const char *name;
    const hone_strategy *strategy;
} table[] = {
#define HONE_STRATEGY(name) {#name, &hone_strategy_##name},
#include "tuner/search/strategies.def"
#undef HONE_STRATEGY
};

static hone_status unknown(const char *name) {
    hone_str names = {0};
    hone_name_list(table, HONE_COUNT(table), sizeof *table, &names);
    hone_status st = HONE_ERROR(HONE_CODE_INVALID, "unknown strategy '%s'; expected %s", name,
                                hone_str_text(&names));
    hone_str_deinit(&names);
    return st;
}

hone_status hone_strategy_find(const char *name, const hone_strategy **out) {
    *out = NULL;
    for (size_t i = 0; i < HONE_COUNT(table) && !*out; i++) {
        if (!name || strcmp(name, table[i].name) == 0) *out = table[i].strategy;
    }
    return *out ? HONE_OK : unknown(name);
}
