// The normalized message by the C structs of LCM.
#include <lcm/lcm.h>

#include <climits>

#include "glue.hpp"
#include "message.hpp"
#include "wiregauge/c_struct_codec.hpp"
#include "wiregauge/serve.hpp"

namespace {

using c_struct::Root;

// What was read owns what the generated code allocated.
class Object : public c_struct::Messages {
 public:
  ~Object() { release(); }

  void read(wiregauge::Wire wire) {
    release();
    if (wire.size > INT_MAX) throw std::runtime_error("longer than 2 GiB");
    const int size = static_cast<int>(wire.size);
    const int used = generated::decode(wire.data, 0, size, &parsed_);
    // What a failed decode leaves is not fit to be cleaned up.
    if (used < 0) throw std::runtime_error("not an LCM message of this type");
    owns_ = true;
    if (used != size) throw std::runtime_error("bytes left over after the message");
  }
  const Root &parsed() const { return parsed_; }

 private:
  void release() {
    if (owns_) generated::decode_cleanup(&parsed_);
    owns_ = false;
  }

  bool owns_ = false;
};

class Lcm : public c_struct::Structs<Lcm> {
 public:
  using Object = ::Object;
  static constexpr bool unchecked = true;
  static std::string library() {
    return "LCM " + std::to_string(LCM_MAJOR_VERSION) + "." + std::to_string(LCM_MINOR_VERSION) +
           "." + std::to_string(LCM_MICRO_VERSION);
  }

  void write(const Message &, Object &object, wiregauge::Buffer &out) {
    const int size = generated::encoded_size(&object.filled());
    if (size < 0) throw wiregauge::Rejected("it is longer than 2 GiB, LCM's limit");
    out.resize(static_cast<std::size_t>(size));
    if (generated::encode(out.data(), 0, size, &object.filled()) != size)
      throw std::runtime_error("LCM cannot encode the message");
  }

  void parse(wiregauge::Wire wire, Object &object) { object.read(wire); }
};

}  // namespace

int main() { return wiregauge::serve<Lcm>(); }
