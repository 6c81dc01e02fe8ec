/* ir/text/print/script_print_graph.h - what the files that print graph programs share. Inside the
 * room only.
 */
#ifndef HONE_IR_TEXT_PRINT_SCRIPT_PRINT_GRAPH_H
#define HONE_IR_TEXT_PRINT_SCRIPT_PRINT_GRAPH_H

#include "ir/text/print/script_print_impl.h"

void print_sinfo(printer *pr, const hone_sinfo *info); /* NULL: an unknown object */
void print_garg(printer *pr, const hone_garg *arg);
void print_gargs(printer *pr, uint32_t count, const hone_garg *args);
void print_garg_tuple(printer *pr, uint32_t count, const hone_garg *args);

#endif
