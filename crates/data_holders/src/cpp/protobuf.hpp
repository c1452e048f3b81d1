// Protobuf's wire. Messages are written from their end on, so that the length of what
// is inside is known when its key is written. Nothing here throws or wants run-time
// types; only memory that runs out may throw.
#pragma once

#include <cstring>

#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

#include "wiregauge/holder.hpp"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the wires are written for little-endian machines"
#endif

namespace wiregauge {
namespace protobuf {

// What is wrong with a message or its bytes.
enum class Error : std::uint8_t {
  none,
  ends_too_early,
  no_integer,
  no_group,
  no_text,
  missing,
  too_deep,
  too_large,
  no_room,
};

// The error in words.
inline const char *describe(Error error) {
  switch (error) {
    case Error::none:
      return "no error";
    case Error::ends_too_early:
      return "the bytes end too early";
    case Error::no_integer:
      return "an integer or a key is too long, or a key that cannot be";
    case Error::no_group:
      return "a group does not end, or another one does";
    case Error::no_text:
      return "a text is not UTF-8";
    case Error::missing:
      return "a required field is missing";
    case Error::too_deep:
      return "records are more than 100 deep in each other";
    case Error::too_large:
      return "the message has more bytes than Protobuf carries";
    case Error::no_room:
      return "the memory is too small for the message";
  }
  return "unknown error";
}

// Ways to write a number: what holders have, how many bytes it takes, 0 where that
// depends on it, and what is written.
template <class T>
struct Varint {
  using Value = T;
  static constexpr std::size_t size = 0;
  static std::uint64_t raw(T value) {
    // Of a negative number all 64 bits are written.
    if constexpr (std::is_same_v<T, bool> || std::is_unsigned_v<T>) {
      return value;
    } else {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    }
  }
  static T value(std::uint64_t raw) {
    if constexpr (std::is_same_v<T, bool>) {
      return raw != 0;
    } else {
      return static_cast<T>(raw);
    }
  }
};
using Int32 = Varint<std::int32_t>;
using Int64 = Varint<std::int64_t>;
using Uint32 = Varint<std::uint32_t>;
using Uint64 = Varint<std::uint64_t>;
using Bool = Varint<bool>;

template <class T>
struct Enum {
  using Value = T;
  static constexpr std::size_t size = 0;
  static std::uint64_t raw(T value) { return Int32::raw(static_cast<std::int32_t>(value)); }
  static T value(std::uint64_t raw) { return static_cast<T>(Int32::value(raw)); }
};

// The sign last, so that small magnitudes take few bytes.
template <class T>
struct Zigzag {
  using Value = T;
  using Bits = std::make_unsigned_t<T>;
  static constexpr std::size_t size = 0;
  static std::uint64_t raw(T value) {
    const Bits bits = static_cast<Bits>(static_cast<Bits>(value) << 1);
    return value < 0 ? static_cast<Bits>(~bits) : bits;
  }
  static T value(std::uint64_t raw) {
    const Bits bits = static_cast<Bits>(raw);
    const Bits half = bits >> 1;
    return static_cast<T>((bits & 1) != 0 ? static_cast<Bits>(~half) : half);
  }
};
using Sint32 = Zigzag<std::int32_t>;
using Sint64 = Zigzag<std::int64_t>;

template <class T>
struct Fixed {
  using Value = T;
  static constexpr std::size_t size = sizeof(T);
  static std::uint64_t raw(T value) {
    std::uint64_t raw = 0;
    std::memcpy(&raw, &value, sizeof(T));
    return raw;
  }
  static T value(std::uint64_t raw) {
    T value;
    std::memcpy(&value, &raw, sizeof(T));
    return value;
  }
};
using Fixed32 = Fixed<std::uint32_t>;
using Fixed64 = Fixed<std::uint64_t>;
using Sfixed32 = Fixed<std::int32_t>;
using Sfixed64 = Fixed<std::int64_t>;
using Float = Fixed<float>;
using Double = Fixed<double>;

// Whether a number is one that is left out where there is no presence.
template <class Way>
bool is_zero(typename Way::Value value) {
  return Way::raw(value) == 0;
}

namespace detail {

constexpr std::size_t kMost = 0x7fffffff;
// How deep records and groups may be in each other.
constexpr std::size_t kDeepest = 100;

inline std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

// What fields are put into, the last one first.
template <class Self>
class Sink {
 public:
  template <class Way>
  void number(std::uint32_t key, typename Way::Value value) {
    raw<Way>(value);
    self().varint(key);
  }

  template <class Way>
  void packed(std::uint32_t key, const std::vector<typename Way::Value> &values) {
    if (values.empty()) return;
    const std::size_t before = self().size();
    if constexpr (Way::size != 0) {
      self().octets(values.data(), values.size() * Way::size);
    } else {
      for (auto at = values.end(); at != values.begin();) raw<Way>(*--at);
    }
    behind(key, before);
  }

