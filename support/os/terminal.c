/* support/os/terminal.c - see terminal.h. */
#include "support/os/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_COLUMNS = 80 };

int hone_terminal_columns(int fd) {
    struct winsize size;
    if (isatty(fd) != 1) return 0;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return USUAL_COLUMNS;
}
