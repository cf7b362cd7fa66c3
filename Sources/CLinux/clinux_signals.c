#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

enum { most_signals = 65 };

static int ends[2] = {-1, -1};
static int failure;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Under the lock.
static struct sigaction before[most_signals];
static bool is_caught[most_signals];

static void make(void) {
    // Whoever writes is a signal handler and must not wait; whoever reads is a thread of its own and must.
    if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) failure = errno;
}

int clinux_signals_pipe(void) {
    pthread_once(&once, make);
    if (failure == 0) return ends[0];
    errno = failure;
    return -1;
}

static void note(int number) {
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    ssize_t written;
    do {
        written = write(ends[1], &byte, 1);
    } while (written < 0 && errno == EINTR);
    // A pipe that is full holds 65,536 signals that nobody has read. One more would say nothing new.
    errno = saved;
}

int clinux_signal_catch(int number) {
    if (number < 1 || number >= most_signals || ends[1] < 0) {
        errno = EINVAL;
        return -1;
    }
    pthread_mutex_lock(&lock);
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigfillset(&action.sa_mask);
    int result = is_caught[number] ? 0 : sigaction(number, &action, &before[number]);
    if (result == 0) is_caught[number] = true;
    pthread_mutex_unlock(&lock);
    return result;
}

int clinux_signal_release(int number) {
    if (number < 1 || number >= most_signals) {
        errno = EINVAL;
        return -1;
    }
    pthread_mutex_lock(&lock);
    int result = is_caught[number] ? sigaction(number, &before[number], NULL) : 0;
    if (result == 0) is_caught[number] = false;
    pthread_mutex_unlock(&lock);
    return result;
}
