// Pseudo-terminals for tests: Swift cannot import what makes one.
#pragma once
#include <spawn.h>
#include <stddef.h>

/// A new pseudo-terminal: the end that a person sits at, close-on-exec, and the path of the other. Returns -1 with errno set.
int cterminal_open(char *path, size_t capacity);

/// Characters. The programs on it are told. Returns 0, or -1 with errno set.
int cterminal_resize(int terminal, int columns, int rows);

/// What is spawned gets a session of its own, whose terminal is the first that it opens. Returns 0, or an errno.
int cterminal_new_session(posix_spawnattr_t *attributes);
