// An instance of an FMU, as FMI 2.0 and 3.0 have it in common: its state, its
// variables but for messages, and its model.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "model.hpp"

namespace wiregauge {

class Instance {
 public:
  // What the master may do, both by FMI 2.0 and 3.0. All throw Failure.
  void demand_instantiated() const {
    demand(state_ == State::kInstantiated, "an instance is initialized once, until it is reset");
  }

  void enter_initialization(double start) {
    demand_instantiated();
    time_ = start;
    state_ = State::kInitializing;
  }

  void exit_initialization() {
    demand(state_ == State::kInitializing, "initialization has not been entered");
    model_ = make_model(parameters_);
    state_ = State::kStepping;
  }

  void terminate() {
    demand(state_ == State::kStepping || state_ == State::kFailed, "nothing is running");
    if (model_) model_->flush();
    state_ = State::kTerminated;
  }

  // As after instantiation; the start values hold again.
  void reset() { *this = Instance(); }

  void step(double from, double size, Bytes input) {
    demand(state_ == State::kStepping,
           state_ == State::kFailed ? "a step failed before; reset first" : "not initialized");
    const double time = from + size;
    demand(size > 0, "the step size is not positive");
    // Timestamps are in nanoseconds, of which an int64 holds so many.
    demand(std::abs(time) < 9e9, "the time is out of range");
    output_ = {};
    time_ = time;
    // Nothing valid in, nothing valid out.
    if (has_input() && input.empty()) return;
    state_ = State::kFailed;
    output_ = model_->step(time, input);
    state_ = State::kStepping;
  }

  const Output &output() const { return output_; }

  double time() const { return time_; }

  static bool has_input() { return *kIdentity.input != '\0'; }

  // Whether an input may be set now.
  void demand_input() const {
    demand(state_ != State::kTerminated && state_ != State::kFailed, "the simulation is over");
  }

  std::int32_t integer(unsigned variable) const {
    if (variable == kCount) return output_.count;
    if (!has_input() && variable == kReflections) return parameters_.reflections;
    if (!has_input() && variable == kObjects) return parameters_.objects;
    throw unknown("integer", variable);
  }

  void set_integer(unsigned variable, std::int32_t value) {
    if (!has_input() && variable == kReflections) {
      parameter("reflections", parameters_.reflections, value);
    } else if (!has_input() && variable == kObjects) {
      parameter("objects", parameters_.objects, value);
    } else if (variable == kCount) {
      throw Failure("count is an output and cannot be set");
    } else {
      throw unknown("integer", variable);
    }
  }

  bool boolean(unsigned variable) const {
    if (variable == kValid) return output_.valid;
    if (variable == kFresh) return parameters_.fresh;
    if (has_input() && variable == kVerify) return parameters_.verify;
    throw unknown("boolean", variable);
  }

  void set_boolean(unsigned variable, bool value) {
    if (variable == kFresh) {
      parameter("fresh", parameters_.fresh, value);
    } else if (has_input() && variable == kVerify) {
      parameter("verify", parameters_.verify, value);
    } else if (variable == kValid) {
      throw Failure("valid is an output and cannot be set");
    } else {
      throw unknown("boolean", variable);
    }
  }

  const std::string &string(unsigned variable) const {
    if (variable == kLog) return parameters_.log;
    if (!has_input() && variable == kScene) return parameters_.scene;
    throw unknown("string", variable);
  }

  void set_string(unsigned variable, const char *value) {
    demand(value != nullptr, "a string is null");
    if (variable == kLog) {
      parameter("log", parameters_.log, std::string(value));
    } else if (!has_input() && variable == kScene) {
      parameter("scene", parameters_.scene, std::string(value));
    } else {
      throw unknown("string", variable);
    }
  }

  static Failure unknown(const char *type, unsigned variable) {
    return Failure("there is no " + std::string(type) + " variable of value reference " +
                   std::to_string(variable));
  }

 private:
  enum class State { kInstantiated, kInitializing, kStepping, kFailed, kTerminated };

  static void demand(bool what, const char *otherwise) {
    if (!what) throw Failure(otherwise);
  }

  template <class T>
  void parameter(const char *name, T &to, T value) {
    if (state_ != State::kInstantiated && state_ != State::kInitializing) {
      throw Failure(std::string(name) + " is fixed and cannot be set after initialization");
    }
    to = std::move(value);
  }

  State state_ = State::kInstantiated;
  Parameters parameters_;
  std::unique_ptr<Model> model_;
  Output output_;
  double time_ = 0;
};

}  // namespace wiregauge
