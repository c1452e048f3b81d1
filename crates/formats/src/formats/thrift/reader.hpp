// Reading by the protocol: a message in place, or a field of it.
#pragma once

#include <thrift/TConfiguration.h>
#include <thrift/transport/TBufferTransports.h>

#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "wire.hpp"
#include "wiregauge/codec.hpp"

namespace glue {

namespace protocol = apache::thrift::protocol;
namespace transport = apache::thrift::transport;

// The library's default limit of 100 MB a message is no limit of the format.
inline std::shared_ptr<apache::thrift::TConfiguration> configuration() {
  return std::make_shared<apache::thrift::TConfiguration>(std::numeric_limits<int>::max());
}

template <class T>
constexpr protocol::TType wire_type() {
  if (std::is_same_v<T, bool>) return protocol::T_BOOL;
  if (std::is_floating_point_v<T>) return protocol::T_DOUBLE;
  if (sizeof(T) == 1) return protocol::T_BYTE;
  if (sizeof(T) == 2) return protocol::T_I16;
  return sizeof(T) == 4 ? protocol::T_I32 : protocol::T_I64;
}

inline void expect(protocol::TType found, protocol::TType wanted) {
  if (found != wanted) throw std::runtime_error("a field has another type");
}

// A protocol that is told for each message what no list or text can exceed.
class Protocol final : public Wire<transport::TMemoryBuffer> {
  using Base = Wire<transport::TMemoryBuffer>;

 public:
  using Base::Base;
  void limit(std::size_t size) {
    string_limit_ = static_cast<std::int32_t>(size);
    container_limit_ = static_cast<std::int32_t>(size);
  }
};

// A protocol over a message, read in place.
class Reader {
 public:
  // A read that failed leaves its traces in the protocol.
  Protocol &open(wiregauge::Wire wire) {
    if (wire.size > std::numeric_limits<std::int32_t>::max())
      throw std::runtime_error("longer than 2 GiB");
    if (!protocol_ || open_) protocol_.emplace(buffer_);
    open_ = true;
    // The library counts the bytes of all messages against the limit of one,
    // unless it is told that one ended.
    buffer_->readEnd();
    // It takes a pointer that it might write to, but only reads here.
    buffer_->resetBuffer(const_cast<std::uint8_t *>(wire.data),
                         static_cast<std::uint32_t>(wire.size));
    protocol_->limit(wire.size);
    return *protocol_;
  }

  void close() { open_ = false; }

  void finish() {
    if (buffer_->available_read() != 0)
      throw std::runtime_error("bytes left over after the message");
    close();
  }

  Protocol &protocol() { return *protocol_; }

  // The next field of a structure; false behind the last.
  bool next(protocol::TType &type, std::int16_t &id) {
    protocol_->readFieldBegin(text_, type, id);
    return type != protocol::T_STOP;
  }

  // Goes to a field; false where it is not there.
  bool find(std::int16_t wanted, protocol::TType type) {
    protocol::TType found;
    std::int16_t id;
    while (next(found, id)) {
      if (id == wanted) {
        expect(found, type);
        return true;
      }
      skip(found, 1);
    }
    return false;
  }

  std::uint32_t list(protocol::TType type) {
    protocol::TType found;
    std::uint32_t count;
    protocol_->readListBegin(found, count);
    if (count != 0) expect(found, type);
    return count;
  }

  void skip(protocol::TType type, std::uint32_t count) {
    for (; count != 0; --count) protocol_->skip(type);
  }

  const std::string &text() {
    protocol_->readBinary(text_);
    return text_;
  }

  template <class T>
  T number() {
    if constexpr (std::is_same_v<T, bool>) {
      bool value;
      protocol_->readBool(value);
      return value;
    } else if constexpr (std::is_floating_point_v<T>) {
      double value;
      protocol_->readDouble(value);
      return static_cast<T>(value);
    } else if constexpr (sizeof(T) == 1) {
      std::int8_t value;
      protocol_->readByte(value);
      return static_cast<T>(value);
    } else if constexpr (sizeof(T) == 2) {
      std::int16_t value;
      protocol_->readI16(value);
      return static_cast<T>(value);
    } else if constexpr (sizeof(T) == 4) {
      std::int32_t value;
      protocol_->readI32(value);
      return static_cast<T>(value);
    } else {
      std::int64_t value;
      protocol_->readI64(value);
      return static_cast<T>(value);
    }
  }

 private:
  std::shared_ptr<transport::TMemoryBuffer> buffer_ =
      std::make_shared<transport::TMemoryBuffer>(0, configuration());
  std::optional<Protocol> protocol_;
  bool open_ = false;
  std::string text_;
};

// A structure that is being read.
class Struct {
 public:
  explicit Struct(Reader &in) : protocol_(in.protocol()) {
    std::string name;
    protocol_.readStructBegin(name);
  }
  Struct(const Struct &) = delete;
  Struct &operator=(const Struct &) = delete;
  ~Struct() { protocol_.readStructEnd(); }

 private:
  Protocol &protocol_;
};

}  // namespace glue
