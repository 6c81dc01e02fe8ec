/* tests/support/gpu/ptx_flight.c - see ptx_flight.h. */
#include "tests/support/gpu/ptx_flight.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "support/core/arena.h"
#include "support/core/attributes.h"

enum { MOST_IN_FLIGHT = 64, MOST_STATES = 4096, CLASSES = 8, MOST_REGISTERS = CLASSES << 16 };

/* ---- lines ---- */

typedef struct part {
    const char *text;
    size_t length;
} part;

typedef struct line {
    part label, condition, words; /* $L: or none; @%p or none; the instruction */
    size_t target;                /* of a branch */
} line;

typedef struct entry {
    line *lines;
    size_t count;
    bool *is_touched; /* registers written since the last wgmma.fence */
    unsigned products;
} entry;

static bool begins(part p, const char *with) {
    size_t length = strlen(with);
    return p.length >= length && strncmp(p.text, with, length) == 0;
}

static part without_spaces(part p) {
    while (p.length && isspace((unsigned char)*p.text)) {
        p.text++;
        p.length--;
    }
    while (p.length && isspace((unsigned char)p.text[p.length - 1]))
        p.length--;
    return p;
}

static part up_to(part p, const char *end) {
    for (size_t i = 0; i < p.length; i++) {
        if (strchr(end, p.text[i])) return (part){p.text, i};
    }
    return p;
}

static line read_line(part p) {
    line l = {.words = without_spaces(p)};
    if (begins(l.words, "$L") && l.words.text[l.words.length - 1] == ':') {
        l.label = (part){l.words.text, l.words.length - 1};
        l.words.length = 0;
    }
    if (begins(l.words, "//") || begins(l.words, ".")) l.words.length = 0;
    if (begins(l.words, "@")) {
        l.condition = up_to(l.words, " \t");
        part rest = {l.words.text + l.condition.length, l.words.length - l.condition.length};
        l.words = without_spaces(rest);
    }
    return l;
}

static hone_status find_targets(entry *e) {
    for (size_t i = 0; i < e->count; i++) {
        line *l = &e->lines[i];
        if (!begins(l->words, "bra")) continue;
        part after = up_to(l->words, "$");
        part name = {after.text + after.length, l->words.length - after.length};
        name = up_to(name, ";");
        for (l->target = 0; l->target < e->count; l->target++) {
            part label = e->lines[l->target].label;
            if (name.length && label.length == name.length &&
                strncmp(label.text, name.text, name.length) == 0)
                break;
        }
        if (l->target == e->count)
            return HONE_ERROR(HONE_CODE_INVALID, "no label for '%.*s'", (int)l->words.length,
                              l->words.text);
    }
    return HONE_OK;
}

/* ---- registers ---- */

/* The next register from *io on, and behind it; -1: there is none. */
static int next_register(part *io) {
    static const char *const classes[CLASSES] = {"f", "r", "rd", "rs", "p", "fd", "h", "rq"};
    while (io->length) {
        part name = {io->text + 1, io->length - 1};
        bool is_one = *io->text == '%';
        io->text++;
        io->length--;
        size_t letters = 0;
        while (letters < name.length && isalpha((unsigned char)name.text[letters]))
            letters++;
        if (!is_one || letters == name.length || !isdigit((unsigned char)name.text[letters]))
            continue;
        for (int c = 0; c < CLASSES; c++) {
            if (strlen(classes[c]) != letters || strncmp(classes[c], name.text, letters) != 0)
                continue;
            long number = strtol(name.text + letters, NULL, 10);
            return (int)(number % (MOST_REGISTERS / CLASSES)) * CLASSES + c;
        }
    }
    return -1;
}

/* The number-th list in braces; of no length: there is none. */
static part list_of(part words, unsigned number) {
    for (unsigned i = 0;; i++) {
        part before = up_to(words, "{");
        if (before.length == words.length) return (part){0};
        part rest = {before.text + before.length + 1, words.length - before.length - 1};
        part list = up_to(rest, "}");
        if (i == number) return list;
        words = (part){list.text + list.length, rest.length - list.length};
    }
}

