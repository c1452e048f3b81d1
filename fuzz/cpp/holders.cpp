// A message on each wire, by the readers that `wiregauge generate` writes in C++, as
// fuzz_targets/holders.rs has it in Rust.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../crates/data_holders/tests/cpp/views.hpp"
#include "kinds.view.hpp"
#include "tree.hpp"
#include "wiregauge/cdr.hpp"
#include "wiregauge/ros_msg.hpp"
#include "wiregauge/someip.hpp"
#include "wiregauge/xcdr2.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

void must(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// What was read is written and read as the same, also into what held another message; a view
// of it says the same.
template <class Wire>
void same(const std::uint8_t *data, std::size_t size) {
  using wiregauge::Error;
  kinds::Kinds message;
  const Error error = wiregauge::deserialize<Wire>(data, size, message);
  // There are no views of SOME/IP.
  if constexpr (!std::is_same_v<Wire, wiregauge::SomeIp>) {
    must(views::wrong<Wire>(data, size, error, message) == nullptr,
         "the view is of another message");
  }
  if (error != Error::none) return;
  Bytes out, again;
  must(wiregauge::serialize<Wire>(message, out) == Error::none, "it is not written");
  must(out.size() <= 64 + 4 * size, "it has become larger");
  message.texts.push_back("another");
  must(wiregauge::deserialize<Wire>(out.data(), out.size(), message) == Error::none,
       "what was written is not read");
  must(wiregauge::serialize<Wire>(message, again) == Error::none, "it is not written again");
  must(out == again, "another message");
}

// The same on Protobuf's wire, where what is read may be said in another way.
void same_tree(const std::uint8_t *data, std::size_t size) {
  namespace protobuf = wiregauge::protobuf;
  using protobuf::Error;
  tree::Tree message;
  if (protobuf::deserialize(data, size, message) != Error::none) return;
  Bytes out, again;
  must(protobuf::serialize(message, out) == Error::none, "it is not written");
  must(out.size() <= 64 + 8 * size, "it has become larger");
  must(protobuf::deserialize(out.data(), out.size(), message) == Error::none,
       "what was written is not read");
  must(protobuf::serialize(message, again) == Error::none, "it is not written again");
  must(out == again, "another message");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t *rest = data + 1;
  // From there on it is SOME/IP; before it the rest of six is a wire.
  if (data[0] >= 0xf0) {
    same<wiregauge::SomeIp>(rest, size - 1);
    return 0;
  }
  switch (data[0] % 6) {
    case 0:
      same<wiregauge::RosMsg>(rest, size - 1);
      break;
    case 1:
      same<wiregauge::Cdr>(rest, size - 1);
      break;
    case 2:
      same<wiregauge::CdrWithHeader>(rest, size - 1);
      break;
    case 3:
      same<wiregauge::Xcdr2>(rest, size - 1);
      break;
    case 4:
      same<wiregauge::Xcdr2WithHeader>(rest, size - 1);
      break;
    default:
      same_tree(rest, size - 1);
  }
  return 0;
}
