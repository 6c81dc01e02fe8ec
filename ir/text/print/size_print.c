/* ir/text/print/size_print.c - dimensions for people: "n * 2", where a program has n * T.int64(2).
 */
#include <string.h>

#include "ir/arith/arith.h"
#include "ir/text/print/script_print.h"

static void without_types(const char *text, hone_str *out) {
    static const char type[] = "T.int64(";
    for (const char *at = text; *at;) {
        size_t skipped = strncmp(at, type, sizeof type - 1) == 0 ? sizeof type - 1 : 0;
        size_t digits = strspn(at + skipped, "-0123456789");
        bool is_number = skipped && digits && at[skipped + digits] == ')';
        if (is_number) hone_str_append_n(out, at + skipped, digits);
        if (!is_number) hone_str_append_char(out, *at);
        at += is_number ? skipped + digits + 1 : 1;
    }
}

static bool note_shift(void *ctx, const hone_expr *e) {
    bool *has_shift = ctx;
    *has_shift |= hone_expr_is_call(e, HONE_INTRIN_SHIFT_LEFT) ||
                  hone_expr_is_call(e, HONE_INTRIN_SHIFT_RIGHT);
    return !*has_shift;
}

/* With products and quotients for shifts. */
static hone_status print_plainly(const hone_func *func, const hone_expr *e, hone_str *out) {
    enum { BLOCK_BYTES = 4096 };
    hone_arith arith;
    hone_arena *arena = hone_arena_create(BLOCK_BYTES);
    if (!arena) return HONE_NO_MEMORY("sizes");
    hone_arith_init(&arith, arena);
    const hone_expr *plain = hone_simplify(&arith, e);
    hone_status st = plain ? hone_expr_print(func, plain, out) : HONE_NO_MEMORY("sizes");
    hone_arena_destroy(arena);
    return st;
}

hone_status hone_size_print(const hone_func *func, const hone_expr *e, hone_str *out) {
    if (e->kind == HONE_EXPR_VAR) {
        hone_str_append(out, func->vars[e->u.var].name);
        return hone_str_check(out);
    }
    hone_str text = {0};
    bool has_shift = false;
    hone_expr_walk(e, note_shift, &has_shift);
    hone_status st = has_shift ? print_plainly(func, e, &text) : hone_expr_print(func, e, &text);
    if (!st) without_types(hone_str_text(&text), out);
    hone_str_deinit(&text);
    return st ? st : hone_str_check(out);
}
