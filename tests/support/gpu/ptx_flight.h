/* tests/support/gpu/ptx_flight.h - PTX whose groups of warps multiply (wgmma), read as the
 * instruction set wants it: an assembler takes text that breaks these rules. */
#ifndef HONE_TESTS_SUPPORT_PTX_FLIGHT_H
#define HONE_TESTS_SUPPORT_PTX_FLIGHT_H

#include "support/core/status.h"

/* Goes along all ways through each entry of the text, as LLVM writes it: one instruction a line.
 *
 *   sums of a product that goes on are not touched before a wait that ends it;
 *   its registers of A are not written before that;
 *   what else wrote registers of a product is followed by wgmma.fence before the product;
 *   the barrier before a product stands behind fence.proxy.async, and that behind what was stored
 *   to shared memory;
 *   a proxy fence stands between mbarrier.init and a bulk copy.
 *
 * INVALID with the line that breaks one. out_products: how many lines with a product there are. */
HONE_NODISCARD hone_status test_ptx_flight(const char *text, unsigned *out_products);

#endif
