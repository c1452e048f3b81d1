// What holders say of themselves, so that a wire can read and write them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
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

// Whether the memory of a record is what wires carry: numbers without gaps.
template <class T>
constexpr bool is_block() {
  if constexpr (is_record<T>::value) {
    return T::wiregauge_block != 0;
  } else {
    return false;
  }
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
    if constexpr (is_number<typename Plain::value_type>) {
      walker.numbers(value.data(), value.size());
    } else {
      for (auto &one : value) walk(walker, one, limits);
    }
  } else if constexpr (Plain::wiregauge_fields::count == 0) {
    walker.nothing();
  } else {
    Plain::wiregauge_visit(
        value, [&walker](auto &field, const Limits &own = Limits()) { walk(walker, field, own); });
  }
}

}  // namespace detail
}  // namespace wiregauge
