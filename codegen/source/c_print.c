/* codegen/source/c_print.c - lines, names, parentheses. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "codegen/source/c_gen.h"
#include "support/core/attributes.h"
#include "support/core/number.h"

void c_fail(c_gen *g, hone_status st) {
    if (g->error)
        hone_status_free(st);
    else
        g->error = st;
}

HONE_PRINTF(2, 0)
static const char *format_text(c_gen *g, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = hone_vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : hone_arena_alloc(g->arena, (size_t)length + 1);
    if (!text) {
        c_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "C text"));
        return "0";
    }
    hone_vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

const char *c_printf(c_gen *g, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = format_text(g, format, args);
    va_end(args);
    return text;
}

static void put_line(c_gen *g, const char *text, const char *end) {
    hone_str_printf(g->out, "%*s%s%s\n", g->indent * 4, "", text, end);
}

void c_line(c_gen *g, const char *format, ...) {
    va_list args;
    va_start(args, format);
    put_line(g, format_text(g, format, args), "");
    va_end(args);
}

void c_open(c_gen *g, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = format_text(g, format, args);
    put_line(g, text, *text ? " {" : "{");
    va_end(args);
    g->indent++;
}

void c_close(c_gen *g) {
    g->indent--;
    put_line(g, "}", "");
}

static bool is_last(const hone_func *func, hone_node_id id) {
    for (;;) {
        const hone_node *node = hone_func_node(func, id);
        bool is_followed =
            node->next != HONE_NO_ID && hone_func_node(func, node->next)->kind != HONE_NODE_ELSE;
        if (is_followed || node->parent == HONE_NO_ID) return !is_followed;
        hone_node_kind above = (hone_node_kind)hone_func_node(func, node->parent)->kind;
        if (above != HONE_NODE_ATTR && above != HONE_NODE_DECL) return true; /* has braces */
        id = node->parent;
    }
}

bool c_open_scope(c_gen *g, hone_node_id statement) {
    bool is_open = !is_last(g->func, statement);
    if (is_open) c_open(g, "%s", "");
    return is_open;
}

void c_close_scope(c_gen *g, bool is_open) {
    if (is_open) c_close(g);
}

static bool is_among(const char *words, const char *name) {
    size_t length = strlen(name);
    while (*words) {
        size_t word = strcspn(words, " ");
        if (word == length && strncmp(words, name, length) == 0) return true;
        words += word + strspn(words + word, " ");
    }
    return false;
}

/* The types of <stdint.h> and <stddef.h>, and the macros about them: int8_t, UINT_FAST16_MAX. */
static bool is_of_integers(const char *name) {
    static const char *const kinds[] = {"INT", "UINT", "SIZE_", "PTRDIFF_", "SIG_ATOMIC_", "W"};
    static const char *const ends[] = {"_MAX", "_MIN", "_WIDTH", "_C"};
    static const char types[] = "size_t ptrdiff_t max_align_t wchar_t";
    const char *end = strrchr(name, '_');
    if (!end) return false;
    if (!strcmp(end, "_t"))
        return is_among(types, name) || !strncmp(name, "int", 3) || !strncmp(name, "uint", 4);
    bool is_kind = false, is_end = false;
    for (size_t i = 0; i < HONE_COUNT(kinds); i++)
        is_kind |= !strncmp(name, kinds[i], strlen(kinds[i]));
    for (size_t i = 0; i < HONE_COUNT(ends); i++)
        is_end |= !strcmp(end, ends[i]);
    return is_kind && is_end;
}

/* exp, and expf. */
static bool is_function(const char *name) {
    static const char others[] = "fabs fmin fmax fma fmod ldexp nearbyint trunc round floor ceil "
                                 "memcpy memset memmove isnan isinf signbit cbrt rint remainder "
                                 "lgamma tgamma";
    char stem[32];
    size_t length = strlen(name);
    hone_intrin function;
    if (hone_intrin_find(name, &function) || is_among(others, name)) return true;
    if (length < 2 || length >= sizeof stem || name[length - 1] != 'f') return false;
    memcpy(stem, name, length - 1);
    stem[length - 1] = '\0';
    return hone_intrin_find(stem, &function) || is_among(others, stem);
}

