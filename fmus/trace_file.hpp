// A trace of messages of one type, each after its length in four bytes: an
// .osi file, or one of the same form in another encoding.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "model.hpp"
#include "osmp.hpp"

namespace wiregauge {

class TraceReader {
 public:
  explicit TraceReader(std::string path) : path_(std::move(path)) {
    if (path_.empty()) throw Failure("trace: say which file");
    file_.open(path_, std::ios::binary | std::ios::ate);
    if (!file_) throw Failure("trace: " + path_ + " cannot be read");
    const auto end = static_cast<std::uint64_t>(file_.tellg());
    for (std::uint64_t at = 0; at < end;) {
      const std::uint64_t begin = at + kLength;
      if (begin > end) throw cut(at);
      const std::uint64_t size = length(at);
      if (size > kMaximumSize) {
        throw Failure("trace: " + path_ + ", byte " + std::to_string(at) + ": a message of " +
                      std::to_string(size) + " bytes, where OSMP can say 2 GiB at most");
      }
      if (size > end - begin) throw cut(at);
      messages_.push_back({begin, static_cast<std::size_t>(size)});
      at = begin + size;
    }
    if (messages_.empty()) throw Failure("trace: " + path_ + " has no message");
  }

  std::size_t messages() const { return messages_.size(); }

  // A message, into memory of the caller's.
  Bytes read(std::size_t message, Buffer &buffer) {
    return read(message, messages_[message].size, buffer);
  }

  // Its first bytes, at most so many.
  Bytes front(std::size_t message, std::size_t most, Buffer &buffer) {
    return read(message, std::min(most, messages_[message].size), buffer);
  }

  const std::string &path() const { return path_; }

 private:
  static constexpr std::size_t kLength = 4;

  struct Place {
    std::uint64_t begin;
    std::size_t size;
  };

  Bytes read(std::size_t message, std::size_t size, Buffer &buffer) {
    std::uint8_t *data = buffer.reserve(size);
    fetch(messages_[message].begin, data, size);
    return {data, size};
  }

  std::uint64_t length(std::uint64_t at) {
    std::uint8_t bytes[kLength];
    fetch(at, bytes, kLength);
    return std::uint64_t{bytes[0]} | std::uint64_t{bytes[1]} << 8 | std::uint64_t{bytes[2]} << 16 |
           std::uint64_t{bytes[3]} << 24;
  }

  void fetch(std::uint64_t at, std::uint8_t *to, std::size_t size) {
    file_.seekg(static_cast<std::streamoff>(at));
    file_.read(reinterpret_cast<char *>(to), static_cast<std::streamsize>(size));
    if (!file_) throw cut(at);
  }

  Failure cut(std::uint64_t at) const {
    return Failure("trace: " + path_ + ", byte " + std::to_string(at) +
                   ": the file ends in a message");
  }

  std::string path_;
  std::ifstream file_;
  std::vector<Place> messages_;
};

// Writes beside the place and moves the file there in the end: what has the
// name is whole.
class TraceWriter {
 public:
  explicit TraceWriter(std::string path) : path_(std::move(path)), part_(path_ + ".part") {
    if (path_.empty()) throw Failure("trace: say which file");
    file_.open(part_, std::ios::binary | std::ios::trunc);
    if (!file_) throw failed(part_);
  }

  void write(Bytes message) {
    const std::uint8_t length[] = {static_cast<std::uint8_t>(message.size),
                                   static_cast<std::uint8_t>(message.size >> 8),
                                   static_cast<std::uint8_t>(message.size >> 16),
                                   static_cast<std::uint8_t>(message.size >> 24)};
    file_.write(reinterpret_cast<const char *>(length), sizeof length);
    file_.write(reinterpret_cast<const char *>(message.data),
                static_cast<std::streamsize>(message.size));
    if (!file_) throw failed(part_);
  }

  void finish() {
    if (!file_.is_open()) return;
    file_.close();
    if (!file_ || std::rename(part_.c_str(), path_.c_str()) != 0) throw failed(path_);
  }

 private:
  static Failure failed(const std::string &path) {
    return Failure("trace: " + path + " cannot be written");
  }

  std::string path_;
  std::string part_;
  std::ofstream file_;
};

}  // namespace wiregauge
