// Holds holders against libraries that others wrote: libraries FOLDER, which has NNNN.type,
// NNNN.cdr and NNNN.ros_msg. FastCDR and roscpp_serialization write what holders hold, and what
// they read is what holders read. What types there are, TYPES says.

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <ros/serialization.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "types.hpp"
#include "wiregauge/cdr.hpp"
#include "wiregauge/ros_msg.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;
using wiregauge::Error;
using wiregauge::Limits;
using wiregauge::detail::is_number;
using wiregauge::detail::is_record;
using wiregauge::detail::walk;

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

bool read(const std::string &path, Bytes &bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  bytes.assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

// What a library is asked to write or read, one value after another. Records and what may be
// absent it does not know: they are put together as generated code for it does.
template <class Library>
struct Walk {
  Library &library;

  template <class T>
  void number(T &value) {
    library.value(value);
  }
  void flag(const bool &value) { library.value(value); }
  void flag(bool &value) { library.value(value); }
  template <class T>
  void numbers(T *values, std::size_t count) {
    library.array(values, count);
  }
  template <class Text>
  void text(Text &text, std::size_t) {
    library.value(text);
  }
  template <class List>
  void list(List &values, const Limits &limits) {
    using T = typename List::value_type;
    if constexpr (is_number<T> || std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
      library.list(values);
    } else {
      auto count = static_cast<std::uint32_t>(values.size());
      library.value(count);
      if constexpr (!std::is_const_v<List>) values.resize(count);
      for (auto &value : values) walk(*this, value, limits);
    }
  }
  template <class Option>
  void option(Option &option, const Limits &limits) {
    using T = typename Option::value_type;
    bool is_there = option.has_value();
    if constexpr (is_record<T>::value) {
      std::uint32_t count = is_there ? 1 : 0;
      library.value(count);
      is_there = count != 0;
    } else {
      library.value(is_there);
    }
    T value{};
    if (option.has_value()) value = *option;
    if (is_there || !is_record<T>::value) walk(*this, value, limits);
    if constexpr (!std::is_const_v<Option>) {
      option.reset();
      if (is_there) option = value;
    }
  }
  void nothing() { library.nothing(); }
  template <class T>
  std::size_t open() {
    return 0;
  }
  template <class T>
  void close(std::size_t) {}
};

// An enum as the integer that it is.
template <class T>
using Plain = typename std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>,
                                          std::common_type<T>>::type;

struct FastWriter {
  eprosima::fastcdr::Cdr cdr;

  template <class T>
  void value(const T &value) {
    if constexpr (std::is_same_v<T, std::string>) {
      cdr << value;
    } else {
      cdr << static_cast<Plain<T>>(value);
    }
  }
  template <class T>
  void array(const T *values, std::size_t count) {
    cdr.serializeArray(reinterpret_cast<const Plain<T> *>(values), count);
  }
  template <class T>
  void list(const std::vector<T> &values) {
    if constexpr (std::is_enum_v<T>) {
      cdr << static_cast<std::uint32_t>(values.size());
      for (const T &one : values) value(one);
    } else {
      cdr << values;
    }
  }
  void nothing() { cdr << std::uint8_t{0}; }
};

struct FastReader {
  eprosima::fastcdr::Cdr cdr;

  template <class T>
  void value(T &value) {
    if constexpr (std::is_enum_v<T>) {
      Plain<T> number{};
      cdr >> number;
      value = static_cast<T>(number);
    } else {
      cdr >> value;
    }
  }
  template <class T>
  void array(T *values, std::size_t count) {
    cdr.deserializeArray(reinterpret_cast<Plain<T> *>(values), count);
  }
  template <class T>
  void list(std::vector<T> &values) {
    if constexpr (std::is_enum_v<T>) {
      std::uint32_t count = 0;
      cdr >> count;
      values.resize(count);
      for (T &one : values) value(one);
    } else {
      cdr >> values;
    }
  }
  void nothing() {
    std::uint8_t filler = 0;
    cdr >> filler;
  }
};

// Of ROS 1, over a stream that writes, reads or counts.
template <class Stream>
struct Ros {
  Stream &stream;

  template <class T>
  void value(T &value) {
    if constexpr (std::is_enum_v<std::remove_const_t<T>>) {
      auto number = static_cast<Plain<std::remove_const_t<T>>>(value);
      stream.next(number);
      if constexpr (!std::is_const_v<T>) value = static_cast<T>(number);
    } else {
      stream.next(value);
    }
  }
  template <class T>
  void array(T *values, std::size_t count) {
    for (std::size_t at = 0; at != count; ++at) value(values[at]);
  }
  template <class List>
  void list(List &values) {
    using T = typename List::value_type;
    if constexpr (std::is_enum_v<T>) {
      auto count = static_cast<std::uint32_t>(values.size());
      stream.next(count);
      if constexpr (!std::is_const_v<List>) values.resize(count);
      for (auto &one : values) value(one);
    } else if constexpr (std::is_same_v<T, bool>) {
      // It has them as octets.
      std::vector<std::uint8_t> octets(values.begin(), values.end());
      stream.next(octets);
      if constexpr (!std::is_const_v<List>) values.assign(octets.begin(), octets.end());
    } else {
      stream.next(values);
    }
  }
  void nothing() {}
};

template <class Library, class T>
void through(Library library, T &message) {
  Walk<Library> walker{library};
  walk(walker, message, Limits());
}

template <class T>
void with_fastcdr(const T &message, Bytes &bytes, const std::string &where) {
  // Gaps stay as they were.
  Bytes out(bytes.size());
  eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char *>(out.data()), out.size());
  FastWriter writer{eprosima::fastcdr::Cdr(buffer)};
  Walk<FastWriter> walker{writer};
  walk(walker, message, Limits());
  if (writer.cdr.getSerializedDataLength() != out.size() || out != bytes)
    fail(where + ": FastCDR writes other bytes");
  eprosima::fastcdr::FastBuffer in(reinterpret_cast<char *>(bytes.data()), bytes.size());
  T again;
  through(FastReader{eprosima::fastcdr::Cdr(in)}, again);
  if (again != message) fail(where + ": FastCDR reads another message");
}