static bool holds(part list, int wanted) {
    for (int r = next_register(&list); r >= 0; r = next_register(&list)) {
        if (r == wanted) return true;
    }
    return false;
}

/* What an instruction writes: its first operand, which may be a list. */
static part written_by(part words) {
    static const char *const silent[] = {"st.",   "bra", "cp.",  "bar",
                                         "fence", "ret", "red.", "wgmma"};
    for (size_t i = 0; i < HONE_COUNT(silent); i++) {
        if (begins(words, silent[i])) return (part){0};
    }
    part name = up_to(words, " \t");
    part operands = without_spaces((part){name.text + name.length, words.length - name.length});
    return begins(operands, "{") ? list_of(operands, 0) : up_to(operands, ",");
}

/* ---- ways ---- */

/* What a way has behind it. */
typedef struct state {
    size_t at;
    uint32_t count, groups; /* products that go on; groups that were begun */
    struct {
        uint32_t line, group; /* a group number of `groups`: not committed yet */
    } products[MOST_IN_FLIGHT];
    uint32_t is_seen_by_units, is_ready; /* stores, by a proxy fence; at the barrier behind it */
    uint32_t is_unseen_barrier;          /* one that began behind the last proxy fence */
} state;

static hone_status says(const entry *e, const state *s, const char *what) {
    part words = e->lines[s->at].words;
    return HONE_ERROR(HONE_CODE_INVALID, "%s: '%.*s'", what, (int)words.length, words.text);
}

static hone_status begin_product(entry *e, state *s) {
    part words = e->lines[s->at].words;
    for (unsigned i = 0; i < 2; i++) {
        part list = list_of(words, i);
        for (int r = next_register(&list); r >= 0; r = next_register(&list)) {
            if (e->is_touched[r]) return says(e, s, "no wgmma.fence behind what wrote registers");
        }
    }
    if (!s->is_ready) return says(e, s, "no proxy fence before the last barrier");
    if (s->count == MOST_IN_FLIGHT) return says(e, s, "too many products go on");
    s->products[s->count].line = (uint32_t)s->at;
    s->products[s->count++].group = s->groups;
    return HONE_OK;
}

/* All but the last so many groups have ended. */
static void end_groups(const line *l, state *s) {
    part words = up_to(l->words, ";");
    size_t at = words.length;
    while (at && isdigit((unsigned char)words.text[at - 1]))
        at--;
    uint32_t left = (uint32_t)strtoul(words.text + at, NULL, 10), kept = 0;
    uint32_t first = s->groups > left ? s->groups - left : 0;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->products[i].group >= first) s->products[kept++] = s->products[i];
    }
    s->count = kept;
    for (uint32_t i = 0; i < kept; i++)
        s->products[i].group -= first;
    s->groups -= first;
    memset(&s->products[kept], 0, (MOST_IN_FLIGHT - kept) * sizeof *s->products);
}

static hone_status touch_registers(entry *e, state *s) {
    part words = e->lines[s->at].words, written = written_by(words), all = words;
    for (int r = next_register(&all); r >= 0; r = next_register(&all)) {
        for (uint32_t i = 0; i < s->count; i++) {
            part product = e->lines[s->products[i].line].words;
            if (holds(list_of(product, 0), r)) return says(e, s, "touches sums of a product");
            if (holds(list_of(product, 1), r) && holds(written, r))
                return says(e, s, "writes a factor of a product");
        }
    }
    for (int r = next_register(&written); r >= 0; r = next_register(&written))
        e->is_touched[r] = true;
    return HONE_OK;
}

static void note_order(part words, state *s) {
    if (begins(words, "fence.proxy.async")) {
        s->is_seen_by_units = true;
        s->is_unseen_barrier = false;
    }
    if (begins(words, "mbarrier.init")) s->is_unseen_barrier = true;
    if (begins(words, "st.shared") || begins(words, "cp.async.wait")) s->is_seen_by_units = false;
    if (begins(words, "bar")) s->is_ready = s->is_seen_by_units;
}

