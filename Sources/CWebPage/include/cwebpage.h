// The files of the page as they are in Sources/WebPage/Resources, in the program itself.
#pragma once
#include <stddef.h>

struct cwebpage_file {
    /// Where it was when the program was built, relative to the folder Sources.
    const char *source;
    const unsigned char *bytes;
    size_t size;
};

/// All of them; they stay for as long as the program.
const struct cwebpage_file *cwebpage_files(size_t *count);
