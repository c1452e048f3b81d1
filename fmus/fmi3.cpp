// The FMI 3.0 adapter: a message is a binary variable.
//
// An output is handed out as it lies in memory. An input is copied when it is
// set, as FMI 3.0 demands: what FMI 2.0 with OSMP spares.
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "calls.hpp"
#include "fmi3Functions.h"
#include "instance.hpp"

namespace {

using wiregauge::Bytes;
using wiregauge::Failure;
using wiregauge::Instance;
using wiregauge::kIdentity;

class Component {
 public:
  Component(fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger)
      : environment_(environment), logger_(logger) {}

  void log(const char *message) const {
    if (logger_ != nullptr) logger_(environment_, fmi3Error, "logStatusError", message);
  }

  Bytes binary(fmi3ValueReference variable) const {
    if (Instance::has_output() && variable == wiregauge::kOutput) return instance.output().message;
    if (Instance::has_input() && variable == wiregauge::kInput) return input_;
    throw Instance::unknown("binary", variable);
  }

  void set_binary(fmi3ValueReference variable, Bytes value) {
    if (Instance::has_output() && variable == wiregauge::kOutput) {
      throw Failure(std::string(kIdentity.output) + " is an output and cannot be set");
    }
    if (!Instance::has_input() || variable != wiregauge::kInput) {
      throw Instance::unknown("binary", variable);
    }
    instance.demand_input();
    if (value.size > wiregauge::kMaximumSize) {
      throw Failure(std::string(kIdentity.input) + " is of more than 2 GiB");
    }
    input_ = {};
    if (value.empty()) return;
    std::uint8_t *copy = memory_.reserve(value.size);
    std::memcpy(copy, value.data, value.size);
    input_ = {copy, value.size};
  }

  void step(fmi3Float64 from, fmi3Float64 size) { instance.step(from, size, input_); }

  void reset() {
    instance.reset();
    input_ = {};
  }

  Instance instance;

 private:
  fmi3InstanceEnvironment environment_;
  fmi3LogMessageCallback logger_;
  wiregauge::Buffer memory_;
  Bytes input_;
};

using Call = wiregauge::Calls<Component, fmi3Status, fmi3OK, fmi3Error>;

}  // namespace

const unsigned wiregauge::kSizeOffset = 0;

extern "C" {

const char *fmi3GetVersion() { return fmi3Version; }

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean, size_t, const fmi3String[]) {
  // There are only errors to log, and those always are.
  return c == nullptr ? fmi3Error : fmi3OK;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String, fmi3String, fmi3String, fmi3Boolean,
                                          fmi3Boolean, fmi3InstanceEnvironment,
                                          fmi3LogMessageCallback) {
  return nullptr;
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String, fmi3String token, fmi3String, fmi3Boolean,
                                         fmi3Boolean, fmi3Boolean, fmi3Boolean,
                                         const fmi3ValueReference[], size_t,
                                         fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback logger,
                                         fmi3IntermediateUpdateCallback) {
  try {
    auto component = std::make_unique<Component>(environment, logger);
    if (token == nullptr || std::strcmp(token, kIdentity.guid) != 0) {
      component->log("the instantiation token is another FMU's");
      return nullptr;
    }
    return component.release();
  } catch (const std::exception &) {
    return nullptr;
  }
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String, fmi3String, fmi3String, fmi3Boolean,
                                               fmi3Boolean, fmi3InstanceEnvironment,
                                               fmi3LogMessageCallback, fmi3ClockUpdateCallback,
                                               fmi3LockPreemptionCallback,
                                               fmi3UnlockPreemptionCallback) {
  return nullptr;
}

void fmi3FreeInstance(fmi3Instance c) { delete Call::component(c); }

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean, fmi3Float64, fmi3Float64 start,
                                       fmi3Boolean, fmi3Float64) {
  return Call::guard(c, [&](Component &self) { self.instance.enter_initialization(start); });
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c) {
  return Call::guard(c, [&](Component &self) { self.instance.exit_initialization(); });
}

fmi3Status fmi3EnterEventMode(fmi3Instance c) { return Call::refuse(c, __func__); }

fmi3Status fmi3Terminate(fmi3Instance c) {
  return Call::guard(c, [&](Component &self) { self.instance.terminate(); });
}

