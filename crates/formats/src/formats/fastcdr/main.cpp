// The normalized message by calls of FastCDR.
#include <fastcdr/config.h>

#include <cstring>

#include "glue.hpp"
#include "message.hpp"
#include "primitives.hpp"
#include "wiregauge/serve.hpp"
#include "wiregauge/whole.hpp"

namespace {

class FastCdr : public wiregauge::Whole<FastCdr> {
 public:
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
};

}  // namespace

int main() { return wiregauge::serve<FastCdr>(); }
