// What values take on wires that write field after field, as far as their types say it.
#pragma once

#include "wiregauge/holder.hpp"

namespace wiregauge::detail {

// Whether the size of a list or array of these stands before it. Enums are no
// primitive types in DDS.
template <class Wire, class T>
inline constexpr bool is_delimited = Wire::delimits && !std::is_arithmetic_v<T>;

// Whether a plain record has arrays whose size stands before them.
template <class T>
constexpr bool has_sizes();

template <class... Types>
constexpr bool have_sizes(Fields<Types...> *) {
  return (false || ... || has_sizes<Types>());
}

template <class T>
constexpr bool has_sizes() {
  if constexpr (is_array<T>::value) {
    return !std::is_arithmetic_v<typename T::value_type>;
  } else if constexpr (is_record<T>::value) {
    return have_sizes(static_cast<typename T::wiregauge_fields *>(nullptr));
  } else {
    return false;
  }
}

// Whether what may be absent has its bytes also where it is.
template <class Wire, class T>
inline constexpr bool is_always = !Wire::delimits && !is_record<T>::value;

// Whether the memory of a record is what the wire carries: numbers without gaps.
template <class Wire, class T>
constexpr bool is_block() {
  if constexpr (is_record<T>::value) {
    return T::wiregauge_block != 0 && !(Wire::delimits && has_sizes<T>());
  } else {
    return false;
  }
}

// The fewest bytes that a value takes: a length is not believed that wants more
// bytes than there are.
template <class Wire, class T>
constexpr std::size_t least();

template <class Wire, class... Types>
constexpr std::size_t least_of(Fields<Types...> *) {
  return (std::size_t{0} + ... + least<Wire, Types>());
}

template <class Wire, class T>
constexpr std::size_t least() {
  if constexpr (std::is_same_v<T, bool> || is_number<T>) {
    return sizeof(T);
  } else if constexpr (is_array<T>::value) {
    using Element = typename T::value_type;
    return (is_delimited<Wire, Element> ? 4 : 0) + std::tuple_size_v<T> * least<Wire, Element>();
  } else if constexpr (is_optional<T>::value) {
    using Value = typename T::value_type;
    if constexpr (Wire::delimits) return 1;
    return is_record<Value>::value ? 4 : 1 + least<Wire, Value>();
  } else if constexpr (is_record<T>::value) {
    if constexpr (T::wiregauge_fields::count == 0) return Wire::has_filler ? 1 : 0;
    return least_of<Wire>(static_cast<typename T::wiregauge_fields *>(nullptr));
  } else if constexpr (is_vector<T>::value) {
    return is_delimited<Wire, typename T::value_type> ? 8 : 4;
  } else {
    return 4;  // the length of a text
  }
}

// The size of the first number of a plain record.
template <class T>
constexpr std::size_t first();

template <class Head, class... Tail>
constexpr std::size_t first_of(Fields<Head, Tail...> *) {
  return first<Head>();
}

template <class T>
constexpr std::size_t first() {
  if constexpr (is_number<T>) {
    return sizeof(T);
  } else if constexpr (is_array<T>::value) {
    return first<typename T::value_type>();
  } else {
    return first_of(static_cast<typename T::wiregauge_fields *>(nullptr));
  }
}

template <class Wire>
constexpr std::size_t padding(std::size_t at, std::size_t size) {
  const std::size_t to = size < Wire::alignment ? size : Wire::alignment;
  return (to - at % to) % to;
}

// Whether a list of plain records that begins there is one block.
template <class Wire, class T>
constexpr bool is_aligned(std::size_t at) {
  return at % (alignof(T) < Wire::alignment ? alignof(T) : Wire::alignment) == 0;
}

// Whether there may be a gap between the length of a list and its elements. Where there
// are none, there is none.
template <class Wire, class T>
inline constexpr bool has_gap = Wire::alignment > 4 && !(is_number<T> && sizeof(T) <= 4);

}  // namespace wiregauge::detail