fmi3Status fmi3Reset(fmi3Instance c) {
  return Call::guard(c, [&](Component &self) { self.reset(); });
}

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                          fmi3Float64 values[], size_t count) {
  return Call::each(c, n, count, [&](Component &self, size_t i) {
    if (vr[i] != wiregauge::kTime) throw Instance::unknown("float", vr[i]);
    values[i] = self.instance.time();
  });
}

fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                          const fmi3Float64[], size_t count) {
  return Call::each(c, n, count, [&](Component &, size_t i) {
    throw Instance::unknown("settable float", vr[i]);
  });
}

fmi3Status fmi3GetInt32(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Int32 values[],
                        size_t count) {
  return Call::each(c, n, count,
                    [&](Component &self, size_t i) { values[i] = self.instance.integer(vr[i]); });
}

fmi3Status fmi3GetBoolean(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                          fmi3Boolean values[], size_t count) {
  return Call::each(c, n, count,
                    [&](Component &self, size_t i) { values[i] = self.instance.boolean(vr[i]); });
}

fmi3Status fmi3GetString(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                         fmi3String values[], size_t count) {
  return Call::each(c, n, count, [&](Component &self, size_t i) {
    values[i] = self.instance.string(vr[i]).c_str();
  });
}

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, size_t sizes[],
                         fmi3Binary values[], size_t count) {
  return Call::each(c, n, count, [&](Component &self, size_t i) {
    const Bytes bytes = self.binary(vr[i]);
    values[i] = bytes.data;
    sizes[i] = bytes.size;
  });
}

fmi3Status fmi3SetInt32(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                        const fmi3Int32 values[], size_t count) {
  return Call::each(
      c, n, count, [&](Component &self, size_t i) { self.instance.set_integer(vr[i], values[i]); });
}

fmi3Status fmi3SetBoolean(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                          const fmi3Boolean values[], size_t count) {
  return Call::each(
      c, n, count, [&](Component &self, size_t i) { self.instance.set_boolean(vr[i], values[i]); });
}

fmi3Status fmi3SetString(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                         const fmi3String values[], size_t count) {
  return Call::each(c, n, count,
                    [&](Component &self, size_t i) { self.instance.set_string(vr[i], values[i]); });
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n,
                         const size_t sizes[], const fmi3Binary values[], size_t count) {
  return Call::each(c, n, count, [&](Component &self, size_t i) {
    self.set_binary(vr[i], {values[i], sizes[i]});
  });
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 from, fmi3Float64 size, fmi3Boolean,
                      fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early,
                      fmi3Float64 *last) {
  if (event != nullptr) *event = fmi3False;
  if (terminate != nullptr) *terminate = fmi3False;
  if (early != nullptr) *early = fmi3False;
  if (last != nullptr) *last = from;
  return Call::guard(c, [&](Component &self) {
    self.step(from, size);
    if (terminate != nullptr) *terminate = self.instance.ended() ? fmi3True : fmi3False;
    if (last != nullptr) *last = from + size;
  });
}

