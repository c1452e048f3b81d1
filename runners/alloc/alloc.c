/* Counts the heap allocations of a process that it is preloaded into.
 *
 *     cc -std=c11 -O2 -fPIC -shared -fno-builtin -fvisibility=hidden -o liballoc.so alloc.c
 *     LD_PRELOAD=./liballoc.so WIREGAUGE_ALLOC_LIMIT=1000000000 runner
 *
 * It stands in front of malloc and its kin, which C++'s operator new and
 * Rust's System allocator go through as well. It does not see what a program
 * takes from the kernel by itself (mmap) or gives out from a pool of its own;
 * Python shows its small objects with PYTHONMALLOC=malloc.
 *
 * A runner asks for the counts through the dynamic linker, so that it needs
 * nothing at build time and notices when it runs without:
 *
 *     dlsym(RTLD_DEFAULT, "wiregauge_alloc_counts")
 *
 * Counting costs some nanoseconds an allocation: never preload it into a
 * process that is being timed.
 */

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef __GLIBC__
#error "needs glibc, whose allocator has second names to call it by"
#endif

#define EXPORT __attribute__((visibility("default")))

/* Exit code of a process that wanted more than its limit. */
enum { LIMIT_EXCEEDED = 86 };

/* glibc's allocator under its second names. Unlike a search with dlsym, which
 * allocates itself, they can be called from the first instruction on. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void *__libc_valloc(size_t size);
extern void *__libc_pvalloc(size_t size);
extern void __libc_free(void *block);

/* Relaxed everywhere: these are counts, and nothing is ordered by them. */
static _Atomic uint64_t allocations;
static _Atomic uint64_t requested;
static _Atomic int64_t live;
static _Atomic int64_t peak;

/* Bytes that may be live. No limit until the environment can be read. */
static int64_t limit = INT64_MAX;

EXPORT void wiregauge_alloc_counts(uint64_t out[3]);

/* Fills in
 *   out[0]  allocations so far; a realloc is one,
 *   out[1]  bytes requested by them,
 *   out[2]  the most bytes that were live at a time since the previous call,
 *           with the allocator's rounding; two calls in a row give what is
 *           live now.
 */
void wiregauge_alloc_counts(uint64_t out[3]) {
  out[0] = atomic_load_explicit(&allocations, memory_order_relaxed);
  out[1] = atomic_load_explicit(&requested, memory_order_relaxed);
  int64_t now = atomic_load_explicit(&live, memory_order_relaxed);
  int64_t most = atomic_exchange_explicit(&peak, now, memory_order_relaxed);
  out[2] = most > 0 ? (uint64_t)most : 0;
}

__attribute__((constructor)) static void read_limit(void) {
  const char *text = getenv("WIREGAUGE_ALLOC_LIMIT");
  if (text == NULL || *text < '0' || *text > '9') {
    return;
  }
  unsigned long long bytes = strtoull(text, NULL, 10);
  limit = bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
}

/* Ends the process. Nothing here may allocate. */
static _Noreturn void exceed(size_t size) {
  char text[96] = "wiregauge: allocation limit exceeded (requested ";
  char digits[24];
  size_t length = strlen(text);
  size_t count = 0;
  do {
    digits[count++] = (char)('0' + size % 10);
    size /= 10;
  } while (size != 0);
  while (count != 0) {
    text[length++] = digits[--count];
  }
  text[length++] = ')';
  text[length++] = '\n';
  ssize_t written = write(STDERR_FILENO, text, length);
  (void)written;
  _exit(LIMIT_EXCEEDED);
}

/* Called before `size` bytes are asked for in place of `freed` ones. */
static void check(size_t size, size_t freed) {
  int64_t now = atomic_load_explicit(&live, memory_order_relaxed) - (int64_t)freed;
  if (size > (uint64_t)limit || now > limit - (int64_t)size) {
    exceed(size);
  }
}

static void grow(int64_t bytes) {
  int64_t now = atomic_fetch_add_explicit(&live, bytes, memory_order_relaxed) + bytes;
  int64_t most = atomic_load_explicit(&peak, memory_order_relaxed);
  while (now > most && !atomic_compare_exchange_weak_explicit(
                           &peak, &most, now, memory_order_relaxed, memory_order_relaxed)) {
  }
}

/* Called with each new block, which is null when there was no memory. */
static void *count(void *block, size_t size, size_t freed) {
  if (block != NULL) {
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&requested, size, memory_order_relaxed);
    grow((int64_t)malloc_usable_size(block) - (int64_t)freed);
  }
  return block;
}

EXPORT void *malloc(size_t size) {
  check(size, 0);
  return count(__libc_malloc(size), size, 0);
}

EXPORT void *calloc(size_t number, size_t each) {
  size_t size;
  if (__builtin_mul_overflow(number, each, &size)) {
    errno = ENOMEM;
    return NULL;
  }
  check(size, 0);
  return count(__libc_calloc(number, each), size, 0);
}

EXPORT void free(void *block) {
  if (block != NULL) {
    grow(-(int64_t)malloc_usable_size(block));
    __libc_free(block);
  }
}

EXPORT void *realloc(void *block, size_t size) {
  size_t freed = block != NULL ? malloc_usable_size(block) : 0;
  if (block != NULL && size == 0) {
    /* glibc frees then. */
    grow(-(int64_t)freed);
    return __libc_realloc(block, 0);
  }
  check(size, freed);
  return count(__libc_realloc(block, size), size, freed);
}

EXPORT void *memalign(size_t alignment, size_t size) {
  check(size, 0);
  return count(__libc_memalign(alignment, size), size, 0);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

EXPORT int posix_memalign(void **out, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  int before = errno;
  void *block = memalign(alignment, size);
  errno = before;
  if (block == NULL) {
    return ENOMEM;
  }
  *out = block;
  return 0;
}

/* Nobody should use these two, but what they give out is freed like the rest. */
EXPORT void *valloc(size_t size) {
  check(size, 0);
  return count(__libc_valloc(size), size, 0);
}

EXPORT void *pvalloc(size_t size) {
  check(size, 0);
  return count(__libc_pvalloc(size), size, 0);
}
