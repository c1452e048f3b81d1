// Stands in front of memcpy and memmove, as a shared object that is loaded first, and counts the
// bytes that each process copies in pieces of a page or more, in a file of its own in the folder
// of the variable COPIES: the number stays there when the process is killed. The file is called
// by the program that started it, the program, and the process.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// Smaller pieces are no copies of messages as long as those that are sent.
enum { LEAST = 4096 };

static _Atomic uint64_t here;
static _Atomic uint64_t *copied = &here;

struct name {
  char text[32];
};

static struct name name_of(int process) {
  struct name name = {""};
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/comm", process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : read(file, name.text, sizeof name.text - 1);
  if (file >= 0) close(file);
  if (length > 0) name.text[length - 1] = 0;
  return name;
}

__attribute__((constructor)) static void begin(void) {
  const char *folder = getenv("COPIES");
  if (folder == NULL) return;
  const struct name parent = name_of(getppid());
  const struct name own = name_of(getpid());
  char path[512];
  snprintf(path, sizeof path, "%s/%s+%s.%d", folder, parent.text, own.text, (int)getpid());
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof here) != 0) abort();
  void *memory = mmap(NULL, sizeof here, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) abort();
  close(file);
  copied = memory;
}

static void *copy(void *to, const void *from, size_t size) {
  if (size >= LEAST) atomic_fetch_add_explicit(copied, size, memory_order_relaxed);
  // Not by the functions that this stands in front of.
  void *start = to;
  if ((uintptr_t)to - (uintptr_t)from >= size) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
  } else {
    char *last_to = (char *)to + size - 1;
    const char *last_from = (const char *)from + size - 1;
    __asm__ volatile("std\n\trep movsb\n\tcld"
                     : "+D"(last_to), "+S"(last_from), "+c"(size)
                     :
                     : "memory");
  }
  return start;
}

void *memcpy(void *to, const void *from, size_t size) { return copy(to, from, size); }
void *memmove(void *to, const void *from, size_t size) { return copy(to, from, size); }
void *__memcpy_chk(void *to, const void *from, size_t size, size_t room) {
  if (size > room) abort();
  return copy(to, from, size);
}
void *__memmove_chk(void *to, const void *from, size_t size, size_t room) {
  if (size > room) abort();
  return copy(to, from, size);
}
