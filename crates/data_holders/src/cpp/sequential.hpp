// Wires that write field after field: sizes, writing and reading. Nothing here
// throws or wants run-time types; only memory that runs out may throw.
#pragma once

#include <cstring>

#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

#include "wiregauge/space.hpp"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the wires are written for little-endian machines"
#endif

namespace wiregauge {

// What is wrong with a message or its bytes.
enum class Error : std::uint8_t {
  none,
  ends_too_early,
  left_over,
  too_many,
  other_size,
  no_truth_value,
  no_text,
  no_header,
  no_room,
};

// The error in words.
inline const char *describe(Error error) {
  switch (error) {
    case Error::none:
      return "no error";
    case Error::ends_too_early:
      return "the bytes end too early";
    case Error::left_over:
      return "bytes are left over behind the message";
    case Error::too_many:
      return "a list or text is longer than its bound";
    case Error::other_size:
      return "a list takes other bytes than its size says";
    case Error::no_truth_value:
      return "a truth value is neither 0 nor 1";
    case Error::no_text:
      return "a text is not UTF-8, or has a zero where it does not end";
    case Error::no_header:
      return "the bytes do not begin with the wire's header for little-endian";
    case Error::no_room:
      return "the memory is too small for the message";
  }
  return "unknown error";
}

namespace detail {

// How many bytes a message takes, and whether it may be written.
template <class Wire>
class Sizer {
 public:
  std::size_t size() const { return size_; }
  Error error() const {
    const bool is_long = longest_ > std::numeric_limits<std::uint32_t>::max();
    return error_ == Error::none && is_long ? Error::too_many : error_;
  }

  template <class T>
  void number(const T &) {
    align(sizeof(T));
    size_ += sizeof(T);
  }

  void flag(const bool &) { size_ += 1; }

  template <class T>
  void numbers(const T *, std::size_t count) {
    align(sizeof(T));
    size_ += count * sizeof(T);
  }

  void text(const std::string &text, std::size_t most) {
    bounded(text.size(), most, Limits().text);
    if (!is_text<Wire>(text.data(), text.size())) fail(Error::no_text);
    length();
    size_ += text.size() + (Wire::ends_texts ? 1 : 0);
  }

  template <class T>
  void list(const std::vector<T> &values, const Limits &limits) {
    bounded(values.size(), limits.elements, Limits().elements);
    open<T>();
    length();
    if constexpr (has_gap<Wire, T>) {
      if (values.empty()) return;
    }
    if constexpr (is_number<T>) {
      numbers(values.data(), values.size());
    } else if constexpr (std::is_same_v<T, bool>) {
      size_ += values.size();
    } else {
      if constexpr (is_block<Wire, T>()) {
        align(first<T>());
        if (is_aligned<Wire, T>(size_)) {
          size_ += values.size() * sizeof(T);
          return;
        }
      }
      for (const T &value : values) walk(*this, value, limits.of_elements());
    }
  }

  template <class T>
  void option(const std::optional<T> &value, const Limits &limits) {
    if constexpr (Wire::delimits) {
      size_ += 1;
      if (value) walk(*this, *value, limits);
    } else if constexpr (is_record<T>::value) {
      length();
      if (value) walk(*this, *value, limits);
    } else {
      size_ += 1;
      const T none{};
      walk(*this, value ? *value : none, limits);
    }
  }

  void nothing() { size_ += Wire::has_filler ? 1 : 0; }

  template <class T>
  std::size_t open() {
    if constexpr (is_delimited<Wire, T>) length();
    return 0;
  }
  template <class T>
  void close(std::size_t) {}

 private:
  void length() {
    align(4);
    size_ += 4;
  }
  void align(std::size_t size) { size_ += padding<Wire>(size_, size); }
  // Lengths that no wire can say are seen at the end, and once: most messages have
  // no other bounds.
  void bounded(std::size_t length, std::size_t most, std::size_t any) {
    longest_ |= length + (std::numeric_limits<std::uint32_t>::max() - any);
    if (most < any && length > most) fail(Error::too_many);
  }
  void fail(Error error) {
    if (error_ == Error::none) error_ = error;
  }

