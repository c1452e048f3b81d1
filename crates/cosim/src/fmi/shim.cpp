// Every call into an FMU goes through here. FMI has C functions, but FMUs are
// mostly C++, and what one throws must not reach Rust, which can only abort.
//
// The logger of FMI 2 is here as well: it takes arguments as printf does, which
// stable Rust cannot receive.
#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <typeinfo>

extern "C" {
// In Rust: what was thrown; what an FMU of FMI 2 logs.
void wiregauge_cosim_thrown(const char *what);
void wiregauge_cosim_log(const char *instance, int status, const char *category,
                         const char *message);
}

namespace {

// Beyond what FMI knows; Status::THROWN in Rust.
constexpr int kThrown = 100;

void say(const std::type_info *type, const char *text) noexcept {
  char words[2048];
  int state = 0;
  char *name = type ? abi::__cxa_demangle(type->name(), nullptr, nullptr, &state) : nullptr;
  const char *shown = name ? name : type ? type->name() : "an exception that is not C++";
  std::snprintf(words, sizeof words, text ? "%s: %s" : "%s", shown, text);
  std::free(name);
  wiregauge_cosim_thrown(words);
}

// The type of what is being handled; none where another language threw it, as
// its header is not ours to read.
const std::type_info *current_type() noexcept {
  return std::current_exception() ? abi::__cxa_current_exception_type() : nullptr;
}

template <typename Call, typename Result>
Result guarded(Call call, Result otherwise) noexcept {
  try {
    return call();
  } catch (const std::exception &exception) {
    say(&typeid(exception), exception.what());
  } catch (const std::string &text) {
    say(current_type(), text.c_str());
  } catch (const char *text) {
    say(current_type(), text);
  } catch (int number) {
    say(current_type(), std::to_string(number).c_str());
  } catch (...) {
    say(current_type(), nullptr);
  }
  return otherwise;
}

using Function = void (*)();

// Calls a function that returns a status, with arguments of exactly the types
// that it takes.
template <typename... Arguments>
int call(Function function, Arguments... arguments) noexcept {
  auto typed = reinterpret_cast<int (*)(Arguments...)>(function);
  return guarded([&] { return typed(arguments...); }, kThrown);
}

}  // namespace

extern "C" {

// Static objects of a library are made while it is opened, and may throw. The
// header declares that dlopen does not, so the compiler must not know it.
void *wiregauge_cosim_open(const char *path, int flags) {
  void *(*volatile open)(const char *, int) = dlopen;
  return guarded([&] { return open(path, flags); }, static_cast<void *>(nullptr));
}

void *wiregauge_cosim_instantiate2(Function function, const char *name, int type, const char *guid,
                                   const char *resources, const void *callbacks, int visible,
                                   int logging) {
  using Typed = void *(*)(const char *, int, const char *, const char *, const void *, int, int);
  auto typed = reinterpret_cast<Typed>(function);
  return guarded([&] { return typed(name, type, guid, resources, callbacks, visible, logging); },
                 static_cast<void *>(nullptr));
}

void *wiregauge_cosim_instantiate3(Function function, const char *name, const char *token,
                                   const char *resources, bool visible, bool logging,
                                   void *environment, Function logger) {
  using Typed = void *(*)(const char *, const char *, const char *, bool, bool, bool, bool,
                          const unsigned *, std::size_t, void *, Function, Function);
  auto typed = reinterpret_cast<Typed>(function);
  return guarded(
      [&] {
        // Neither events nor early returns are used, nor intermediate updates.
        return typed(name, token, resources, visible, logging, false, false, nullptr, 0,
                     environment, logger, nullptr);
      },
      static_cast<void *>(nullptr));
}

// EnterInitializationMode of FMI 2, ExitInitializationMode, Terminate.
int wiregauge_cosim_plain(Function function, void *instance) { return call(function, instance); }

int wiregauge_cosim_free(Function function, void *instance) {
  auto typed = reinterpret_cast<void (*)(void *)>(function);
  return guarded([&] { return typed(instance), 0; }, kThrown);
}

int wiregauge_cosim_setup2(Function function, void *instance, double start) {
  return call(function, instance, 0, 0.0, start, 0, 0.0);
}

int wiregauge_cosim_enter3(Function function, void *instance, double start) {
  return call(function, instance, false, 0.0, start, false, 0.0);
}

int wiregauge_cosim_step2(Function function, void *instance, double time, double size) {
  return call(function, instance, time, size, 1);
}

int wiregauge_cosim_step3(Function function, void *instance, double time, double size, bool *event,
                          bool *terminate, bool *early, double *last) {
  return call(function, instance, time, size, true, event, terminate, early, last);
}

// GetStatus and GetBooleanStatus.
int wiregauge_cosim_status2(Function function, void *instance, int kind, int *value) {
  return call(function, instance, kind, value);
}

// Getters and setters of FMI 2, for values of any type.
int wiregauge_cosim_values2(Function function, void *instance, const unsigned *references,
                            std::size_t count, void *values) {
  return call(function, instance, references, count, values);
}

// Those of FMI 3.
int wiregauge_cosim_values3(Function function, void *instance, const unsigned *references,
                            std::size_t count, void *values) {
  return call(function, instance, references, count, values, count);
}

int wiregauge_cosim_get_binary3(Function function, void *instance, unsigned reference,
                                std::size_t *size, const std::uint8_t **value) {
  const unsigned *references = &reference;
  return call(function, instance, references, std::size_t{1}, size, value, std::size_t{1});
}

int wiregauge_cosim_set_binary3(Function function, void *instance, unsigned reference,
                                std::size_t size, const std::uint8_t *value) {
  const unsigned *references = &reference;
  const std::size_t *sizes = &size;
  const std::uint8_t *const *values = &value;
  return call(function, instance, references, std::size_t{1}, sizes, values, std::size_t{1});
}

void wiregauge_cosim_logger(void *, const char *instance, int status, const char *category,
                            const char *format, ...) {
  char message[2048] = "";
  if (format) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
  }
  wiregauge_cosim_log(instance, status, category, message);
}

}  // extern "C"
