// The normalized message by calls of FastCDR.
#include <fastcdr/config.h>

#include <cstring>

#include "glue.hpp"
#include "message.hpp"
#include "primitives.hpp"
#include "wiregauge/serve.hpp"

namespace {

class FastCdr : public wiregauge::Defaults {
 public:
  using Message = message::Root;
  using Object = wiregauge::None;
  static std::string library() { return "fastcdr " FASTCDR_VERSION_STR; }

  void populate(const Message &, Object &) {}

  void write(const Message &message, Object &, wiregauge::Buffer &out) {
    const std::size_t size = glue::size(message, 0);
    if (size > out.capacity()) {
      out.reserve(size);
      std::memset(out.data(), 0, size);
    }
    out.resize(size);
    glue::Out writer(out);
    glue::serialize(writer, message);
  }

  void parse(wiregauge::Wire, Object &) {}

  void extract(wiregauge::Wire wire, Object &, Message &message) {
    glue::In in(wire);
    glue::deserialize(in, message);
    if (in.left() != 0) throw std::runtime_error("bytes left over after the message");
  }

  template <class Tally>
  void project(wiregauge::Wire wire, Object &object, Message &message, Tally &tally) {
    extract(wire, object, message);
    tally = message.tally<Tally>();
  }

  template <class Tally>
  void fixed(wiregauge::Wire wire, Object &object, Message &message, Tally &tally) {
    extract(wire, object, message);
    message::fixed(message, tally);
  }

  template <class Tally>
  void element(wiregauge::Wire wire, Object &object, Message &message, Tally &tally) {
    extract(wire, object, message);
    message::element(message, tally);
  }
};

}  // namespace

int main() { return wiregauge::serve<FastCdr>(); }