/* Keywords, and what the text around and <math.h> call things. */
static bool is_reserved(const c_gen *g, const char *name) {
    static const char *const words[] = {
        "auto",     "bool",    "break",   "case",      "char",   "const",    "continue",
        "default",  "do",      "double",  "else",      "enum",   "extern",   "float",
        "for",      "goto",    "if",      "inline",    "int",    "long",     "register",
        "restrict", "return",  "short",   "signed",    "sizeof", "static",   "struct",
        "switch",   "typedef", "union",   "unsigned",  "void",   "volatile", "while",
        "true",     "false",   "main",    "NULL",      "NAN",    "INFINITY", "asm",
        "rt",       "buffers", "sizes",   "closure",   "begin",  "end",      "code",
        "leave",    "all",     "y0",      "y1",        "yn",     "j0",       "j1",
        "jn",       "gamma",   "signgam", "linux",     "unix",   "i386",     "typeof",
        "nullptr",  "alignas", "alignof", "constexpr",
    };
    static const char macros[] =
        "FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL FP_ILOGB0 FP_ILOGBNAN FP_LLOGB0 "
        "FP_LLOGBNAN FP_INT_UPWARD FP_INT_DOWNWARD FP_INT_TOWARDZERO FP_INT_TONEAREST "
        "FP_INT_TONEARESTFROMZERO FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL HUGE_VAL HUGE_VALF "
        "HUGE_VALL MATH_ERRNO MATH_ERREXCEPT math_errhandling M_E M_LOG2E M_LOG10E M_LN2 M_LN10 "
        "M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 DOMAIN SING OVERFLOW "
        "UNDERFLOW PLOSS TLOSS MAXFLOAT offsetof thread_local static_assert typeof_unqual";
    for (size_t i = 0; i < HONE_COUNT(words); i++) {
        if (strcmp(words[i], name) == 0) return true;
    }
    return is_among(macros, name) || is_among(g->dialect->keywords, name) ||
           strncmp(name, "hone_", 5) == 0 || name[0] == '_' || is_function(name) ||
           is_of_integers(name);
}

const char *c_name(c_gen *g, const char *hint) {
    char *base = hone_arena_strdup(g->arena, hint && *hint ? hint : "v");
    if (!base) {
        c_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "C text"));
        return "v";
    }
    for (char *c = base; *c; c++) {
        if (!isalnum((unsigned char)*c) || (unsigned char)*c >= 0x80) *c = '_';
    }
    bool is_bad = isdigit((unsigned char)*base) || is_reserved(g, base);
    const char *first = is_bad ? c_printf(g, "v_%s", base) : base, *name = first;
    for (unsigned i = 1; hone_strmap_find(&g->names, name, NULL); i++)
        name = c_printf(g, "%s_%u", first, i);
    if (!hone_strmap_put(&g->names, name, 1)) {
        c_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "C text"));
    }
    return name;
}

const char *c_at(c_gen *g, c_text text, c_prec least) {
    return text.prec >= least ? text.s : c_printf(g, "(%s)", text.s);
}

static const char *blank_text(const c_blank *blanks, char letter) {
    while (blanks->letter && blanks->letter != letter)
        blanks++;
    return blanks->letter ? blanks->text : "";
}

const char *c_fill(c_gen *g, const char *form, const c_blank *blanks) {
    hone_str out = {0};
    for (const char *c = form; *c; c++) {
        if (*c == '$')
            hone_str_append(&out, blank_text(blanks, *++c));
        else
            hone_str_append_n(&out, c, 1);
    }
    const char *copy = hone_arena_strdup(g->arena, hone_str_text(&out));
    hone_str_deinit(&out);
    if (!copy) c_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "C text"));
    return copy ? copy : "";
}

void c_unsupported(c_gen *g, const char *what) {
    c_fail(g, HONE_ERROR(HONE_CODE_UNSUPPORTED, "%s in %s", what, g->dialect->name));
}
