// The reading experiments of a codec whose library has no way to read in part: the
// whole message is extracted for one number.
#pragma once

#include "message.hpp"
#include "wiregauge/codec.hpp"

namespace wiregauge {

template <class Codec>
class Whole : public Defaults {
 public:
  using Message = message::Root;

  template <class Object, class Tally>
  void project(Wire wire, Object &object, Message &message, Tally &tally) {
    self().extract(wire, object, message);
    tally = message.template tally<Tally>();
  }
  template <class Object, class Tally>
  void fixed(Wire wire, Object &object, Message &message, Tally &tally) {
    self().extract(wire, object, message);
    message::fixed(message, tally);
  }
  template <class Object, class Tally>
  void element(Wire wire, Object &object, Message &message, Tally &tally) {
    self().extract(wire, object, message);
    message::element(message, tally);
  }

 private:
  Codec &self() { return static_cast<Codec &>(*this); }
};

}  // namespace wiregauge
