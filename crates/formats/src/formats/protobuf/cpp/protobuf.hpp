// The normalized message by the classes of Protobuf's own compiler.
#pragma once

#include <climits>
#include <stdexcept>
#include <string>

#include "glue.hpp"
#include "message.hpp"
#include "objects.hpp"
#include "wiregauge/codec.hpp"

namespace {

class Protobuf : public Objects {
 public:
  using Message = message::Root;
  static constexpr bool has_clients = true;
  static std::string library() {
    const std::string version = google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
    // Since release 21 the first number is that of the language alone.
    const bool own = GOOGLE_PROTOBUF_VERSION < 4000000;
    return "protobuf " + (own ? version : version.substr(version.find('.') + 1));
  }

  void populate(const Message &message, Object &object) { fill(message, start(object)); }

  void write(const Message &, Object &object, wiregauge::Buffer &out) {
    Root &message = get(object);
    const std::size_t size = message.ByteSizeLong();
    if (size > INT_MAX) throw wiregauge::Rejected("it is longer than 2 GiB, Protobuf's limit");
    out.resize(size);
    message.SerializeWithCachedSizesToArray(out.data());
  }

  void parse(wiregauge::Wire wire, Object &object) {
    if (wire.size > INT_MAX ||
        !start(object).ParseFromArray(wire.data, static_cast<int>(wire.size)))
      throw std::runtime_error("not a Protobuf message");
  }

  void extract(wiregauge::Wire, Object &object, Message &message) { take(get(object), message); }

  template <class Tally>
  void project(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    parse(wire, object);
    tally = ::tally<Tally>(get(object));
  }
  template <class Tally>
  void fixed(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    ::fixed(wire, tally);
  }
  template <class Tally>
  void element(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    ::element(wire, tally);
  }
};

}  // namespace
