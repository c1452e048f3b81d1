// The normalized message by SBE's flyweights.
#include <stdexcept>
#include <string>

#include "glue.hpp"
#include "groups.hpp"
#include "message.hpp"
#include "wiregauge/serve.hpp"

namespace {

class Sbe : public wiregauge::Defaults {
 public:
  using Message = message::Root;
  using Object = wiregauge::None;
  static std::string library() { return glue::kLibrary; }
  static constexpr bool in_place = true;

  void populate(const Message &, Object &) {}

  void write(const Message &message, Object &, wiregauge::Buffer &out) {
    const std::size_t size = glue::length(message);
    out.resize(size);
    char *base = reinterpret_cast<char *>(out.data());
    flyweight_.wrapAndApplyHeader(base, 0, size);
    glue::put(flyweight_, message, base);
  }

  void parse(wiregauge::Wire, Object &) {}

  void extract(wiregauge::Wire wire, Object &, Message &message) {
    open(wire);
    glue::take(flyweight_, message, flyweight_.buffer());
    if (flyweight_.sbePosition() != wire.size)
      throw std::runtime_error("bytes left over after the message");
  }

  template <class Tally>
  void project(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    tally = glue::tallied<Tally>(open(wire), glue::Tag<Message>{});
  }
  template <class Tally>
  void fixed(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    glue::fixed(open(wire), tally);
  }
  template <class Tally>
  void element(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    glue::element(open(wire), tally);
  }

 private:
  using Flyweight = glue::Root;

  // The flyweights take a pointer that they might write to, but only read here.
  Flyweight &open(wiregauge::Wire wire) {
    char *base = reinterpret_cast<char *>(const_cast<std::uint8_t *>(wire.data));
    const Flyweight::messageHeader header(base, 0, wire.size, Flyweight::sbeSchemaVersion());
    if (header.templateId() != Flyweight::sbeTemplateId() ||
        header.schemaId() != Flyweight::sbeSchemaId())
      throw std::runtime_error("another message");
    if (header.blockLength() < Flyweight::sbeBlockLength())
      throw std::runtime_error("the message's block is too short");
    flyweight_.wrapForDecode(base, Flyweight::messageHeader::encodedLength(), header.blockLength(),
                             header.version(), wire.size);
    return flyweight_;
  }

  Flyweight flyweight_;
};

}  // namespace

int main() { return wiregauge::serve<Sbe>(); }
