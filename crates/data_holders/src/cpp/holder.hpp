// What holders say of themselves, so that a wire can read and write them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace wiregauge {

// The types of a holder's fields, in order.
template <class... Types>
struct Fields {
  static constexpr std::size_t count = sizeof...(Types);
};

// What a field may have at most.
struct Limits {
  std::size_t elements = std::numeric_limits<std::uint32_t>::max();  // of a list
  std::size_t text = std::numeric_limits<std::uint32_t>::max() - 1;  // bytes of each text

  // Of a list's elements: octets among them have no bound.
  Limits of_elements() const { return Limits{Limits().elements, text}; }
};

// A record that may be absent and contains itself: as std::optional, but in memory of
// its own.
template <class T>
class Box {
 public:
  using value_type = T;

  Box() = default;
  Box(const T &value) : value_(std::make_unique<T>(value)) {}
  Box(const Box &other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Box(Box &&) noexcept = default;
  Box &operator=(const Box &other) {
    Box copy(other);
    value_ = std::move(copy.value_);
    return *this;
  }
  Box &operator=(Box &&) noexcept = default;
  ~Box() = default;

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return value_.get(); }
  const T *operator->() const { return value_.get(); }
  T &emplace() {
    value_ = std::make_unique<T>();
    return *value_;
  }
  void reset() { value_.reset(); }

  friend bool operator==(const Box &a, const Box &b) {
    return a && b ? *a == *b : a.has_value() == b.has_value();
  }
  friend bool operator!=(const Box &a, const Box &b) { return !(a == b); }

 private:
  std::unique_ptr<T> value_;
};

namespace detail {

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};

template <class T>
struct is_array : std::false_type {};
template <class T, std::size_t N>
struct is_array<std::array<T, N>> : std::true_type {};

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

// A number or an enum; truth values have bytes that are none of them.
template <class T>
inline constexpr bool is_number =
    (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_enum_v<T>;

template <class T, class = void>
struct is_record : std::false_type {};
template <class T>
struct is_record<T, std::void_t<typename T::wiregauge_fields>> : std::true_type {};

// Whether a value is numbers alone, with gaps in memory or without.
template <class T>
constexpr bool is_plain();

template <class... Types>
constexpr bool are_plain(Fields<Types...> *) {
  return sizeof...(Types) != 0 && (true && ... && is_plain<Types>());
}

template <class T>
constexpr bool is_plain() {
  if constexpr (is_array<T>::value) {
    return is_plain<typename T::value_type>();
  } else if constexpr (is_record<T>::value) {
    return are_plain(static_cast<typename T::wiregauge_fields *>(nullptr));
  } else {
    return is_number<T>;
  }
}

// Reads numbers that stand one behind another, from bytes that are known to be there.
struct Copier {
  const std::uint8_t *from;

  template <class T>
  void number(T &value) {
    numbers(&value, 1);
  }
  template <class T>
  void numbers(T *values, std::size_t count) {
    if (count != 0) std::memcpy(values, from, count * sizeof(T));
    from += count * sizeof(T);
  }
  template <class T>
  std::size_t open() {
    return 0;
  }
  template <class T>
  void close(std::size_t) {}
};

inline bool is_utf8(const char *text, std::size_t size) {
  const auto *at = reinterpret_cast<const std::uint8_t *>(text);
  const auto *const end = at + size;
  while (at != end) {
    std::uint64_t eight = 0;
    while (end - at >= 8) {
      std::memcpy(&eight, at, 8);
      if ((eight & 0x8080808080808080u) != 0) break;
      at += 8;
    }
    while (at != end && *at < 0x80) ++at;
    if (at == end) return true;
    const std::uint8_t head = *at++;
    // How many bytes follow, and what the first of them may be: no longer form
    // than needed, no surrogates, nothing above U+10FFFF.
    std::size_t more = 1;
    std::uint8_t low = 0x80, high = 0xbf;
    if (head >= 0xc2 && head <= 0xdf) {
    } else if (head >= 0xe0 && head <= 0xef) {
      more = 2;
      if (head == 0xe0) low = 0xa0;
      if (head == 0xed) high = 0x9f;
    } else if (head >= 0xf0 && head <= 0xf4) {
      more = 3;
      if (head == 0xf0) low = 0x90;
      if (head == 0xf4) high = 0x8f;
    } else {
      return false;
    }
    if (static_cast<std::size_t>(end - at) < more || *at < low || *at > high) return false;
    for (std::size_t next = 1; next < more; ++next) {
      if ((at[next] & 0xc0) != 0x80) return false;
    }
    at += more;
  }
  return true;
}

// Whether a wire that writes texts behind their lengths may have this one.
template <class Wire>
bool is_text(const char *text, std::size_t size) {
  const bool whole = !Wire::ends_texts || size == 0 || std::memchr(text, 0, size) == nullptr;
  return whole && is_utf8(text, size);
}

// Any field of a holder, for a walk that has a method for each kind.
template <class Walk, class T>
void walk(Walk &walker, T &value, const Limits &limits) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, bool>) {
    walker.flag(value);
  } else if constexpr (is_number<Plain>) {
    walker.number(value);
  } else if constexpr (std::is_same_v<Plain, std::string>) {
    walker.text(value, limits.text);
  } else if constexpr (is_vector<Plain>::value) {
    walker.list(value, limits);
  } else if constexpr (is_optional<Plain>::value) {
    walker.option(value, limits);
  } else if constexpr (is_array<Plain>::value) {
    using Element = typename Plain::value_type;
    const std::size_t mark = walker.template open<Element>();
    if constexpr (is_number<Element>) {
      walker.numbers(value.data(), value.size());
    } else {
      for (auto &one : value) walk(walker, one, limits);
    }
    walker.template close<Element>(mark);
  } else if constexpr (Plain::wiregauge_fields::count == 0) {
    walker.nothing();
  } else {
    Plain::wiregauge_visit(
        value, [&walker](auto &field, const Limits &own = Limits()) { walk(walker, field, own); });
  }
}

}  // namespace detail
}  // namespace wiregauge
