/* codegen/source/c_helpers.c - the small functions that the text calls, each printed once, where it
 * is used. A guard keeps several kernels in one file from defining one twice. */
#include <string.h>

#include "codegen/source/c_gen.h"
#include "support/core/attributes.h"

/* $T: the type, $U: its unsigned sibling, $N: the function's name, $F: what names of functions of
 * it end with, $D: the widest float, $R: rounding to the nearest, $I: words in front. */
typedef struct helper {
    const char *kind, *text;
} helper;

static const helper helpers[] = {
    {"min",         "$I $T $N($T a, $T b) {\n"
            "    return a < b ? a : b;\n"
            "}\n"                },
    {"max",         "$I $T $N($T a, $T b) {\n"
            "    return a > b ? a : b;\n"
            "}\n"                },
    {"minimum",     "$I $T $N($T a, $T b) {\n"
                "    return a != a || a < b ? a : b;\n"
                "}\n"        },
    {"maximum",     "$I $T $N($T a, $T b) {\n"
                "    return a != a || a > b ? a : b;\n"
                "}\n"        },
    {"abs",         "$I $T $N($T a) {\n"
            "    return a < 0 ? ($T)(0 - ($U)a) : a;\n"
            "}\n"                },
    {"floordiv",    "/* rounds towards minus infinity */\n"
                 "$I $T $N($T a, $T b) {\n"
                 "    if (b == -1) return ($T)(0 - ($U)a);\n"
                 "    $T q = a / b, r = a % b;\n"
                 "    return r != 0 && (r < 0) != (b < 0) ? ($T)(q - 1) : q;\n"
                 "}\n"      },
    {"floormod",    "/* has the sign of b */\n"
                 "$I $T $N($T a, $T b) {\n"
                 "    if (b == -1) return 0;\n"
                 "    $T r = a % b;\n"
                 "    return r != 0 && (r < 0) != (b < 0) ? ($T)(r + b) : r;\n"
                 "}\n"      },
    {"truncdiv",    "/* rounds towards 0; the least number by -1 is itself */\n"
                 "$I $T $N($T a, $T b) {\n"
                 "    return b == -1 ? ($T)(0 - ($U)a) : ($T)(a / b);\n"
                 "}\n"      },
    {"truncmod",    "/* has the sign of a */\n"
                 "$I $T $N($T a, $T b) {\n"
                 "    return b == -1 ? 0 : ($T)(a % b);\n"
                 "}\n"      },
    {"divisor",     "/* not 0 */\n"
                "$I $T $N($T a, int32_t *fault) {\n"
                "    if (a == 0) *fault |= 1;\n"
                "    return a == 0 ? 1 : a;\n"
                "}\n"        },
    {"index",       "/* from 0 to n - 1 */\n"
              "$I $T $N($T a, $T n, int32_t *fault) {\n"
              "    if (a >= 0 && a < n) return a;\n"
              "    *fault |= 2;\n"
              "    return 0;\n"
              "}\n"            },
    {"nonzero",     "/* nobody is told of a division by 0 */\n"
                "$I $T $N($T a) {\n"
                "    return a == 0 ? 1 : a;\n"
                "}\n"        },
    {"clamped",     "/* from 0 to n - 1 */\n"
                "$I $T $N($T a, $T n) {\n"
                "    return a >= 0 && a < n ? a : 0;\n"
                "}\n"        },
    {"shift_left",  "/* bits that are moved out are gone, all of them by the width or more */\n"
                   "$I $T $N($T a, $T b) {\n"
                   "    const int bits = (int)sizeof a * 8;\n"
                   "    return b < 0 || b >= bits ? 0 : ($T)((uint64_t)a << b);\n"
                   "}\n"  },
    {"shift_right", "/* copies the sign */\n"
                    "$I $T $N($T a, $T b) {\n"
                    "    const int bits = (int)sizeof a * 8;\n"
                    "    if (b < 0 || b >= bits) return a < 0 ? ($T)-1 : 0;\n"
                    "    return a < 0 ? ($T)~(($T)~a >> b) : ($T)(a >> b);\n"
                    "}\n"},
    {"shift_down",  "/* of a number without a sign */\n"
                   "$I $T $N($T a, $T b) {\n"
                   "    const int bits = (int)sizeof a * 8;\n"
                   "    return b >= ($T)bits ? 0 : ($T)(a >> b);\n"
                   "}\n"  },
    {"shift_up",    "/* of a number without a sign */\n"
                 "$I $T $N($T a, $T b) {\n"
                 "    const int bits = (int)sizeof a * 8;\n"
                 "    return b >= ($T)bits ? 0 : ($T)((uint64_t)a << b);\n"
                 "}\n"      },
    {"popcount",    "$I $T $N($T a) {\n"
                 "    $U bits = ($U)a;\n"
                 "    int count = 0;\n"
                 "    for (; bits; bits = ($U)(bits & (bits - 1)))\n"
                 "        count++;\n"
                 "    return ($T)count;\n"
                 "}\n"      },
    {"clz",         "/* zeros above the highest bit that is set */\n"
            "$I int $N($T a) {\n"
            "    int count = (int)sizeof a * 8;\n"
            "    for ($U bits = ($U)a; bits; bits = ($U)(bits >> 1))\n"
            "        count--;\n"
            "    return count;\n"
            "}\n"                },
    {"saturate",    "/* towards zero, out of range to the nearest end, NaN to 0 */\n"
                 "$I $T $N($D a) {\n"
                 "    const int bits = (int)sizeof($T) * 8, is_signed = ($T)-1 < 1;\n"
                 "    const $D limit = ldexp(($D)1, bits - is_signed);\n"
                 "    const $U all = ($U)~($U)0, most = is_signed ? ($U)(all >> 1) : all;\n"
                 "    if (a != a) return 0;\n"
                 "    if (a >= limit) return ($T)most;\n"
                 "    if (is_signed && a < -limit) return ($T)(0 - ($T)most - 1);\n"
                 "    return !is_signed && a <= 0 ? 0 : ($T)a;\n"
                 "}\n"      },
    {"clamp",       "$I $T $N($T a, int low, int high) {\n"
              "    return ($T)(a < low ? low : a > high ? high : a);\n"
              "}\n"            },
    {"sigmoid",     "/* by exp(-|a|), which is never too large */\n"
                "$I $T $N($T a) {\n"
                "    $T e = exp$F(-fabs$F(a));\n"
                "    return (a < 0 ? e : 1) / (1 + e);\n"
                "}\n"        },
    {"to_odd",      "/* what is lost is left in the last bit: rounding once more rounds once */\n"
               "$I $T $N(double a) {\n"
               "    union {\n"
               "        $T value;\n"
               "        uint32_t bits;\n"
               "    } odd;\n"
               "    odd.value = ($T)a;\n"
               "    if (fabs((double)odd.value) > fabs(a)) odd.bits--;\n"
               "    if (a == a && (double)odd.value != a) odd.bits |= 1;\n"
               "    return odd.value;\n"
               "}\n"          },
    {"turned",      "/* where an element of an operand of wgmma lies */\n"
               "$I $T $N($T at, int mask) {\n"
               "    return at ^ (at >> 3 & mask);\n"
               "}\n"          },
    {"describe",    "/* an operand of wgmma: where it begins, and how far apart its columns are */\n"
                 "$I $T $N(const void *begin, $T leading) {\n"
                 "    $T at = __cvta_generic_to_shared(begin);\n"
                 "    return (at >> 4 & 0x3fff) | (leading >> 4 & 0x3fff) << 16 | ($T)64 << 32 |\n"
                 "           ($T)1 << 62;\n"
                 "}\n"      },
    {"next",        "/* The next number of a small float from a to b; their bits. */\n"
             "$I $T $N(float a, float b, $T from, $T to, $T sign) {\n"
             "    if (a != a) return from;\n"
             "    if (a == b || b != b) return to;\n"
             "    if (a == 0.0f) return b < 0.0f ? ($T)(sign | 1) : 1;\n"
             "    return ($T)((a < b) == (a > 0.0f) ? from + 1 : from - 1);\n"
             "}\n"              },
};

