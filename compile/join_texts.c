/* compile/join_texts.c - the texts of all kernels as one, which compilers take as one: what texts
 * of C bring along they guard themselves, symbols are of one kernel each; the head of PTX stands
 * there once, and labels of assembly that are a text's own are numbered by it.
 *
 *   .LBB0_2, of the fourth kernel   =>   .Lk3_BB0_2
 *
 * Source files of debug information are counted on from kernel to kernel, and have one name instead
 * of folder and name, which all assemblers read.
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

static const char *behind_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* The number of a source file in .file or .loc; NULL: something else begins there. */
static const char *file_number(const char *begin, const char *at, const char *end) {
    bool is_first = at == begin || isspace((unsigned char)at[-1]);
    size_t word = end - at > 6 && memcmp(at, ".file", 5) == 0  ? 5
                  : end - at > 6 && memcmp(at, ".loc", 4) == 0 ? 4
                                                               : 0;
    if (!is_first || !word) return NULL;
    const char *number = behind_blanks(at + word, end);
    bool is_number = number > at + word && number < end && *number >= '1' && *number <= '9';
    return is_number ? number : NULL;
}

/* "folder" "name" behind the number as "folder/name"; returns what is behind it. */
static const char *append_file_name(hone_str *out, const char *at, const char *end) {
    const char *folder = behind_blanks(at, end);
    if (folder >= end || *folder != '"') return at;
    const char *behind = string_end(folder, end), *name = behind_blanks(behind, end);
    if (name >= end || *name != '"' || name[1] == '/') return at;
    hone_str_append_char(out, ' ');
    hone_str_append_n(out, folder, (size_t)(behind - folder - 1));
    hone_str_append_char(out, '/');
    return name + 1;
}

/* io_files: how many source files were counted so far. */
static void append_asm(hone_str *out, const part_kernel *k, size_t number, long *io_files) {
    const char *from = k->object, *end = from + k->object_bytes;
    long most = 0;
    for (const char *at = from; at < end;) {
        const char *digits = *at == '.' ? file_number(k->object, at, end) : NULL;
        if (digits) {
            long file = 0;
            hone_str_append_n(out, from, (size_t)(digits - from));
            for (; digits < end && isdigit((unsigned char)*digits) && file < 1000000; digits++)
                file = 10 * file + (*digits - '0');
            hone_str_printf(out, "%ld", *io_files + file);
            most = file > most ? file : most;
            from = at[1] == 'f' ? append_file_name(out, digits, end) : digits;
            at = from > digits ? string_end(from - 1, end) : from; /* the rest of the name */
            continue;
        }
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
    *io_files += most;
}

void parts_join_texts(const parts *p, hone_str *out) {
    hone_compile_emit emit = p->options->emit;
    long files = 0;
    for (size_t i = 0; i < p->kernels.count; i++) {
        const part_kernel *k = &p->kernels.data[i];
        hone_str_printf(out, "%s%s kernel '%s', %s\n", i ? "\n" : "",
                        hone_compile_emits[emit].comment, k->facts.name,
                        hone_compile_source_name(k->facts.source));
        size_t begin = i > 0 && emit == HONE_COMPILE_PTX ? ptx_head_bytes(k) : 0;
        if (emit == HONE_COMPILE_ASM)
            append_asm(out, k, i, &files);
        else
            hone_str_append_n(out, k->object + begin, k->object_bytes - begin);
    }
}