  std::size_t size_ = 0;
  std::size_t longest_ = 0;
  Error error_ = Error::none;
};

// So many bytes from the begin and as many up to the end, which may be the same ones.
template <std::size_t Piece>
void copy_ends(std::uint8_t *to, const std::uint8_t *from, std::size_t size) {
  std::uint8_t head[Piece], tail[Piece];
  std::memcpy(head, from, Piece);
  std::memcpy(tail, from + size - Piece, Piece);
  std::memcpy(to, head, Piece);
  std::memcpy(to + size - Piece, tail, Piece);
}

// As memcpy, whose call would take longer than to copy what is short, as many texts are.
// More cases than these make so much code that compilers no longer inline what calls it.
inline void copy_bytes(std::uint8_t *to, const std::uint8_t *from, std::size_t size) {
  if (size >= 4 && size <= 16) {
    size < 8 ? copy_ends<4>(to, from, size) : copy_ends<8>(to, from, size);
  } else if (size != 0) {
    std::memcpy(to, from, size);  // an empty list may have no memory at all
  }
}

// Writes a message into memory that is large enough.
template <class Wire>
class Writer {
 public:
  explicit Writer(std::uint8_t *begin) : begin_(begin), at_(begin) {}

  template <class T>
  void number(const T &value) {
    align(sizeof(T));
    copy(&value, sizeof(T));
  }

  void flag(const bool &value) { *at_++ = value ? 1 : 0; }

  template <class T>
  void numbers(const T *values, std::size_t count) {
    align(sizeof(T));
    copy(values, count * sizeof(T));
  }

  void text(const std::string &text, std::size_t) {
    length(text.size() + (Wire::ends_texts ? 1 : 0));
    copy_short(text.data(), text.size());
    if (Wire::ends_texts) *at_++ = 0;
  }

  template <class T>
  void list(const std::vector<T> &values, const Limits &limits) {
    const std::size_t mark = open<T>();
    if constexpr (is_number<T> && !has_gap<Wire, T>) {
      // Both are known before bytes are written, which might be theirs for all that a
      // compiler knows.
      const T *const from = values.data();
      const std::size_t count = values.size();
      length(count);
      copy_short(from, count * sizeof(T));
    } else {
      length(values.size());
      if (!values.empty()) elements(values, limits);
    }
    close<T>(mark);
  }

  template <class T>
  void elements(const std::vector<T> &values, const Limits &limits) {
    if constexpr (is_number<T>) {
      numbers(values.data(), values.size());
    } else if constexpr (std::is_same_v<T, bool>) {
      for (const bool value : values) flag(value);
    } else {
      if constexpr (is_block<Wire, T>()) {
        align(first<T>());
        if (is_aligned<Wire, T>(at())) {
          copy(values.data(), values.size() * sizeof(T));
          return;
        }
      }
      for (const T &value : values) walk(*this, value, limits.of_elements());
    }
  }

  template <class T>
  void option(const std::optional<T> &value, const Limits &limits) {
    if constexpr (Wire::delimits) {
      flag(value.has_value());
      if (value) walk(*this, *value, limits);
    } else if constexpr (is_record<T>::value) {
      length(value ? 1 : 0);
      if (value) walk(*this, *value, limits);
    } else {
      flag(value.has_value());
      const T none{};
      walk(*this, value ? *value : none, limits);
    }
  }

  void nothing() {
    if (Wire::has_filler) *at_++ = 0;
  }

  // Where what has its size before it begins.
  template <class T>
  std::size_t open() {
    if constexpr (is_delimited<Wire, T>) length(0);
    return at();
  }
  template <class T>
  void close(std::size_t mark) {
    if constexpr (is_delimited<Wire, T>) {
      const auto size = static_cast<std::uint32_t>(at() - mark);
      std::memcpy(begin_ + mark - sizeof(size), &size, sizeof(size));
    }
  }

