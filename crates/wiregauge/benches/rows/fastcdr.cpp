// Fast CDR by hand: the size and the calls that fastddsgen generates for a record; the
// buffer is kept.
#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <fastcdr/config.h>

namespace {

using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;

// Offsets behind a record that begins at one.
std::size_t after(const hand::Info &, std::size_t at) {
  for (int i = 0; i < 3; ++i) at += 8 + Cdr::alignment(at, 8);
  return at;
}

std::size_t after(const hand::Point &, std::size_t at) {
  at += 3 * 4 + Cdr::alignment(at, 4);
  return at + 1 + Cdr::alignment(at, 1);
}

std::size_t after(const hand::Lidar &message, std::size_t at) {
  at = after(message.info, at);
  at += 4 + Cdr::alignment(at, 4);
  for (const hand::Point &point : message.points) at = after(point, at);
  return at;
}

// Version 1 of the encoding, which versions of the library before 2 have alone.
struct Stream : Cdr {
#if FASTCDR_VERSION_MAJOR < 2
  explicit Stream(FastBuffer &buffer) : Cdr(buffer, Cdr::LITTLE_ENDIANNESS) {}
#else
  explicit Stream(FastBuffer &buffer)
      : Cdr(buffer, Cdr::LITTLE_ENDIANNESS, eprosima::fastcdr::CdrVersion::XCDRv1) {}
#endif
};

class FastCdr : public hand::ByHand {
 public:
  const char *library() override { return "fastcdr"; }

  std::size_t encode(const hand::Lidar &message) override {
    size_ = after(message, 0);
    if (out_.size() < size_) out_.resize(size_);
    FastBuffer buffer(out_.data(), size_);
    Stream cdr(buffer);
    cdr << message.info.kind << message.info.timestamp << message.info.guid;
    cdr << static_cast<std::uint32_t>(message.points.size());
    for (const hand::Point &point : message.points) cdr << point.position << point.intensity;
    hand::use(out_);
    return size_;
  }

  std::string written() override { return {out_.begin(), out_.begin() + long(size_)}; }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    auto *bytes = reinterpret_cast<char *>(const_cast<std::uint8_t *>(wire.data));
    FastBuffer buffer(bytes, wire.size);
    Stream cdr(buffer);
    cdr >> message.info.kind >> message.info.timestamp >> message.info.guid;
    std::uint32_t count = 0;
    cdr >> count;
    message.points.resize(count);
    for (hand::Point &point : message.points) cdr >> point.position >> point.intensity;
  }

 private:
  // Grows and is not cleared, so that nothing is zeroed: padding is where it was.
  std::vector<char> out_;
  std::size_t size_ = 0;
};

}  // namespace

int main() {
  FastCdr library;
  return hand::Server(library).serve();
}
