/* tests/costmodel/rank_problem.h - a made-up ranking problem that resembles the real one: a few
 * rows per candidate, most columns noise or constant, times that follow a few of them, failures. */
#ifndef HONE_TESTS_COSTMODEL_RANK_PROBLEM_H
#define HONE_TESTS_COSTMODEL_RANK_PROBLEM_H

#include "costmodel/costmodel.h"

enum { PROBLEM_COLUMNS = 164, PROBLEM_MAX_ROWS = 5 };

typedef struct rank_problem {
    hone_costmodel_sample *samples;
    hone_costmodel_rows *rows; /* of the samples */
    float *features;
    size_t count;
} rank_problem;

/* `count` candidates of the two groups, by seed. With noise 0 the times are a pure function of the
 * features; `upside_down` makes what was fast slow. */
rank_problem rank_problem_make(size_t count, uint64_t seed, double noise, int upside_down);
void rank_problem_destroy(rank_problem *problem);
hone_hash128 rank_problem_group(int number);

/* Fraction of the pairs of `group` that the model puts in the right order. */
double rank_problem_accuracy(hone_costmodel *model, const rank_problem *problem, int group);

#endif
