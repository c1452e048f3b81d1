// Draco: x, y and z are its position, every other column a generic attribute of its own.

#include <draco/compression/decode.h>
#include <draco/compression/expert_encode.h>
#include <draco/core/draco_version.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "columns.hpp"

namespace wiregauge {
namespace {

// 10 less the compression level, which is 7 where draco_encoder gets none.
constexpr int kSpeed = 3;
// The sequential encoding makes a table of as many entries as a column spans integers, four
// bytes each; these are half a gibibyte.
constexpr int64_t kMostSpan = int64_t(1) << 27;
// Its differences overflow near the ends of 32 bits, and it does not say so.
constexpr int64_t kMost = int64_t(1) << 30;

enum Variant { kSequential, kTree };

// Columns that are one attribute.
struct Part {
  std::vector<const Column *> columns;
  bool quantized = false;
  draco::DataType type = draco::DT_INVALID;

  int components() const { return static_cast<int>(columns.size()); }
  std::string name() const { return name_of(*columns[0]); }
  bool is_same(const Part &other) const {
    return columns.size() == other.columns.size() && type == other.type &&
           quantized == other.quantized;
  }
};

draco::DataType type_of(uint8_t kind) {
  constexpr draco::DataType types[] = {draco::DT_INT8,   draco::DT_UINT8,   draco::DT_INT16,
                                       draco::DT_UINT16, draco::DT_INT32,   draco::DT_UINT32,
                                       draco::DT_UINT64, draco::DT_FLOAT32, draco::DT_FLOAT64};
  return types[kind];
}

std::vector<Part> parts_of(const Column *columns, size_t count) {
  std::vector<Part> parts;
  Part position;
  for (const Column *column = columns; column != columns + count; ++column) {
    const bool quantized = column->resolution > 0;
    if (quantized && column->axis != 0) {
      position.columns.push_back(column);
      continue;
    }
    Part part;
    part.columns.push_back(column);
    part.quantized = quantized;
    part.type = quantized ? draco::DT_FLOAT32 : type_of(column->kind);
    parts.push_back(part);
  }
  if (!position.columns.empty()) {
    std::sort(position.columns.begin(), position.columns.end(),
              [](const Column *a, const Column *b) { return a->axis < b->axis; });
    position.quantized = true;
    position.type = draco::DT_FLOAT32;
    parts.insert(parts.begin(), position);
  }
  return parts;
}

// What values are multiplied by: the power of two that makes the resolution 1 or more and less
// than 2. Draco keeps origin and range as text with six decimals, of which nothing is left of a
// time of flight.
double scale_of(const Part &part) {
  return std::ldexp(1.0, -std::ilogb(part.columns[0]->resolution));
}

// Where whole numbers of steps are taken from, of scaled values.
struct Grid {
  std::vector<float> origin;
  float range = 0;
  int bits = 1;
};

// The widest steps by which no value is off by more than half of the resolution, for all that
// Draco computes in float: whole numbers, of which nothing but a difference is rounded, or what
// is left of the resolution when all is rounded for the worst.
Grid grid_of(const Part &part, const std::vector<float> &lows, const std::vector<float> &highs,
             bool is_single) {
  constexpr double kUnit = 0x1p-24, kText = 2e-6;
  const double resolution = part.columns[0]->resolution * scale_of(part);
  double span = 0, largest = 0;
  for (size_t at = 0; at < lows.size(); ++at) {
    span = std::max(span, double(highs[at]) - lows[at]);
    largest = std::max({largest, std::fabs(double(lows[at])), std::fabs(double(highs[at]))});
  }
  // A double was rounded to a float before; a float may be off by what it rounds to.
  const double rounding = is_single ? -kUnit * largest : kUnit * largest;
  const double rest = resolution - 2 * (7 * kUnit * span + kUnit * largest + rounding) - kText;
  const bool is_whole = rest <= 1 && 0.5 + kUnit * (span + 1) + rounding <= resolution / 2 &&
                        span < 0x1p22 && largest < 0x1p23;
  const double step = is_whole ? 1 : rest;
  if (!(step > resolution / 16)) {
    throw std::runtime_error(part.name() +
                             ": half of the resolution is finer than f32, in which Draco computes");
  }
  Grid grid;
  for (float low : lows) {
    grid.origin.push_back(is_whole ? std::floor(low) : low);
  }
  while ((std::exp2(grid.bits) - 1) * step < span + step) {
    ++grid.bits;
  }
  grid.range = float((std::exp2(grid.bits) - 1) * step);
  return grid;
}

class Draco : public Coder {
 public:
  explicit Draco(int variant) : variant_(variant) {}

