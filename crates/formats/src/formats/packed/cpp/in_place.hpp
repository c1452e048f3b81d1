// Packed fields of the root message, written into a message that is in memory already and read
// there. Protobuf's classes write and read what else the message has.
#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <climits>
#include <cstddef>
#include <cstdint>

#include "rows.hpp"
#include "wiregauge/codec.hpp"
#include "wiregauge/protobuf_path.hpp"

namespace rows {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

// Writes fields of bytes, one after the other, behind what is in the room already.
class FieldWriter {
 public:
  FieldWriter(wiregauge::Room room, std::size_t used) : room_(room), used_(used) {}

  template <class Record, class Columns>
  void add(std::uint32_t number, const std::vector<Record> &records, Columns columns) {
    if (records.empty()) return;
    Field<Record, Columns> field(records, columns);
    const std::uint32_t tag = number << 3 | protobuf_path::kLen;
    const std::size_t head = CodedOutputStream::VarintSize32(tag);
    // Where columns lie follows from where the field begins, and that from its size. Where
    // no length fits itself, they lie as in a field alone.
    bool fits = false;
    for (std::size_t length = 1; length <= 5 && !fits; ++length) {
      field.plan(used_ + head + length);
      fits = length_size(field.size()) == length;
    }
    if (!fits) field.plan(0);
    const std::size_t size = field.size();
    if (size > INT_MAX) throw wiregauge::Rejected("it is longer than 2 GiB, Protobuf's limit");
    if (room_.size - used_ < head + length_size(size) + size) throw wiregauge::NoRoom();
    std::uint8_t *at = CodedOutputStream::WriteVarint32ToArray(tag, room_.data + used_);
    at = CodedOutputStream::WriteVarint32ToArray(static_cast<std::uint32_t>(size), at);
    field.write(at);
    used_ = static_cast<std::size_t>(at - room_.data) + size;
  }

  wiregauge::Wire written() const { return {room_.data, used_}; }

 private:
  static std::size_t length_size(std::size_t size) {
    return CodedOutputStream::VarintSize32(static_cast<std::uint32_t>(size));
  }

  wiregauge::Room room_;
  std::size_t used_;
};

// Goes through a message: of its fields of bytes with these numbers the last of each is kept
// in `fields`, and what is between them is handed to `rest`, piece by piece.
template <std::size_t kCount, class Rest>
void split(wiregauge::Wire wire, const std::array<std::uint32_t, kCount> &numbers,
           std::array<packed::Bytes, kCount> &fields, Rest rest) {
  if (wire.size > INT_MAX) protobuf_path::malformed();
  CodedInputStream in(wire.data, static_cast<int>(wire.size));
  int begin = 0;
  const auto piece = [&](int end) {
    if (end > begin) rest(wire.data + begin, end - begin);
  };
  for (;;) {
    const int at = in.CurrentPosition();
    const std::uint32_t tag = in.ReadTag();
    if (tag == 0) break;
    const auto found = std::find(numbers.begin(), numbers.end(), tag >> 3);
    if (found == numbers.end() || (tag & 7) != protobuf_path::kLen) {
      protobuf_path::skip(in, tag & 7);
      continue;
    }
    const int size = protobuf_path::read_length(in);
    const std::uint8_t *field = wire.data + in.CurrentPosition();
    protobuf_path::check(in.Skip(size));
    fields[static_cast<std::size_t>(found - numbers.begin())] =
        packed::Bytes{field, static_cast<std::size_t>(size)};
    piece(at);
    begin = in.CurrentPosition();
  }
  piece(static_cast<int>(wire.size));
}

}  // namespace rows
