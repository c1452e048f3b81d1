// What a reduction in C++ is to wiregauge: columns in, bytes out, and back.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>

namespace wiregauge {

enum Kind : uint8_t { I8, U8, I16, U16, I32, U32, U64, F32, F64 };

inline size_t size_of(uint8_t kind) {
  constexpr size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 4, 8};
  return sizes[kind];
}

// A column of as many values as there are rows.
struct Column {
  void *values;
  const char *name;
  size_t length;
  // What is enough; 0 where every bit is wanted.
  double resolution;
  uint8_t kind;
  // 1, 2 and 3 for x, y and z of one position, else 0.
  uint8_t axis;
};

inline std::string name_of(const Column &column) { return {column.name, column.length}; }

// What keeps its memory from table to table. Its functions throw what is wrong.
struct Coder {
  std::string why;
  virtual ~Coder() = default;
  // The bytes live until the next call.
  virtual void encode(const Column *columns, size_t count, size_t rows, const uint8_t **bytes,
                      size_t *size) = 0;
  virtual void decode(const uint8_t *bytes, size_t size, const Column *columns, size_t count,
                      size_t rows) = 0;
};

// The library and its version.
const char *library();
Coder *make(int variant);

// Whether a call went through; why not is kept.
template <typename Call>
bool tried(void *handle, Call call) {
  auto &coder = *static_cast<Coder *>(handle);
  try {
    call(coder);
    return true;
  } catch (const std::exception &error) {
    coder.why = error.what();
  } catch (...) {
    coder.why = "it does not say why";
  }
  return false;
}

}  // namespace wiregauge

extern "C" {

const char *wiregauge_library() { return wiregauge::library(); }

void *wiregauge_make(int variant) {
  try {
    return wiregauge::make(variant);
  } catch (...) {
    return nullptr;
  }
}

void wiregauge_drop(void *coder) { delete static_cast<wiregauge::Coder *>(coder); }

// Of the last call that failed.
const char *wiregauge_why(void *coder) {
  return static_cast<wiregauge::Coder *>(coder)->why.c_str();
}

bool wiregauge_encode(void *handle, const wiregauge::Column *columns, size_t count, size_t rows,
                      const uint8_t **bytes, size_t *size) {
  return wiregauge::tried(handle,
                          [=](auto &coder) { coder.encode(columns, count, rows, bytes, size); });
}

bool wiregauge_decode(void *handle, const uint8_t *bytes, size_t size,
                      const wiregauge::Column *columns, size_t count, size_t rows) {
  return wiregauge::tried(handle,
                          [=](auto &coder) { coder.decode(bytes, size, columns, count, rows); });
}
}