// There are no variables of other types.
#define WIREGAUGE_NO_VARIABLES(Type)                                                              \
  fmi3Status fmi3Get##Type(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3##Type[], \
                           size_t count) {                                                        \
    return Call::each(c, n, count,                                                                \
                      [&](Component &, size_t i) { throw Instance::unknown(#Type, vr[i]); });     \
  }                                                                                               \
  fmi3Status fmi3Set##Type(fmi3Instance c, const fmi3ValueReference vr[], size_t n,               \
                           const fmi3##Type[], size_t count) {                                    \
    return Call::each(c, n, count,                                                                \
                      [&](Component &, size_t i) { throw Instance::unknown(#Type, vr[i]); });     \
  }
WIREGAUGE_NO_VARIABLES(Float32)
WIREGAUGE_NO_VARIABLES(Int8)
WIREGAUGE_NO_VARIABLES(UInt8)
WIREGAUGE_NO_VARIABLES(Int16)
WIREGAUGE_NO_VARIABLES(UInt16)
WIREGAUGE_NO_VARIABLES(UInt32)
WIREGAUGE_NO_VARIABLES(Int64)
WIREGAUGE_NO_VARIABLES(UInt64)

// The rest is for what the FMUs have not: clocks, events, derivatives, states.
#define WIREGAUGE_NO(function, ...) \
  fmi3Status function(fmi3Instance c, __VA_ARGS__) { return Call::refuse(c, __func__); }
using References = const fmi3ValueReference *;
WIREGAUGE_NO(fmi3GetClock, References, size_t, fmi3Clock *)
WIREGAUGE_NO(fmi3SetClock, References, size_t, const fmi3Clock *)
WIREGAUGE_NO(fmi3GetNumberOfVariableDependencies, fmi3ValueReference, size_t *)
WIREGAUGE_NO(fmi3GetVariableDependencies, fmi3ValueReference, size_t *, fmi3ValueReference *,
             size_t *, fmi3DependencyKind *, size_t)
WIREGAUGE_NO(fmi3GetFMUState, fmi3FMUState *)
WIREGAUGE_NO(fmi3SetFMUState, fmi3FMUState)
WIREGAUGE_NO(fmi3FreeFMUState, fmi3FMUState *)
WIREGAUGE_NO(fmi3SerializedFMUStateSize, fmi3FMUState, size_t *)
WIREGAUGE_NO(fmi3SerializeFMUState, fmi3FMUState, fmi3Byte *, size_t)
WIREGAUGE_NO(fmi3DeserializeFMUState, const fmi3Byte *, size_t, fmi3FMUState *)
WIREGAUGE_NO(fmi3GetDirectionalDerivative, References, size_t, References, size_t,
             const fmi3Float64 *, size_t, fmi3Float64 *, size_t)
WIREGAUGE_NO(fmi3GetAdjointDerivative, References, size_t, References, size_t, const fmi3Float64 *,
             size_t, fmi3Float64 *, size_t)
WIREGAUGE_NO(fmi3GetIntervalDecimal, References, size_t, fmi3Float64 *, fmi3IntervalQualifier *)
WIREGAUGE_NO(fmi3GetIntervalFraction, References, size_t, fmi3UInt64 *, fmi3UInt64 *,
             fmi3IntervalQualifier *)
WIREGAUGE_NO(fmi3GetShiftDecimal, References, size_t, fmi3Float64 *)
WIREGAUGE_NO(fmi3GetShiftFraction, References, size_t, fmi3UInt64 *, fmi3UInt64 *)
WIREGAUGE_NO(fmi3SetIntervalDecimal, References, size_t, const fmi3Float64 *)
WIREGAUGE_NO(fmi3SetIntervalFraction, References, size_t, const fmi3UInt64 *, const fmi3UInt64 *)
WIREGAUGE_NO(fmi3SetShiftDecimal, References, size_t, const fmi3Float64 *)
WIREGAUGE_NO(fmi3SetShiftFraction, References, size_t, const fmi3UInt64 *, const fmi3UInt64 *)
WIREGAUGE_NO(fmi3UpdateDiscreteStates, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *,
             fmi3Boolean *, fmi3Float64 *)
WIREGAUGE_NO(fmi3CompletedIntegratorStep, fmi3Boolean, fmi3Boolean *, fmi3Boolean *)
WIREGAUGE_NO(fmi3SetTime, fmi3Float64)
WIREGAUGE_NO(fmi3SetContinuousStates, const fmi3Float64 *, size_t)
WIREGAUGE_NO(fmi3GetContinuousStateDerivatives, fmi3Float64 *, size_t)
WIREGAUGE_NO(fmi3GetEventIndicators, fmi3Float64 *, size_t)
WIREGAUGE_NO(fmi3GetContinuousStates, fmi3Float64 *, size_t)
WIREGAUGE_NO(fmi3GetNominalsOfContinuousStates, fmi3Float64 *, size_t)
WIREGAUGE_NO(fmi3GetNumberOfEventIndicators, size_t *)
WIREGAUGE_NO(fmi3GetNumberOfContinuousStates, size_t *)
WIREGAUGE_NO(fmi3GetOutputDerivatives, References, size_t, const fmi3Int32 *, fmi3Float64 *, size_t)
WIREGAUGE_NO(fmi3ActivateModelPartition, fmi3ValueReference, fmi3Float64)

fmi3Status fmi3EnterConfigurationMode(fmi3Instance c) { return Call::refuse(c, __func__); }
fmi3Status fmi3ExitConfigurationMode(fmi3Instance c) { return Call::refuse(c, __func__); }
fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c) { return Call::refuse(c, __func__); }
fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c) { return Call::refuse(c, __func__); }
fmi3Status fmi3EnterStepMode(fmi3Instance c) { return Call::refuse(c, __func__); }

}  // extern "C"
