// The holder that wiregauge generate writes, as its user would call it.
#pragma once

#include "calls.hpp"
#include "message.hpp"
#include "wiregauge/serve.hpp"

namespace {

class Generated : public wiregauge::Defaults {
 public:
  using Message = generated::Message;
  using Object = wiregauge::None;
  static constexpr bool has_clients = true;
  static std::string library() { return std::string("wiregauge ") + glue::kVersion; }

  void populate(const Message &, Object &) {}

  void write(const Message &message, Object &, wiregauge::Buffer &out) {
    std::size_t bytes = 0;
    auto error = calls::serialize(message, out.data(), out.capacity(), bytes);
    if (error == calls::Error::no_room) {
      out.resize(bytes);
      error = calls::serialize(message, out.data(), out.capacity(), bytes);
    }
    // Of a message only what the wire cannot say is wrong.
    if (error != calls::Error::none) throw wiregauge::Rejected(calls::describe(error));
    out.resize(bytes);
  }

  void parse(wiregauge::Wire, Object &) {}

  void extract(wiregauge::Wire wire, Object &, Message &message) {
    const auto error = calls::deserialize(wire.data, wire.size, message);
    if (error != calls::Error::none) throw std::runtime_error(calls::describe(error));
  }

  template <class Tally>
  void project(wiregauge::Wire wire, Object &object, Message &message, Tally &tally) {
    extract(wire, object, message);
    tally = glue::tally<Tally>(message);
  }
  template <class Tally>
  void fixed(wiregauge::Wire wire, Object &object, Message &message, Tally &tally) {
    extract(wire, object, message);
    glue::fixed(message, tally);
  }
  template <class Tally>
  void element(wiregauge::Wire wire, Object &object, Message &message, Tally &tally) {
    extract(wire, object, message);
    glue::element(message, tally);
  }
};

}  // namespace
