// The C++ header at work, for the tests: what it reads, writes and refuses.
//
//   tool dump ROOT FILE
//   tool pack ROOT FILE OUT [PRESET …] [--whole-bytes]
//       [COLUMN=ELEMENT[,OFFSET,SCALE][@RESOLUTION|@exact] …]
//   tool unpack ROOT FILE OUT
//   tool write OUT
//   tool verdicts ROOT FILE
//   tool reduce FILE OUT
//   tool restore FILE
//   tool presets
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "wiregauge/packed_convert.hpp"
#include "wiregauge/packed_reduce.hpp"

using namespace wiregauge::packed;

namespace {

using Buffer = std::vector<std::uint8_t>;

const char *const kKinds[] = {"lidar_reflections", "radar_reflections", "lidar_detections",
                              "radar_detections"};
const char *const kElements[] = {"none", "f64", "f32", "f16", "u64", "u32",
                                 "u16",  "u8",  "i64", "i32", "i16", "i8"};
const char *const kFaults[] = {"none",  "truncated", "magic",      "version", "header",  "limit",
                               "name",  "duplicate", "range",      "overlap", "scale",   "wire",
                               "depth", "unknown",   "foreign",    "both",    "element", "value",
                               "kind",  "buffer",    "resolution", "steps",   "blocks",  "preset"};

Buffer read(const char *path) {
  std::ifstream file(path, std::ios::binary);
  return Buffer(std::istreambuf_iterator<char>(file), {});
}

void write(const char *path, const Buffer &bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

std::string bits(double value) {
  std::uint64_t raw = 0;
  std::memcpy(&raw, &value, 8);
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, raw);
  return text;
}

int fail(const Error &error) {
  std::fprintf(stderr, "%s\n", error.message().c_str());
  return 1;
}

void dump(const Found &found) {
  std::printf("%s rows %zu\n", kKinds[static_cast<int>(found.kind)], found.rows);
  if (!found.packed) return;
  View view;
  if (Error error = View::open(found.field, view)) {
    std::printf("%s\n", error.message().c_str());
    return;
  }
  std::printf("packed rows %zu\n", view.rows());
  for (std::size_t i = 0; i < view.columns(); ++i) {
    const Values values = view.values(i);
    const std::string name(values.name);
    const std::string scale = values.scaled ? bits(values.offset) + " " + bits(values.scale) : "-";
    std::printf("column %s %s %s%s\n", name.c_str(),
                values.known ? kElements[static_cast<int>(values.element)] : "?", scale.c_str(),
                values.bitmap == nullptr ? "" : " optional");
    for (std::size_t row = 0; values.known && row < values.rows; ++row) {
      const std::string shown = values.element == Element::none ? "-" : bits(values.value(row));
      std::printf("  %s\n", values.present(row) ? shown.c_str() : "absent");
    }
  }
}

Encoding encoding(const std::string &text) {
  Encoding out;
  const std::size_t equals = text.find('=');
  out.name = text.substr(0, equals);
  const std::size_t reduced = text.find('@');
  std::istringstream rest(text.substr(equals + 1, reduced - equals - 1));
  std::string element, offset, scale;
  std::getline(rest, element, ',');
  for (int i = 0; i < 12; ++i) {
    if (element == kElements[i]) out.element = static_cast<Element>(i);
  }
  if (std::getline(rest, offset, ',') && std::getline(rest, scale, ',')) {
    out.scaled = true;
    out.offset = std::stod(offset);
    out.scale = std::stod(scale);
  }
  if (reduced != std::string::npos) {
    out.reduction = Reduction();
    const std::string how = text.substr(reduced + 1);
    if (how != "exact") out.reduction->resolution = std::stod(how);
  }
  return out;
}

// The message of tests/message.rs, written in place.
Buffer written() {
  const Buffer rest{0x1a, 2, 8, 7};
  const Buffer configuration{0x0a, 2, 0x30, 10};
  Message message(Root::sensor_view, Bytes::room(rest.size()));
  Column id{"object_id", Element::u32};
  id.optional = true;
  Column gain{"example.org/gain", Element::u16};
  gain.scaled = true;
  gain.offset = -10.0;
  gain.scale = 0.5;
  Error error = message.add(Kind::lidar_reflections,
                            {{"signal_strength"}, {"time_of_flight", Element::f32}, id, gain}, 10,
                            configuration);
  if (!error) error = message.add(Kind::radar_reflections, {{"snr", Element::f16}}, 3);
  if (!error) error = message.plan();
  Buffer out(message.size(), 0xee);  // what is left of an earlier message
  if (!error) error = message.write(out.data(), out.size());
  if (error) {
    fail(error);
    return {};
  }
  std::memcpy(out.data(), rest.data(), rest.size());
  const Table table = message.table(0);
  auto strength = table.column<double>("signal_strength");
  auto time = table.column<float>("time_of_flight");
  auto object = table.column<std::uint32_t>("object_id");
  auto present = table.presence("object_id");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    strength[row] = -1.5 * static_cast<double>(row);
    time[row] = 0.25f * static_cast<float>(row);
    object[row] = row % 2 == 0 ? static_cast<std::uint32_t>(row) : 0;
    if (row % 2 == 0) present.set(row);
    if (!table.set(3, row, static_cast<double>(row))) return {};
  }
  for (std::size_t row = 0; row < 3; ++row) {
    if (!message.table(1).set(0, row, 0.1 * static_cast<double>(row))) return {};
  }
  return out;
}

