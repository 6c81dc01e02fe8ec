/* builder/build_intrins.h - the tensor intrinsics of a request, as a schedule wants them. */
#ifndef HONE_BUILDER_BUILD_INTRINS_H
#define HONE_BUILDER_BUILD_INTRINS_H

#include "measure/build.h"
#include "schedule/intrin/tensor_intrin.h"

/* The set that these texts make, owned by the caller; NULL when there are none. INVALID, TYPE: a
 * text is no intrinsic. */
HONE_NODISCARD hone_status hone_build_intrins_open(size_t count, const hone_build_intrin *intrins,
                                                   hone_tensor_intrins **out_set);

#endif
