// A runner whose messages take a loop of TURNS: how much slower it gets is known. It carries the
// LiDAR message as it is, and speaks docs/runner-protocol.md.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef TURNS
#define TURNS 2000
#endif

enum { MOST = 64, HEAD = 28, POINT = 13 };
static uint8_t *messages[MOST];
static size_t sizes[MOST], count;
static uint8_t *out;
static volatile uint32_t seed = 1;

static void work(const uint8_t *from, size_t size) {
  uint32_t x = seed;
  for (int turn = 0; turn < TURNS; turn++) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    __asm__ volatile("" : "+r"(x));
  }
  seed = x | 1;
  memcpy(out, from, size);
}

static uint64_t mix(uint64_t word, uint64_t place) {
  uint64_t x = word + (place + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static uint64_t number(const uint8_t *at, int size) {
  uint64_t word = 0;
  memcpy(&word, at, size);
  return word;
}

static float real(const uint8_t *at) {
  float value;
  memcpy(&value, at, 4);
  return value;
}

static void values(const uint8_t *message, FILE *reply) {
  uint64_t points = number(message + 24, 4), hash = 0, head = 0;
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    sum += (double)number(message + 8 * i, 8);
    head += mix(number(message + 8 * i, 8), i);
  }
  hash = mix(head, 0);
  const uint8_t *middle = message + HEAD + POINT * (points / 2);
  for (uint64_t i = 0; i < points; i++) {
    const uint8_t *point = message + HEAD + POINT * i;
    uint64_t inner = mix(point[12], 1);
    for (int axis = 0; axis < 3; axis++) {
      sum += real(point + 4 * axis);
      inner += mix(number(point + 4 * axis, 4), 0);
    }
    sum += point[12];
    hash += mix(inner, 1);
  }
  fprintf(reply, "project %.17g %llu %llu\n", sum, 3ull + 4 * points, (unsigned long long)hash);
  uint64_t guid = number(message + 16, 8);
  fprintf(reply, "fixed %.17g 1 %llu\n", (double)guid, (unsigned long long)mix(guid, 0));
  fprintf(reply, "element %.17g 1 %llu\n", real(middle + 4),
          (unsigned long long)mix(number(middle + 4, 4), 0));
}

static void run(char *words, FILE *reply) {
  char name[16], proof[16];
  unsigned long long iterations;
  if (sscanf(words, "%15s %llu %*s %*s %*s prove=%15s", name, &iterations, proof) != 3) exit(1);
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (unsigned long long i = 0, at = 0; i < iterations; i++, at = at + 1 == count ? 0 : at + 1)
    work(messages[at], sizes[at]);
  clock_gettime(CLOCK_MONOTONIC, &end);
  long long ns = (end.tv_sec - start.tv_sec) * 1000000000ll + end.tv_nsec - start.tv_nsec;
  fprintf(reply, "ns %lld\nsum 1\n", ns);
  if (!strcmp(proof, "none")) return;
  size_t at = strtoull(proof, NULL, 10);
  work(messages[at], sizes[at]);
  fprintf(reply, "%sd %zu\n\n", name, sizes[at]);
  fwrite(out, 1, sizes[at], reply);
}

int main(void) {
  char *line = NULL;
  size_t room = 0;
  out = calloc(1, 1 << 24);
  while (getline(&line, &room, stdin) > 0 && strcmp(line, "quit\n")) {
    char *rest = line + strcspn(line, " \n"), *text = NULL;
    if (*rest == ' ')
      *rest++ = 0;
    else
      *rest = 0;
    size_t size = 0;
    uint8_t *payload = NULL;
    if (!strcmp(line, "schema") || !strcmp(line, "message") || !strcmp(line, "decode")) {
      size = strtoull(rest, NULL, 10);
      payload = malloc(size + 1);
      if (fread(payload, 1, size, stdin) != size) return 1;
    }
    size_t length = 0;
    FILE *reply = open_memstream(&text, &length);
    const char *word = "ok";
    if (!strcmp(line, "hello")) {
      fprintf(reply, "library loop 1\nexperiments encode decode\n");
    } else if (!strcmp(line, "reset")) {
      count = 0;
    } else if (!strcmp(line, "message") && count < MOST) {
      messages[count] = payload, sizes[count++] = size;
      fwrite(payload, 1, size, reply);
    } else if (!strcmp(line, "decode")) {
      fwrite(payload, 1, size, reply);
    } else if (!strcmp(line, "values")) {
      values(messages[strtoull(rest, NULL, 10)], reply);
    } else if (!strcmp(line, "run")) {
      run(rest, reply);
    } else if (strcmp(line, "schema")) {
      word = "error";
    }
    fclose(reply);
    printf("%s %zu\n", word, length);
    fwrite(text, 1, length, stdout);
    fflush(stdout);
    free(text);
  }
  return 0;
}
