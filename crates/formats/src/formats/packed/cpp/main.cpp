// Protobuf's classes, and packed fields in their messages, also in place.
#include <google/protobuf/io/coded_stream.h>

#include "in_place.hpp"
#include "protobuf.hpp"
#include "wiregauge/serve.hpp"

namespace {

class Packed : public Protobuf {
 public:
  static constexpr bool writes_in_place = true;

  wiregauge::Wire write_in_place(const Message &message, wiregauge::Room room) {
    Root &rest = start(rest_);
    fill_rest(message, rest);
    const std::size_t size = rest.ByteSizeLong();
    if (size > room.size) throw wiregauge::NoRoom();
    rest.SerializeWithCachedSizesToArray(room.data);
    rows::FieldWriter writer(room, size);
    write_lists(message, writer);
    return writer.written();
  }

  void read_in_place(wiregauge::Wire wire, Object &object, Message &message) {
    const Lists lists = parse_rest(wire, object);
    take(object, message);
    take_lists(lists, message);
  }

  template <class Tally>
  void project_in_place(wiregauge::Wire wire, Object &object, Tally &tally) {
    const Lists lists = parse_rest(wire, object);
    tally = ::tally<Tally>(object);
    tally_lists(lists, tally);
  }

 private:
  Lists parse_rest(wiregauge::Wire wire, Object &object) {
    Root &rest = start(object);
    Lists lists{};
    rows::split(wire, kListNumbers, lists, [&](const std::uint8_t *data, int size) {
      google::protobuf::io::CodedInputStream in(data, size);
      if (!rest.MergeFromCodedStream(&in) || !in.ConsumedEntireMessage())
        throw std::runtime_error("not a Protobuf message");
    });
    return lists;
  }

  Object rest_;
};

}  // namespace

int main() { return wiregauge::serve<Packed>(); }
