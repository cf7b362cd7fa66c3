#pragma once
#include <gd.h>
#include <gdfontl.h>

static inline void cgd_drop_message(int priority, const char *format, va_list arguments) {
    (void)priority;
    (void)format;
    (void)arguments;
}

/// gd writes what it dislikes to stderr; the answer is in its return values.
static inline void cgd_be_quiet(void) { gdSetErrorMethod(cgd_drop_message); }
