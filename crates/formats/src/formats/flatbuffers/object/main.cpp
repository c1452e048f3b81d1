// The normalized message by the classes of flatc's Object API.
#include "glue.hpp"
#include "message.hpp"
#include "reading.hpp"
#include "wiregauge/serve.hpp"

namespace {

class Flatbuffers : public Reading {
 public:
  using Object = RootObject;

  void populate(const Message &message, Object &object) { fill(message, object); }

  void write(const Message &, Object &object, wiregauge::Buffer &out) {
    builder_.Clear();
    builder_.Finish(Root::Pack(builder_, &object));
    hand_out(out);
  }

  void parse(wiregauge::Wire wire, Object &object) {
    clear(object);
    root(wire).UnPackTo(&object);
  }

  void extract(wiregauge::Wire, Object &object, Message &message) { take(object, message); }
};

}  // namespace

int main() { return wiregauge::serve<Flatbuffers>(); }