template <class T>
void with_roscpp(const T &message, Bytes &bytes, const std::string &where) {
  ros::serialization::LStream counter;
  through(Ros<ros::serialization::LStream>{counter}, message);
  if (counter.getLength() != bytes.size()) fail(where + ": roscpp counts other bytes");
  Bytes out(bytes.size());
  const auto size = static_cast<std::uint32_t>(bytes.size());
  ros::serialization::OStream writer(out.data(), size);
  through(Ros<ros::serialization::OStream>{writer}, message);
  if (out != bytes) fail(where + ": roscpp writes other bytes");
  ros::serialization::IStream reader(bytes.data(), size);
  T again;
  through(Ros<ros::serialization::IStream>{reader}, again);
  if (reader.getLength() != 0 || again != message) fail(where + ": roscpp reads another message");
}

template <class T>
void check(const std::string &stem) {
  Bytes cdr, ros;
  if (!read(stem + ".cdr", cdr) || !read(stem + ".ros_msg", ros)) fail(stem + " is missing");
  T message;
  if (wiregauge::deserialize<wiregauge::Cdr>(cdr.data(), cdr.size(), message) != Error::none) {
    fail(stem + ".cdr is no message");
  }
  with_fastcdr(message, cdr, stem + ".cdr");
  T same;
  if (wiregauge::deserialize<wiregauge::RosMsg>(ros.data(), ros.size(), same) != Error::none) {
    fail(stem + ".ros_msg is no message");
  }
  with_roscpp(same, ros, stem + ".ros_msg");
}

}  // namespace

int main(int, char **arguments) {
  for (int count = 0;; ++count) {
    char number[16];
    std::snprintf(number, sizeof number, "/%04d", count);
    const std::string stem = arguments[1] + std::string(number);
    Bytes name;
    if (!read(stem + ".type", name)) {
      std::printf("%d\n", count);
      return 0;
    }
    const std::string wanted(name.begin(), name.end());
    bool is_known = false;
#define CHECK(T)            \
  if (wanted == T::kName) { \
    is_known = true;        \
    check<T>(stem);         \
  }
    TYPES(CHECK)
    if (!is_known) fail("no type " + wanted);
  }
}
