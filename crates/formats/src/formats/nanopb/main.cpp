// The normalized message by the C structs of nanopb.
#include <pb_decode.h>
#include <pb_encode.h>

#include <string>

#include "glue.hpp"
#include "message.hpp"
#include "wiregauge/c_struct_codec.hpp"
#include "wiregauge/serve.hpp"

namespace {

using c_struct::Root;

// What was read owns what the library allocated.
class Object : public c_struct::Messages {
 public:
  ~Object() { release(); }

  void read(wiregauge::Wire wire) {
    release();
    release_ = [](Root &parsed) { pb_release(generated::fields(), &parsed); };
    pb_istream_t stream = pb_istream_from_buffer(wire.data, wire.size);
    // What a failed decode has allocated it releases.
    if (!pb_decode(&stream, generated::fields(), &parsed_))
      throw std::runtime_error(std::string("not a Protobuf message: ") + PB_GET_ERROR(&stream));
  }
  const Root &parsed() const { return parsed_; }

 private:
  void release() {
    if (release_ != nullptr) release_(parsed_);
  }

  // Not there before something is read: a program that only encodes is linked without the
  // half of the library that decodes.
  void (*release_)(Root &) = nullptr;
};

class Nanopb : public c_struct::Structs<Nanopb> {
 public:
  using Object = ::Object;
  static std::string library() {
    // `nanopb-0.4.7`.
    std::string version = NANOPB_VERSION;
    version.replace(version.find('-'), 1, " ");
    return version;
  }

  void write(const Message &, Object &object, wiregauge::Buffer &out) {
    std::size_t size = 0;
    if (!pb_get_encoded_size(&size, generated::fields(), &object.filled()))
      throw std::runtime_error("nanopb cannot encode the message");
    out.resize(size);
    pb_ostream_t stream = pb_ostream_from_buffer(out.data(), size);
    if (!pb_encode(&stream, generated::fields(), &object.filled()))
      throw std::runtime_error(std::string("nanopb: ") + PB_GET_ERROR(&stream));
  }

  void parse(wiregauge::Wire wire, Object &object) { object.read(wire); }
};

}  // namespace

int main() { return wiregauge::serve<Nanopb>(); }