  void block(std::uint32_t key, const std::vector<std::uint8_t> &octets) {
    const std::size_t before = self().size();
    self().octets(octets.data(), octets.size());
    behind(key, before);
  }

  void text(std::uint32_t key, const std::string &text) {
    const std::size_t before = self().size();
    self().check(text);
    self().octets(text.data(), text.size());
    behind(key, before);
  }

  template <class T>
  void record(std::uint32_t key, const T &record) {
    const std::size_t before = self().size();
    if (self().enter()) {
      T::wiregauge_put(record, self());
      self().leave();
    }
    behind(key, before);
  }

  // A record between two keys.
  template <class T>
  void group(std::uint32_t key, const T &record) {
    self().varint(key + 1);
    if (self().enter()) {
      T::wiregauge_put(record, self());
      self().leave();
    }
    self().varint(key);
  }

 private:
  Self &self() { return static_cast<Self &>(*this); }

  template <class Way>
  void raw(typename Way::Value value) {
    if constexpr (Way::size != 0) {
      self().octets(&value, Way::size);
    } else {
      self().varint(Way::raw(value));
    }
  }

  // The length and the key of what was put since there were so many bytes.
  void behind(std::uint32_t key, std::size_t before) {
    self().varint(self().size() - before);
    self().varint(key);
  }
};

class Sizer : public Sink<Sizer> {
 public:
  std::size_t size() const { return size_; }
  Error error() const { return size_ > kMost ? Error::too_large : error_; }
  void varint(std::uint64_t value) { size_ += varint_size(value); }
  void octets(const void *, std::size_t size) { size_ += size; }
  void check(const std::string &text) {
    if (!wiregauge::detail::is_utf8(text.data(), text.size())) error_ = Error::no_text;
  }
  bool enter() {
    if (depth_ == kDeepest) error_ = Error::too_deep;
    if (error_ != Error::none) return false;
    ++depth_;
    return true;
  }
  void leave() { --depth_; }

 private:
  std::size_t depth_ = 0;
  std::size_t size_ = 0;
  Error error_ = Error::none;
};

// Writes a message that was measured, from its end on.
class Writer : public Sink<Writer> {
 public:
  Writer(std::uint8_t *begin, std::size_t size) : begin_(begin), end_(size), at_(size) {}
  std::size_t size() const { return end_ - at_; }
  void varint(std::uint64_t value) {
    at_ -= varint_size(value);
    std::size_t place = at_;
    for (; value >= 0x80; value >>= 7) begin_[place++] = static_cast<std::uint8_t>(value | 0x80);
    begin_[place] = static_cast<std::uint8_t>(value);
  }
  void octets(const void *from, std::size_t size) {
    at_ -= size;
    if (size != 0) std::memcpy(begin_ + at_, from, size);
  }
  void check(const std::string &) {}
  bool enter() { return true; }
  void leave() {}

 private:
  std::uint8_t *begin_;
  std::size_t end_;
  std::size_t at_;
};

// Reads a message. Behind the first error there are no more keys.
class Reader {
 public:
  Reader(const std::uint8_t *begin, std::size_t size) : begin_(begin), end_(size) {}

  Error error() const { return error_; }

  void fail(Error error) {
    if (error_ == Error::none) error_ = error;
  }

  // The next key; 0 where the bytes or the group end.
  std::uint32_t key() {
    if (at_ == end_ && last_ == 0) return 0;
    const std::uint32_t key = any_key();
    return key == last_ ? 0 : key;
  }

  template <class Way>
  typename Way::Value number() {
    std::uint64_t raw = 0;
    if constexpr (Way::size != 0) {
      const std::uint8_t *from = take(Way::size);
      if (from != nullptr) std::memcpy(&raw, from, Way::size);
    } else {
      raw = varint();
    }
    return Way::value(raw);
  }

  // Adds numbers behind a length.
  template <class Way>
  void packed(std::vector<typename Way::Value> &values) {
    const std::size_t size = length();
    if constexpr (Way::size != 0) {
      if (size % Way::size != 0) return fail(Error::ends_too_early);
      const std::uint8_t *from = take(size);
      if (from == nullptr || size == 0) return;
      const std::size_t count = values.size();
      values.resize(count + size / Way::size);
      std::memcpy(values.data() + count, from, size);
    } else {
      const std::size_t before = end_;
      end_ = at_ + size;
      while (at_ != end_ && error_ == Error::none) values.push_back(number<Way>());
      end_ = before;
    }
  }

  void text(std::string &text) {
    const std::size_t size = length();
    const auto *from = reinterpret_cast<const char *>(take(size));
    if (from == nullptr) return;
    if (!wiregauge::detail::is_utf8(from, size)) return fail(Error::no_text);
    text.assign(from, size);
  }

  void block(std::vector<std::uint8_t> &octets) {
    const std::size_t size = length();
    const std::uint8_t *from = take(size);
    if (from != nullptr) octets.assign(from, from + size);
  }

