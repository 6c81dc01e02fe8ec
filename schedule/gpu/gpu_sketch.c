/* schedule/gpu/gpu_sketch.c - products whose tiles are sampled, "SSSRRSRS":
 *
 *   for S0 (blockIdx.x): for S1 (vthread.x): for S2 (threadIdx.x):
 *     for R0: shared copies; for R1, S3, R2, S4: local += A * B
 *     the result = local
 *
 * Sources: Ansor (OSDI 2020), MetaSchedule (NeurIPS 2022).
 */
#include "schedule/gpu/gpu_sketch.h"

#include "schedule/gpu/gpu_product.h"
#include "schedule/nests/auto_loops.h"
#include "schedule/primitive/primitives.h"

enum { SPATIAL_PARTS = 5, REDUCE_PARTS = 3, MOST_INNERMOST = 64, ROUND_UP = 32, ROUND_STEPS = 8 };

/* What an axis is made a multiple of: so that there are tiles to choose from. */
static int64_t round_to(int64_t extent, int64_t most) {
    return hone_gpu_min(hone_gpu_power(extent), most);
}

static hone_status sample_tile(hone_schedule *sch, hone_rv loop, uint32_t parts,
                               const hone_rv **out) {
    const hone_rv *sizes = NULL;
    hone_factor factors[SPATIAL_PARTS];
    HONE_TRY(hone_sch_sample_perfect_tile(sch, loop, parts, MOST_INNERMOST, NULL, &sizes));
    for (uint32_t i = 0; i < parts; i++)
        factors[i] = HONE_FACTOR_OF_RV(sizes[i]);
    return hone_sch_split(sch, loop, parts, factors, true, false, out);
}

typedef struct sketch {
    hone_gpu g;
    hone_rv block, thread, outer_steps;
    hone_gpu_shape shape;
    hone_gpu_form form;
} sketch;

static hone_status bind_two(hone_gpu *g, hone_rv a, hone_rv b, const char *axis, hone_rv *out) {
    hone_rv two[] = {a, b};
    HONE_TRY(hone_gpu_fuse(g, 2, two, out));
    return hone_sch_bind(g->sch, *out, axis);
}

static hone_status tile_loops(sketch *s) {
    hone_schedule *sch = s->g.sch;
    hone_gpu_nest nest;
    const hone_rv *i, *j, *k;
    hone_rv virtual;
    HONE_TRY(hone_gpu_get_nest(&s->g, s->block, &nest));
    if (nest.count < 3) return hone_gpu_unfit();
    const hone_rv *own = nest.rvs + nest.count - 3;
    HONE_TRY(sample_tile(sch, own[0], SPATIAL_PARTS, &i));
    HONE_TRY(sample_tile(sch, own[1], SPATIAL_PARTS, &j));
    HONE_TRY(sample_tile(sch, own[2], REDUCE_PARTS, &k));
    hone_rv order[] = {i[0], j[0], i[1], j[1], i[2], j[2], k[0],
                       k[1], i[3], j[3], k[2], i[4], j[4]};
    HONE_TRY(hone_sch_reorder(sch, HONE_COUNT(order), order));
    hone_rv batch = nest.count > 3 ? nest.rvs[0] : HONE_NO_ID;
    HONE_TRY(hone_gpu_bind_tiles(&s->g, &s->shape, batch, i[0], j[0]));
    HONE_TRY(bind_two(&s->g, i[1], j[1], "vthread.x", &virtual));
    HONE_TRY(bind_two(&s->g, i[2], j[2], "threadIdx.x", &s->thread));
    HONE_TRY(hone_sch_unroll(sch, i[4]));
    HONE_TRY(hone_sch_unroll(sch, j[4]));
    s->outer_steps = k[0];
    return HONE_OK;
}

hone_status hone_gpu_sample_vector(hone_gpu *g, int64_t most, hone_rv *out) {
    static const int64_t lengths[] = {1, 2, 4, 8, 16};
    double probs[HONE_COUNT(lengths)];
    uint32_t count = 1;
    while (count < HONE_COUNT(lengths) && lengths[count] <= most)
        count++;
    for (uint32_t i = 0; i < count; i++)
        probs[i] = 1.0 / count;
    return hone_sch_sample_categorical(g->sch, count, lengths, probs, NULL, out);
}

static hone_status stage(sketch *s, uint32_t operand) {
    hone_rv copy, fused, length;
    gpu_group last = s->form.last[operand == s->shape.rows_operand ? 0 : 1];
    HONE_TRY(hone_sch_cache_read(s->g.sch, s->block, operand, "shared", 0, NULL, &copy));
    HONE_TRY(hone_sch_compute_at(s->g.sch, copy, s->outer_steps, true, -1));
    HONE_TRY(hone_gpu_join_prologue(&s->g, copy));
    HONE_TRY(
        hone_gpu_fuse_copy(&s->g, copy, s->outer_steps, &s->shape.sides[operand], last, &fused));
    int64_t bytes = (int64_t)hone_dtype_bytes(s->shape.types[operand]);
    HONE_TRY(hone_gpu_sample_vector(&s->g, GPU_VECTOR_BYTES / bytes, &length));
    return hone_sch_annotate(s->g.sch, copy, HONE_ANNOTATION_FETCH, HONE_VALUE_OF_INT(0), length);
}

hone_status hone_gpu_sketch_product(hone_schedule *sch, hone_rv block,
                                    const hone_gpu_limits *limits) {
    sketch s = {
        .g = {sch, limits},
          .block = block
    };
    hone_rv results;
    HONE_TRY(hone_gpu_read_shape(&s.g, block, &s.shape));
    for (uint32_t i = 0; i < GPU_GROUPS; i++) {
        if (s.shape.extents[i] < 1) return hone_gpu_unfit();
    }
    s.form = (hone_gpu_form){
        {1,                                     round_to(s.shape.extents[GPU_ROWS], ROUND_UP),
         round_to(s.shape.extents[GPU_COLUMNS], ROUND_UP),
         round_to(s.shape.extents[GPU_STEPS], ROUND_STEPS)},
        {s.shape.sides[s.shape.rows_operand].last, GPU_COLUMNS                         }
    };
    if (s.form.last[0] != GPU_ROWS) s.form.last[0] = GPU_STEPS;
    HONE_TRY(hone_sch_annotate(sch, block, HONE_ANNOTATION_TILING, HONE_VALUE_OF_STRING("SSSRRSRS"),
                               HONE_NO_ID));
    HONE_TRY(hone_gpu_to_matrices(&s.g, block, &s.shape, &s.form));
    HONE_TRY(hone_sch_cache_write(sch, block, 0, "local", 0, NULL, &results));
    HONE_TRY(tile_loops(&s));
    HONE_TRY(hone_sch_reverse_compute_at(sch, results, s.thread, true, -1));
    HONE_TRY(hone_gpu_join_epilogue(&s.g, results));
    HONE_TRY(stage(&s, 0));
    return stage(&s, 1);
}
