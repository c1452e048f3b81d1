// Groups of SBE's flyweights, entry by entry and as blocks.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "wiregauge/codec.hpp"

namespace glue {

template <class T>
struct Tag {};

inline std::uint32_t entries(std::size_t count) {
  if (count > std::numeric_limits<std::int32_t>::max())
    throw wiregauge::Rejected("a list or text is too long for SBE");
  return static_cast<std::uint32_t>(count);
}

inline void exactly(std::size_t count, std::size_t wanted) {
  if (count != wanted) throw std::runtime_error("a group has a wrong number of entries");
}

// The number of entries of a group, of at least so many bytes each. What a
// group's header says is not checked by the flyweights: its entries must be as
// long as the fields that are read, and there as far as the message goes.
// Entries of no bytes are believed up to a number that does no harm.
template <class Group>
std::size_t counted(Group &group, std::size_t least) {
  if (group.sbeActingBlockLength() < Group::sbeBlockLength())
    throw std::runtime_error("the entries of a group are too short");
  if (least == 0 && group.count() > 1 << 24)
    throw std::runtime_error("a group has too many entries");
  const std::size_t entry = least + group.sbeActingBlockLength() - Group::sbeBlockLength();
  (void)group.sbeCheckPosition(group.sbePosition() + group.count() * entry);
  return group.count();
}

// Goes to an entry, by the group's own walk; false where there is none.
template <class Group>
bool walk(Group &group, std::uint64_t index) {
  if (index >= group.count()) return false;
  for (; index != 0; --index) group.next().skip();
  group.next();
  return true;
}

template <class Group>
void skip_blocks(Group &group, std::size_t count) {
  group.sbePosition(group.sbePosition() + count * group.sbeActingBlockLength());
}

// Numbers in a group of one field lie side by side.
template <class Group, class T>
void put_block(Group &group, const T *from, std::size_t count, char *base) {
  const std::size_t at = group.sbePosition();
  skip_blocks(group, count);
  if (count != 0) std::memcpy(base + at, from, count * sizeof(T));
}

template <class Group, class T>
void take_block(Group &group, T *to, std::size_t count, const char *base) {
  const char *from = base + group.sbePosition();
  const std::size_t stride = group.sbeActingBlockLength();
  skip_blocks(group, count);
  if (stride == sizeof(T)) {
    if (count != 0) std::memcpy(to, from, count * sizeof(T));
  } else {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i, from + i * stride, sizeof(T));
  }
}

// Calls `each` with every entry of fixed size, by a flyweight of its own: the
// position of one that others share has to be in memory, and what is written
// through a pointer might be it.
template <class Group, class Each>
void put_entries(Group &group, std::size_t count, char *base, Each each) {
  std::uint64_t at = group.sbePosition() - Group::sbeHeaderSize();
  skip_blocks(group, count);
  Group own;
  own.wrapForEncode(base, entries(count), &at, 0, group.sbePosition());
  for (std::size_t i = 0; i < count; ++i) each(own.next(), i);
}

template <class Group, class Each>
void take_entries(Group &group, std::size_t count, char *base, Each each) {
  std::uint64_t at = group.sbePosition() - Group::sbeHeaderSize();
  skip_blocks(group, count);
  Group own;
  own.wrapForDecode(base, &at, 0, group.sbePosition());
  for (std::size_t i = 0; i < count; ++i) each(own.next(), i);
}

inline void assign(std::string &to, std::string_view from) { to.assign(from); }

inline void assign(std::vector<std::uint8_t> &to, std::string_view from) {
  const auto *octets = reinterpret_cast<const std::uint8_t *>(from.data());
  to.assign(octets, octets + from.size());
}

}  // namespace glue
