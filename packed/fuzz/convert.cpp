// Any bytes as a message to search, pack and unpack.
#include "check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  check::convert(wiregauge::packed::Bytes(data, size));
  return 0;
}
