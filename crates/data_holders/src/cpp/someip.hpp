// The payload of SOME/IP by AUTOSAR's defaults: highest bytes first, no gaps. Before texts and
// lists stands how many bytes they take, in 32 bits; what may be absent is a list of none or
// one. Texts are UTF-8 between a byte order mark and a zero. There are no views of it.
#pragma once

#include "wiregauge/sequential.hpp"

namespace wiregauge {

struct SomeIp {
  static constexpr std::size_t alignment = 1;
  static constexpr bool ends_texts = true;
  static constexpr bool has_filler = true;
  static constexpr bool delimits = false;
  static constexpr std::size_t header_size = 0;
  static constexpr std::size_t filling = 0;  // bytes that may follow the message
  static void write_header(std::uint8_t *) {}
  static bool is_header(const std::uint8_t *, std::size_t) { return true; }
};

namespace detail {

// What stands before the letters of a text.
inline constexpr std::uint8_t kTextMark[] = {0xef, 0xbb, 0xbf};
// The bytes of a text beside its letters.
inline constexpr std::size_t kTextFrame = sizeof(kTextMark) + 1;

// Integers with their bytes in the other order; compilers know these as one instruction.
inline std::uint8_t swapped(std::uint8_t bits) { return bits; }
inline std::uint16_t swapped(std::uint16_t bits) {
  return static_cast<std::uint16_t>((bits << 8) | (bits >> 8));
}
inline std::uint32_t swapped(std::uint32_t bits) {
  return (bits << 24) | ((bits & 0xff00u) << 8) | ((bits >> 8) & 0xff00u) | (bits >> 24);
}
inline std::uint64_t swapped(std::uint64_t bits) {
  const std::uint64_t low = swapped(static_cast<std::uint32_t>(bits));
  return (low << 32) | swapped(static_cast<std::uint32_t>(bits >> 32));
}

// An integer of so many bytes.
template <std::size_t Size>
struct BitsOf;
template <>
struct BitsOf<1> {
  using type = std::uint8_t;
};
template <>
struct BitsOf<2> {
  using type = std::uint16_t;
};
template <>
struct BitsOf<4> {
  using type = std::uint32_t;
};
template <>
struct BitsOf<8> {
  using type = std::uint64_t;
};

// Copies numbers and turns the order of the bytes of each; either may lie anywhere.
template <class T>
void copy_swapped(void *to, const void *from, std::size_t count) {
  using Bits = typename BitsOf<sizeof(T)>::type;
  auto *out = static_cast<std::uint8_t *>(to);
  const auto *in = static_cast<const std::uint8_t *>(from);
  if constexpr (sizeof(T) == 1) {
    if (count != 0) std::memcpy(out, in, count);
  } else {
    for (std::size_t at = 0; at != count; ++at) {
      Bits bits;
      std::memcpy(&bits, in + at * sizeof(T), sizeof(T));
      bits = swapped(bits);
      std::memcpy(out + at * sizeof(T), &bits, sizeof(T));
    }
  }
}

template <>
class Sizer<SomeIp> {
 public:
  std::size_t size() const { return size_; }
  Error error() const {
    // No length is larger than the message.
    const bool is_long = size_ > std::numeric_limits<std::uint32_t>::max();
    return error_ == Error::none && is_long ? Error::too_many : error_;
  }

  template <class T>
  void number(const T &) {
    size_ += sizeof(T);
  }
  void flag(const bool &) { size_ += 1; }
  template <class T>
  void numbers(const T *, std::size_t count) {
    size_ += count * sizeof(T);
  }

  void text(const std::string &text, std::size_t most) {
    if (text.size() > most) fail(Error::too_many);
    if (!is_text<SomeIp>(text.data(), text.size())) fail(Error::no_text);
    size_ += kLength + kTextFrame + text.size();
  }

  template <class T>
  void list(const std::vector<T> &values, const Limits &limits) {
    if (values.size() > limits.elements) fail(Error::too_many);
    size_ += kLength;
    if constexpr (is_number<T> || std::is_same_v<T, bool>) {
      size_ += values.size() * sizeof(T);
    } else if constexpr (is_plain<T>()) {
      if (values.empty()) return;
      const std::size_t begin = size_;
      walk(*this, values[0], Limits());
      size_ += (size_ - begin) * (values.size() - 1);  // all of one size
    } else {
      for (const T &value : values) walk(*this, value, limits.of_elements());
    }
  }

  template <class T>
  void option(const std::optional<T> &value, const Limits &limits) {
    size_ += kLength;
    if (value) walk(*this, *value, limits);
  }

  void nothing() { size_ += 1; }

  template <class T>
  std::size_t open() {
    return 0;
  }
  template <class T>
  void close(std::size_t) {}

 private:
  static constexpr std::size_t kLength = 4;
  void fail(Error error) {
    if (error_ == Error::none) error_ = error;
  }

  std::size_t size_ = 0;
  Error error_ = Error::none;
};

template <>
class Writer<SomeIp> {
 public:
  explicit Writer(std::uint8_t *begin) : at_(begin) {}

  template <class T>
  void number(const T &value) {
    numbers(&value, 1);
  }
  void flag(const bool &value) { *at_++ = value ? 1 : 0; }
  template <class T>
  void numbers(const T *values, std::size_t count) {
    copy_swapped<T>(at_, values, count);
    at_ += count * sizeof(T);
  }

