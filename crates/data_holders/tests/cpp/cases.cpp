// Reads and writes what Protobuf's library says of bytes: cases CASES.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "message.hpp"
#include "wiregauge/protobuf.hpp"
#ifndef BARE
#include "wiregauge/cdr.hpp"
#endif

namespace {

namespace protobuf = wiregauge::protobuf;
using Bytes = std::vector<std::uint8_t>;
using protobuf::Error;

[[noreturn]] void fail(int count, const char *what) {
  std::fprintf(stderr, "%d: %s\n", count, what);
  std::exit(1);
}

// Bytes of a case, in memory of exactly their size; whether there are any.
bool part(std::FILE *file, Bytes &bytes) {
  std::uint32_t size = 0;
  if (std::fread(&size, 1, sizeof size, file) != sizeof size) std::exit(2);
  if (size == 0xffffffff) return false;
  bytes = Bytes(size);
  if (size != 0 && std::fread(bytes.data(), 1, size, file) != size) std::exit(2);
  return true;
}

void written(int count, const MESSAGE &message, const Bytes &wanted) {
  Bytes out;
  if (protobuf::serialize(message, out) != Error::none) fail(count, "it cannot be written");
  if (out != wanted) fail(count, "other bytes");
  Bytes memory(wanted.size());
  std::size_t size = 0;
  const Error error = protobuf::serialize(message, memory.data(), memory.size(), size);
  if (error != Error::none || memory != wanted) fail(count, "other bytes in place");
  if (wanted.empty()) return;
  if (protobuf::serialize(message, memory.data(), memory.size() - 1, size) != Error::no_room) {
    fail(count, "written where there is no room");
  }
}

}  // namespace

int main(int, char **arguments) {
  std::FILE *file = std::fopen(arguments[1], "rb");
  if (file == nullptr) return 2;
  // One object is used again.
  MESSAGE used;
  int count = 0;
  for (int byte = std::fgetc(file); byte != EOF; byte = std::fgetc(file)) {
    std::ungetc(byte, file);
    Bytes given, wanted, cdr;
    part(file, given);
    const bool is_message = part(file, wanted);
    MESSAGE fresh;
    const Error error = protobuf::deserialize(given.data(), given.size(), fresh);
    if (protobuf::deserialize(given.data(), given.size(), used) != error) fail(count, "used again");
    if ((error == Error::none) != is_message) fail(count, protobuf::describe(error));
    if (is_message) {
      written(count, fresh, wanted);
      written(count, used, wanted);
    }
    if (part(file, cdr)) {
#ifndef BARE
      Bytes out;
      if (wiregauge::serialize<wiregauge::Cdr>(used, out) != wiregauge::Error::none || out != cdr) {
        fail(count, "other bytes in CDR");
      }
      MESSAGE again;
      const auto read = wiregauge::deserialize<wiregauge::Cdr>(cdr.data(), cdr.size(), again);
      if (read != wiregauge::Error::none || again != used) fail(count, "another from CDR");
#endif
    }
    ++count;
  }
  std::fclose(file);
  std::printf("%d\n", count);
}