  void encode(const Column *columns, size_t count, size_t rows, const uint8_t **bytes,
              size_t *size) override {
    const auto parts = parts_of(columns, count);
    make_room(parts, rows);
    draco::ExpertEncoder encoder(*cloud_);
    encoder.SetSpeedOptions(kSpeed, kSpeed);
    encoder.SetEncodingMethod(variant_ == kTree ? draco::POINT_CLOUD_KD_TREE_ENCODING
                                                : draco::POINT_CLOUD_SEQUENTIAL_ENCODING);
    for (size_t at = 0; at < parts.size(); ++at) {
      const Part &part = parts[at];
      uint8_t *values = cloud_->attribute(int(at))->buffer()->data();
      if (!part.quantized) {
        check(part, rows);
        std::memcpy(values, part.columns[0]->values, rows * size_of(part.columns[0]->kind));
        continue;
      }
      const Grid grid = fill(part, rows, reinterpret_cast<float *>(values));
      encoder.SetAttributeExplicitQuantization(int(at), grid.bits, part.components(),
                                               grid.origin.data(), grid.range);
    }
    out_.Clear();
    const draco::Status status = encoder.EncodeToBuffer(&out_);
    if (!status.ok()) {
      throw std::runtime_error(status.error_msg_string());
    }
    *bytes = reinterpret_cast<const uint8_t *>(out_.data());
    *size = out_.size();
  }

  void decode(const uint8_t *bytes, size_t size, const Column *columns, size_t count,
              size_t rows) override {
    draco::DecoderBuffer buffer;
    buffer.Init(reinterpret_cast<const char *>(bytes), size);
    draco::Decoder decoder;
    auto decoded = decoder.DecodePointCloudFromBuffer(&buffer);
    if (!decoded.ok()) {
      throw std::runtime_error(decoded.status().error_msg_string());
    }
    const draco::PointCloud &cloud = *decoded.value();
    const auto parts = parts_of(columns, count);
    if (cloud.num_points() != rows || cloud.num_attributes() != int(parts.size())) {
      throw std::runtime_error("another number of points or attributes");
    }
    for (size_t at = 0; at < parts.size(); ++at) {
      const Part &part = parts[at];
      const auto *attribute = cloud.GetAttributeByUniqueId(uint32_t(at));
      const size_t width = draco::DataTypeLength(part.type) * part.columns.size();
      if (attribute == nullptr || attribute->data_type() != part.type ||
          attribute->num_components() != part.components() || !attribute->is_mapping_identity() ||
          size_t(attribute->byte_stride()) != width ||
          attribute->buffer()->data_size() < width * rows) {
        throw std::runtime_error("an attribute of another form");
      }
      const uint8_t *values = attribute->buffer()->data();
      if (!part.quantized) {
        std::memcpy(part.columns[0]->values, values, width * rows);
        continue;
      }
      const auto *floats = reinterpret_cast<const float *>(values);
      const double scale = 1 / scale_of(part);
      for (size_t c = 0; c < part.columns.size(); ++c) {
        const Column &column = *part.columns[c];
        if (column.kind == F32) {
          spread(floats + c, part.columns.size(), rows, scale, static_cast<float *>(column.values));
        } else {
          spread(floats + c, part.columns.size(), rows, scale,
                 static_cast<double *>(column.values));
        }
      }
    }
  }

 private:
  template <typename T>
  static void spread(const float *from, size_t stride, size_t rows, double scale, T *to) {
    for (size_t row = 0; row < rows; ++row) {
      to[row] = T(from[row * stride] * scale);
    }
  }

