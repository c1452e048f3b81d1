// The normalized message by the C structs of LCM.
#include <lcm/lcm.h>

#include <climits>

#include "glue.hpp"
#include "message.hpp"
#include "wiregauge/serve.hpp"

namespace {

using c_struct::Root;

// The library's message: one to write, with an arena that it is lent, and one
// that was read, which owns what the generated code allocated.
class Object {
 public:
  Object() = default;
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  ~Object() { release(); }

  void fill(const message::Root &from) {
    arena->clear();
    c_struct::fill_value(from, filled_, *arena);
  }
  const Root &filled() const { return filled_; }

  void read(wiregauge::Wire wire) {
    release();
    if (wire.size > INT_MAX) throw std::runtime_error("longer than 2 GiB");
    const int size = static_cast<int>(wire.size);
    const int used = generated::decode(wire.data, 0, size, &read_);
    // What a failed decode leaves is not fit to be cleaned up.
    if (used < 0) throw std::runtime_error("not an LCM message of this type");
    owns_ = true;
    if (used != size) throw std::runtime_error("bytes left over after the message");
  }
  const Root &read() const { return read_; }

  std::unique_ptr<c_struct::Arena> arena;

 private:
  void release() {
    if (owns_) generated::decode_cleanup(&read_);
    owns_ = false;
  }

  Root filled_{};
  Root read_{};
  bool owns_ = false;
};

class Lcm : public wiregauge::Defaults {
 public:
  using Message = message::Root;
  using Object = ::Object;
  static constexpr bool unchecked = true;
  static std::string library() {
    return "LCM " + std::to_string(LCM_MAJOR_VERSION) + "." + std::to_string(LCM_MINOR_VERSION) +
           "." + std::to_string(LCM_MICRO_VERSION);
  }

  void populate(const Message &message, Object &object) {
    if (!object.arena) object.arena = arenas_.lend();
    object.fill(message);
  }

  void write(const Message &, Object &object, wiregauge::Buffer &out) {
    const int size = generated::encoded_size(&object.filled());
    if (size < 0) throw wiregauge::Rejected("it is longer than 2 GiB, LCM's limit");
    out.resize(static_cast<std::size_t>(size));
    if (generated::encode(out.data(), 0, size, &object.filled()) != size)
      throw std::runtime_error("LCM cannot encode the message");
  }

  void recycle(Object &object) { arenas_.take_back(std::move(object.arena)); }

  void parse(wiregauge::Wire wire, Object &object) { object.read(wire); }

  void extract(wiregauge::Wire, Object &object, Message &message) {
    c_struct::take_value(object.read(), message);
  }

  template <class Tally>
  void project(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    object.read(wire);
    tally = c_struct::Glue<Message, Root>::numbers<Tally>(object.read());
  }
  template <class Tally>
  void fixed(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    object.read(wire);
    c_struct::fixed(object.read(), tally);
  }
  template <class Tally>
  void element(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    object.read(wire);
    c_struct::element(object.read(), tally);
  }

 private:
  c_struct::Arenas arenas_;
};

}  // namespace

int main() { return wiregauge::serve<Lcm>(); }
