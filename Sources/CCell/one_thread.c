// Decoders that start threads of their own are told not to: these two functions stand in front of the libraries' own,
// because libheif calls them and offers no setting for what it asks.
//
// One worker is one core's worth of work, and there are as many workers as cores, so threads gain nothing. Without them
// the cell can forbid every way of making a thread or a process (a filter sees the flags of clone, not those of clone3,
// and no filter counts), and dav1d holds one thread's memory.
#define _GNU_SOURCE
#include <dav1d/dav1d.h>
#include <dlfcn.h>
#include <libde265/de265.h>
#include <stdlib.h>

/// libheif asks for one thread for each picture and each tile of it. With none, the caller's own does the work.
de265_error de265_start_worker_threads(de265_decoder_context *decoder, int count) {
    (void)decoder;
    (void)count;
    return DE265_OK;
}

/// The default is a thread for each processor.
void dav1d_default_settings(Dav1dSettings *settings) {
    void (*real)(Dav1dSettings *) = (void (*)(Dav1dSettings *))dlsym(RTLD_NEXT, "dav1d_default_settings");
    if (!real) abort();
    real(settings);
    settings->n_threads = 1;
    settings->max_frame_delay = 1;
}