/* Conversions of the small floats; the layout is the type's. */
static const struct small_row {
    const char *type, *layout; /* width, bits of the mantissa, bias, what there is beside numbers */
} small_rows[] = {
    {"f16",           "16, 10, 15, 0"},
    {"bf16",          "16, 7, 127, 0"},
    {"f8e4m3",        "8, 3, 7, 1"   },
    {"f8e5m2",        "8, 2, 15, 0"  },
    {"f8e3m4",        "8, 4, 3, 0"   },
    {"f8e4m3_ieee",   "8, 3, 7, 0"   },
    {"f8e4m3b11fnuz", "8, 3, 11, 2"  },
    {"f8e4m3fnuz",    "8, 3, 8, 2"   },
    {"f8e5m2fnuz",    "8, 2, 16, 2"  },
    {"f8e8m0",        "8, 0, 127, 4" },
    {"f6e2m3",        "6, 3, 1, 3"   },
    {"f6e3m2",        "6, 2, 3, 3"   },
    {"f4e2m1",        "4, 1, 1, 3"   },
};

static const char from_small_text[] =
    "/* Small floats are held as their bits: sign, exponent, mantissa. Beside numbers there are:\n"
    "   0 infinities and NaN, 1 NaN (all ones), 2 NaN (the bits of -0), 3 nothing; 4 powers of "
    "two\n"
    "   without a sign, and NaN. */\n"
    "$I float hone_small_to_f32(uint32_t bits, int width, int mantissa, int bias, int kind) {\n"
    "    uint32_t mask = (1u << (width - 1 - mantissa)) - 1, low = bits & ((1u << mantissa) - 1);\n"
    "    uint32_t exponent = bits >> mantissa & mask, sign_bit = 1u << (width - 1);\n"
    "    float sign = bits & sign_bit ? -1.0f : 1.0f;\n"
    "    if (kind == 4) return bits == 255 ? NAN : ldexp$F(1.0f, (int)bits - bias);\n"
    "    if (exponent == mask && kind == 0) return low ? NAN : sign * INFINITY;\n"
    "    if (kind == 1 && (bits & (sign_bit - 1)) == sign_bit - 1) return NAN;\n"
    "    if (kind == 2 && bits == sign_bit) return NAN;\n"
    "    if (exponent == 0) return sign * ldexp$F((float)low, 1 - bias - mantissa);\n"
    "    return sign * ldexp$F((float)(low | 1u << mantissa), (int)exponent - bias - mantissa);\n"
    "}\n";

