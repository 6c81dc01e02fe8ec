/* costmodel/nearby.c - see nearby.h. */
#include "costmodel/nearby.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support/core/alloc.h"
#include "support/core/arena.h"

enum {
    LEAST_SAMPLES = 12,
    MOST_SAMPLES = 160, /* of a group: half of them its fastest, half its latest */
    MOST_COLUMNS = 512, /* and one for the number of rows */
    LANES = 8,
    ARENA_BYTES = 1 << 16
};

#define SLOWEST 1.5       /* times the best; who is slower is as bad as that */
#define NOISE 0.1         /* of a residual, beside its variance */
#define FARTHEST 6.0      /* spreads from the mean of a column */
#define LEAST_SLOPE 0.05  /* what is known before is not turned around */
#define USUAL_SLOPE 0.3   /* of log time per unit of score, and … */
#define USUAL_SAMPLES 4.0 /* … as many samples as say so */
#define LEAST_SPREAD 1e-6

typedef struct group {
    hone_hash128 id;
    uint32_t count, width; /* width: of the columns that vary, filled up to LANES */
    uint32_t varying;
    uint32_t *columns;
    float *mean, *inverse; /* by varying column: (x - mean) × inverse has spread 1 */
    float *points;         /* count × width */
    double *weights;       /* of the samples */
    double slope, mean_before;
    double spread_own, spread_near; /* over the samples */
} group;

struct nearby {
    atomic_int references;
    hone_arena *arena; /* of all below */
    group *groups;
    size_t count;
};

/* ---- a candidate as a point ---- */

/* The sums of its rows, and how many there are: columns + 1 numbers. */
static void describe(const float *rows, uint32_t row_count, uint32_t columns, float *out) {
    for (uint32_t c = 0; c < columns; c++)
        out[c] = 0;
    for (uint32_t r = 0; r < row_count; r++) {
        for (uint32_t c = 0; c < columns; c++)
            out[c] += rows[(size_t)r * columns + c];
    }
    out[columns] = (float)row_count;
}

static void place(const group *g, const float *described, float *out) {
    for (uint32_t i = 0; i < g->width; i++)
        out[i] = 0;
    for (uint32_t i = 0; i < g->varying; i++) {
        float x = (described[g->columns[i]] - g->mean[i]) * g->inverse[i];
        out[i] = fminf(fmaxf(x, (float)-FARTHEST), (float)FARTHEST);
    }
}

/* 1 for the same point, less the farther. */
static double likeness(const group *g, const float *a, const float *b) {
    float part[LANES] = {0};
    double sum = 0;
    for (uint32_t i = 0; i < g->width; i += LANES) {
        for (uint32_t k = 0; k < LANES; k++) {
            float d = a[i + k] - b[i + k];
            part[k] += d * d;
        }
    }
    for (uint32_t k = 0; k < LANES; k++)
        sum += (double)part[k];
    return exp(-sqrt(sum / (g->varying ? g->varying : 1)));
}

static double near(const group *g, const float *point) {
    double sum = 0;
    for (uint32_t i = 0; i < g->count; i++)
        sum += g->weights[i] * likeness(g, point, g->points + (size_t)i * g->width);
    return sum;
}

/* ---- fitting ---- */

/* What one group is fitted to; all arrays have an entry for each sample. */
typedef struct fit {
    hone_arena *arena; /* of the group */
    const train_sample **samples;
    uint32_t count, columns;
    float *described;
    double *before, *own; /* what the trees say: those before, and all */
    double *target;       /* minus the logarithm of time over the best */
    double *matrix;       /* count × count */
} fit;

static hone_status no_memory(void) {
    return HONE_ERROR(HONE_CODE_NO_MEMORY, "what is near, of the cost model");
}

static double mean_of(const double *values, uint32_t count) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    return sum / count;
}

static double spread_of(const double *values, uint32_t count) {
    double mean = mean_of(values, count), sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sqrt(sum / count);
}

