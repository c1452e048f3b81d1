// The calls of a master, as FMI 2.0 and 3.0 have them in common: what a call
// throws becomes the status of an error.
#pragma once

#include <cstddef>
#include <exception>
#include <string>

#include "model.hpp"

namespace wiregauge {

// Calls of a component, which FMI's functions hand over as a bare pointer.
// `Component` has `void log(const char *message) const`.
template <class Component, class Status, Status kOk, Status kError>
struct Calls {
  static Component *component(void *instance) { return static_cast<Component *>(instance); }

  // Does `what`, and makes an error of what it throws. A null instance is the
  // master's bug, but needs no crash.
  template <class F>
  static Status guard(void *instance, F what) noexcept {
    if (instance == nullptr) return kError;
    try {
      what(*component(instance));
      return kOk;
    } catch (const std::exception &error) {
      component(instance)->log(error.what());
      return kError;
    }
  }

  // The same for each of so many variables, which take one value each.
  template <class F>
  static Status each(void *instance, std::size_t variables, std::size_t values, F what) noexcept {
    return guard(instance, [&](Component &self) {
      if (variables != values) throw Failure("each variable takes one value");
      for (std::size_t i = 0; i < variables; ++i) what(self, i);
    });
  }

  // The same where nothing says how many values there are.
  template <class F>
  static Status each(void *instance, std::size_t variables, F what) noexcept {
    return each(instance, variables, variables, what);
  }

  static Status refuse(void *instance, const char *function) noexcept {
    return guard(instance,
                 [&](Component &) { throw Failure(std::string(function) + " is not supported"); });
  }
};

}  // namespace wiregauge