static const char to_small_text[] =
    "/* To the nearest, ties to even; too large: infinity, else NaN, else the largest. Of powers "
    "of\n"
    "   two the middle goes up, and what is not above zero is NaN. */\n"
    "$I uint32_t hone_f32_to_small(float value, int width, int mantissa, int bias, int kind) {\n"
    "    uint32_t mask = (1u << (width - 1 - mantissa)) - 1, one = 1u << mantissa;\n"
    "    union {\n"
    "        float value;\n"
    "        uint32_t bits;\n"
    "    } of;\n"
    "    of.value = value;\n"
    "    uint32_t sign_bit = 1u << (width - 1), all = sign_bit - 1, top = mask << mantissa;\n"
    "    uint32_t sign = of.bits >> 31 ? sign_bit : 0;\n"
    "    uint32_t nan = kind == 0 ? top | one >> 1 : kind == 1 ? all : sign_bit;\n"
    "    uint32_t most = kind == 0 ? top - 1 : kind == 1 ? all - 1 : all;\n"
    "    uint32_t over = kind == 0 ? top : kind == 2 ? sign_bit : all;\n"
    "    float size = fabs$F(value);\n"
    "    int exponent = (int)(of.bits >> 23 & 255) - 126; /* size = 0.1… * 2^exponent */\n"
    "    if (kind == 4) {\n"
    "        if (!(value > 0.0f) || isinf(value)) return 255;\n"
    "        if (of.bits < 3u << 21) return 0;\n"
    "        return (of.bits + (1u << 22)) >> 23;\n"
    "    }\n"
    "    if (value != value) return sign | nan;\n"
    "    if (isinf(value)) return sign | over;\n"
    "    if (size == 0.0f || exponent < 2 - bias) exponent = 2 - bias;\n"
    "    exponent--; /* size = 1.… * 2^exponent, or less when it is subnormal */\n"
    "    uint32_t scaled = (uint32_t)$R$F(ldexp$F(size, mantissa - exponent));\n"
    "    uint32_t bits = ((uint32_t)(exponent + bias - 1) << mantissa) + scaled;\n"
    "    if (bits > most) bits = over;\n"
    "    return kind == 2 && bits == 0 ? 0 : sign | bits;\n"
    "}\n";

