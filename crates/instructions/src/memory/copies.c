/* Counts what a process copies and allocates between readings of its clock.
 *
 *     cc -std=c11 -O2 -fPIC -shared -fno-builtin -fvisibility=hidden \
 *         -o libcopies.so copies.c
 *     LD_PRELOAD=./libcopies.so:./liballoc.so WIREGAUGE_COUNTS=/tmp/counts runner
 *
 * At each reading of the clock it writes what was counted since the one before to a file
 * COUNTS.PROCESS.NUMBER, in the form of callgrind's dumps. So a runner needs nothing for it.
 *
 * It sees memcpy, memmove and their kin where they are called, and blocks that realloc moves. It
 * does not see what the compiler made into instructions of its own, as copies of a few bytes, nor
 * what the C library copies inside itself. liballoc.so counts the allocations.
 *
 * Copying here is slow: never preload it into a process that is being timed.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Relaxed everywhere: these are counts, and nothing is ordered by them. */
static _Atomic uint64_t copies;
static _Atomic uint64_t copied;
static _Atomic uint64_t readings;

EXPORT void *memcpy(void *restrict to, const void *restrict from, size_t size);
EXPORT void *memmove(void *to, const void *from, size_t size);
EXPORT void *mempcpy(void *restrict to, const void *restrict from, size_t size);
EXPORT void *__memcpy_chk(void *restrict to, const void *restrict from, size_t size, size_t room);
EXPORT void *__memmove_chk(void *to, const void *from, size_t size, size_t room);
EXPORT void *__mempcpy_chk(void *restrict to, const void *restrict from, size_t size, size_t room);
EXPORT void *realloc(void *block, size_t size);
EXPORT int clock_gettime(clockid_t clock, struct timespec *now);

static void count(size_t size) {
  atomic_fetch_add_explicit(&copies, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&copied, size, memory_order_relaxed);
}

/* Byte by byte, and so that no compiler makes a call of memmove of it. */
static void *move(void *to, const void *from, size_t size) {
  unsigned char *target = to;
  const unsigned char *source = from;
  count(size);
  if ((uintptr_t)target - (uintptr_t)source >= size) {
    for (size_t at = 0; at < size; at++) {
      target[at] = source[at];
      __asm__ volatile("" ::: "memory");
    }
  } else {
    for (size_t at = size; at > 0; at--) {
      target[at - 1] = source[at - 1];
      __asm__ volatile("" ::: "memory");
    }
  }
  return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  return move(to, from, size);
}

void *memmove(void *to, const void *from, size_t size) { return move(to, from, size); }

void *mempcpy(void *restrict to, const void *restrict from, size_t size) {
  return (char *)move(to, from, size) + size;
}

static void check(size_t size, size_t room) {
  if (size > room) {
    abort();
  }
}

void *__memcpy_chk(void *restrict to, const void *restrict from, size_t size, size_t room) {
  check(size, room);
  return move(to, from, size);
}

void *__memmove_chk(void *to, const void *from, size_t size, size_t room) {
  check(size, room);
  return move(to, from, size);
}

void *__mempcpy_chk(void *restrict to, const void *restrict from, size_t size, size_t room) {
  check(size, room);
  return (char *)move(to, from, size) + size;
}

/* The function of this name behind this object: liballoc.so's, or the C library's. */
static void *find_next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    abort();
  }
  return found;
}

void *realloc(void *block, size_t size) {
  static void *(*next)(void *, size_t);
  if (next == NULL) {
    /* POSIX has functions come as data. */
    *(void **)&next = find_next("realloc");
  }
  /* Where a block is moved, the C library copies all that was usable of it. */
  size_t usable = block == NULL ? 0 : malloc_usable_size(block);
  void *moved = next(block, size);
  if (block != NULL && moved != NULL && moved != block) {
    count(usable < size ? usable : size);
  }
  return moved;
}

/* Writes what was counted since the last call. The functions of the process are one. */
static void write_counts(void) {
  static uint64_t known[2];
  const char *path = getenv("WIREGAUGE_COUNTS");
  if (path == NULL) {
    return;
  }
  uint64_t allocated[3] = {0, 0, 0};
  void (*allocations)(uint64_t[3]);
  *(void **)&allocations = dlsym(RTLD_DEFAULT, "wiregauge_alloc_counts");
  if (allocations != NULL) {
    allocations(allocated);
  }
  unsigned long long counts[4] = {
      atomic_exchange_explicit(&copied, 0, memory_order_relaxed),
      atomic_exchange_explicit(&copies, 0, memory_order_relaxed),
      allocated[0] - known[0],
      allocated[1] - known[1],
  };
  known[0] = allocated[0];
  known[1] = allocated[1];
  unsigned long long number = atomic_fetch_add_explicit(&readings, 1, memory_order_relaxed) + 1;
  char file[4096];
  int length = snprintf(file, sizeof file, "%s.%ld.%llu", path, (long)getpid(), number);
  if (length < 0 || (size_t)length >= sizeof file) {
    abort();
  }
  char text[512];
  length = snprintf(text, sizeof text,
                    "events: Copied Copies Allocations Allocated\nfn=process\n"
                    "0 %llu %llu %llu %llu\ntotals: %llu %llu %llu %llu\n",
                    counts[0], counts[1], counts[2], counts[3], counts[0], counts[1], counts[2],
                    counts[3]);
  int output = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (output < 0 || write(output, text, (size_t)length) != length || close(output) != 0) {
    abort();
  }
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*next)(clockid_t, struct timespec *);
  if (next == NULL) {
    *(void **)&next = find_next("clock_gettime");
  }
  write_counts();
  return next(clock, now);
}
