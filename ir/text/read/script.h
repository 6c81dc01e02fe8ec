/* ir/text/read/script.h - reads TVMScript, the one text form of modules.
 *
 * Both dialects are read: TVM 0.27 and the classic one of older documents. script_print.h is the
 * other way; parse(print(m)) equals m.
 */
#ifndef HONE_IR_TEXT_READ_SCRIPT_H
#define HONE_IR_TEXT_READ_SCRIPT_H

#include "ir/core/module.h"

/* source_name stands in messages ("prog.py"). Errors (INVALID, TYPE) carry
 * source_name:line:column, what was expected, the source line and a caret below it. Constants that
 * the text names but does not hold (metadata) are INVALID. Bare functions without a class make a
 * module of their own. The result is checked no further than the language demands: see verify. */
HONE_NODISCARD hone_status hone_script_parse(const char *text, size_t length,
                                             const char *source_name, hone_module **out_module);
/* Reads a file; "-" is standard input. Weights: FILE with .safetensors beside it when present
 * ("constant.0", ... in the order of the text's metadata, as hone_script_save writes them). */
HONE_NODISCARD hone_status hone_script_load(const char *path, hone_module **out_module);

/* hone_script_parse for those who only look at the program or take one PrimFunc out of it:
 * constants whose numbers are not at hand are NULL in the module (which only printing, verifying,
 * comparing and hashing allow for). */
HONE_NODISCARD hone_status hone_script_parse_outline(const char *text, size_t length,
                                                     const char *source_name,
                                                     hone_module **out_module);
/* hone_script_load, likewise. */
HONE_NODISCARD hone_status hone_script_load_outline(const char *path, hone_module **out_module);

#endif
