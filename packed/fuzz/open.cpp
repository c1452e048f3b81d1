// Any bytes as a packed field.
#include "check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  check::open(wiregauge::packed::Bytes(data, size));
  return 0;
}
