/* ir/text/print/size_print.c - dimensions for people: "n * 2", where a program has n * T.int64(2).
 */
#include <string.h>

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

hone_status hone_size_print(const hone_func *func, const hone_expr *e, hone_str *out) {
    if (e->kind == HONE_EXPR_VAR) {
        hone_str_append(out, func->vars[e->u.var].name);
        return hone_str_check(out);
    }
    hone_str text = {0};
    hone_status st = hone_expr_print(func, e, &text);
    if (!st) without_types(hone_str_text(&text), out);
    hone_str_deinit(&text);
    return st ? st : hone_str_check(out);
}
