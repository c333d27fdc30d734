/* held.h: the bytes that were held when a VM closed. The linker hands memory_close over (see Makefile). */
#ifndef FUZZ_HELD_H
#define FUZZ_HELD_H
#include "memory.h"

static size_t held;
void __real_memory_close(memory *m);
void __wrap_memory_close(memory *m);
void __wrap_memory_close(memory *m)
{
    held = m->live_all;
    __real_memory_close(m);
}
#endif
