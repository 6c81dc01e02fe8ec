/* support/os/terminal.h - how wide a terminal is. Threads: safe. */
#ifndef HONE_SUPPORT_OS_TERMINAL_H
#define HONE_SUPPORT_OS_TERMINAL_H

/* Columns of the terminal that a descriptor leads to, 80 where it does not say; 0 when it is none.
 * Asked each time: windows change. */
int hone_terminal_columns(int fd);

#endif
