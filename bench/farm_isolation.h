/* bench/farm_isolation.h - what it costs that candidates run elsewhere and are held: the times of
 * kernels, the start of an executor, trials per second. */
#ifndef HONE_BENCH_FARM_ISOLATION_H
#define HONE_BENCH_FARM_ISOLATION_H

#include "bench/farm_subject.h"

void farm_isolation_bench(farm_subject *s);

#endif
