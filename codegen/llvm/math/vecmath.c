/* codegen/llvm/math/vecmath.c - which functions have polynomials of their own, in float32 and
 * float64, on whole vectors and scalars.
 *
 * Range reduction and a polynomial, no tables in memory; no calls, but for arguments too large.
 * Within 4 units in the last place of the correctly rounded result, special values as libm has them
 * (tested against it). float16 and its relatives are computed as float. */
#include "codegen/llvm/math/vec_steps.h"

#include <string.h>

static const struct function {
    hone_intrin intrin;
    LLVMValueRef (*of_one)(const vec *v, LLVMValueRef x);
    LLVMValueRef (*of_two)(const vec *v, LLVMValueRef x, LLVMValueRef y);
} functions[] = {
    {.intrin = HONE_INTRIN_EXP,     .of_one = vec_exp    },
    {.intrin = HONE_INTRIN_EXP2,    .of_one = vec_exp2   },
    {.intrin = HONE_INTRIN_EXP10,   .of_one = vec_exp10  },
    {.intrin = HONE_INTRIN_LOG,     .of_one = vec_log    },
    {.intrin = HONE_INTRIN_LOG2,    .of_one = vec_log2   },
    {.intrin = HONE_INTRIN_LOG10,   .of_one = vec_log10  },
    {.intrin = HONE_INTRIN_LOG1P,   .of_one = vec_log1p  },
    {.intrin = HONE_INTRIN_SIN,     .of_one = vec_sin    },
    {.intrin = HONE_INTRIN_COS,     .of_one = vec_cos    },
    {.intrin = HONE_INTRIN_TAN,     .of_one = vec_tan    },
    {.intrin = HONE_INTRIN_ASIN,    .of_one = vec_asin   },
    {.intrin = HONE_INTRIN_ACOS,    .of_one = vec_acos   },
    {.intrin = HONE_INTRIN_ATAN,    .of_one = vec_atan   },
    {.intrin = HONE_INTRIN_SINH,    .of_one = vec_sinh   },
    {.intrin = HONE_INTRIN_COSH,    .of_one = vec_cosh   },
    {.intrin = HONE_INTRIN_TANH,    .of_one = vec_tanh   },
    {.intrin = HONE_INTRIN_ASINH,   .of_one = vec_asinh  },
    {.intrin = HONE_INTRIN_ACOSH,   .of_one = vec_acosh  },
    {.intrin = HONE_INTRIN_ATANH,   .of_one = vec_atanh  },
    {.intrin = HONE_INTRIN_ERF,     .of_one = vec_erf    },
    {.intrin = HONE_INTRIN_SIGMOID, .of_one = vec_sigmoid},
    {.intrin = HONE_INTRIN_POW,     .of_two = vec_pow    },
    {.intrin = HONE_INTRIN_ATAN2,   .of_two = vec_atan2  },
    {.intrin = HONE_INTRIN_HYPOT,   .of_two = vec_hypot  },
    {.intrin = HONE_INTRIN_FMOD,    .of_two = vec_fmod   },
};

LLVMValueRef gen_vector_math(gen *g, hone_intrin intrin, LLVMValueRef *args, unsigned lanes) {
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    bool is_wide = type == gen_vector(g->f64, lanes);
    if (!is_wide && type != gen_vector(g->f32, lanes)) return NULL;
    vec v = {.g = g, .f = type, .lanes = lanes, .is_wide = is_wide};
    v.element = is_wide ? g->f64 : g->f32;
    v.bits = is_wide ? g->i64 : g->i32;
    v.i = gen_vector(v.bits, lanes);
    v.has_fma =
        strncmp(g->target->triple, "x86_64", 6) != 0 || hone_target_has_feature(g->target, "fma");
    v.has_avx512 = !is_wide && hone_target_has_feature(g->target, "avx512vl") &&
                   hone_target_has_feature(g->target, "avx512dq") && lanes <= VEC_MAX_LANES;
    v.has_lookup = !is_wide && v.has_fma && hone_target_has_feature(g->target, "avx2") &&
                   lanes <= VEC_MAX_LANES;
    v.has_ex2 = !is_wide && lanes == 1 && g->processor->has_ex2;
    for (size_t i = 0; i < HONE_COUNT(functions); i++) {
        const struct function *f = &functions[i];
        if (f->intrin != intrin) continue;
        return f->of_one ? f->of_one(&v, args[0]) : f->of_two(&v, args[0], args[1]);
    }
    return NULL;
}
