// The generated holder as the normalized form: its canonical bytes, by what it says
// of its fields. Nothing here is timed.
#pragma once

#include <type_traits>

#include "glue.hpp"
#include "wiregauge/canonical.hpp"

namespace generated {

using wiregauge::Limits;
using wiregauge::detail::is_array;
using wiregauge::detail::is_number;
using wiregauge::detail::is_optional;
using wiregauge::detail::is_vector;

template <class T>
void read(wiregauge::Reader &in, T &value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = in.scalar<std::uint8_t>() != 0;
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(in.scalar<std::underlying_type_t<T>>());
  } else if constexpr (is_number<T>) {
    value = in.scalar<T>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = in.text();
  } else if constexpr (is_vector<T>::value) {
    value.clear();
    for (std::size_t left = in.count(); left != 0; --left) {
      typename T::value_type one{};
      read(in, one);
      value.push_back(std::move(one));
    }
  } else if constexpr (is_array<T>::value) {
    for (auto &one : value) read(in, one);
  } else if constexpr (is_optional<T>::value) {
    value.reset();
    if (in.scalar<std::uint8_t>() != 0) read(in, value.emplace());
  } else {
    T::wiregauge_visit(value, [&in](auto &field, const Limits & = Limits()) { read(in, field); });
  }
}

template <class T>
void write(wiregauge::Writer &out, const T &value) {
  if constexpr (std::is_same_v<T, bool>) {
    out.scalar<std::uint8_t>(value ? 1 : 0);
  } else if constexpr (std::is_enum_v<T>) {
    out.scalar(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (is_number<T>) {
    out.scalar(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    out.text(value);
  } else if constexpr (is_vector<T>::value || is_array<T>::value) {
    if constexpr (is_vector<T>::value) out.count(value.size());
    for (const typename T::value_type &one : value) write(out, one);
  } else if constexpr (is_optional<T>::value) {
    out.scalar<std::uint8_t>(value ? 1 : 0);
    if (value) write(out, *value);
  } else {
    T::wiregauge_visit(value,
                       [&out](const auto &field, const Limits & = Limits()) { write(out, field); });
  }
}

// What the runner takes for its message.
struct Message : glue::Root {
  static Message from_canonical(wiregauge::Reader &in) {
    Message message{};
    read<glue::Root>(in, message);
    return message;
  }
  void to_canonical(wiregauge::Writer &out) const { write<glue::Root>(out, *this); }
};

}  // namespace generated
