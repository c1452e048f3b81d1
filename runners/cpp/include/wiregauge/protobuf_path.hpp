// One number out of Protobuf bytes by CodedInputStream, past all that is not on
// the way to it.
//
// As in any reader of Protobuf a field may come again: the last number counts,
// lists go on and records are merged. So a message is gone through to its end,
// and once more where the middle of a list is looked for.
#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "wiregauge/codec.hpp"

namespace protobuf_path {

using google::protobuf::io::CodedInputStream;

// How a number stands on the wire. Octets stand there as one field; bytes are no
// number, but taken as they are.
enum class Form { kVarint, kZigzag, kFixed32, kFixed64, kOctets, kBytes };

// Which element of a field: the only one, the middle one, or that of an index.
constexpr std::uint32_t kOnly = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kMiddle = kOnly - 1;

struct Step {
  std::uint32_t field;
  std::uint32_t element;
};

[[noreturn]] inline void malformed() { throw std::runtime_error("not a Protobuf message"); }

inline void check(bool good) {
  if (!good) malformed();
}

// What the wire types are called in Protobuf's documentation.
enum WireType : std::uint32_t { kVarintType = 0, kI64 = 1, kLen = 2, kI32 = 5 };

inline int read_length(CodedInputStream &in) {
  int length = 0;
  check(in.ReadVarintSizeAsInt(&length));
  return length;
}

inline void skip(CodedInputStream &in, std::uint32_t type) {
  std::uint64_t ignored = 0;
  switch (type) {
    case kVarintType:
      return check(in.ReadVarint64(&ignored));
    case kI64:
      return check(in.Skip(8));
    case kLen:
      return check(in.Skip(read_length(in)));
    case kI32:
      return check(in.Skip(4));
    default:
      malformed();
  }
}

// A number of the schema's type by the bits that were read.
template <class T>
T from_bits(std::uint64_t bits) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const Bits narrow = static_cast<Bits>(bits);
    T value;
    std::memcpy(&value, &narrow, sizeof value);
    return value;
  } else {
    return static_cast<T>(bits);
  }
}

// Reads the number at a path. It is there once the message that is kCertain
// steps down is reached, and may be zero, which is not written.
template <auto &kSteps, Form kForm, std::size_t kCertain>
class Search {
 public:
  // Its bits, and nothing where it is not there.
  std::optional<std::uint64_t> find(wiregauge::Wire wire) {
    if (wire.size > std::numeric_limits<int>::max()) malformed();
    for (counted_ = 0; counted_ < kSteps.size(); ++counted_) {
      target_[counted_] = kSteps[counted_].element;
      if (target_[counted_] != kMiddle) continue;
      go_through(wire);
      if (seen_[counted_] == 0) return std::nullopt;
      target_[counted_] = seen_[counted_] / 2;
    }
    go_through(wire);
    if (!there_) return std::nullopt;
    return bits_;
  }

  // Bytes in place, which may be none, and nothing where they are not there.
  std::optional<wiregauge::Wire> bytes(wiregauge::Wire wire) {
    static_assert(kForm == Form::kBytes);
    const auto size = find(wire);
    if (!size) return std::nullopt;
    return wiregauge::Wire{wire.data + position_, static_cast<std::size_t>(*size)};
  }

 private:
  void go_through(wiregauge::Wire wire) {
    seen_ = {};
    there_ = false;
    bits_ = 0;
    CodedInputStream in(wire.data, static_cast<int>(wire.size));
    message<0>(in);
  }

  template <std::size_t kDepth>
  void message(CodedInputStream &in) {
    if constexpr (kDepth == kCertain) there_ = true;
    while (const std::uint32_t tag = in.ReadTag()) {
      const std::uint32_t type = tag & 7;
      if (tag >> 3 != kSteps[kDepth].field) {
        skip(in, type);
      } else if constexpr (kDepth + 1 < kSteps.size()) {
        check(type == kLen);
        const int length = read_length(in);
        if (takes<kDepth>()) {
          const auto limit = in.PushLimit(length);
          message<kDepth + 1>(in);
          in.PopLimit(limit);
        } else {
          check(in.Skip(length));
        }
      } else {
        numbers<kDepth>(in, type);
      }
    }
    check(in.ConsumedEntireMessage());
  }

