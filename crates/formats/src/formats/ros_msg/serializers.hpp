// Serializers of ROS 1 for what its own messages do not have.
#pragma once

#include <ros/serialization.h>

#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

namespace ros::serialization {

// Octets as the element of a list, which roscpp does not look for: in its
// definitions that is a string, which has the same bytes.
template <>
struct Serializer<std::vector<std::uint8_t>>
    : VectorSerializer<std::uint8_t, std::allocator<std::uint8_t>> {};

// As roscpp's own serializer of boost::array.
template <class T, std::size_t N>
struct Serializer<std::array<T, N>> {
  static constexpr bool kIsSimple = message_traits::IsSimple<T>::value;

  template <class Stream>
  static void write(Stream &stream, const std::array<T, N> &array) {
    if constexpr (kIsSimple) {
      std::memcpy(stream.advance(sizeof array), array.data(), sizeof array);
    } else {
      for (const T &value : array) stream.next(value);
    }
  }

  template <class Stream>
  static void read(Stream &stream, std::array<T, N> &array) {
    if constexpr (kIsSimple) {
      std::memcpy(array.data(), stream.advance(sizeof array), sizeof array);
    } else {
      for (T &value : array) stream.next(value);
    }
  }

  static std::uint32_t serializedLength(const std::array<T, N> &array) {
    if constexpr (kIsSimple) return sizeof array;
    std::uint32_t size = 0;
    for (const T &value : array) size += serializationLength(value);
    return size;
  }
};

// A record as a list of none or one, any other value behind a flag.
template <class T>
struct Serializer<std::optional<T>> {
  static constexpr bool kIsRecord = message_traits::IsMessage<T>::value;

  template <class Stream>
  static void write(Stream &stream, const std::optional<T> &from) {
    if constexpr (kIsRecord) {
      stream.next(std::uint32_t{from ? 1u : 0u});
      if (from) stream.next(*from);
    } else {
      stream.next(from.has_value());
      stream.next(from ? *from : kAbsent);
    }
  }

  template <class Stream>
  static void read(Stream &stream, std::optional<T> &to) {
    std::uint32_t count = 0;
    if constexpr (kIsRecord) {
      stream.next(count);
      if (count > 1) throw std::runtime_error("an optional record occurs more than once");
    } else {
      bool present = false;
      stream.next(present);
      count = present ? 1 : 0;
    }
    if (!to) to.emplace();
    if (!kIsRecord || count == 1) stream.next(*to);
    if (count == 0) to.reset();
  }

  static std::uint32_t serializedLength(const std::optional<T> &from) {
    if constexpr (kIsRecord) return 4 + (from ? serializationLength(*from) : 0);
    return 1 + serializationLength(from ? *from : kAbsent);
  }

 private:
  inline static const T kAbsent{};
};

}  // namespace ros::serialization
