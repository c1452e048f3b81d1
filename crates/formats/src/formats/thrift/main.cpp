// The normalized message by the structures of Thrift's own compiler.
#include <thrift/config.h>

#include <memory>
#include <string>

#include "glue.hpp"
#include "message.hpp"
#include "reader.hpp"
#include "wire.hpp"
#include "wiregauge/serve.hpp"

namespace {

class Thrift : public wiregauge::Defaults {
 public:
  using Message = message::Root;
  using Object = glue::Root;
  static std::string library() { return "thrift " PACKAGE_VERSION; }

  void populate(const Message &message, Object &object) { glue::fill(message, object); }

  void write(const Message &, Object &object, wiregauge::Buffer &out) {
    output_->resetBuffer();
    object.write(&writer_);
    std::uint8_t *bytes = nullptr;
    std::uint32_t size = 0;
    output_->getBuffer(&bytes, &size);
    out.refer(bytes, size);
  }

  // Who hands the bytes over is left without the transport's memory.
  void forget_written() { output_->resetBuffer(TMemoryBuffer::defaultSize); }

  void parse(wiregauge::Wire wire, Object &object) {
    glue::forget(object);
    object.read(&reader_.open(wire));
    reader_.finish();
  }

  void extract(wiregauge::Wire, Object &object, Message &message) { glue::take(object, message); }

  template <class Tally>
  void project(wiregauge::Wire wire, Object &object, Message &, Tally &tally) {
    parse(wire, object);
    tally = glue::tally<Tally>(object);
  }
  template <class Tally>
  void fixed(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    reader_.open(wire);
    glue::fixed(reader_, tally);
    reader_.close();
  }
  template <class Tally>
  void element(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    reader_.open(wire);
    glue::element(reader_, tally);
    reader_.close();
  }

 private:
  using TMemoryBuffer = glue::transport::TMemoryBuffer;

  std::shared_ptr<TMemoryBuffer> output_ = std::make_shared<TMemoryBuffer>(glue::configuration());
  glue::Wire<TMemoryBuffer> writer_{output_};
  glue::Reader reader_;
};

}  // namespace

int main() { return wiregauge::serve<Thrift>(); }
