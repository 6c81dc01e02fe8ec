/* tests/costmodel/rank_problem.c - see rank_problem.h. */
#include "tests/costmodel/rank_problem.h"

#include <math.h>
#include <stdlib.h>

#include "support/data/rng.h"
#include "tests/support/hone_test.h"

hone_hash128 rank_problem_group(int number) {
    return (hone_hash128){.lo = (uint64_t)number, .hi = 77};
}

/* log2 of the time that one row costs. */
static double row_cost(const float *row) {
    double tile = fabs((double)row[10] - 5); /* best in the middle */
    double parallel = row[20] > 2 ? 0 : 1.5;
    return 0.5 * tile + parallel + 0.4 * (double)row[30] * (row[40] > 4 ? 1 : 0.2);
}

rank_problem rank_problem_make(size_t count, uint64_t seed, double noise, int upside_down) {
    rank_problem p = {.count = count};
    p.samples = calloc(count, sizeof *p.samples);
    p.rows = calloc(count, sizeof *p.rows);
    p.features = calloc(count * PROBLEM_MAX_ROWS * PROBLEM_COLUMNS, sizeof *p.features);
    assert_true(p.samples && p.rows && p.features);
    hone_rng rng = hone_rng_from_seed(seed);
    for (size_t i = 0; i < count; i++) {
        int group = (int)hone_rng_below(&rng, 2);
        uint32_t rows = group ? 3 : 2;
        float *data = p.features + i * PROBLEM_MAX_ROWS * PROBLEM_COLUMNS;
        double cost = 0;
        for (uint32_t r = 0; r < rows; r++) {
            float *row = data + (size_t)r * PROBLEM_COLUMNS;
            for (int c = 0; c < 120; c++)
                row[c] = (float)floor(10 * hone_rng_uniform(&rng));
            row[0] = (float)r;
            cost += row_cost(row) / rows;
        }
        if (upside_down) cost = 4 - cost;
        double time_ns = (group ? 1e6 : 1e4) * exp2(cost + noise * hone_test_normal(&rng));
        if (data[50] > 8) time_ns = NAN; /* too much of this fails */
        p.rows[i] = (hone_costmodel_rows){data, rows};
        p.samples[i] = (hone_costmodel_sample){rank_problem_group(group), p.rows[i], time_ns};
    }
    return p;
}

void rank_problem_destroy(rank_problem *p) {
    free(p->samples);
    free(p->rows);
    free(p->features);
    *p = (rank_problem){0};
}

double rank_problem_accuracy(hone_costmodel *model, const rank_problem *p, int group) {
    float *scores = calloc(p->count, sizeof *scores);
    hone_hash128 key = rank_problem_group(group);
    assert_non_null(scores);
    HONE_ASSERT_OK(hone_costmodel_score(model, &key, p->rows, p->count, scores));
    double right = 0, pairs = 0;
    for (size_t i = 0; i < p->count; i++) {
        for (size_t j = 0; j < p->count; j++) {
            double a = p->samples[i].time_ns, b = p->samples[j].time_ns;
            if (!hone_hash128_equal(p->samples[i].group, key)) continue;
            if (!hone_hash128_equal(p->samples[j].group, key)) continue;
            if (isnan(a) || !(isnan(b) || a * 1.05 < b)) continue;
            pairs += 1;
            right += scores[i] > scores[j] ? 1 : scores[i] < scores[j] ? 0 : 0.5;
        }
    }
    free(scores);
    return right / pairs;
}
