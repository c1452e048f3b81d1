/* The counter of allocations for a program that is linked statically: nothing can be
 * preloaded into it, so that the linker puts the counter in front of malloc and its kin
 * (`--wrap=malloc` and so on). It is the same counter. */

#define malloc __wrap_malloc
#define calloc __wrap_calloc
#define realloc __wrap_realloc
#define free __wrap_free
#define memalign __wrap_memalign
#define aligned_alloc __wrap_aligned_alloc
#define posix_memalign __wrap_posix_memalign
#define valloc __wrap_valloc
#define pvalloc __wrap_pvalloc
#define __libc_malloc __real_malloc
#define __libc_calloc __real_calloc
#define __libc_realloc __real_realloc
#define __libc_free __real_free
#define __libc_memalign __real_memalign
#define __libc_valloc __real_valloc
#define __libc_pvalloc __real_pvalloc

#include "../alloc/alloc.c"
