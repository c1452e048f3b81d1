// What codecs of C libraries have in common: objects that an arena is lent to, and
// reading by parsing the whole message. Includes the generated glue.
#pragma once

#include <memory>
#include <utility>

#include "glue.hpp"
#include "message.hpp"
#include "wiregauge/c_struct.hpp"
#include "wiregauge/codec.hpp"

namespace c_struct {

// The library's message twice: one to write, with an arena that it is lent, and one to read
// into. Who derives from it releases what the library allocates for the second.
class Messages {
 public:
  Messages() = default;
  Messages(const Messages &) = delete;
  Messages &operator=(const Messages &) = delete;

  void fill(const message::Root &from) {
    arena->clear();
    fill_value(from, filled_, *arena);
  }
  const Root &filled() const { return filled_; }

  std::unique_ptr<Arena> arena;

 private:
  Root filled_{};

 protected:
  Root parsed_{};
};

// A codec that derives from it has parse(Wire, Object &); an object fill(message),
// the struct that was parsed as parsed(), and the arena that it is lent.
template <class Codec>
class Structs : public wiregauge::Defaults {
 public:
  using Message = message::Root;

  template <class Object>
  void populate(const Message &message, Object &object) {
    if (!object.arena) object.arena = arenas_.lend();
    object.fill(message);
  }

  template <class Object>
  void recycle(Object &object) {
    arenas_.take_back(std::move(object.arena));
  }

  template <class Object>
  void extract(wiregauge::Wire, Object &object, Message &message) {
    take_value(object.parsed(), message);
  }

  template <class Object, class Tally>
  void project(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    self().parse(wire, object);
    tally = Glue<Message, Root>::template numbers<Tally>(object.parsed());
  }
  template <class Object, class Tally>
  void fixed(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    self().parse(wire, object);
    c_struct::fixed(object.parsed(), tally);
  }
  template <class Object, class Tally>
  void element(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    self().parse(wire, object);
    c_struct::element(object.parsed(), tally);
  }

 protected:
  Arenas arenas_;

 private:
  Codec &self() { return static_cast<Codec &>(*this); }
};

}  // namespace c_struct
