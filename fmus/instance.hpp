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
    demand(state_ == State::kStepping || state_ == State::kEnded || state_ == State::kFailed,
           "nothing is running");
    if (model_) model_->flush();
    state_ = State::kTerminated;
  }

  // As after instantiation; the start values hold again.
  void reset() { *this = Instance(); }

  void step(double from, double size, Bytes input) {
    demand(state_ != State::kFailed, "a step failed before; reset first");
    if (ended()) return;
    demand(state_ == State::kStepping, "not initialized");
    const double time = from + size;
    demand(size > 0, "the step size is not positive");
    // Timestamps are in nanoseconds, of which an int64 holds so many.
    demand(std::abs(time) < 9e9, "the time is out of range");
    output_ = {};
    // Nothing valid in, nothing valid out.
    if (!has_input() || !input.empty()) {
      state_ = State::kFailed;
      output_ = model_->step(time, input);
      state_ = output_.ended ? State::kEnded : State::kStepping;
    }
    if (!ended()) time_ = time;
  }

  // Whether the last step found that there is nothing more to come.
  bool ended() const { return state_ == State::kEnded; }

  const Output &output() const { return output_; }

  double time() const { return time_; }

  static bool has_input() { return *kIdentity.input != '\0'; }
  static bool has_output() { return *kIdentity.output != '\0'; }

  // Whether an input may be set now.
  void demand_input() const {
    demand(state_ != State::kTerminated && state_ != State::kFailed, "the simulation is over");
  }

  std::int32_t integer(unsigned variable) const {
    if (variable == kCount) return output_.count;
    return *known(integer_of(parameters_, variable), "integer", variable);
  }

  void set_integer(unsigned variable, std::int32_t value) {
    if (variable == kCount) throw Failure("count is an output and cannot be set");
    set(known(integer_of(parameters_, variable), "integer", variable), value);
  }

  bool boolean(unsigned variable) const {
    if (variable == kValid) return output_.valid;
    return *known(boolean_of(parameters_, variable), "boolean", variable);
  }

  void set_boolean(unsigned variable, bool value) {
    if (variable == kValid) throw Failure("valid is an output and cannot be set");
    set(known(boolean_of(parameters_, variable), "boolean", variable), value);
  }

  const std::string &string(unsigned variable) const {
    return *known(string_of(parameters_, variable), "string", variable);
  }

  void set_string(unsigned variable, const char *value) {
    demand(value != nullptr, "a string is null");
    set(known(string_of(parameters_, variable), "string", variable), std::string(value));
  }

  static Failure unknown(const char *type, unsigned variable) {
    return Failure("there is no " + std::string(type) + " variable of value reference " +
                   std::to_string(variable));
  }

 private:
  enum class State { kInstantiated, kInitializing, kStepping, kEnded, kFailed, kTerminated };

  static void demand(bool what, const char *otherwise) {
    if (!what) throw Failure(otherwise);
  }

  // The parameter that a variable is, or null. `P` is Parameters, constant or not.
  template <class P>
  static auto integer_of(P &of, unsigned variable) -> decltype(&of.objects) {
    if (variable == kReflections) return &of.reflections;
    return variable == kObjects ? &of.objects : nullptr;
  }
  template <class P>
  static auto boolean_of(P &of, unsigned variable) -> decltype(&of.fresh) {
    if (variable == kFresh) return &of.fresh;
    if (variable == kVerify) return &of.verify;
    return variable == kParse ? &of.parse : nullptr;
  }
  template <class P>
  static auto string_of(P &of, unsigned variable) -> decltype(&of.log) {
    if (variable == kScene) return &of.scene;
    if (variable == kLog) return &of.log;
    if (variable == kTrace) return &of.trace;
    if (variable == kPace) return &of.pace;
    return variable == kAtEnd ? &of.at_end : nullptr;
  }

  template <class T>
  static T *known(T *parameter, const char *type, unsigned variable) {
    if (parameter == nullptr || !has_parameter(variable)) throw unknown(type, variable);
    return parameter;
  }

  template <class T>
  void set(T *parameter, T value) {
    demand(state_ == State::kInstantiated || state_ == State::kInitializing,
           "parameters are fixed and cannot be set after initialization");
    *parameter = std::move(value);
  }

  State state_ = State::kInstantiated;
  Parameters parameters_;
  std::unique_ptr<Model> model_;
  Output output_;
  double time_ = 0;
};

}  // namespace wiregauge
