/* compile/join_texts.c - the texts of all kernels as one, which compilers take as one: what texts
 * of C bring along they guard themselves, symbols are of one kernel each; the head of PTX stands
 * there once, and labels of assembly that are a text's own are numbered by it.
 *
 *   .LBB0_2, of the fourth kernel   =>   .Lk3_BB0_2
 */
#include <ctype.h>
#include <string.h>

#include "compile/parts.h"

/* What a PTX module begins with, up to its address size. The same for all kernels of a target. */
static size_t ptx_head_bytes(const part_kernel *k) {
    static const char last[] = "\n.address_size ";
    const char *text = k->object, *end = text + k->object_bytes;
    const char *found = memmem(text, k->object_bytes, last, sizeof last - 1);
    const char *line = found ? memchr(found + 1, '\n', (size_t)(end - found - 1)) : NULL;
    return line ? (size_t)(line + 1 - text) : 0;
}

static bool is_of_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* The end of a string of assembly that begins there, behind its quote. */
static const char *string_end(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\' && at + 1 < end) at++;
    }
    return at < end ? at + 1 : end;
}

static void append_asm(hone_str *out, const part_kernel *k, size_t number) {
    const char *from = k->object, *end = from + k->object_bytes;
    for (const char *at = from; at < end;) {
        bool is_label = end - at > 2 && at[0] == '.' && at[1] == 'L' &&
                        (at == k->object || !is_of_name(at[-1]));
        if (is_label) {
            hone_str_append_n(out, from, (size_t)(at - from));
            hone_str_printf(out, ".Lk%zu_", number);
            from = at + 2;
        }
        at = *at == '"' ? string_end(at, end) : at + (is_label ? 2 : 1);
    }
    hone_str_append_n(out, from, (size_t)(end - from));
}

void parts_join_texts(const parts *p, hone_str *out) {
    hone_compile_emit emit = p->options->emit;
    for (size_t i = 0; i < p->kernels.count; i++) {
        const part_kernel *k = &p->kernels.data[i];
        hone_str_printf(out, "%s%s kernel '%s', %s\n", i ? "\n" : "",
                        hone_compile_emits[emit].comment, k->facts.name,
                        hone_compile_source_name(k->facts.source));
        size_t begin = i > 0 && emit == HONE_COMPILE_PTX ? ptx_head_bytes(k) : 0;
        if (emit == HONE_COMPILE_ASM)
            append_asm(out, k, i);
        else
            hone_str_append_n(out, k->object + begin, k->object_bytes - begin);
    }
}