  void text(const std::string &text, std::size_t) {
    length(kTextFrame + text.size());
    std::memcpy(at_, kTextMark, sizeof(kTextMark));
    at_ += sizeof(kTextMark);
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
    *at_++ = 0;
  }

  template <class T>
  void list(const std::vector<T> &values, const Limits &limits) {
    std::uint8_t *const mark = begin_list();
    if constexpr (is_number<T>) {
      numbers(values.data(), values.size());
    } else if constexpr (std::is_same_v<T, bool>) {
      for (const bool value : values) flag(value);
    } else {
      for (const T &value : values) walk(*this, value, limits.of_elements());
    }
    end_list(mark);
  }

  template <class T>
  void option(const std::optional<T> &value, const Limits &limits) {
    std::uint8_t *const mark = begin_list();
    if (value) walk(*this, *value, limits);
    end_list(mark);
  }

  void nothing() { *at_++ = 0; }

  template <class T>
  std::size_t open() {
    return 0;
  }
  template <class T>
  void close(std::size_t) {}

 private:
  void length(std::size_t length) { number(static_cast<std::uint32_t>(length)); }
  std::uint8_t *begin_list() {
    at_ += sizeof(std::uint32_t);
    return at_;
  }
  void end_list(std::uint8_t *mark) {
    const auto size = static_cast<std::uint32_t>(at_ - mark);
    copy_swapped<std::uint32_t>(mark - sizeof(size), &size, 1);
  }

  std::uint8_t *at_;
};

// Behind the first error there are no more bytes.
template <>
class Reader<SomeIp> {
 public:
  Reader(const std::uint8_t *begin, std::size_t size) : begin_(begin), size_(size) {}

  std::size_t left() const { return size_ - at_; }
  Error error() const { return error_; }

  template <class T>
  void number(T &value) {
    numbers(&value, 1);
  }

  void flag(bool &value) {
    std::uint8_t byte = 0;
    number(byte);
    if (byte > 1) fail(Error::no_truth_value);
    value = byte == 1;
  }

  template <class T>
  void numbers(T *values, std::size_t count) {
    const std::uint8_t *from = take(count, sizeof(T));
    if (from != nullptr) copy_swapped<T>(values, from, count);
  }

  void text(std::string &text, std::size_t most) {
    const std::size_t size = length();
    const std::uint8_t *from = take(size, 1);
    if (from == nullptr) return;
    if (size < kTextFrame || std::memcmp(from, kTextMark, sizeof(kTextMark)) != 0 ||
        from[size - 1] != 0) {
      return fail(Error::no_text);
    }
    const auto *letters = reinterpret_cast<const char *>(from) + sizeof(kTextMark);
    if (size - kTextFrame > most) return fail(Error::too_many);
    if (!is_text<SomeIp>(letters, size - kTextFrame)) return fail(Error::no_text);
    text.assign(letters, size - kTextFrame);
  }

  template <class T>
  void list(std::vector<T> &values, const Limits &limits) {
    const std::size_t size = length();
    const std::size_t end = at_ + size;
    if constexpr (is_number<T>) {
      const std::size_t count = size / sizeof(T);
      if (count > limits.elements) return fail(Error::too_many);
      const std::uint8_t *from = take(count, sizeof(T));
      if (from == nullptr) return;
      values.resize(count);
      copy_swapped<T>(values.data(), from, count);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (size > limits.elements) return fail(Error::too_many);
      values.clear();
      values.reserve(size);
      while (error_ == Error::none && at_ < end) {
        bool value = false;
        flag(value);
        values.push_back(value);
      }
    } else {
      std::size_t count = 0;
      while (error_ == Error::none && at_ < end) {
        if (count == limits.elements) return fail(Error::too_many);
        if (count == values.size()) values.emplace_back();
        walk(*this, values[count], limits.of_elements());
        ++count;
        // How many there are is known by the first where all are of one size.
        if constexpr (is_plain<T>()) {
          if (count == 1) values.reserve(size / (at_ + size - end));
        }
      }
      values.resize(count);
    }
    ends(end);
  }

  template <class T>
  void option(std::optional<T> &value, const Limits &limits) {
    const std::size_t size = length();
    const std::size_t end = at_ + size;
    if (size == 0) return value.reset();
    if (!value) value.emplace();
    walk(*this, *value, limits);
    ends(end);
  }

  void nothing() { take(1, 1); }

  template <class T>
  std::size_t open() {
    return 0;
  }
  template <class T>
  void close(std::size_t) {}

 private:
  // How many bytes what comes takes; they are there.
  std::size_t length() {
    std::uint32_t length = 0;
    number(length);
    if (length > left()) fail(Error::ends_too_early);
    return error_ == Error::none ? length : 0;
  }

  const std::uint8_t *take(std::size_t count, std::size_t size) {
    if (error_ == Error::none && count > left() / size) fail(Error::ends_too_early);
    if (error_ != Error::none) return nullptr;
    const std::uint8_t *from = begin_ + at_;
    at_ += count * size;
    return from;
  }

  void ends(std::size_t end) {
    if (error_ == Error::none && at_ != end) fail(Error::other_size);
  }

  void fail(Error error) {
    if (error_ == Error::none) error_ = error;
    at_ = size_;
  }

  const std::uint8_t *begin_;
  std::size_t size_;
  std::size_t at_ = 0;
  Error error_ = Error::none;
};

}  // namespace detail
}  // namespace wiregauge