/* Columns that vary, with their mean and spread. */
static bool standardise(const fit *f, group *g) {
    uint32_t all = f->columns + 1;
    g->columns = hone_arena_alloc(f->arena, all * sizeof *g->columns);
    g->mean = hone_arena_alloc(f->arena, all * sizeof *g->mean);
    g->inverse = hone_arena_alloc(f->arena, all * sizeof *g->inverse);
    double *values = hone_arena_alloc(f->arena, f->count * sizeof *values);
    if (!g->columns || !g->mean || !g->inverse || !values) return false;
    for (uint32_t c = 0; c < all; c++) {
        for (uint32_t i = 0; i < f->count; i++)
            values[i] = (double)f->described[(size_t)i * all + c];
        double spread = spread_of(values, f->count);
        if (!(spread > LEAST_SPREAD)) continue;
        g->columns[g->varying] = c;
        g->mean[g->varying] = (float)mean_of(values, f->count);
        g->inverse[g->varying++] = (float)(1 / spread);
    }
    g->width = (g->varying + LANES - 1) / LANES * LANES;
    g->points = hone_arena_alloc(f->arena, ((size_t)f->count * g->width + 1) * sizeof *g->points);
    for (uint32_t i = 0; i < f->count && g->points; i++)
        place(g, f->described + (size_t)i * all, g->points + (size_t)i * g->width);
    return g->points != NULL;
}

/* How log time follows what was known before; few samples leave it at what is usual. */
static void find_slope(const fit *f, group *g) {
    double mean = mean_of(f->target, f->count), both = 0;
    g->mean_before = mean_of(f->before, f->count);
    g->spread_own = spread_of(f->own, f->count);
    for (uint32_t i = 0; i < f->count; i++)
        both += (f->before[i] - g->mean_before) * (f->target[i] - mean);
    double spread = spread_of(f->before, f->count), variance = spread * spread;
    g->slope = USUAL_SLOPE;
    if (variance > LEAST_SPREAD) {
        g->slope = (both / variance + USUAL_SAMPLES * USUAL_SLOPE) / (f->count + USUAL_SAMPLES);
    }
    if (g->slope < LEAST_SLOPE) g->slope = LEAST_SLOPE;
}

/* The matrix becomes L with L × Lᵀ = matrix; it is positive definite, by its noise. */
static void factorise(double *m, uint32_t n) {
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t i = j; i < n; i++) {
            double sum = m[(size_t)i * n + j];
            for (uint32_t k = 0; k < j; k++)
                sum -= m[(size_t)i * n + k] * m[(size_t)j * n + k];
            m[(size_t)i * n + j] =
                i == j ? sqrt(fmax(sum, LEAST_SPREAD)) : sum / m[(size_t)j * n + j];
        }
    }
}

/* x becomes the solution of L × Lᵀ × solution = x. */
static void solve(const double *m, uint32_t n, double *x) {
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < i; k++)
            x[i] -= m[(size_t)i * n + k] * x[k];
        x[i] /= m[(size_t)i * n + i];
    }
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t k = i + 1; k < n; k++)
            x[i] -= m[(size_t)k * n + i] * x[k];
        x[i] /= m[(size_t)i * n + i];
    }
}

static double expected(const group *g, double before, const float *point) {
    return g->slope * (before - g->mean_before) + near(g, point);
}

static bool weigh(const fit *f, group *g) {
    uint32_t n = f->count;
    double mean = mean_of(f->target, n);
    g->count = n;
    g->weights = hone_arena_alloc(f->arena, n * sizeof *g->weights);
    double *expect = hone_arena_alloc(f->arena, n * sizeof *expect);
    if (!g->weights || !expect) return false;
    for (uint32_t i = 0; i < n; i++) {
        const float *a = g->points + (size_t)i * g->width;
        g->weights[i] = f->target[i] - mean - g->slope * (f->before[i] - g->mean_before);
        for (uint32_t k = 0; k <= i; k++)
            f->matrix[(size_t)i * n + k] = likeness(g, a, g->points + (size_t)k * g->width);
        f->matrix[(size_t)i * n + i] += NOISE;
    }
    factorise(f->matrix, n);
    solve(f->matrix, n, g->weights);
    for (uint32_t i = 0; i < n; i++)
        expect[i] = expected(g, f->before[i], g->points + (size_t)i * g->width);
    g->spread_near = spread_of(expect, n);
    return true;
}

