// What libdispatch reads about its own threads, for a process that may open no files.
#pragma once

/// From now on libdispatch finds every thread of its own at work. Before its first thread, and before files are forbidden.
/// Returns 0, or -1 with errno set.
int cworkqueue_answer_ourselves(void);
