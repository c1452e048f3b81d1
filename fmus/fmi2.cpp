// The FMI 2.0 adapter: a message is three integers.
#include <cstring>
#include <exception>
#include <string>

#include "calls.hpp"
#include "fmi2Functions.h"
#include "instance.hpp"

namespace {

using wiregauge::Failure;
using wiregauge::Instance;
using wiregauge::kIdentity;
using wiregauge::Pointer;

class Component {
 public:
  Component(fmi2String name, const fmi2CallbackFunctions &functions)
      : name_(name), functions_(functions) {}

  void log(const char *message) const {
    if (functions_.logger != nullptr) {
      functions_.logger(functions_.componentEnvironment, name_.c_str(), fmi2Error, "logStatusError",
                        "%s", message);
    }
  }

  fmi2Integer integer(fmi2ValueReference variable) {
    const Pointer output = Pointer::of(instance.output().message);
    switch (Instance::has_output() ? variable : wiregauge::kCount) {
      case wiregauge::kOutput:
        return output.lo;
      case wiregauge::kOutput + 1:
        return output.hi;
      case wiregauge::kOutput + 2:
        return output.size;
      default:
        break;
    }
    const fmi2Integer *part = input(variable);
    return part == nullptr ? instance.integer(variable) : *part;
  }

  void set_integer(fmi2ValueReference variable, fmi2Integer value) {
    if (Instance::has_output() && variable >= wiregauge::kOutput &&
        variable <= wiregauge::kOutput + 2) {
      throw Failure(std::string(kIdentity.output) + " is an output and cannot be set");
    }
    fmi2Integer *part = input(variable);
    if (part == nullptr) {
      instance.set_integer(variable, value);
    } else {
      instance.demand_input();
      *part = value;
    }
  }

  void step(fmi2Real from, fmi2Real size) {
    if (input_.size < 0) throw Failure(std::string(kIdentity.input) + ".size is negative");
    instance.step(from, size, input_.bytes());
  }

  void reset() {
    instance.reset();
    input_ = {};
  }

  Instance instance;

 private:
  // The part of the input that a variable is, or null.
  fmi2Integer *input(fmi2ValueReference variable) {
    if (!Instance::has_input()) return nullptr;
    switch (variable) {
      case wiregauge::kInput:
        return &input_.lo;
      case wiregauge::kInput + 1:
        return &input_.hi;
      case wiregauge::kInput + 2:
        return &input_.size;
      default:
        return nullptr;
    }
  }

  std::string name_;
  fmi2CallbackFunctions functions_;
  Pointer input_;
};

using Call = wiregauge::Calls<Component, fmi2Status, fmi2OK, fmi2Error>;

}  // namespace

const unsigned wiregauge::kSizeOffset = 2;

extern "C" {

const char *fmi2GetTypesPlatform() { return fmi2TypesPlatform; }

const char *fmi2GetVersion() { return fmi2Version; }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean, size_t, const fmi2String[]) {
  // There are only errors to log, and those always are.
  return c == nullptr ? fmi2Error : fmi2OK;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String,
                              const fmi2CallbackFunctions *functions, fmi2Boolean, fmi2Boolean) {
  if (functions == nullptr || name == nullptr) return nullptr;
  try {
    auto component = std::make_unique<Component>(name, *functions);
    if (type != fmi2CoSimulation) {
      component->log("the FMU is for co-simulation only");
      return nullptr;
    }
    if (guid == nullptr || std::strcmp(guid, kIdentity.guid) != 0) {
      component->log("the GUID is another FMU's");
      return nullptr;
    }
    return component.release();
  } catch (const std::exception &) {
    return nullptr;
  }
}

void fmi2FreeInstance(fmi2Component c) { delete Call::component(c); }

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean,
                               fmi2Real) {
  return Call::guard(c, [&](Component &self) { self.instance.demand_instantiated(); });
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
  return Call::guard(c, [&](Component &self) { self.instance.enter_initialization(0); });
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  return Call::guard(c, [&](Component &self) { self.instance.exit_initialization(); });
}

fmi2Status fmi2Terminate(fmi2Component c) {
  return Call::guard(c, [&](Component &self) { self.instance.terminate(); });
}

fmi2Status fmi2Reset(fmi2Component c) {
  return Call::guard(c, [&](Component &self) { self.reset(); });
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real[]) {
  return Call::each(c, n, [&](Component &, size_t i) { throw Instance::unknown("real", vr[i]); });
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                          fmi2Integer value[]) {
  return Call::each(c, n, [&](Component &self, size_t i) { value[i] = self.integer(vr[i]); });
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                          fmi2Boolean value[]) {
  return Call::each(c, n, [&](Component &self, size_t i) {
    value[i] = self.instance.boolean(vr[i]) ? fmi2True : fmi2False;
  });
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                         fmi2String value[]) {
  return Call::each(
      c, n, [&](Component &self, size_t i) { value[i] = self.instance.string(vr[i]).c_str(); });
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real[]) {
  return Call::each(c, n, [&](Component &, size_t i) { throw Instance::unknown("real", vr[i]); });
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                          const fmi2Integer value[]) {
  return Call::each(c, n, [&](Component &self, size_t i) { self.set_integer(vr[i], value[i]); });
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                          const fmi2Boolean value[]) {
  return Call::each(c, n, [&](Component &self, size_t i) {
    self.instance.set_boolean(vr[i], value[i] != fmi2False);
  });
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                         const fmi2String value[]) {
  return Call::each(c, n,
                    [&](Component &self, size_t i) { self.instance.set_string(vr[i], value[i]); });
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real from, fmi2Real size, fmi2Boolean) {
  const fmi2Status status = Call::guard(c, [&](Component &self) { self.step(from, size); });
  return status == fmi2OK && Call::component(c)->instance.ended() ? fmi2Discard : status;
}

fmi2Status fmi2CancelStep(fmi2Component c) { return Call::refuse(c, __func__); }

// No step is ever pending, and no state is saved.
fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind, fmi2Status *) {
  return c == nullptr ? fmi2Error : fmi2Discard;
}
// When the last step that was done ended.
fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value) {
  if (c == nullptr || value == nullptr) return fmi2Error;
  if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = Call::component(c)->instance.time();
  return fmi2OK;
}
fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind, fmi2Integer *) {
  return c == nullptr ? fmi2Error : fmi2Discard;
}
// A discarded step is one after the end.
fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value) {
  if (c == nullptr || value == nullptr) return fmi2Error;
  if (kind != fmi2Terminated) return fmi2Discard;
  *value = Call::component(c)->instance.ended() ? fmi2True : fmi2False;
  return fmi2OK;
}
fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind, fmi2String *) {
  return c == nullptr ? fmi2Error : fmi2Discard;
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *) { return Call::refuse(c, __func__); }
fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate) { return Call::refuse(c, __func__); }
fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *) { return Call::refuse(c, __func__); }
fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate, size_t *) {
  return Call::refuse(c, __func__);
}
fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate, fmi2Byte[], size_t) {
  return Call::refuse(c, __func__);
}
fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte[], size_t, fmi2FMUstate *) {
  return Call::refuse(c, __func__);
}
fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference[], size_t,
                                        const fmi2ValueReference[], size_t, const fmi2Real[],
                                        fmi2Real[]) {
  return Call::refuse(c, __func__);
}
fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference[], size_t,
                                       const fmi2Integer[], const fmi2Real[]) {
  return Call::refuse(c, __func__);
}
fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference[], size_t,
                                        const fmi2Integer[], fmi2Real[]) {
  return Call::refuse(c, __func__);
}

}  // extern "C"
