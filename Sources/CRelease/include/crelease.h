// Which commit this was built from: a C function and not a Swift constant, so that another commit compiles one small file anew.
#pragma once

/// The first digits of the commit, with a plus sign behind them where the files were not as it has them; empty where nobody
/// said so, as in builds for tests.
const char *crelease_commit(void);
