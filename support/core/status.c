/* support/core/status.c - see status.h. The message follows the record in a heap block of its own.
 */
#include "support/core/status.h"

#include <assert.h>
#include <stdarg.h>

#include "support/core/alloc.h"
#include "support/core/strbuf.h"

enum { MAX_TRAIL = 16 };

typedef struct place {
    const char *file;
    int line;
} place;

struct hone_status_record {
    hone_code code;
    place born;
    place trail[MAX_TRAIL];
    int trail_count;
    char *message; /* owned; NULL only in the static record */
};

/* Stands in when there is no memory for a record. Never written, so any number may be alive. */
static struct hone_status_record out_of_memory = {
    .code = HONE_CODE_NO_MEMORY, .born = {__FILE__, __LINE__}
};

static const struct {
    const char *name;
} code_names[HONE_CODE_COUNT] = {
    [HONE_CODE_OK] = {"ok"},
#define HONE_CODE(name, spelling, advice) [HONE_CODE_##name] = {spelling},
#include "support/core/status_codes.def"
#undef HONE_CODE
};

static hone_status make_with(hone_code code, const char *file, int line, char *message) {
    struct hone_status_record *record = message ? hone_calloc(1, sizeof *record) : NULL;
    if (!record) {
        hone_free(message);
        return &out_of_memory;
    }
    record->code = code;
    record->born = (place){file, line};
    record->message = message;
    return record;
}

hone_status hone_status_make(hone_code code, const char *file, int line, const char *format, ...) {
    assert(code > HONE_CODE_OK && code < HONE_CODE_COUNT);
    hone_str text = {0};
    va_list args;
    va_start(args, format);
    hone_str_vprintf(&text, format, args);
    va_end(args);
    return make_with(code, file, line, hone_str_take(&text));
}

hone_status hone_status_trail(hone_status st, const char *file, int line) {
    if (st && st != &out_of_memory && st->trail_count < MAX_TRAIL) {
        st->trail[st->trail_count++] = (place){file, line};
    }
    return st;
}

hone_status hone_status_join(hone_status first, hone_status second) {
    if (!first) return second;
    if (!second) return first;
    if (first != &out_of_memory) {
        hone_str text = {0};
        hone_str_printf(&text, "%s; and then: %s", first->message, hone_status_message(second));
        char *joined = hone_str_take(&text);
        if (joined) {
            hone_free(first->message);
            first->message = joined;
        }
    }
    hone_status_free(second);
    return first;
}

hone_status hone_status_annotate(hone_status st, const char *format, ...) {
    if (!st || st == &out_of_memory) return st;
    hone_str text = {0};
    va_list args;
    va_start(args, format);
    hone_str_vprintf(&text, format, args);
    va_end(args);
    hone_str_printf(&text, ": %s", st->message);
    char *annotated = hone_str_take(&text);
    if (annotated) {
        hone_free(st->message);
        st->message = annotated;
    }
    return st;
}

void hone_status_free(hone_status st) {
    if (!st || st == &out_of_memory) return;
    hone_free(st->message);
    hone_free(st);
}

hone_code hone_status_consume(hone_status st) {
    hone_code code = hone_status_code(st);
    hone_status_free(st);
    return code;
}

hone_code hone_status_code(hone_status st) {
    return st ? st->code : HONE_CODE_OK;
}

const char *hone_status_message(hone_status st) {
    if (!st) return "";
    return st->message ? st->message : "out of memory";
}

void hone_status_print(hone_status st, hone_str *out) {
    if (!st) {
        hone_str_append(out, "ok\n");
        return;
    }
    hone_str_printf(out, "%s: %s\n  at %s:%d\n", hone_code_name(st->code), hone_status_message(st),
                    st->born.file, st->born.line);
    for (int i = 0; i < st->trail_count; i++) {
        hone_str_printf(out, "  by %s:%d\n", st->trail[i].file, st->trail[i].line);
    }
}

const char *hone_code_name(hone_code code) {
    return (unsigned)code < HONE_CODE_COUNT ? code_names[code].name : "unknown";
}
