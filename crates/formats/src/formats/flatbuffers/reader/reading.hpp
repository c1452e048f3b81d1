// What the codecs have in common: reading in place, by the accessors.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "glue.hpp"
#include "message.hpp"
#include "names.hpp"
#include "wiregauge/codec.hpp"

namespace {

// The message, unchecked as by a reader who trusts its peer.
const Root &root(wiregauge::Wire wire) {
  if (wire.size < sizeof(uoffset_t)) throw std::runtime_error("shorter than an offset");
  return *flatbuffers::GetRoot<Root>(wire.data);
}

void verify_root(wiregauge::Wire wire) {
  if (wire.size >= FLATBUFFERS_MAX_BUFFER_SIZE) throw std::runtime_error("2 GiB or longer");
  flatbuffers::Verifier::Options options;
  options.max_depth = kDepth;
  options.max_tables =
      std::max(options.max_tables, static_cast<uoffset_t>(wire.size / sizeof(uoffset_t)));
  flatbuffers::Verifier verifier(wire.data, wire.size, options);
  if (!verifier.VerifyBuffer<Root>(nullptr)) throw std::runtime_error("not a FlatBuffers message");
}

class Reading : public wiregauge::Defaults {
 public:
  using Message = message::Root;
  static std::string library() {
    return "flatbuffers " + std::to_string(FLATBUFFERS_VERSION_MAJOR) + "." +
           std::to_string(FLATBUFFERS_VERSION_MINOR) + "." +
           std::to_string(FLATBUFFERS_VERSION_REVISION);
  }
  static constexpr bool verifies = true;
  static constexpr bool unchecked = true;
  static constexpr bool in_place = true;

  void admit(const Message &message) { ::admit(message); }

  // Who hands the bytes over is left without the builder's memory.
  void forget_written() { builder_.Reset(); }

  template <class Object, class Tally>
  void project(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    tally = tallied<Tally>(root(wire));
  }
  template <class Object, class Tally>
  void fixed(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    ::fixed(root(wire), tally);
  }
  template <class Object, class Tally>
  void element(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    ::element(root(wire), tally);
  }
  void verify(wiregauge::Wire wire) { verify_root(wire); }

 protected:
  void hand_out(wiregauge::Buffer &out) {
    if (builder_.GetSize() >= FLATBUFFERS_MAX_BUFFER_SIZE)
      throw wiregauge::Rejected("2 GiB or longer");
    out.refer(builder_.GetBufferPointer(), builder_.GetSize());
  }

  FlatBufferBuilder builder_;
};

}  // namespace