 private:
  void length(std::size_t length) { number(static_cast<std::uint32_t>(length)); }
  std::size_t at() const { return static_cast<std::size_t>(at_ - begin_); }
  void align(std::size_t size) {
    for (std::size_t gap = padding<Wire>(at(), size); gap != 0; --gap) *at_++ = 0;
  }
  // An empty list may have no memory at all.
  void copy(const void *from, std::size_t size) {
    if (size != 0) std::memcpy(at_, from, size);
    at_ += size;
  }
  // The same of what is mostly short, and how short is not known before.
  void copy_short(const void *from, std::size_t size) {
    copy_bytes(at_, static_cast<const std::uint8_t *>(from), size);
    at_ += size;
  }

  std::uint8_t *begin_;
  std::uint8_t *at_;
};

// Reads a message. Behind the first error there are no more bytes.
template <class Wire>
class Reader {
 public:
  Reader(const std::uint8_t *begin, std::size_t size, std::size_t at = 0)
      : begin_(begin), size_(size), at_(at) {}

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
    align(sizeof(T));
    const std::uint8_t *from = take(count, sizeof(T));
    if (from != nullptr && count != 0) std::memcpy(values, from, count * sizeof(T));
  }

  void text(std::string &text, std::size_t most) {
    std::size_t size = 0;
    const char *from = text_in_place(most, size);
    if (from != nullptr) text.assign(from, size);
  }

  template <class T>
  void list(std::vector<T> &values, const Limits &limits) {
    const std::size_t mark = open<T>();
    elements(values, limits);
    close<T>(mark);
  }

  template <class T>
  void elements(std::vector<T> &values, const Limits &limits) {
    const std::size_t count = length(least<Wire, T>(), limits.elements);
    if constexpr (is_number<T>) {
      if (count != 0) align(sizeof(T));
      const std::uint8_t *from = take(count, sizeof(T));
      if (from == nullptr) return;
      if constexpr (sizeof(T) == 1 && std::is_integral_v<T>) {
        const auto *bytes = reinterpret_cast<const T *>(from);
        values.assign(bytes, bytes + count);
      } else {
        values.resize(count);
        if (count != 0) std::memcpy(values.data(), from, count * sizeof(T));
      }
    } else if constexpr (std::is_same_v<T, bool>) {
      values.clear();
      values.reserve(count);
      for (std::size_t at = 0; at != count; ++at) {
        bool value = false;
        flag(value);
        values.push_back(value);
      }
    } else {
      if constexpr (is_block<Wire, T>()) {
        if (count != 0) align(first<T>());
        if (is_aligned<Wire, T>(at_)) {
          const std::uint8_t *from = take(count, sizeof(T));
          if (from == nullptr) return;
          values.resize(count);
          // Plain records have no bytes but their numbers'.
          if (count != 0) std::memcpy(static_cast<void *>(values.data()), from, count * sizeof(T));
          return;
        }
      }
      values.resize(count);
      if constexpr (Wire::alignment == 1 && is_plain<T>()) {
        // As many bytes whatever they hold: there are enough of all or of none.
        const std::uint8_t *from = take(count, least<Wire, T>());
        if (from == nullptr) return;
        Copier copier{from};
        for (T &value : values) walk(copier, value, Limits());
        return;
      }
      for (T &value : values) {
        if (error_ != Error::none) return;
        walk(*this, value, limits.of_elements());
      }
    }
  }

  template <class T>
  void option(std::optional<T> &value, const Limits &limits) {
    const bool present = is_there<T>();
    if (!present && !is_always<Wire, T>) return value.reset();
    if (!value) value.emplace();
    walk(*this, *value, limits);
    if (!present) value.reset();
  }

  void nothing() {
    if (Wire::has_filler) take(1, 1);
  }

  // Where what has its size before it must end.
  template <class T>
  std::size_t open() {
    if constexpr (is_delimited<Wire, T>) {
      const std::size_t size = length(1, std::numeric_limits<std::uint32_t>::max());
      return at_ + size;
    }
    return at_;
  }
  template <class T>
  void close(std::size_t mark) {
    if constexpr (is_delimited<Wire, T>) {
      if (at_ != mark) fail(Error::other_size);
    }
  }

