#include "crelease.h"

#define AS_TEXT(word) #word
#define TEXT(macro) AS_TEXT(macro)

const char *crelease_commit(void) {
#ifdef SMILEPILE_COMMIT
    return TEXT(SMILEPILE_COMMIT);
#else
    return "";
#endif
}
