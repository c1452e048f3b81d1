// Messages in memory that another process lends: written into it and read in it, without a copy
// of their bytes (docs/runner-protocol.md).
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "wiregauge/codec.hpp"
#include "wiregauge/tally.hpp"
#include "wiregauge/timing.hpp"

namespace wiregauge {

// A file of shared memory, as far as it goes: a transport's may be much larger than what is used
// of it.
class Mapping {
 public:
  Mapping(const std::string &path, bool writes) : path_(path), writes_(writes) {
    const int file = open(path.c_str(), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (file < 0) fail();
    struct stat status {};
    const bool known = fstat(file, &status) == 0 && status.st_size > 0;
    if (known) {
      size_ = static_cast<std::uint64_t>(status.st_size);
      const int access = writes ? PROT_READ | PROT_WRITE : PROT_READ;
      memory_ = mmap(nullptr, size_, access, MAP_SHARED, file, 0);
    }
    const int error = errno;
    close(file);
    errno = error;
    if (memory_ == MAP_FAILED) fail();
  }
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  ~Mapping() {
    if (memory_ != MAP_FAILED) munmap(memory_, size_);
  }

  bool is(const std::string &path, bool writes) const { return path_ == path && writes_ == writes; }

  Room at(std::uint64_t offset, std::uint64_t size) const {
    if (offset > size_ || size > size_ - offset)
      throw std::runtime_error(path_ + " ends before what is lent of it");
    const Room room{static_cast<std::uint8_t *>(memory_) + offset, static_cast<std::size_t>(size)};
    bring(room);
    return room;
  }

 private:
  // Has the pages mapped before anything is timed, as those of a program are that runs for long.
  void bring(Room room) const {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    std::uint8_t *begin =
        room.data - static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(room.data) % page);
    std::uint8_t *end = room.data + room.size;
#ifdef MADV_POPULATE_WRITE
    const int populate = writes_ ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
    if (madvise(begin, static_cast<std::size_t>(end - begin), populate) == 0) return;
#endif
    // Linux before 5.14: by a byte of each.
    for (std::uint8_t *at = room.data; at < end; at = at - (at - begin) % page + page) {
      volatile std::uint8_t *byte = at;
      const std::uint8_t value = *byte;
      if (writes_) *byte = value;
    }
  }

  [[noreturn]] void fail() const {
    throw std::runtime_error("cannot use " + path_ + ": " + std::strerror(errno));
  }

  std::string path_;
  bool writes_;
  void *memory_ = MAP_FAILED;
  std::uint64_t size_ = 0;
};

// The files that were lent, which stay mapped.
class LentFiles {
 public:
  Room at(const std::string &path, std::uint64_t offset, std::uint64_t size, bool writes) {
    for (const Mapping &mapping : mappings_)
      if (mapping.is(path, writes)) return mapping.at(offset, size);
    return mappings_.emplace_back(path, writes).at(offset, size);
  }

 private:
  std::deque<Mapping> mappings_;
};

// Memory of our own, as it may be lent.
class OwnRoom {
 public:
  explicit OwnRoom(std::size_t size)
      : memory_(
            static_cast<std::uint8_t *>(::operator new(size, std::align_val_t(Room::kAlignment)))) {
    room = {memory_.get(), size};
  }

  Room room;

 private:
  struct Release {
    void operator()(std::uint8_t *memory) const {
      ::operator delete(memory, std::align_val_t(Room::kAlignment));
    }
  };

  std::unique_ptr<std::uint8_t, Release> memory_;
};

// What a message takes in memory that is lent: how much memory, and where the message lies in it.
struct Placed {
  std::size_t room = 0;
  std::size_t start = 0;
  Buffer encoded;
};

// A message with everything that its object needs, in new objects. What is timed is not inlined
// into who asks for it, which is cold: g++ would compile it for size.
template <class Codec>
class InPlace {
 public:
  using Message = typename Codec::Message;
  using Object = typename Codec::Object;

  explicit InPlace(Codec &codec) : codec_(codec) {}

  // Tries how much room a message takes: more than its bytes where a builder keeps something
  // of its own beside them.
  [[gnu::cold]] Placed place(const Message &message, std::size_t size) {
    for (std::size_t spare = 4096; spare <= (std::size_t{1} << 28); spare *= 4) {
      const std::size_t rounded =
          (size + spare + Room::kAlignment - 1) / Room::kAlignment * Room::kAlignment;
      const OwnRoom own(rounded);
      try {
        const Wire wire = codec_.write_in_place(message, own.room);
        Placed placed{rounded, static_cast<std::size_t>(wire.data - own.room.data), Buffer()};
        placed.encoded.append(wire.data, wire.size);
        return placed;
      } catch (const NoRoom &) {
        continue;
      }
    }
    throw NoRoom();
  }

  [[gnu::hot, gnu::noinline]] Outcome encode(const Message &message, Room room) {
    const auto start = std::chrono::steady_clock::now();
    const Wire wire = codec_.write_in_place(message, room);
    return ended(start, static_cast<double>(wire.size));
  }

  [[gnu::hot, gnu::noinline]] Outcome decode(Wire wire, bool prove) {
    std::optional<Object> object;
    std::optional<Message> message;
    const auto start = std::chrono::steady_clock::now();
    object.emplace();
    message.emplace();
    codec_.read_in_place(wire, *object, *message);
    keep(*message);
    Outcome outcome = ended(start, 0);
    codec_.recycle(*object);
    if (prove) {
      Writer writer(outcome.proof.decoded.emplace());
      message->to_canonical(writer);
    }
    return outcome;
  }

  [[gnu::hot, gnu::noinline]] Outcome project(Wire wire, bool prove) {
    std::optional<Object> object;
    const auto start = std::chrono::steady_clock::now();
    object.emplace();
    Sum sum{};
    codec_.project_in_place(wire, *object, sum);
    keep(sum);
    Outcome outcome = ended(start, sum.value);
    if (prove) codec_.project_in_place(wire, *object, outcome.proof.digest.emplace());
    codec_.recycle(*object);
    return outcome;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static Outcome ended(Clock::time_point start, double sum) {
    const auto took = Clock::now() - start;
    Outcome outcome;
    outcome.ns = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
    outcome.sum = sum;
    return outcome;
  }

  Codec &codec_;
};

}  // namespace wiregauge