static void define(c_gen *g, const char *name, const char *text) {
    hone_str_printf(&g->helper_text, "#ifndef %s\n#define %s %s\n%s#endif\n", name, name, name,
                    text);
}

static const char *unsigned_of(c_gen *g, const char *type) {
    return type[0] == 'i' ? c_printf(g, "u%s", type) : type;
}

static const char *fill_in(c_gen *g, const char *text, const char *name, const char *type) {
    const c_dialect *d = g->dialect;
    bool is_float = strcmp(type, "float") == 0;
    const c_blank blanks[] = {
        {'N',                                 name},
        {'T',                                   type},
        {'U',unsigned_of(g, type)},
        {'F',                                 is_float ? d->float_end : ""},
        {'D',                              d->has_double ? "double" : "float"},
        {'R',                                 d->round},
        {'I',                                   d->helper_words},
        {0}
    };
    return c_fill(g, text, blanks);
}

/* Whether the helper is new; it counts as printed from now on. */
static bool is_first(c_gen *g, const char *name) {
    if (hone_strmap_find(&g->helpers, name, NULL)) return false;
    if (!hone_strmap_put(&g->helpers, name, 1)) {
        c_fail(g, HONE_ERROR(HONE_CODE_NO_MEMORY, "C text"));
    }
    return true;
}

/* Of a conversion that the dialect has by itself; NULL: it has not. */
static const char *native_body(const c_gen *g, bool to_f32, const char *type) {
    for (size_t i = 0; i < HONE_COUNT(g->dialect->small_floats); i++) {
        const c_small_float *own = &g->dialect->small_floats[i];
        if (own->type && strcmp(own->type, type) == 0) return to_f32 ? own->to_f32 : own->from_f32;
    }
    return NULL;
}

static const char *general_body(c_gen *g, bool to_f32, const char *layout, const char *storage) {
    const char *common = to_f32 ? "hone_small_to_f32" : "hone_f32_to_small";
    if (is_first(g, common)) {
        define(g, common, fill_in(g, to_f32 ? from_small_text : to_small_text, common, "float"));
    }
    return to_f32 ? c_printf(g, "return %s(bits, %s);", common, layout)
                  : c_printf(g, "return (%s)%s(value, %s);", storage, common, layout);
}

static void define_small(c_gen *g, bool to_f32, const char *type, const char *name) {
    const struct small_row *row = small_rows;
    while (strcmp(row->type, type) != 0)
        row++;
    const char *storage = row->layout[0] == '1' ? "uint16_t" : "uint8_t";
    const char *body = native_body(g, to_f32, type);
    if (!body) body = general_body(g, to_f32, row->layout, storage);
    define(g, name,
           c_printf(g, "%s %s %s(%s) {\n    %s\n}\n", g->dialect->helper_words,
                    to_f32 ? "float" : storage, name,
                    to_f32 ? c_printf(g, "%s bits", storage) : "float value", body));
}

const char *c_helper(c_gen *g, const char *kind, const char *type) {
    const char *name = c_printf(g, "hone_%s_%s", kind, type);
    if (!is_first(g, name)) return name;
    for (size_t i = 0; i < HONE_COUNT(helpers); i++) {
        if (strcmp(helpers[i].kind, kind) != 0) continue;
        define(g, name, fill_in(g, helpers[i].text, name, type));
        return name;
    }
    define_small(g, strcmp(kind, "to_f32") == 0, type, name);
    return name;
}