static hone_status do_line(entry *e, state *s) {
    const line *l = &e->lines[s->at];
    if (begins(l->words, "wgmma.mma_async")) return begin_product(e, s);
    if (begins(l->words, "cp.async.bulk") && s->is_unseen_barrier)
        return says(e, s, "no proxy fence behind mbarrier.init");
    if (begins(l->words, "wgmma.fence")) {
        memset(e->is_touched, 0, MOST_REGISTERS * sizeof *e->is_touched);
    } else if (begins(l->words, "wgmma.commit_group")) {
        s->groups++;
    } else if (begins(l->words, "wgmma.wait_group")) {
        end_groups(l, s);
    } else {
        note_order(l->words, s);
        return touch_registers(e, s);
    }
    return HONE_OK;
}

/* Ways that are still to be gone, and those that were seen at a label. */
typedef struct ways {
    state *seen, *todo;
    size_t seen_count, todo_count;
} ways;

static bool was_here(ways *w, const state *s) {
    for (size_t i = 0; i < w->seen_count; i++) {
        if (memcmp(&w->seen[i], s, sizeof *s) == 0) return true;
    }
    if (w->seen_count < MOST_STATES) w->seen[w->seen_count++] = *s;
    return w->seen_count == MOST_STATES;
}

static hone_status follow(entry *e, ways *w, state s) {
    for (; s.at < e->count; s.at++) {
        const line *l = &e->lines[s.at];
        if (l->label.length && was_here(w, &s)) return HONE_OK;
        if (l->words.length) HONE_TRY(do_line(e, &s));
        if (begins(l->words, "ret") && !l->condition.length) return HONE_OK;
        if (!begins(l->words, "bra")) continue;
        if (l->condition.length && w->todo_count < MOST_STATES) {
            w->todo[w->todo_count] = s;
            w->todo[w->todo_count++].at = l->target;
        } else {
            s.at = l->target - 1; /* and on */
        }
    }
    return HONE_OK;
}

static hone_status check_entry(entry *e, hone_arena *arena) {
    ways w = {.seen = hone_arena_zalloc(arena, MOST_STATES * sizeof *w.seen),
              .todo = hone_arena_zalloc(arena, MOST_STATES * sizeof *w.todo)};
    e->is_touched = hone_arena_zalloc(arena, MOST_REGISTERS * sizeof *e->is_touched);
    if (!w.seen || !w.todo || !e->is_touched) return HONE_NO_MEMORY("test");
    HONE_TRY(find_targets(e));
    for (size_t i = 0; i < e->count; i++)
        e->products += begins(e->lines[i].words, "wgmma.mma_async");
    w.todo_count = 1;
    while (w.todo_count)
        HONE_TRY(follow(e, &w, w.todo[--w.todo_count]));
    return w.seen_count < MOST_STATES ? HONE_OK
                                      : HONE_ERROR(HONE_CODE_INVALID, "more ways than are gone");
}

hone_status test_ptx_flight(const char *text, unsigned *out_products) {
    *out_products = 0;
    for (const char *at = strstr(text, ".entry"); at; at = strstr(at + 1, ".entry")) {
        const char *begin = strstr(at, "\n{"), *end = begin ? strstr(begin, "\n}") : NULL;
        if (!end) return HONE_ERROR(HONE_CODE_INVALID, "an entry without an end");
        hone_arena *arena = hone_arena_create(1 << 16);
        entry e = {.lines = hone_arena_zalloc(arena, (size_t)(end - begin) * sizeof *e.lines)};
        for (const char *next = begin + 2; e.lines && next < end;) {
            part p = up_to((part){next, (size_t)(end - next)}, "\n");
            e.lines[e.count++] = read_line(p);
            next += p.length + 1;
        }
        hone_status st = e.lines ? check_entry(&e, arena) : HONE_NO_MEMORY("test");
        *out_products += e.products;
        hone_arena_destroy(arena);
        HONE_TRY(st);
    }
    return HONE_OK;
}
