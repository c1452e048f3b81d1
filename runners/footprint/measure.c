/* What a program with a codec, or with a part of it, is measured by: a stack that is
 * painted before the codec is called, the counter of allocations, and how the program gets
 * a message and gives back what became of it. It needs no more of the C library than
 * that, as what is here is hidden from the codec's own footprint. The same for C, C++ and
 * Rust.
 *
 * Input:  two blocks, the message in its canonical form and its encoded bytes, each after
 *         its size in eight bytes.
 * Output: for encoding and for decoding three numbers of eight bytes: bytes of stack, most
 *         bytes of heap, allocations. Then two blocks as in the input: the encoded bytes and
 *         the canonical form of the decoded message.
 * All numbers are in the processor's order. What goes wrong is a line on standard error,
 * and the exit status 2 where the format cannot say the message, else 1.
 */

#define _GNU_SOURCE

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

struct wiregauge_block {
  const uint8_t *data;
  size_t size;
};

struct wiregauge_cost {
  uint64_t stack;
  uint64_t heap_peak;
  uint64_t allocations;
};

void wiregauge_alloc_counts(uint64_t out[3]);
void wiregauge_input(struct wiregauge_block out[2]);
void wiregauge_measure(void (*call)(void *), void *context, struct wiregauge_cost *out);
void wiregauge_output(const struct wiregauge_cost costs[2], const struct wiregauge_block blocks[2]);
_Noreturn void wiregauge_refuse(const char *text, size_t size, int status);

enum { STACK = 8 << 20, GUARD = 1 << 16 };

/* What no codec writes so often that it could be taken for untouched. */
static const uint64_t PAINT = 0x5bd1e995a3c59ac3u;

_Noreturn void wiregauge_refuse(const char *text, size_t size, int status) {
  ssize_t written = write(STDERR_FILENO, text, size);
  written = write(STDERR_FILENO, "\n", 1);
  (void)written;
  _exit(status);
}

static _Noreturn void refuse(const char *text) { wiregauge_refuse(text, strlen(text), 1); }

/* Memory that the counter of allocations does not see. */
static void *map(size_t size) {
  void *block =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) refuse("no memory");
  return block;
}

static void read_all(void *into, size_t size) {
  uint8_t *at = into;
  while (size != 0) {
    ssize_t got = read(STDIN_FILENO, at, size);
    if (got <= 0) refuse("the input ends too early");
    at += got;
    size -= (size_t)got;
  }
}

static void write_all(const void *from, size_t size) {
  const uint8_t *at = from;
  while (size != 0) {
    ssize_t put = write(STDOUT_FILENO, at, size);
    if (put <= 0) refuse("the output was closed");
    at += put;
    size -= (size_t)put;
  }
}

void wiregauge_input(struct wiregauge_block out[2]) {
  for (int i = 0; i < 2; ++i) {
    uint64_t size;
    read_all(&size, sizeof size);
    uint8_t *block = map((size_t)size + 64);
    read_all(block, (size_t)size);
    out[i].data = block;
    out[i].size = (size_t)size;
  }
}

void wiregauge_output(const struct wiregauge_cost costs[2],
                      const struct wiregauge_block blocks[2]) {
  write_all(costs, 2 * sizeof *costs);
  for (int i = 0; i < 2; ++i) {
    uint64_t size = blocks[i].size;
    write_all(&size, sizeof size);
    write_all(blocks[i].data, blocks[i].size);
  }
}

static ucontext_t outside, inside;
static void (*called)(void *);
static void *called_with;
/* Where the stack of what is called begins. */
static uintptr_t beginning;

static void begin(void) {
  beginning = (uintptr_t)__builtin_frame_address(0);
  called(called_with);
}

/* How many bytes lie between the lowest that was written and the beginning. */
static uint64_t touched(const volatile uint64_t *word) {
  while ((uintptr_t)word < beginning && *word == PAINT) ++word;
  return beginning - (uintptr_t)word;
}

/* Calls a function on a painted stack, and says how much of that is no longer as it was
 * painted, and what the function took from the heap meanwhile. */
void wiregauge_measure(void (*call)(void *), void *context, struct wiregauge_cost *out) {
  uint8_t *area = map(STACK);
  if (mprotect(area, GUARD, PROT_NONE) != 0) refuse("no guard below the stack");
  uint64_t *lowest = (uint64_t *)(area + GUARD);
  uint64_t *end = (uint64_t *)(area + STACK);
  for (uint64_t *word = lowest; word != end; ++word) *word = PAINT;
  called = call;
  called_with = context;
  if (getcontext(&inside) != 0) refuse("no context");
  inside.uc_stack.ss_sp = lowest;
  inside.uc_stack.ss_size = (size_t)((uint8_t *)end - (uint8_t *)lowest);
  inside.uc_link = &outside;
  makecontext(&inside, begin, 0);
  uint64_t before[3], after[3];
  wiregauge_alloc_counts(before);
  wiregauge_alloc_counts(before);
  if (swapcontext(&outside, &inside) != 0) refuse("no second stack");
  wiregauge_alloc_counts(after);
  out->stack = touched(lowest);
  out->heap_peak = after[2] - before[2];
  out->allocations = after[0] - before[0];
  munmap(area, STACK);
}
