/* builder/build_once.c - see build_once.h. */
#include "builder/build_once.h"

#include "lower/signature/split_constants.h"

static const int64_t max_kept_bytes = INT64_C(1) << 30, max_places = 1024;

static hone_status split(const hone_func *func, uint64_t constants, hone_arena *arena,
                         hone_constant_split *out) {
    bool *is_constant = hone_arena_zalloc(arena, func->param_count + 1);
    if (!is_constant) return HONE_NO_MEMORY("build");
    for (uint32_t i = 0; i < func->param_count && i < 64; i++)
        is_constant[i] = constants >> i & 1;
    return hone_split_constants(func, is_constant, arena, out);
}

/* False: more than is kept. */
static bool list_kept(const hone_constant_split *s, int64_t *bytes) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < s->output_count; i++) {
        const hone_buffer_info *info = &s->constants->buffers[s->outputs[i]];
        int64_t elements = hone_buffer_elements(info);
        if (elements < 0 || elements > max_kept_bytes) return false;
        bytes[i] = elements * (int64_t)hone_dtype_bytes(info->dtype);
        sum += bytes[i];
        if (sum > max_kept_bytes) return false;
    }
    return true;
}

/* As many as let calls touch the distance before one of them is used again. */
static int64_t count_places(const hone_constant_split *s, const int64_t *kept_bytes,
                            int64_t distance) {
    int64_t kept = 0, others = 1;
    for (uint32_t i = 0; i < s->output_count; i++)
        kept += kept_bytes[i];
    for (uint32_t i = 0; i < s->rest->param_count; i++) {
        hone_buffer buffer = s->rest->params[i].buffer;
        if (buffer == HONE_NO_ID || s->args[i] < 0) continue;
        int64_t elements = hone_buffer_elements(&s->rest->buffers[buffer]);
        if (elements > 0) others += elements * hone_dtype_bytes(s->rest->buffers[buffer].dtype);
    }
    int64_t places = distance / (kept + others) + 1;
    if (places > max_places) places = max_places;
    return places * kept <= max_kept_bytes ? places : 1;
}

/* Inputs, then what is kept. */
static void list_first_args(const hone_constant_split *s, int32_t *args) {
    for (uint32_t i = 0; i < s->input_count; i++)
        args[i] = (int32_t)s->inputs[i];
    for (uint32_t i = 0; i < s->output_count; i++)
        args[s->input_count + i] = -1 - (int32_t)i;
}

static hone_status lower_part(const hone_func *func, const char *symbol,
                              const hone_lower_options *options, hone_arena *arena,
                              hone_codegen_kernel *out) {
    hone_func *lowered;
    if (!symbol) return HONE_NO_MEMORY("build");
    HONE_TRY(hone_lower_func(func, options, arena, &lowered));
    *out = (hone_codegen_kernel){.func = lowered, .symbol = symbol};
    return HONE_OK;
}

hone_status hone_build_once_split(const hone_func *func, uint64_t constants, int64_t distance,
                                  const char *entry, const hone_lower_options *options,
                                  hone_arena *arena, const hone_build_once **out) {
    hone_constant_split s = {0};
    *out = NULL;
    if (constants == 0) return HONE_OK;
    HONE_TRY(split(func, constants, arena, &s));
    if (!s.constants) return HONE_OK;
    uint32_t first_count = s.input_count + s.output_count;
    hone_build_once *made = hone_arena_zalloc(arena, sizeof *made);
    int64_t *bytes = hone_arena_zalloc(arena, (s.output_count + 1) * sizeof *bytes);
    int32_t *first_args = hone_arena_zalloc(arena, (first_count + 1) * sizeof *first_args);
    if (!made || !bytes || !first_args) return HONE_NO_MEMORY("build");
    if (!list_kept(&s, bytes)) return HONE_OK;
    list_first_args(&s, first_args);
    HONE_TRY(lower_part(s.constants, hone_arena_printf(arena, "%s_once", entry), options, arena,
                        &made->kernels[0]));
    HONE_TRY(lower_part(s.rest, hone_arena_printf(arena, "%s_rest", entry), options, arena,
                        &made->kernels[1]));
    made->once = (hone_codegen_once){.symbol = entry,
                                     .first = made->kernels[0].symbol,
                                     .rest = made->kernels[1].symbol,
                                     .kept_count = s.output_count,
                                     .kept_bytes = bytes,
                                     .place_count = count_places(&s, bytes, distance),
                                     .first_count = first_count,
                                     .first_args = first_args,
                                     .rest_count = s.arg_count,
                                     .rest_args = s.args};
    *out = made;
    return HONE_OK;
}
