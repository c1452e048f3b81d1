// What remains of the program without a message: it hands on what it is given.
#include <cstdio>
#include <string>

int main() {
  std::string bytes(1 << 16, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), stdin));
  return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() ? 0 : 1;
}
