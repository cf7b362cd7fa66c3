// libFuzzer, which comes with the compiler as libclang_rt.fuzzer_no_main; Scripts/fuzz links it.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Changes the `size` bytes at `data` by chance, its dictionary and what it saw compared, to at most `capacity` bytes.
/// Returns how many there are now.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);

/// libFuzzer's main function, with what it calls for each input. Returns the program's exit status.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*run)(const uint8_t *data, size_t size));
