// A plugin of qemu that counts the instructions that a program executes, and writes what it
// counted whenever the program asks for the time. The header is in no package: what is used of
// qemu's interface of version 1 is declared here.
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct block;
size_t qemu_plugin_tb_n_insns(const struct block *);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, struct block *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct block *, int, void *, uint64_t);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t, void (*)(uint64_t, unsigned, int64_t, uint64_t,
                                                             uint64_t, uint64_t, uint64_t, uint64_t,
                                                             uint64_t, uint64_t, uint64_t));

#define VISIBLE __attribute__((visibility("default")))
VISIBLE int qemu_plugin_version = 1;

static uint64_t count;
static uint64_t before;
static int64_t clocks[2] = {-1, -1};
static int counts = -1;

// A block is a few instructions that are executed one after the other.
static void translate(uint64_t id, struct block *block) {
  (void)id;
  const int add = 0;
  qemu_plugin_register_vcpu_tb_exec_inline(block, add, &count, qemu_plugin_tb_n_insns(block));
}

static void call(uint64_t id, unsigned cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
                 uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
  (void)id, (void)cpu, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
  if (number != clocks[0] && number != clocks[1]) {
    return;
  }
  char line[64];
  const int size =
      snprintf(line, sizeof line, "%" PRIu64 " %" PRIu64 "\n", (uint64_t)getpid(), count - before);
  before = count;
  if (write(counts, line, (size_t)size) != size) {
    abort();
  }
}

VISIBLE int qemu_plugin_install(uint64_t id, const void *info, int size, char **arguments) {
  (void)info;
  int known = 0;
  for (int at = 0; at < size; at++) {
    const char *value = strchr(arguments[at], '=');
    if (value != NULL && strncmp(arguments[at], "counts=", 7) == 0) {
      counts = open(value + 1, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    } else if (value != NULL && strncmp(arguments[at], "clock=", 6) == 0 && known < 2) {
      clocks[known++] = atoll(value + 1);
    }
  }
  if (counts < 0) {
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_vcpu_syscall_cb(id, call);
  return 0;
}