/* ---- the samples of a group ---- */

static int by_group(const void *a, const void *b) {
    const train_sample *x = *(const train_sample *const *)a, *y = *(const train_sample *const *)b;
    int order = hone_hash128_compare(x->group, y->group);
    return order ? order : (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static int by_time(const void *a, const void *b) {
    const train_sample *x = *(const train_sample *const *)a, *y = *(const train_sample *const *)b;
    if (isnan(x->time_ns) != isnan(y->time_ns)) return isnan(x->time_ns) ? 1 : -1;
    if (x->time_ns != y->time_ns && !isnan(x->time_ns)) return x->time_ns < y->time_ns ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static int latest_first(const void *a, const void *b) {
    const train_sample *x = *(const train_sample *const *)a, *y = *(const train_sample *const *)b;
    return (x->sequence < y->sequence) - (x->sequence > y->sequence);
}

/* The first of them are those that count; the order of all may change. */
static uint32_t choose(const train_sample **samples, uint32_t count) {
    if (count <= MOST_SAMPLES) return count;
    qsort(samples, count, sizeof *samples, by_time);
    qsort(samples + MOST_SAMPLES / 2, count - MOST_SAMPLES / 2, sizeof *samples, latest_first);
    return MOST_SAMPLES;
}

static double best_of(const fit *f) {
    double best = INFINITY;
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->samples[i]->time_ns < best) best = f->samples[i]->time_ns;
    }
    return best;
}

static void look(const fit *f, const tree_forest *prior, const tree_forest *own) {
    double best = best_of(f);
    for (uint32_t i = 0; i < f->count; i++) {
        const train_sample *s = f->samples[i];
        double ratio = isnan(s->time_ns) ? SLOWEST : fmin(s->time_ns / best, SLOWEST);
        describe(s->rows, s->row_count, f->columns, f->described + (size_t)i * (f->columns + 1));
        f->before[i] = tree_forest_rows(prior, s->rows, s->row_count, f->columns);
        f->own[i] = f->before[i] + tree_forest_rows(own, s->rows, s->row_count, f->columns);
        f->target[i] = -log(ratio);
    }
}

static hone_status fit_group(fit *f, hone_arena *scratch, const tree_forest *prior,
                             const tree_forest *own, group *out) {
    size_t n = f->count;
    hone_arena_reset(scratch);
    *out = (group){.id = f->samples[0]->group};
    f->described = hone_arena_alloc(scratch, n * (f->columns + 1) * sizeof *f->described);
    f->before = hone_arena_alloc(scratch, n * sizeof *f->before);
    f->own = hone_arena_alloc(scratch, n * sizeof *f->own);
    f->target = hone_arena_alloc(scratch, n * sizeof *f->target);
    f->matrix = hone_arena_alloc(scratch, n * n * sizeof *f->matrix);
    if (!f->described || !f->before || !f->own || !f->target || !f->matrix) return no_memory();
    look(f, prior, own);
    find_slope(f, out);
    return standardise(f, out) && weigh(f, out) ? HONE_OK : no_memory();
}

static hone_status fit_all(const train_sample **samples, uint32_t count, uint32_t columns,
                           hone_arena *scratch, const tree_forest *prior, const tree_forest *own,
                           nearby *io) {
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1;
             end < count && hone_hash128_equal(samples[end]->group, samples[begin]->group);)
            end++;
        if (end - begin < LEAST_SAMPLES) continue;
        fit f = {.arena = io->arena, .samples = samples + begin, .columns = columns};
        f.count = choose(f.samples, end - begin);
        HONE_TRY(fit_group(&f, scratch, prior, own, &io->groups[io->count++]));
    }
    return HONE_OK;
}

