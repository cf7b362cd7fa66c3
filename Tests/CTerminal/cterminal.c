#define _GNU_SOURCE
#include "cterminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cterminal_open(char *path, size_t capacity) {
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) return -1;
    if (grantpt(terminal) == 0 && unlockpt(terminal) == 0 && ptsname_r(terminal, path, capacity) == 0) return terminal;
    close(terminal);
    return -1;
}

int cterminal_resize(int terminal, int columns, int rows) {
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
    return ioctl(terminal, TIOCSWINSZ, &size);
}

int cterminal_new_session(posix_spawnattr_t *attributes) {
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID);
}
