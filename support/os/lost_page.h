/* support/os/lost_page.h - a mapped file that is cut, or whose disk fails, while it is read.
 *
 * The kernel answers a read of a page that is not there any more with SIGBUS: no call can fail in
 * its place. The program ends with a line that names the file.
 * Threads: _explain before any is started.
 */
#ifndef HONE_SUPPORT_OS_LOST_PAGE_H
#define HONE_SUPPORT_OS_LOST_PAGE_H

/* From now on a lost page of a mapped file ends the process with the code, after "PROGRAM: FILE: …"
 * on stderr; any other SIGBUS kills it as before. program: a literal. */
void hone_lost_page_explain(const char *program, int exit_code);

#endif
