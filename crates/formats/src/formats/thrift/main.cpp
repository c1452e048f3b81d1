// The normalized message by the structures of Thrift's own compiler.
#include <thrift/config.h>

#include <memory>
#include <string>

#include "glue.hpp"
#include "message.hpp"
#include "output.hpp"
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
    output_->start(out);
    object.write(&writer_);
    output_->finish();
  }

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
  std::shared_ptr<glue::Output> output_ = std::make_shared<glue::Output>();
  glue::Wire<glue::Output> writer_{output_};
  glue::Reader reader_;
};

}  // namespace

int main() { return wiregauge::serve<Thrift>(); }