std::uint64_t hash(const Buffer &bytes) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (std::uint8_t byte : bytes) value = (value ^ byte) * 0x100000001b3;
  return value;
}

void verdict(const char *what, const Error &error, const Buffer &out) {
  if (error) {
    std::printf("%s %s %u %s\n", what, kFaults[static_cast<int>(error.fault)], error.number,
                error.name.c_str());
  } else {
    std::printf("%s %zu %016" PRIx64 "\n", what, out.size(), hash(out));
  }
}

// What becomes of each message of a file of messages with their lengths.
void verdicts(Root root, const Buffer &all) {
  std::size_t at = 0;
  while (at + 4 <= all.size()) {
    std::uint32_t size = 0;
    std::memcpy(&size, all.data() + at, 4);
    // A copy of its own, so that the sanitizer sees a read beyond its end.
    const Buffer bytes(all.begin() + static_cast<std::ptrdiff_t>(at + 4),
                       all.begin() + static_cast<std::ptrdiff_t>(at + 4 + size));
    at += 4 + size;
    Buffer out;
    std::vector<Found> all_found;
    const Error error = find(root, bytes, [&](const Found &one) { all_found.push_back(one); });
    for (std::size_t i = 0; !error && i < all_found.size(); ++i) {
      View view;
      if (all_found[i].packed) verdict("open", View::open(all_found[i].field, view), {});
    }
    verdict("find", error, Buffer(all_found.size()));
    verdict("pack", pack(root, bytes, out), out);
    UnpackOptions options;
    options.limit = 1 << 20;
    verdict("unpack", unpack(root, bytes, out, options), out);
  }
}

template <class T>
Error reduce_case(const Buffer &in, Reduced &out, Buffer &field) {
  const std::uint8_t flags = in[1];
  Reduction how;
  how.whole_bytes = (flags & 2) != 0;
  if ((flags & 1) != 0) how.resolution = detail::load<double>(in.data() + 8);
  const std::size_t rows = detail::load<std::uint32_t>(in.data() + 16);
  const std::size_t bits = (flags & 4) != 0 ? (rows + 7) / 8 : 0;
  const std::uint8_t *bitmap = bits != 0 ? in.data() + 24 : nullptr;
  std::vector<T> values(rows);
  if (rows != 0) {
    std::memcpy(static_cast<void *>(values.data()), in.data() + 24 + bits, rows * sizeof(T));
  }
  if (Error error = reduce("a", values.data(), rows, bitmap, how, out)) return error;
  Layout layout;
  if (Error error = layout.plan({out.column("a", (flags & 4) != 0)}, rows, 0, 8)) return error;
  field.resize(layout.size());
  const Table table = layout.write(field.data());
  if (!table.put(0, out.bytes)) return Error{Fault::buffer};
  const Presence presence = table.presence(std::size_t{0});
  for (std::size_t row = 0; bitmap != nullptr && row < rows; ++row) {
    if ((bitmap[row / 8] >> row % 8 & 1) != 0) presence.set(row);
  }
  return {};
}

