// Reads messages of one wire and writes them on the other: cross FOLDER, which has
// NNNN.type, NNNN.cdr, NNNN.xcdr2 and NNNN.ros_msg, maybe NNNN.someip, and refuses those of
// badNNNN. What types there are, TYPES says.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "types.hpp"
#include "wiregauge/cdr.hpp"
#include "wiregauge/ros_msg.hpp"
#include "wiregauge/someip.hpp"
#include "wiregauge/xcdr2.hpp"

#ifdef VIEWS
#include "views.hpp"

// Every accessor compiles.
#define SHOWN(T)                                        \
  template class wiregauge::View<wiregauge::RosMsg, T>; \
  template class wiregauge::View<wiregauge::Cdr, T>;    \
  template class wiregauge::View<wiregauge::Xcdr2, T>;
TYPES(SHOWN)
#endif

namespace {

using Bytes = std::vector<std::uint8_t>;
using wiregauge::Error;

[[noreturn]] void fail(const std::string &what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

bool read(const std::string &path, Bytes &bytes) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  bytes.clear();
  for (int byte = std::fgetc(file); byte != EOF; byte = std::fgetc(file)) {
    bytes.push_back(static_cast<std::uint8_t>(byte));
  }
  std::fclose(file);
  return true;
}

void load(const std::string &stem, Bytes &cdr, Bytes &xcdr2, Bytes &ros) {
  if (!read(stem + ".cdr", cdr) || !read(stem + ".xcdr2", xcdr2) || !read(stem + ".ros_msg", ros)) {
    fail(stem + " is missing");
  }
}

// Memory of exactly so many bytes, so that a sanitizer sees who reads behind it.
template <class Wire, class T>
Error take(const Bytes &bytes, std::size_t size, T &message) {
  Bytes own(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  own.shrink_to_fit();
  const Error error = wiregauge::deserialize<Wire>(own.data(), own.size(), message);
#ifdef VIEWS
  if constexpr (!std::is_same_v<Wire, wiregauge::SomeIp>) {
    const char *wrong = views::wrong<Wire>(own.data(), own.size(), error, message);
    if (wrong != nullptr) {
      const std::string where = std::string(T::kName) + " at " + std::to_string(size) + " bytes: ";
      fail(where + wiregauge::describe(error) + " in the holder, and in the view " + wrong);
    }
  }
#endif
  return error;
}

template <class Wire, class T>
void written(const T &message, const Bytes &wanted, const std::string &where) {
  Bytes out;
  const Error error = wiregauge::serialize<Wire>(message, out);
  if (error != Error::none) fail(where + ": " + wiregauge::describe(error));
  if (out != wanted) fail(where + ": other bytes");
  Bytes memory(wanted.size());
  std::size_t size = 0;
  const bool fits =
      wiregauge::serialize<Wire>(message, memory.data(), memory.size(), size) == Error::none;
  if (!fits || size != wanted.size() || memory != wanted) fail(where + ": other bytes in place");
  const bool is_small =
      !wanted.empty() &&
      wiregauge::serialize<Wire>(message, memory.data(), memory.size() - 1, size) != Error::no_room;
  if (is_small) fail(where + ": written where there is no room");
}

// Cut bytes are an error, and damaged ones are one or another message.
template <class Wire, class T>
void endured(const Bytes &bytes, const std::string &where) {
  T message;
  const std::size_t most = bytes.size() < 400 ? bytes.size() : 400;
  for (std::size_t cut = 0; cut != most; ++cut) {
    if (take<Wire>(bytes, cut, message) == Error::none) {
      fail(where + ": " + std::to_string(cut) + " bytes are taken for a message");
    }
  }
  for (std::size_t at = 0; at != most; ++at) {
    Bytes damaged = bytes;
    damaged[at] ^= 0xff;
    if (take<Wire>(damaged, damaged.size(), message) == Error::none) {
      Bytes out;
      if (wiregauge::serialize<Wire>(message, out) != Error::none) {
        fail(where + ": what was read cannot be written");
      }
    }
  }
}

template <class T>
void check(const std::string &stem) {
  Bytes cdr, xcdr2, ros;
  load(stem, cdr, xcdr2, ros);
  T from_cdr, from_xcdr2, from_ros;
  Error error = take<wiregauge::Cdr>(cdr, cdr.size(), from_cdr);
  if (error != Error::none) fail(stem + ".cdr: " + wiregauge::describe(error));
  error = take<wiregauge::RosMsg>(ros, ros.size(), from_ros);
  if (error != Error::none) fail(stem + ".ros_msg: " + wiregauge::describe(error));
  if (!(from_cdr == from_ros) || from_cdr != from_ros) fail(stem + ": two messages");
  error = take<wiregauge::Xcdr2>(xcdr2, xcdr2.size(), from_xcdr2);
  if (error != Error::none) fail(stem + ".xcdr2: " + wiregauge::describe(error));
  if (from_cdr != from_xcdr2) fail(stem + ": another message in XCDR2");
  written<wiregauge::Xcdr2>(from_ros, xcdr2, stem + " in XCDR2");
  Bytes behind = {0, 7, 0, 0};
  behind.insert(behind.end(), xcdr2.begin(), xcdr2.end());
  written<wiregauge::Xcdr2WithHeader>(from_ros, behind, stem + " in XCDR2 behind a header");
  written<wiregauge::RosMsg>(from_cdr, ros, stem + " from CDR");
  written<wiregauge::Cdr>(from_ros, cdr, stem + " from ROS MSG");
  Bytes headed = {0, 1, 0, 0};
  headed.insert(headed.end(), cdr.begin(), cdr.end());
  written<wiregauge::CdrWithHeader>(from_ros, headed, stem + " behind a header");
  // An object that held another message is used again.
  T again;
  for (int turn = 0; turn != 2; ++turn) {
    T empty;
    Bytes bytes;
    if (wiregauge::serialize<wiregauge::Cdr>(empty, bytes) != Error::none) fail(stem + ": empty");
    if (take<wiregauge::CdrWithHeader>(headed, headed.size(), again) != Error::none ||
        again != from_ros) {
      fail(stem + ": not the same when used again");
    }
    if (take<wiregauge::Cdr>(bytes, bytes.size(), again) != Error::none || again != empty) {
      fail(stem + ": not empty when used again");
    }
    if (take<wiregauge::Xcdr2WithHeader>(behind, behind.size(), again) != Error::none ||
        again != from_ros) {
      fail(stem + ": not the same in XCDR2 when used again");
    }
    if (wiregauge::serialize<wiregauge::Xcdr2>(empty, bytes) != Error::none ||
        take<wiregauge::Xcdr2>(bytes, bytes.size(), again) != Error::none || again != empty) {
      fail(stem + ": not empty in XCDR2 when used again");
    }
    if (take<wiregauge::Xcdr2WithHeader>(headed, headed.size(), again) != Error::no_header) {
      fail(stem + ": the header of CDR is taken for that of XCDR2");
    }
  }
  endured<wiregauge::Cdr, T>(cdr, stem + ".cdr");
  endured<wiregauge::CdrWithHeader, T>(headed, stem + ".cdr behind a header");
  endured<wiregauge::Xcdr2, T>(xcdr2, stem + ".xcdr2");
  endured<wiregauge::RosMsg, T>(ros, stem + ".ros_msg");
  Bytes someip;
  if (!read(stem + ".someip", someip)) return;
  T from_someip;
  for (int turn = 0; turn != 2; ++turn) {
    error = take<wiregauge::SomeIp>(someip, someip.size(), from_someip);
    if (error != Error::none) fail(stem + ".someip: " + wiregauge::describe(error));
    if (from_someip != from_ros) fail(stem + ": another message in SOME/IP");
    T empty;
    Bytes bytes;
    if (wiregauge::serialize<wiregauge::SomeIp>(empty, bytes) != Error::none ||
        take<wiregauge::SomeIp>(bytes, bytes.size(), from_someip) != Error::none ||
        from_someip != empty) {
      fail(stem + ": not empty in SOME/IP when used again");
    }
  }
  written<wiregauge::SomeIp>(from_ros, someip, stem + " in SOME/IP");
  endured<wiregauge::SomeIp, T>(someip, stem + ".someip");
}

// What is no message on any wire.
template <class T>
void refuse(const std::string &stem) {
  Bytes cdr, xcdr2, ros;
  load(stem, cdr, xcdr2, ros);
  T message;
  if (take<wiregauge::Xcdr2>(xcdr2, xcdr2.size(), message) == Error::none ||
      take<wiregauge::Cdr>(cdr, cdr.size(), message) == Error::none ||
      take<wiregauge::RosMsg>(ros, ros.size(), message) == Error::none) {
    fail(stem + " is taken for a message");
  }
  Bytes someip;
  if (read(stem + ".someip", someip) &&
      take<wiregauge::SomeIp>(someip, someip.size(), message) == Error::none) {
    fail(stem + ".someip is taken for a message");
  }
}

struct Type {
  std::string_view name;
  void (*check)(const std::string &);
  void (*refuse)(const std::string &);
};

#define TYPE(T) Type{T::kName, &check<T>, &refuse<T>},
const Type kTypes[] = {TYPES(TYPE)};

// Has each message of a folder dealt with; says how many there are.
int each(const std::string &stem, void (*Type::*act)(const std::string &)) {
  for (int count = 0;; ++count) {
    char number[16];
    std::snprintf(number, sizeof number, "%04d", count);
    Bytes name;
    if (!read(stem + number + ".type", name)) return count;
    const std::string wanted(name.begin(), name.end());
    const Type *found = nullptr;
    for (const Type &type : kTypes) {
      if (type.name == wanted) found = &type;
    }
    if (found == nullptr) fail("no type " + wanted);
    (found->*act)(stem + number);
  }
}

}  // namespace

int main(int, char **arguments) {
  const std::string folder = arguments[1] + std::string("/");
  each(folder + "bad", &Type::refuse);
  std::printf("%d\n", each(folder, &Type::check));
}
