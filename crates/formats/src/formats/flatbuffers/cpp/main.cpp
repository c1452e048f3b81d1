// The normalized message by flatc's accessors.
#include "glue.hpp"
#include "message.hpp"
#include "reading.hpp"
#include "wiregauge/serve.hpp"

namespace {

class Flatbuffers : public Reading {
 public:
  using Object = wiregauge::None;

  void populate(const Message &, Object &) {}

  void write(const Message &message, Object &, wiregauge::Buffer &out) {
    builder_.Clear();
    builder_.Finish(build(builder_, scratch_, message));
    hand_out(out);
  }

  void parse(wiregauge::Wire, Object &) {}

  void extract(wiregauge::Wire wire, Object &, Message &message) {
    take(root(wire), wire.size, message);
  }

 private:
  Scratch scratch_;
};

}  // namespace

int main() { return wiregauge::serve<Flatbuffers>(); }