static hone_status make(const train_history *history, uint32_t columns, hone_arena *scratch,
                        const tree_forest *prior, const tree_forest *own, nearby *io) {
    uint32_t count = (uint32_t)history->samples.count;
    const train_sample **samples = hone_malloc((count + 1) * sizeof *samples);
    io->groups = hone_arena_alloc(io->arena, (count / LEAST_SAMPLES + 1) * sizeof *io->groups);
    hone_status st = samples && io->groups ? HONE_OK : no_memory();
    for (uint32_t i = 0; i < count && !st; i++)
        samples[i] = &history->samples.data[i];
    if (!st) qsort(samples, count, sizeof *samples, by_group);
    if (!st) st = fit_all(samples, count, columns, scratch, prior, own, io);
    hone_free(samples);
    return st;
}

hone_status nearby_make(const train_history *history, uint32_t columns, const tree_forest *prior,
                        const tree_forest *own, nearby **out_nearby) {
    *out_nearby = NULL;
    if (columns > MOST_COLUMNS || history->samples.count < LEAST_SAMPLES) return HONE_OK;
    nearby *all = hone_calloc(1, sizeof *all);
    if (!all) return no_memory();
    atomic_init(&all->references, 1);
    hone_arena *scratch = hone_arena_create(ARENA_BYTES);
    all->arena = hone_arena_create(ARENA_BYTES);
    hone_status st =
        scratch && all->arena ? make(history, columns, scratch, prior, own, all) : no_memory();
    hone_arena_destroy(scratch);
    if (!st && all->count) {
        *out_nearby = all;
    } else {
        nearby_release(all);
    }
    return st;
}

nearby *nearby_retain(nearby *all) {
    if (all) atomic_fetch_add(&all->references, 1);
    return all;
}

void nearby_release(nearby *all) {
    if (!all || atomic_fetch_sub(&all->references, 1) != 1) return;
    hone_arena_destroy(all->arena);
    hone_free(all);
}

/* ---- asking ---- */

static const group *find(const nearby *all, const hone_hash128 *id) {
    for (size_t i = 0; all && i < all->count; i++) {
        if (hone_hash128_equal(all->groups[i].id, *id)) return &all->groups[i];
    }
    return NULL;
}

/* One that says the same of all samples has no opinion. */
static void add_opinion(double value, double spread, double *io_sum, int *io_count) {
    if (!(spread > LEAST_SPREAD)) return;
    *io_sum += value / spread;
    ++*io_count;
}

/* In units of a score: scores of the samples are so far from each other. */
static double unit_of(const group *g) {
    return g->spread_own > LEAST_SPREAD ? g->spread_own : 1;
}

static void place_rows(const group *g, const hone_costmodel_rows *rows, uint32_t columns,
                       float *out_point) {
    float described[MOST_COLUMNS + 1];
    assert(columns <= MOST_COLUMNS);
    describe(rows->data, rows->row_count, columns, described);
    place(g, described, out_point);
}

double nearby_score(const nearby *all, const hone_hash128 *group_id,
                    const hone_costmodel_rows *rows, uint32_t columns, double before, double own) {
    const group *g = find(all, group_id);
    float point[MOST_COLUMNS + LANES];
    double sum = 0;
    int count = 0;
    if (!g) return before + own;
    place_rows(g, rows, columns, point);
    add_opinion(before + own, g->spread_own, &sum, &count);
    add_opinion(expected(g, before, point), g->spread_near, &sum, &count);
    return count ? unit_of(g) * sum / count : before + own;
}

double nearby_doubt(const nearby *all, const hone_hash128 *group_id,
                    const hone_costmodel_rows *rows, uint32_t columns) {
    const group *g = find(all, group_id);
    float point[MOST_COLUMNS + LANES];
    double most = 0;
    if (!g) return 0;
    place_rows(g, rows, columns, point);
    for (uint32_t i = 0; i < g->count; i++)
        most = fmax(most, likeness(g, point, g->points + (size_t)i * g->width));
    return unit_of(g) * (1 - most);
}
