// Loads the source in FMI 2 from a shared library, takes three steps of 0.1 s, and prints of each
// how many bytes its SensorView has, and a hash of them. The same on Linux and on Windows.
//
//     step LIBRARY GUID
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fmi2Functions.h"

#ifdef _WIN32
#include <windows.h>
static void *open_library(const char *path) { return reinterpret_cast<void *>(LoadLibraryA(path)); }
static void *find(void *library, const char *name) {
  const auto address = GetProcAddress(static_cast<HMODULE>(library), name);
  return reinterpret_cast<void *>(address);
}
#else
#include <dlfcn.h>
static void *open_library(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
static void *find(void *library, const char *name) { return dlsym(library, name); }
#endif

static void log(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String text,
                ...) {
  std::fprintf(stderr, "%s\n", text);
}

#define CALL(name, ...)                                                              \
  if (reinterpret_cast<name##TYPE *>(find(library, #name))(__VA_ARGS__) != fmi2OK) { \
    std::fprintf(stderr, #name " failed\n");                                         \
    return 1;                                                                        \
  }

int main(int count, char **words) {
  if (count != 3) return 2;
  void *library = open_library(words[1]);
  if (!library) {
    std::fprintf(stderr, "cannot load %s\n", words[1]);
    return 1;
  }
  const fmi2CallbackFunctions callbacks = {log, std::calloc, std::free, nullptr, nullptr};
  const auto instantiate =
      reinterpret_cast<fmi2InstantiateTYPE *>(find(library, "fmi2Instantiate"));
  if (!instantiate) return 1;
  const auto fmu =
      instantiate("source", fmi2CoSimulation, words[2], "", &callbacks, fmi2False, fmi2False);
  if (!fmu) return 1;
  // Reflections and objects in the message.
  const fmi2ValueReference parameters[] = {8, 9};
  const fmi2Integer sizes[] = {100, 3};
  CALL(fmi2SetInteger, fmu, parameters, 2, sizes)
  CALL(fmi2SetupExperiment, fmu, fmi2False, 0, 0, fmi2False, 0)
  CALL(fmi2EnterInitializationMode, fmu)
  CALL(fmi2ExitInitializationMode, fmu)
  for (int step = 0; step < 3; ++step) {
    CALL(fmi2DoStep, fmu, 0.1 * step, 0.1, fmi2True)
    const fmi2ValueReference output[] = {3, 4, 5};
    fmi2Integer values[3];
    CALL(fmi2GetInteger, fmu, output, 3, values)
    // OSMP hands a pointer over as two integers.
    const std::uint64_t low = static_cast<std::uint32_t>(values[0]);
    const std::uint64_t high = static_cast<std::uint32_t>(values[1]);
    const auto bytes = reinterpret_cast<const unsigned char *>(low | high << 32);
    std::uint64_t hash = 0xcbf29ce484222325;
    for (int i = 0; i < values[2]; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
    std::printf("step %d: %d bytes, hash %08x%08x\n", step, values[2],
                static_cast<unsigned>(hash >> 32), static_cast<unsigned>(hash));
  }
  CALL(fmi2Terminate, fmu)
  reinterpret_cast<fmi2FreeInstanceTYPE *>(find(library, "fmi2FreeInstance"))(fmu);
}
