// Tells the Thread Sanitizer what Synchronization.Mutex does when two threads want it at once.
//
// The uncontended path of the mutex is inlined into our code and seen. The slow path lives in the standard library,
// which is not instrumented: without this file each contended lock is reported as a race (a program of ten lines
// that only counts under a Mutex shows it). The two functions are stepped in front of, and call the real ones.
// Compiled to nothing unless the sanitizer is on.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Swift passes a method's `self` in a register of its own.
typedef __attribute__((swiftcall)) void lock_path(uint32_t thread, __attribute__((swift_context)) void *self);
typedef __attribute__((swiftcall)) void unlock_path(__attribute__((swift_context)) void *self);

lock_path clinux_mutex_lock_slow __asm__(LOCK_SLOW);
unlock_path clinux_mutex_unlock_slow __asm__(UNLOCK_SLOW);

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

__attribute__((swiftcall)) void clinux_mutex_lock_slow(
    uint32_t thread, __attribute__((swift_context)) void *self) {
    ((lock_path *)real(LOCK_SLOW))(thread, self);
    __tsan_acquire(self);
}

__attribute__((swiftcall)) void clinux_mutex_unlock_slow(__attribute__((swift_context)) void *self) {
    __tsan_release(self);
    ((unlock_path *)real(UNLOCK_SLOW))(self);
}
#endif
#endif
