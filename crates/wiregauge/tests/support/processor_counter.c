// Stands in front of clock_gettime, as a shared object that is loaded first: writes how many
// instructions the processor itself counted since the reading before, in callgrind's form. As a
// program of its own it ends with 0 where the processor counts them.
#define _GNU_SOURCE
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef COUNTED
#define COUNTED PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS
#endif

static int open_counter(uint32_t type, uint64_t config) {
  struct perf_event_attr event;
  memset(&event, 0, sizeof event);
  event.size = sizeof event;
  event.type = type;
  event.config = config;
  event.exclude_kernel = type == PERF_TYPE_HARDWARE;
  event.exclude_hv = event.exclude_kernel;
  return (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

#ifdef PROBE
int main(void) { return open_counter(COUNTED) < 0; }
#else
static int counter = -1;
static uint64_t before;
static int number;

static uint64_t count(void) {
  uint64_t now = 0;
  if (read(counter, &now, sizeof now) != sizeof now) abort();
  return now;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  const char *path = getenv("COUNTS");
  if (path == NULL) return (int)syscall(SYS_clock_gettime, clock, time);
  if (counter < 0) counter = open_counter(COUNTED);
  const uint64_t now = count();
  char name[4096];
  snprintf(name, sizeof name, "%s.%d.%d", path, (int)getpid(), ++number);
  FILE *file = fopen(name, "w");
  if (file == NULL || fprintf(file, "totals: %" PRIu64 "\n", now - before) < 0 || fclose(file) != 0)
    abort();
  const int status = (int)syscall(SYS_clock_gettime, clock, time);
  before = count();
  return status;
}
#endif
