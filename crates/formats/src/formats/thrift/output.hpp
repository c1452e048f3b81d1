// The transport that writes.
#pragma once

#include <thrift/TConfiguration.h>
#include <thrift/transport/TBufferTransports.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>

#include "wiregauge/codec.hpp"

namespace glue {

namespace transport = apache::thrift::transport;

// The library's default limit of 100 MB a message is no limit of the format.
inline std::shared_ptr<apache::thrift::TConfiguration> configuration() {
  return std::make_shared<apache::thrift::TConfiguration>(std::numeric_limits<int>::max());
}

// A transport that writes into the runner's buffer.
class Output final : public transport::TVirtualTransport<Output, transport::TBufferBase> {
 public:
  Output() : TVirtualTransport(configuration()) {}

  void start(wiregauge::Buffer &out) {
    out_ = &out;
    use(0);
  }

  void finish() { out_->resize(size()); }

  // TBufferBase's, which gcc may leave as a call for each octet of the compact protocol.
  [[gnu::always_inline]] void write(const std::uint8_t *bytes, std::uint32_t count) {
    std::uint8_t *end = wBase_ + count;
    if (__builtin_expect(end > wBound_, false)) return writeSlow(bytes, count);
    std::memcpy(wBase_, bytes, count);
    wBase_ = end;
  }

 protected:
  void writeSlow(const std::uint8_t *bytes, std::uint32_t count) override {
    const std::size_t written = size();
    out_->reserve(std::max({2 * out_->capacity(), written + count, std::size_t{1024}}));
    use(written);
    if (count > wBound_ - wBase_) throw std::runtime_error("longer than 4 GiB");
    std::memcpy(wBase_, bytes, count);
    wBase_ += count;
  }

  std::uint32_t readSlow(std::uint8_t *, std::uint32_t) override { return 0; }
  const std::uint8_t *borrowSlow(std::uint8_t *, std::uint32_t *) override { return nullptr; }

 private:
  std::size_t size() const { return static_cast<std::size_t>(wBase_ - out_->data()); }

  void use(std::size_t written) {
    const std::size_t room = std::min<std::size_t>(out_->capacity(), UINT32_MAX) - written;
    setWriteBuffer(out_->data() + written, static_cast<std::uint32_t>(room));
  }

  wiregauge::Buffer *out_ = nullptr;
};

}  // namespace glue