  // Reads a record into what is there.
  template <class T>
  void record(T &record) {
    const std::size_t before = end_;
    const std::uint32_t outer = last_;
    const std::size_t size = length();
    if (depth_ == kDeepest) return fail(Error::too_deep);
    ++depth_;
    end_ = at_ + size;
    last_ = 0;
    T::wiregauge_merge(record, *this);
    last_ = outer;
    end_ = before;
    --depth_;
  }

  // Reads a record up to the key that ends it, into what is there.
  template <class T>
  void group(std::uint32_t key, T &record) {
    const std::uint32_t outer = last_;
    if (depth_ == kDeepest) return fail(Error::too_deep);
    ++depth_;
    last_ = key + 1;
    T::wiregauge_merge(record, *this);
    last_ = outer;
    --depth_;
  }

  // Goes behind a field that is not known.
  void skip(std::uint32_t key) {
    std::uint32_t open[kDeepest];
    std::size_t depth = 0;
    do {
      switch (key & 7) {
        case 0:
          varint();
          break;
        case 1:
          take(8);
          break;
        case 2:
          take(length());
          break;
        case 5:
          take(4);
          break;
        case 3:
          if (depth + depth_ == kDeepest) return fail(Error::no_group);
          open[depth++] = key >> 3;
          break;
        case 4:
          if (depth == 0 || open[--depth] != key >> 3) return fail(Error::no_group);
          break;
        default:
          return fail(Error::no_integer);
      }
      if (depth == 0) return;
      key = any_key();
    } while (key != 0);
  }

 private:
  // The next key, whatever it ends; 0 where there is none.
  std::uint32_t any_key() {
    if (error_ != Error::none) return 0;
    const std::uint32_t key = small();
    if (key >> 3 == 0) fail(Error::no_integer);
    return error_ == Error::none ? key : 0;
  }

  const std::uint8_t *take(std::size_t size) {
    if (size > end_ - at_) fail(Error::ends_too_early);
    if (error_ != Error::none) return nullptr;
    const std::uint8_t *from = begin_ + at_;
    at_ += size;
    return from;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const std::uint8_t *byte = take(1);
      if (byte == nullptr) return 0;
      value |= static_cast<std::uint64_t>(*byte & 0x7f) << shift;
      if (*byte < 0x80) return value;
    }
    fail(Error::no_integer);
    return 0;
  }

  // An integer of 32 bits in at most five bytes, as keys and lengths are.
  std::uint32_t small() {
    const std::size_t start = at_;
    const std::uint64_t value = varint();
    if (at_ - start > 5 || value > 0xffffffff) fail(Error::no_integer);
    return static_cast<std::uint32_t>(value);
  }

  // A length for which there are bytes.
  std::size_t length() {
    const std::size_t size = small();
    if (size > kMost || size > end_ - at_) fail(Error::ends_too_early);
    return error_ == Error::none ? size : 0;
  }

  const std::uint8_t *begin_;
  std::size_t end_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  // The key that ends the group that is read; 0 where the end of the bytes does.
  std::uint32_t last_ = 0;
  Error error_ = Error::none;
};

}  // namespace detail

// How many bytes a message takes; says whether it may be written at all.
template <class T>
Error size(const T &message, std::size_t &bytes) {
  detail::Sizer sizer;
  T::wiregauge_put(message, sizer);
  bytes = sizer.size();
  return sizer.error();
}

// Writes a message into memory of the caller's; says how many bytes it took.
template <class T>
Error serialize(const T &message, std::uint8_t *out, std::size_t room, std::size_t &bytes) {
  const Error error = size(message, bytes);
  if (error != Error::none) return error;
  if (bytes > room) return Error::no_room;
  detail::Writer writer(out, bytes);
  T::wiregauge_put(message, writer);
  return Error::none;
}

// Writes a message; the memory of `out` is used again.
template <class T>
Error serialize(const T &message, std::vector<std::uint8_t> &out) {
  std::size_t bytes = 0;
  const Error error = size(message, bytes);
  if (error != Error::none) return error;
  out.resize(bytes);
  detail::Writer writer(out.data(), bytes);
  T::wiregauge_put(message, writer);
  return Error::none;
}

// Reads a message; the memory of `message` is used again. What it holds after an
// error is valid, but no message.
template <class T>
Error deserialize(const std::uint8_t *data, std::size_t bytes, T &message) {
  detail::Reader reader(data, bytes);
  T::wiregauge_clear(message);
  T::wiregauge_merge(message, reader);
  return reader.error();
}

#if defined(__cpp_exceptions)
// The same, for those who want exceptions: std::runtime_error.
template <class T>
std::vector<std::uint8_t> serialize(const T &message) {
  std::vector<std::uint8_t> out;
  const Error error = serialize(message, out);
  if (error != Error::none) throw std::runtime_error(describe(error));
  return out;
}

template <class T>
T deserialize(const std::uint8_t *data, std::size_t bytes) {
  T message;
  const Error error = deserialize(data, bytes, message);
  if (error != Error::none) throw std::runtime_error(describe(error));
  return message;
}
#endif

}  // namespace protobuf
}  // namespace wiregauge
