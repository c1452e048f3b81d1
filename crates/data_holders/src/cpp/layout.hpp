// Where the values of a message lie that was checked: what needs no look at the bytes is
// known when it is compiled, and of the rest only lengths are read.
#pragma once

#include <tuple>

#include "wiregauge/sequential.hpp"

namespace wiregauge {
namespace detail {

// What lists of it are one block of.
template <class T>
inline constexpr bool is_single = std::is_same_v<T, bool> || is_number<T>;

template <class T>
T load(const std::uint8_t *from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class Wire>
constexpr std::size_t aligned(std::size_t at, std::size_t size) noexcept {
  return at + padding<Wire>(at, size);
}

// The length that stands there; goes behind it.
template <class Wire>
std::size_t length(const std::uint8_t *body, std::size_t &at) noexcept {
  const std::size_t from = aligned<Wire>(at, 4);
  at = from + 4;
  return load<std::uint32_t>(body + from);
}

template <class Wire, class T>
constexpr bool repeats();

// Whether a value takes as many bytes from a place on, whatever it holds. Arrays that would
// have to be gone through are measured where they are met.
template <class Wire, class T>
constexpr bool is_fixed();

template <class Wire, class... Types>
constexpr bool are_fixed(Fields<Types...> *) {
  return (true && ... && is_fixed<Wire, Types>());
}

template <class Wire, class T>
constexpr bool is_fixed() {
  if constexpr (is_single<T>) {
    return true;
  } else if constexpr (is_array<T>::value) {
    using Element = typename T::value_type;
    constexpr bool is_long = std::tuple_size<T>::value > 64;
    if constexpr (is_long) return repeats<Wire, Element>();
    return is_fixed<Wire, Element>();
  } else if constexpr (is_optional<T>::value) {
    using Value = typename T::value_type;
    if constexpr (Wire::delimits || is_record<Value>::value) return false;
    return is_fixed<Wire, Value>();
  } else if constexpr (is_record<T>::value) {
    return are_fixed<Wire>(static_cast<typename T::wiregauge_fields *>(nullptr));
  } else {
    return false;
  }
}

// Of a value of fixed size: at multiples of what its first byte stands, and what the
// largest of such multiples in it is.
template <class Wire, class T>
constexpr std::size_t head();
template <class Wire, class T>
constexpr std::size_t reach();

template <class Wire>
constexpr std::size_t head_of(Fields<> *) {
  return 1;
}
template <class Wire, class First, class... More>
constexpr std::size_t head_of(Fields<First, More...> *) {
  return head<Wire, First>();
}

template <class Wire, class... Types>
constexpr std::size_t reach_of(Fields<Types...> *) {
  std::size_t most = 1;
  static_cast<void>((..., (most = reach<Wire, Types>() > most ? reach<Wire, Types>() : most)));
  return most;
}

template <class Wire>
constexpr std::size_t multiple(std::size_t size) {
  return size < Wire::alignment ? size : Wire::alignment;
}

template <class Wire, class T>
constexpr std::size_t head() {
  if constexpr (is_single<T>) {
    return multiple<Wire>(sizeof(T));
  } else if constexpr (is_array<T>::value) {
    using Element = typename T::value_type;
    return is_delimited<Wire, Element> ? multiple<Wire>(4) : head<Wire, Element>();
  } else if constexpr (is_optional<T>::value) {
    return 1;  // its flag
  } else {
    return head_of<Wire>(static_cast<typename T::wiregauge_fields *>(nullptr));
  }
}

template <class Wire, class T>
constexpr std::size_t reach() {
  if constexpr (is_single<T>) {
    return multiple<Wire>(sizeof(T));
  } else if constexpr (is_array<T>::value) {
    using Element = typename T::value_type;
    const std::size_t own = is_delimited<Wire, Element> ? multiple<Wire>(4) : 1;
    return reach<Wire, Element>() > own ? reach<Wire, Element>() : own;
  } else if constexpr (is_optional<T>::value) {
    return reach<Wire, typename T::value_type>();
  } else {
    return reach_of<Wire>(static_cast<typename T::wiregauge_fields *>(nullptr));
  }
}

// Behind a value that begins there, and that was checked.
template <class Wire, class T>
constexpr std::size_t behind(const std::uint8_t *body, std::size_t at) noexcept;

// Where an element of a list begins, if they lie at one distance from each other.
template <class Wire, class T>
constexpr std::size_t element(std::size_t at, std::size_t place) noexcept {
  const std::size_t begin = aligned<Wire>(at, head<Wire, T>());
  const std::size_t next = aligned<Wire>(behind<Wire, T>(nullptr, begin), head<Wire, T>());
  return begin + place * (next - begin);
}

// Whether elements lie at one distance from each other wherever a list begins: where all
// that is aligned in the next one is so as in this one.
template <class Wire, class T>
constexpr bool repeats() {
  if constexpr (is_fixed<Wire, T>()) {
    for (std::size_t at = 0; at < reach<Wire, T>(); at += head<Wire, T>()) {
      if ((element<Wire, T>(at, 1) - at) % reach<Wire, T>() != 0) return false;
    }
    return true;
  } else {
    return false;
  }
}

template <class Wire, class T>
constexpr std::size_t behind_all(const std::uint8_t *body, std::size_t at,
                                 std::size_t count) noexcept {
  if (count == 0) return at;
  if constexpr (is_single<T>) {
    return aligned<Wire>(at, sizeof(T)) + count * sizeof(T);
  } else if constexpr (repeats<Wire, T>()) {
    return behind<Wire, T>(body, element<Wire, T>(at, count - 1));
  } else {
    for (; count != 0; --count) at = behind<Wire, T>(body, at);
    return at;
  }
}

template <class Wire, class... Types>
constexpr std::size_t behind_fields(const std::uint8_t *body, std::size_t at,
                                    Fields<Types...> *) noexcept {
  static_cast<void>(body);
  static_cast<void>((..., (at = behind<Wire, Types>(body, at))));
  return at;
}

template <class Wire, class T>
constexpr std::size_t behind([[maybe_unused]] const std::uint8_t *body, std::size_t at) noexcept {
  if constexpr (is_single<T>) {
    return aligned<Wire>(at, sizeof(T)) + sizeof(T);
  } else if constexpr (std::is_same_v<T, std::string>) {
    const std::size_t size = length<Wire>(body, at);
    return at + size;
  } else if constexpr (is_optional<T>::value) {
    using Value = typename T::value_type;
    if constexpr (Wire::delimits) {
      return body[at] == 0 ? at + 1 : behind<Wire, Value>(body, at + 1);
    } else if constexpr (is_record<Value>::value) {
      const bool is_there = length<Wire>(body, at) != 0;
      return is_there ? behind<Wire, Value>(body, at) : at;
    } else {
      return behind<Wire, Value>(body, at + 1);
    }
  } else if constexpr (is_record<T>::value) {
    using Own = typename T::wiregauge_fields;
    if constexpr (Own::count == 0) return at + (Wire::has_filler ? 1 : 0);
    return behind_fields<Wire>(body, at, static_cast<Own *>(nullptr));
  } else {
    using Element = typename T::value_type;
    if constexpr (is_delimited<Wire, Element> && !is_fixed<Wire, T>()) {
      // Its size stands before it.
      const std::size_t size = length<Wire>(body, at);
      return at + size;
    } else if constexpr (is_array<T>::value) {
      if constexpr (is_delimited<Wire, Element>) at = aligned<Wire>(at, 4) + 4;
      return behind_all<Wire, Element>(body, at, std::tuple_size_v<T>);
    } else {
      const std::size_t count = length<Wire>(body, at);
      return behind_all<Wire, Element>(body, at, count);
    }
  }
}

template <class Of, std::size_t Place>
struct NthField;
template <class... Types, std::size_t Place>
struct NthField<Fields<Types...>, Place> {
  using type = std::tuple_element_t<Place, std::tuple<Types...>>;
};
template <class T, std::size_t Place>
using FieldAt = typename NthField<typename T::wiregauge_fields, Place>::type;

// How many of a record's first fields are of no fixed size.
template <class Wire, class... Types>
constexpr std::size_t variable(std::size_t fields, Fields<Types...> *) {
  const bool fixed[] = {is_fixed<Wire, Types>()..., true};
  std::size_t count = 0;
  for (std::size_t at = 0; at < fields; ++at) count += fixed[at] ? 0 : 1;
  return count;
}

// Where a record lies: its begin, and the end of each field of no fixed size but the last
// field. The others are counted from these.
template <class Wire, class T>
class Place {
 public:
  Place() = default;
  // Of a message, whose ends are told.
  explicit Place(const std::uint8_t *body) noexcept : body_(body) {}
  // Of a record that was checked.
  Place(const std::uint8_t *body, std::size_t at) noexcept : body_(body) {
    marks_[0] = at;
    find(std::make_index_sequence<(kCount > 1 ? kCount - 1 : 0)>());
  }

  const std::uint8_t *body() const noexcept { return body_; }
  std::size_t at() const noexcept { return marks_[0]; }

  // Where a field begins.
  template <std::size_t Field>
  std::size_t begin() const noexcept {
    if constexpr (Field == 0) {
      return marks_[0];
    } else if constexpr (mark(Field) != mark(Field - 1)) {
      return marks_[mark(Field)];
    } else {
      return behind<Wire, FieldAt<T, Field - 1>>(body_, begin<Field - 1>());
    }
  }

  // Notes where a field ends.
  template <std::size_t Field>
  void ends([[maybe_unused]] std::size_t at) noexcept {
    if constexpr (Field + 1 < kCount && mark(Field) != mark(Field + 1))
      marks_[mark(Field + 1)] = at;
  }

 private:
  using Own = typename T::wiregauge_fields;
  static constexpr std::size_t kCount = Own::count;

  // From which mark on a field is counted.
  static constexpr std::size_t mark(std::size_t field) {
    return variable<Wire>(field, static_cast<Own *>(nullptr));
  }

  template <std::size_t Field>
  void find_end() noexcept {
    if constexpr (mark(Field) != mark(Field + 1)) {
      ends<Field>(behind<Wire, FieldAt<T, Field>>(body_, begin<Field>()));
    }
  }
  template <std::size_t... Fields>
  void find(std::index_sequence<Fields...>) noexcept {
    static_cast<void>((..., find_end<Fields>()));
  }

  const std::uint8_t *body_ = nullptr;
  std::array<std::size_t,
             1 + variable<Wire>(kCount == 0 ? 0 : kCount - 1, static_cast<Own *>(nullptr))>
      marks_{};
};

}  // namespace detail
}  // namespace wiregauge