template <class T>
void restore_column(const Values &values) {
  const std::size_t parts[2][2] = {{0, values.rows}, {values.rows / 3, values.rows / 2}};
  for (const auto &[first, end] : parts) {
    const std::size_t count = end - first;
    std::vector<T> out(count);
    if (!values.read(first, out.data(), count)) return;
    Buffer bytes(count * sizeof(T));
    if (count != 0) std::memcpy(bytes.data(), out.data(), bytes.size());
    std::printf("rows %zu %016" PRIx64 "\n", count, hash(bytes));
  }
}

// Calls a function with each part of a file of parts with their lengths.
template <class Each>
void for_parts(const Buffer &all, Each each) {
  for (std::size_t at = 0; at + 4 <= all.size();) {
    const std::size_t size = detail::load<std::uint32_t>(all.data() + at);
    // A copy of its own, so that the sanitizer sees a read beyond its end.
    each(Buffer(all.begin() + static_cast<std::ptrdiff_t>(at + 4),
                all.begin() + static_cast<std::ptrdiff_t>(at + 4 + size)));
    at += 4 + size;
  }
}

// Fields of one reduced column each, of cases as languages.rs writes them.
Buffer reduce_all(const Buffer &cases) {
  Buffer all;
  for_parts(cases, [&](const Buffer &in) {
    Reduced out;
    Buffer field;
    Error error;
    detail::with_element(static_cast<Element>(in[0]),
                         [&](auto zero) { error = reduce_case<decltype(zero)>(in, out, field); });
    if (error) {
      field.clear();
      std::printf("%s\n", error.message().c_str());
    } else {
      std::printf("error %s\n", bits(out.error).c_str());
    }
    const auto size = static_cast<std::uint32_t>(field.size());
    all.resize(all.size() + 4);
    detail::store(all.data() + all.size() - 4, size);
    all.insert(all.end(), field.begin(), field.end());
  });
  return all;
}

void restore_all(const Buffer &fields) {
  for_parts(fields, [](const Buffer &field) {
    View view;
    const Error error = View::open(field, view);
    verdict("open", error, {});
    for (std::size_t i = 0; !error && i < view.columns(); ++i) {
      const Values values = view.values(i);
      if (!values.known) continue;
      detail::with_element(values.element,
                           [&](auto zero) { restore_column<decltype(zero)>(values); });
    }
  });
}

// Each preset, its rows, and its resolutions by their bits.
void presets() {
  for (const Preset &one : kPresets) {
    std::printf("%s", std::string(one.name).c_str());
    for (Kind kind : one.kinds) std::printf(" %s", kKinds[static_cast<int>(kind)]);
    for (const Resolution &each : one) {
      std::printf(" %s=%s", std::string(each.column).c_str(), bits(each.step).c_str());
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int count, char **arguments) {
  const std::string command = count > 1 ? arguments[1] : "";
  if (command == "write" && count == 3) {
    write(arguments[2], written());
    return 0;
  }
  if (command == "presets" && count == 2) {
    presets();
    return 0;
  }
  if (command == "restore" && count == 3) {
    restore_all(read(arguments[2]));
    return 0;
  }
  if (command == "reduce" && count == 4) {
    write(arguments[3], reduce_all(read(arguments[2])));
    return 0;
  }
  if (count < 4) return 2;
  const Root root =
      arguments[2] == std::string("SensorView") ? Root::sensor_view : Root::sensor_data;
  const Buffer in = read(arguments[3]);
  Buffer out;
  if (command == "dump") {
    const Error error = find(root, in, dump);
    return error ? fail(error) : 0;
  }
  if (command == "verdicts") {
    verdicts(root, in);
    return 0;
  }
  if (count < 5) return 2;
  if (command == "pack") {
    PackOptions options;
    for (int i = 5; i < count; ++i) {
      const std::string given = arguments[i];
      if (given == "--whole-bytes") {
        options.whole_bytes = true;
      } else if (given.find('=') == std::string::npos) {
        options.presets.push_back(preset(given));
      } else {
        options.encodings.push_back(encoding(given));
      }
    }
    std::vector<Precision> precision;
    if (Error error = pack(root, in, out, options, &precision)) return fail(error);
    for (const Precision &one : precision) {
      std::printf("%s %s %s %s %zu\n", kKinds[static_cast<int>(one.kind)], one.name.c_str(),
                  kElements[static_cast<int>(one.element)], bits(one.error).c_str(), one.bytes);
    }
  } else if (Error error = unpack(root, in, out)) {
    return fail(error);
  }
  write(arguments[4], out);
  return 0;
}