  template <typename T>
  static bool gather(const T *from, double scale, size_t stride, size_t rows, float *to, float &low,
                     float &high) {
    bool is_finite = true;
    low = high = float(from[0] * scale);
    for (size_t row = 0; row < rows; ++row) {
      const float value = float(from[row] * scale);
      is_finite &= std::isfinite(value);
      low = std::min(low, value);
      high = std::max(high, value);
      to[row * stride] = value;
    }
    return is_finite;
  }

  // What Draco would refuse without saying which column, or why.
  void check(const Part &part, size_t rows) const {
    const Column &column = *part.columns[0];
    const bool is_wide = column.kind == F32 || column.kind == F64 || column.kind == U64;
    if (variant_ == kTree && is_wide) {
      throw std::runtime_error(part.name() +
                               ": Draco's tree takes no floats without a resolution and no "
                               "integers of 64 bits: leave the column out by --columns, or give "
                               "floats a resolution");
    }
    if (column.kind == U32 || column.kind == I32) {
      const auto [low, high] =
          column.kind == U32 ? ends<uint32_t>(column, rows) : ends<int32_t>(column, rows);
      if (low < -kMost || high >= kMost) {
        throw std::runtime_error(part.name() + ": Draco's integers are below 2^30 here");
      }
      if (high - low >= kMostSpan) {
        throw std::runtime_error(part.name() +
                                 ": it spans more than 2^27 integers, of which Draco's encoder "
                                 "makes a table of half a gibibyte");
      }
    }
  }

  template <typename T>
  static std::pair<int64_t, int64_t> ends(const Column &column, size_t rows) {
    const auto *values = static_cast<const T *>(column.values);
    const auto [low, high] = std::minmax_element(values, values + rows);
    return {*low, *high};
  }

  Grid fill(const Part &part, size_t rows, float *to) const {
    const size_t stride = part.columns.size();
    const double scale = scale_of(part);
    std::vector<float> lows(stride), highs(stride);
    bool is_single = true;
    for (size_t c = 0; c < stride; ++c) {
      const Column &column = *part.columns[c];
      is_single &= column.kind == F32;
      const bool is_finite = column.kind == F32
                                 ? gather(static_cast<const float *>(column.values), scale, stride,
                                          rows, to + c, lows[c], highs[c])
                                 : gather(static_cast<const double *>(column.values), scale, stride,
                                          rows, to + c, lows[c], highs[c]);
      if (!is_finite) {
        throw std::runtime_error(name_of(column) +
                                 ": no NaN, no infinity and nothing beyond f32 can be said");
      }
    }
    return grid_of(part, lows, highs, is_single);
  }

  // Attributes for such a table; those from before, and their memory, where they are alike.
  void make_room(const std::vector<Part> &parts, size_t rows) {
    const auto count = draco::PointIndex::ValueType(rows);
    if (cloud_ != nullptr &&
        std::equal(parts.begin(), parts.end(), parts_.begin(), parts_.end(),
                   [](const Part &a, const Part &b) { return a.is_same(b); })) {
      cloud_->set_num_points(count);
      for (int at = 0; at < cloud_->num_attributes(); ++at) {
        cloud_->attribute(at)->Reset(rows);
      }
      return;
    }
    cloud_ = std::make_unique<draco::PointCloud>();
    cloud_->set_num_points(count);
    for (const Part &part : parts) {
      draco::GeometryAttribute attribute;
      const auto use = part.columns.size() > 1 ? draco::GeometryAttribute::POSITION
                                               : draco::GeometryAttribute::GENERIC;
      attribute.Init(use, nullptr, uint8_t(part.components()), part.type, false,
                     draco::DataTypeLength(part.type) * part.components(), 0);
      cloud_->AddAttribute(attribute, true, count);
    }
    parts_ = parts;
  }

  int variant_;
  std::vector<Part> parts_;
  std::unique_ptr<draco::PointCloud> cloud_;
  draco::EncoderBuffer out_;
};

}  // namespace

const char *library() {
  static const std::string name = std::string("Draco ") + draco::kDracoVersion;
  return name.c_str();
}

Coder *make(int variant) { return new Draco(variant); }

}  // namespace wiregauge
