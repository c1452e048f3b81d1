// Exports fields as Arrow arrays. As a program it reads them as a consumer does, moves and
// releases them in every order; as a library it hands them to one: export_field.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "wiregauge/packed_arrow.hpp"
#include "wiregauge/packed_reduce.hpp"

namespace {

using namespace wiregauge::packed;
using Buffer = std::vector<std::uint8_t>;

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      std::fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (false)

constexpr std::size_t kRows = 2500;

double time_of(std::size_t row) { return static_cast<double>(row) * 1.5e-9; }

// A plain column, a scaled one with absent rows, a reduced one, one whose elements are
// reduced and absent, and a marker, from `shift` bytes into the buffer on.
Buffer field(std::size_t shift) {
  std::vector<double> times(kRows);
  std::vector<std::uint32_t> rings(kRows);
  std::vector<std::uint8_t> bits((kRows + 7) / 8);
  for (std::size_t row = 0; row < kRows; ++row) {
    times[row] = time_of(row);
    rings[row] = static_cast<std::uint32_t>(row / 100);
    if (row % 3 == 0) bits[row / 8] |= static_cast<std::uint8_t>(1 << row % 8);
  }
  Reduction how;
  how.resolution = 1e-12;
  Reduced fine;
  Reduced ring;
  CHECK(!reduce("fine", times.data(), kRows, nullptr, how, fine));
  CHECK(!reduce("ring", rings.data(), kRows, bits.data(), Reduction{}, ring));
  Column power{"power", Element::i16, true};
  power.scaled = true;
  power.offset = -60.0;
  power.scale = 0.5;
  Layout layout;
  CHECK(!layout.plan({Column{"time", Element::f64}, power, fine.column("fine"),
                      ring.column("ring", true), Column{"position?", Element::none, true}},
                     kRows));
  Buffer out(shift + layout.size());
  Table table = layout.write(out.data() + shift);
  for (std::size_t row = 0; row < kRows; ++row) {
    CHECK(table.set(0, row, times[row]));
    if (row % 2 == 0) {
      CHECK(table.set(1, row, -60.0 + 0.5 * static_cast<double>(row % 100)));
      table.presence(1).set(row);
    }
    if (row % 3 == 0) {
      table.presence(3).set(row);
      table.presence(4).set(row);
    }
  }
  CHECK(table.put(2, fine.bytes) && table.put(3, ring.bytes));
  return out;
}

struct Exported {
  std::weak_ptr<const Buffer> message{};
  ArrowSchema schema{};
  ArrowArray array{};
};

// Only the arrays keep the message.
Exported exported(std::size_t shift) {
  auto message = std::make_shared<const Buffer>(field(shift));
  View view;
  CHECK(!View::open(Bytes(message->data() + shift, message->size() - shift), view));
  Exported out;
  out.message = message;
  to_arrow(view, message, out.schema, out.array);
  return out;
}

bool is_valid(const ArrowArray &array, std::size_t row) {
  const auto *bits = static_cast<const std::uint8_t *>(array.buffers[0]);
  return bits == nullptr || (bits[row / 8] >> row % 8 & 1) != 0;
}

template <class T>
T at(const ArrowArray &array, std::size_t row) {
  CHECK(reinterpret_cast<std::uintptr_t>(array.buffers[1]) % alignof(T) == 0);
  return static_cast<const T *>(array.buffers[1])[row];
}

void check(const ArrowArray &array) {
  for (std::size_t row = 0; row < kRows; ++row) {
    CHECK(at<double>(*array.children[0], row) == time_of(row));
    const ArrowArray &power = *array.children[1];
    CHECK(is_valid(power, row) == (row % 2 == 0));
    if (row % 2 == 0) {
      CHECK(at<double>(power, row) == -60.0 + 0.5 * static_cast<double>(row % 100));
    }
    const double off = at<double>(*array.children[2], row) - time_of(row);
    CHECK(off <= 0.5e-12 && off >= -0.5e-12);
    const ArrowArray &ring = *array.children[3];
    CHECK(is_valid(ring, row) == (row % 3 == 0));
    if (row % 3 == 0) CHECK(at<std::uint32_t>(ring, row) == row / 100);
    const auto *there = static_cast<const std::uint8_t *>(array.children[4]->buffers[1]);
    CHECK((there[row / 8] >> row % 8 & 1) == (row % 3 == 0));
  }
}

void what_is_exported_is_right(std::size_t shift) {
  Exported out = exported(shift);
  CHECK(std::strcmp(out.schema.format, "+s") == 0 && out.schema.n_children == 5);
  const char *formats[] = {"g", "g", "g", "I", "b"};
  const char *names[] = {"time", "power", "fine", "ring", "position?"};
  const bool nullable[] = {false, true, false, true, false};
  for (std::size_t i = 0; i < 5; ++i) {
    const ArrowSchema &child = *out.schema.children[i];
    CHECK(std::strcmp(child.format, formats[i]) == 0 && std::strcmp(child.name, names[i]) == 0);
    CHECK(((child.flags & ARROW_FLAG_NULLABLE) != 0) == nullable[i]);
    CHECK(out.array.children[i]->null_count == (nullable[i] ? -1 : 0));
    CHECK(out.array.children[i]->length == static_cast<std::int64_t>(kRows));
  }
  const auto message = out.message.lock();
  const auto lies_in = [&](const void *what) {
    const auto *byte = static_cast<const std::uint8_t *>(what);
    return byte >= message->data() && byte < message->data() + message->size();
  };
  CHECK(lies_in(out.array.children[0]->buffers[1]) == (shift % alignof(double) == 0));
  CHECK(lies_in(out.array.children[1]->buffers[0]) && !lies_in(out.array.children[2]->buffers[1]));
  check(out.array);
  out.schema.release(&out.schema);
  out.array.release(&out.array);
  CHECK(out.schema.release == nullptr && out.array.release == nullptr);
  CHECK(message.use_count() == 1);
}

// As the interface has it: copied, and marked as released where it was.
template <class T>
T moved(T &from) {
  T out = from;
  from.release = nullptr;
  return out;
}

void the_message_lives_as_long_as_an_array(bool parent_first) {
  Exported out = exported(0);
  ArrowArray array = moved(out.array);
  ArrowArray time = moved(*array.children[0]);
  ArrowArray fine = moved(*array.children[2]);
  ArrowSchema name = moved(*out.schema.children[0]);
  if (parent_first) {
    out.schema.release(&out.schema);
    array.release(&array);
  }
  CHECK(!out.message.expired());
  CHECK(at<double>(time, kRows - 1) == time_of(kRows - 1));
  time.release(&time);
  const double last = at<double>(fine, kRows - 1);
  CHECK(last > 0.0);
  fine.release(&fine);
  CHECK(std::strcmp(name.name, "time") == 0);
  name.release(&name);
  CHECK(out.message.expired() == parent_first);
  if (!parent_first) {
    array.release(&array);
    out.schema.release(&out.schema);
  }
  CHECK(out.message.expired());
}

void empty_fields_are_arrays() {
  Layout layout;
  CHECK(!layout.plan({Column{"time", Element::f64}, Column{"there?", Element::none}}, 0));
  auto message = std::make_shared<Buffer>(layout.size());
  layout.write(message->data());
  View view;
  CHECK(!View::open(*message, view));
  ArrowSchema schema;
  ArrowArray array;
  to_arrow(view, message, schema, array);
  CHECK(array.length == 0 && array.n_children == 2);
  CHECK(array.children[0]->buffers[1] != nullptr && array.children[1]->buffers[1] != nullptr);
  schema.release(&schema);
  array.release(&array);
  CHECK(!layout.plan({}, 7));
  message->assign(layout.size(), 0);
  layout.write(message->data());
  CHECK(!View::open(*message, view));
  to_arrow(view, message, schema, array);
  CHECK(array.length == 7 && array.n_children == 0 && schema.n_children == 0);
  schema.release(&schema);
  array.release(&array);
}

}  // namespace

// A packed field in a file, for a consumer in another language; false where it is none.
extern "C" bool export_field(const char *path, ArrowSchema *schema, ArrowArray *array) {
  std::ifstream in(path, std::ios::binary);
  auto message = std::make_shared<const Buffer>(std::istreambuf_iterator<char>(in),
                                                std::istreambuf_iterator<char>());
  View view;
  if (View::open(*message, view)) return false;
  to_arrow(view, message, *schema, *array);
  return true;
}

int main() {
  for (std::size_t shift : {0u, 1u, 8u}) what_is_exported_is_right(shift);
  for (bool parent_first : {true, false}) the_message_lives_as_long_as_an_array(parent_first);
  empty_fields_are_arrays();
  std::puts("right");
}
