/* tests/support/code_text.h - what code is made of a program, and whether it is right. */
#ifndef HONE_TESTS_SUPPORT_CODE_TEXT_H
#define HONE_TESTS_SUPPORT_CODE_TEXT_H

#include "support/core/status.h"

/* Lowers a program (TVMScript) and makes machine code for a CPU of x86-64: INVALID unless the texts
 * hold what they must: `lowered` in the program, `instruction` in the code; "!text": must not be
 * there; NULL: anything. Then compares it with the interpreter on several kinds of CPU that this
 * machine can run. */
HONE_NODISCARD hone_status test_code(const char *program, const char *cpu, const char *lowered,
                                     const char *instruction);

#endif