 protected:
  // A text where it lies, and its size without the zero at its end; null after an error.
  const char *text_in_place(std::size_t most, std::size_t &size) {
    size = length(1, std::numeric_limits<std::uint32_t>::max());
    const auto *from = reinterpret_cast<const char *>(take(size, 1));
    if (from == nullptr) return nullptr;
    const bool is_ended = !Wire::ends_texts || size == 0 || from[--size] == 0;
    if (is_ended && size <= most && is_text<Wire>(from, size)) return from;
    fail(is_ended && size > most ? Error::too_many : Error::no_text);
    return nullptr;
  }

  // Whether what may be absent is there.
  template <class T>
  bool is_there() {
    if constexpr (!Wire::delimits && is_record<T>::value) return length(least<Wire, T>(), 1) == 1;
    bool present = false;
    flag(present);
    return present;
  }

  // The length of a list whose elements take so many bytes at least.
  std::size_t length(std::size_t least, std::size_t most) {
    std::uint32_t length = 0;
    number(length);
    if (length > most) {
      fail(Error::too_many);
      return 0;
    }
    if (least != 0 && length > left() / least) {
      fail(Error::ends_too_early);
      return 0;
    }
    return length;
  }

  void align(std::size_t size) {
    const std::size_t gap = padding<Wire>(at_, size);
    if (gap > left()) return fail(Error::ends_too_early);
    at_ += gap;
  }

  const std::uint8_t *take(std::size_t count, std::size_t size) {
    if (error_ == Error::none && count > left() / size) fail(Error::ends_too_early);
    if (error_ != Error::none) return nullptr;
    const std::uint8_t *from = begin_ + at_;
    at_ += count * size;
    return from;
  }

  void fail(Error error) {
    if (error_ == Error::none) error_ = error;
    at_ = size_;
  }

  const std::uint8_t *begin_;
  std::size_t size_;
  std::size_t at_;
  Error error_ = Error::none;
};

}  // namespace detail

// How many bytes a message takes on a wire; says whether it may be written at all.
template <class Wire, class T>
Error size(const T &message, std::size_t &bytes) {
  detail::Sizer<Wire> sizer;
  detail::walk(sizer, message, Limits());
  bytes = Wire::header_size + sizer.size();
  return sizer.error();
}

// Writes a message into memory of the caller's; says how many bytes it took.
template <class Wire, class T>
Error serialize(const T &message, std::uint8_t *out, std::size_t room, std::size_t &bytes) {
  const Error error = size<Wire>(message, bytes);
  if (error != Error::none) return error;
  if (bytes > room) return Error::no_room;
  Wire::write_header(out);
  detail::Writer<Wire> writer(out + Wire::header_size);
  detail::walk(writer, message, Limits());
  return Error::none;
}

// Writes a message; the memory of `out` is used again.
template <class Wire, class T>
Error serialize(const T &message, std::vector<std::uint8_t> &out) {
  std::size_t bytes = 0;
  const Error error = size<Wire>(message, bytes);
  if (error != Error::none) return error;
  out.resize(bytes);
  Wire::write_header(out.data());
  detail::Writer<Wire> writer(out.data() + Wire::header_size);
  detail::walk(writer, message, Limits());
  return Error::none;
}

// Reads a message; the memory of `message` is used again. What it holds after an
// error is valid, but no message.
template <class Wire, class T>
Error deserialize(const std::uint8_t *data, std::size_t bytes, T &message) {
  if (!Wire::is_header(data, bytes)) return Error::no_header;
  detail::Reader<Wire> reader(data + Wire::header_size, bytes - Wire::header_size);
  detail::walk(reader, message, Limits());
  if (reader.error() != Error::none) return reader.error();
  return reader.left() > Wire::filling ? Error::left_over : Error::none;
}

#if defined(__cpp_exceptions)
// The same, for those who want exceptions: std::runtime_error.
template <class Wire, class T>
std::vector<std::uint8_t> serialize(const T &message) {
  std::vector<std::uint8_t> out;
  const Error error = serialize<Wire>(message, out);
  if (error != Error::none) throw std::runtime_error(describe(error));
  return out;
}

template <class Wire, class T>
T deserialize(const std::uint8_t *data, std::size_t bytes) {
  T message;
  const Error error = deserialize<Wire>(data, bytes, message);
  if (error != Error::none) throw std::runtime_error(describe(error));
  return message;
}
#endif

}  // namespace wiregauge
