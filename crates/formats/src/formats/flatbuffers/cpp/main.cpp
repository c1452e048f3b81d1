// The normalized message by flatc's accessors.
#include "glue.hpp"
#include "message.hpp"
#include "reading.hpp"
#include "wiregauge/serve.hpp"

namespace {

// Memory that was lent, as the builder's. It is given out once, so that a builder that needs
// more cannot move the message elsewhere.
class LentRoom : public flatbuffers::Allocator {
 public:
  explicit LentRoom(wiregauge::Room room) : room_(room) {}

  std::uint8_t *allocate(std::size_t size) override {
    if (taken_ || size > room_.size) throw wiregauge::NoRoom();
    taken_ = true;
    return room_.data;
  }
  void deallocate(std::uint8_t *, std::size_t) override {}

 private:
  wiregauge::Room room_;
  bool taken_ = false;
};

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

  static constexpr bool writes_in_place = true;

  wiregauge::Wire write_in_place(const Message &message, wiregauge::Room room) {
    LentRoom lent(room);
    // What a message left there that found no room.
    scratch_.clear();
    FlatBufferBuilder builder(room.size, &lent);
    builder.Finish(build(builder, scratch_, message));
    return {builder.GetBufferPointer(), builder.GetSize()};
  }

  void read_in_place(wiregauge::Wire wire, Object &, Message &message) {
    take(root(wire), wire.size, message);
  }

  template <class Tally>
  void project_in_place(wiregauge::Wire wire, Object &, Tally &tally) {
    tally = tallied<Tally>(root(wire));
  }

 private:
  Scratch scratch_;
};

}  // namespace

int main() { return wiregauge::serve<Flatbuffers>(); }
