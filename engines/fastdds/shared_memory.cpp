// The names of Fast DDS's shared memory. The library calls it `fastrtps_…` for all programs of the
// machine, and a program that is killed leaves it there. These functions stand before the
// system's own in this program: they put the run's name before the library's, so that the run
// meets nobody else's memory, and whoever outlives it knows what to remove.

#include "shared_memory.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

namespace wiregauge {

// Plain memory: libraries may come here before this program's own constructors have run.
static char prefix[64];

void name_shared_memory(const char *name) {
  snprintf(prefix, sizeof prefix, "%s", name == nullptr ? "" : name);
}

// Where the system keeps shared memory.
constexpr char FOLDER[] = "/dev/shm/";
constexpr size_t FOLDER_LENGTH = sizeof FOLDER - 1;

// A name as the run keeps it.
class Own {
 public:
  explicit Own(const char *name) : name_(name) {
    const bool folder = strncmp(name, FOLDER, FOLDER_LENGTH) == 0;
    const char *bare = folder ? name + FOLDER_LENGTH : name[0] == '/' ? name + 1 : name;
    if (prefix[0] == 0 || strncmp(bare, "fast", 4) != 0) return;
    const int length = snprintf(own_, sizeof own_, "%s%s%s", folder ? FOLDER : "/", prefix, bare);
    if (length < int(sizeof own_)) name_ = own_;
  }
  Own(const Own &) = delete;
  const char *get() const { return name_; }

 private:
  const char *name_;
  char own_[256];
};

// The system's own function.
template <typename Function>
static Function system_function(Function, const char *name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace wiregauge

using wiregauge::Own;

extern "C" {

int shm_open(const char *name, int flags, mode_t mode) {
  static const auto call = wiregauge::system_function(&shm_open, "shm_open");
  return call(Own(name).get(), flags, mode);
}

int shm_unlink(const char *name) noexcept(noexcept(::shm_unlink(""))) {
  static const auto call = wiregauge::system_function(&shm_unlink, "shm_unlink");
  return call(Own(name).get());
}

sem_t *sem_open(const char *name, int flags, ...) {
  static const auto call = wiregauge::system_function(&sem_open, "sem_open");
  if ((flags & O_CREAT) == 0) return call(Own(name).get(), flags);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  const unsigned value = va_arg(rest, unsigned);
  va_end(rest);
  return call(Own(name).get(), flags, mode, value);
}

int sem_unlink(const char *name) noexcept(noexcept(::sem_unlink(""))) {
  static const auto call = wiregauge::system_function(&sem_unlink, "sem_unlink");
  return call(Own(name).get());
}

int open(const char *path, int flags, ...) {
  static const auto call = wiregauge::system_function(&open, "open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return call(Own(path).get(), flags, mode);
}

int open64(const char *path, int flags, ...) {
  static const auto call = wiregauge::system_function(&open64, "open64");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return call(Own(path).get(), flags, mode);
}

int unlink(const char *path) noexcept(noexcept(::unlink(""))) {
  static const auto call = wiregauge::system_function(&unlink, "unlink");
  return call(Own(path).get());
}

int remove(const char *path) noexcept(noexcept(::remove(""))) {
  static const auto call = wiregauge::system_function(&remove, "remove");
  return call(Own(path).get());
}
}
