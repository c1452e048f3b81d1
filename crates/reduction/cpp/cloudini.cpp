// cloudini: the columns are the fields of one cloud, its points without a gap.

#include <algorithm>
#include <cloudini_lib/cloudini.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include "columns.hpp"

namespace wiregauge {
namespace {

// Rows whose fields are put together at a time, so that they stay in the first cache.
constexpr size_t kBlock = 512;

Cloudini::FieldType type_of(uint8_t kind) {
  using Cloudini::FieldType;
  constexpr FieldType types[] = {FieldType::INT8,   FieldType::UINT8,   FieldType::INT16,
                                 FieldType::UINT16, FieldType::INT32,   FieldType::UINT32,
                                 FieldType::UINT64, FieldType::FLOAT32, FieldType::FLOAT64};
  return types[kind];
}

template <typename T, bool kInto>
void move(uint8_t *points, size_t step, uint8_t *values, size_t rows) {
  for (size_t row = 0; row < rows; ++row) {
    uint8_t *point = points + row * step, *value = values + row * sizeof(T);
    std::memcpy(kInto ? point : value, kInto ? value : point, sizeof(T));
  }
}

// Columns to points, or back.
template <bool kInto>
void interleave(uint8_t *points, size_t step, const Column *columns, size_t count, size_t rows) {
  for (size_t first = 0; first < rows; first += kBlock) {
    const size_t some = std::min(kBlock, rows - first);
    uint8_t *at = points + first * step;
    for (const Column *column = columns; column != columns + count; ++column) {
      const size_t size = size_of(column->kind);
      uint8_t *values = static_cast<uint8_t *>(column->values) + first * size;
      switch (size) {
        case 1:
          move<uint8_t, kInto>(at, step, values, some);
          break;
        case 2:
          move<uint16_t, kInto>(at, step, values, some);
          break;
        case 4:
          move<uint32_t, kInto>(at, step, values, some);
          break;
        default:
          move<uint64_t, kInto>(at, step, values, some);
      }
      at += size;
    }
  }
}

// The resolution as f32 with six digits, which is what cloudini's header keeps: its decoder would
// multiply by another number than the encoder divided by. None that is larger.
float resolution_of(double wanted) {
  char text[32];
  for (double near = wanted;; near -= std::pow(10, std::floor(std::log10(wanted)) - 5)) {
    std::snprintf(text, sizeof text, "%.6g", near);
    const float single = std::strtof(text, nullptr);
    if (single <= wanted) {
      return single;
    }
  }
}

class Cloud : public Coder {
 public:
  explicit Cloud(int stage) : stage_(static_cast<Cloudini::CompressionOption>(stage)) {}

  void encode(const Column *columns, size_t count, size_t rows, const uint8_t **bytes,
              size_t *size) override {
    Cloudini::EncodingInfo info;
    info.compression_opt = stage_;
    info.use_threads = false;
    for (size_t at = 0; at < count; ++at) {
      Cloudini::PointField field;
      field.name = "f" + std::to_string(at);
      field.offset = info.point_step;
      field.type = type_of(columns[at].kind);
      if (columns[at].resolution > 0) {
        field.resolution = resolution_of(columns[at].resolution);
      }
      info.point_step += uint32_t(size_of(columns[at].kind));
      info.fields.push_back(field);
    }
    // The number of points is the header's alone, so one encoder does for clouds of any.
    if (encoder_ == nullptr || encoder_->getEncodingInfo() != info) {
      encoder_ = std::make_unique<Cloudini::PointcloudEncoder>(info);
    }
    info.width = uint32_t(rows);
    Cloudini::EncodeHeader(info, header_);
    const size_t most = header_.size() + Cloudini::MaxCompressedSize(info, rows, false);
    out_.resize(std::max(out_.size(), most));
    points_.resize(rows * info.point_step);
    interleave<true>(points_.data(), info.point_step, columns, count, rows);
    std::memcpy(out_.data(), header_.data(), header_.size());
    Cloudini::BufferView view(out_.data() + header_.size(), out_.size() - header_.size());
    const Cloudini::ConstBufferView points(points_.data(), points_.size());
    *size = header_.size() + encoder_->encode(points, view, false);
    *bytes = out_.data();
  }

  void decode(const uint8_t *bytes, size_t size, const Column *columns, size_t count,
              size_t rows) override {
    Cloudini::ConstBufferView rest(bytes, size);
    const Cloudini::EncodingInfo info = Cloudini::DecodeHeader(rest);
    size_t step = 0;
    for (size_t at = 0; at < count; ++at) {
      if (at >= info.fields.size() || info.fields[at].type != type_of(columns[at].kind) ||
          info.fields[at].offset != step) {
        throw std::runtime_error("a field of another form");
      }
      step += size_of(columns[at].kind);
    }
    if (size_t(info.width) * info.height != rows || info.point_step != step ||
        info.fields.size() != count) {
      throw std::runtime_error("a cloud of another form");
    }
    points_.resize(rows * step);
    decoder_.decode(info, rest, Cloudini::BufferView(points_.data(), points_.size()));
    interleave<false>(points_.data(), step, columns, count, rows);
  }

 private:
  Cloudini::CompressionOption stage_;
  std::unique_ptr<Cloudini::PointcloudEncoder> encoder_;
  Cloudini::PointcloudDecoder decoder_;
  std::vector<uint8_t> header_, points_, out_;
};

}  // namespace

const char *library() {
  static const std::string name =
      "cloudini of format " + std::to_string(int(Cloudini::kEncodingVersion));
  return name.c_str();
}

Coder *make(int variant) { return new Cloud(variant); }

}  // namespace wiregauge
