// What the FMI adapters know of a model, and a model of them.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "osmp.hpp"

namespace wiregauge {

// The value references, of FMI 2.0 and 3.0. A message takes three in FMI 2.0
// (lo, hi, size), and the first of them alone in FMI 3.0.
enum Variable : unsigned {
  kInput = 0,
  kOutput = 3,
  kValid = 6,
  kCount = 7,
  kReflections = 8,
  kObjects = 9,
  kScene = 10,
  kFresh = 11,
  kVerify = 12,
  kLog = 13,
  kTime = 14,  // FMI 3.0 wants it as a variable
  kTrace = 15,
  kPace = 16,
  kAtEnd = 17,
  kParse = 18,
};

struct Parameters {
  std::int32_t reflections = 0;
  std::int32_t objects = 10;
  std::string scene = "full";
  bool fresh = false;
  bool verify = false;
  std::string log;
  std::string trace;
  std::string pace = "time";
  std::string at_end = "end";
  bool parse = false;
};

// Whether the model has a parameter: each says which in kParameters.
bool has_parameter(unsigned variable);

struct Output {
  Bytes message;
  bool valid = false;
  std::int32_t count = 0;
  bool ended = false;  // there is nothing more to come

  static Output end_of_simulation() { return {{}, false, 0, true}; }
};

// What went wrong, in one line for the master's log.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What is fixed when an FMU is compiled.
struct Identity {
  const char *name;  // source-protobuf
  const char *guid;
  const char *input;   // the prefix, empty for a source
  const char *output;  // empty for a recorder
};
extern const Identity kIdentity;

// What a message's size is behind its first value reference, which is the
// adapter's matter: performance logs name the size by its reference.
extern const unsigned kSizeOffset;

// Where messages come from: the input, or a player's file.
inline std::string origin() { return *kIdentity.input == '\0' ? "trace" : kIdentity.input; }

inline Failure unreadable(const char *type, Bytes bytes) {
  return Failure(origin() + ": the " + std::to_string(bytes.size) + " bytes are no " + type);
}

inline Failure too_large() {
  return Failure(std::string(kIdentity.output) +
                 ": the message would be more than 2 GiB, which OSMP cannot say");
}

class Model {
 public:
  virtual ~Model() = default;

  // One step that ends at `time`. The output lives until the beginning of the
  // second step after this one.
  virtual Output step(double time, Bytes input) = 0;

  // Writes out what is still to be written.
  virtual void flush() = 0;
};

// Both throw Failure, among others.
std::unique_ptr<Model> make_model(const Parameters &parameters);

}  // namespace wiregauge