  // Whether the element that comes is the one to be taken.
  template <std::size_t kDepth>
  bool takes() {
    if constexpr (kSteps[kDepth].element == kOnly) return true;
    const std::uint32_t index = seen_[kDepth]++;
    return counted_ != kDepth && index == target_[kDepth];
  }

  template <std::size_t kDepth>
  void numbers(CodedInputStream &in, std::uint32_t type) {
    if constexpr (kForm == Form::kBytes) {
      check(type == kLen);
      const int size = read_length(in);
      position_ = in.CurrentPosition();
      bits_ = static_cast<std::uint64_t>(size);
      there_ = true;
      check(in.Skip(size));
    } else if constexpr (kForm == Form::kOctets) {
      check(type == kLen);
      const auto count = static_cast<std::uint32_t>(read_length(in));
      // A later one replaces it.
      seen_[kDepth] = count;
      there_ = counted_ != kDepth && target_[kDepth] < count;
      if (!there_) return check(in.Skip(static_cast<int>(count)));
      std::uint8_t octet = 0;
      const std::uint32_t before = target_[kDepth];
      check(in.Skip(static_cast<int>(before)) && in.ReadRaw(&octet, 1) &&
            in.Skip(static_cast<int>(count - before - 1)));
      bits_ = octet;
    } else if (type == kLen && kSteps[kDepth].element != kOnly) {
      const auto limit = in.PushLimit(read_length(in));
      packed<kDepth>(in);
      check(in.BytesUntilLimit() == 0);
      in.PopLimit(limit);
    } else {
      check(type == (kForm == Form::kFixed32   ? kI32
                     : kForm == Form::kFixed64 ? kI64
                                               : kVarintType));
      one<kDepth>(in);
    }
  }

  // Numbers in a row. Those of one size are not looked at before the target.
  template <std::size_t kDepth>
  void packed(CodedInputStream &in) {
    if constexpr (kForm == Form::kFixed32 || kForm == Form::kFixed64) {
      constexpr int kSize = kForm == Form::kFixed32 ? 4 : 8;
      const auto count = static_cast<std::uint32_t>(in.BytesUntilLimit() / kSize);
      const std::uint32_t first = seen_[kDepth];
      const std::uint32_t before = target_[kDepth] - first;
      seen_[kDepth] += count;
      if (counted_ != kDepth && target_[kDepth] >= first && before < count) {
        check(in.Skip(static_cast<int>(before) * kSize));
        bits_ = number(in);
        there_ = true;
      }
      check(in.Skip(in.BytesUntilLimit()));
    } else {
      while (in.BytesUntilLimit() > 0) one<kDepth>(in);
    }
  }

  template <std::size_t kDepth>
  void one(CodedInputStream &in) {
    const std::uint64_t bits = number(in);
    if (!takes<kDepth>()) return;
    bits_ = bits;
    there_ = true;
  }

  static std::uint64_t number(CodedInputStream &in) {
    std::uint64_t bits = 0;
    if constexpr (kForm == Form::kFixed32) {
      std::uint32_t narrow = 0;
      check(in.ReadLittleEndian32(&narrow));
      bits = narrow;
    } else if constexpr (kForm == Form::kFixed64) {
      check(in.ReadLittleEndian64(&bits));
    } else {
      check(in.ReadVarint64(&bits));
      if constexpr (kForm == Form::kZigzag) bits = (bits >> 1) ^ (~(bits & 1) + 1);
    }
    return bits;
  }

  static constexpr std::size_t kLength =
      std::tuple_size_v<std::remove_cv_t<std::remove_reference_t<decltype(kSteps)>>>;

  // The depth whose elements are counted; behind the last when all are known.
  std::size_t counted_ = 0;
  std::array<std::uint32_t, kLength> target_{};
  std::array<std::uint32_t, kLength> seen_{};
  bool there_ = false;
  std::uint64_t bits_ = 0;
  // Where bytes begin in the message.
  int position_ = 0;
};

}  // namespace protobuf_path
