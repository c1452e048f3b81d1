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

// How a part is quantized: Draco gets, as float, by how many steps a value is above the smallest
// of its column, and quantizes that by steps of 1 from 0. It keeps origin and range as text with
// six decimals, of which nothing would be left of a time of flight.
struct Grid {
  double step = 0;
  std::vector<double> lows;
  double span = 0;
  int bits = 1;
};

// The widest steps by which no value is off by more than half of the resolution, when the float
// is rounded for the worst; of whole numbers Draco then rounds nothing.
void widest(const Part &part, Grid &grid) {
  constexpr double kUnit = 0x1p-24, kMostSteps = 0x1p22;
  const double resolution = part.columns[0]->resolution;
  grid.step = resolution - 2 * kUnit * (grid.span + resolution);
  if (!(grid.span <= kMostSteps * resolution) || !std::isfinite(1 / grid.step)) {
    throw std::runtime_error(part.name() +
                             ": half of the resolution is finer than f32, in which Draco computes");
  }
  while (std::exp2(grid.bits) - 1 < grid.span / grid.step + 1) {
    ++grid.bits;
  }
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
    out_.Clear();
    for (size_t at = 0; at < parts.size(); ++at) {
      const Part &part = parts[at];
      uint8_t *values = cloud_->attribute(int(at))->buffer()->data();
      if (!part.quantized) {
        check(part, rows);
        std::memcpy(values, part.columns[0]->values, rows * size_of(part.columns[0]->kind));
        continue;
      }
      const Grid grid = fill(part, rows, reinterpret_cast<float *>(values));
      const std::vector<float> origin(part.columns.size(), 0.0f);
      encoder.SetAttributeExplicitQuantization(int(at), grid.bits, part.components(), origin.data(),
                                               float(std::exp2(grid.bits) - 1));
      out_.Encode(grid.step);
      out_.Encode(grid.lows.data(), grid.lows.size() * sizeof(double));
    }
    const draco::Status status = encoder.EncodeToBuffer(&out_);
    if (!status.ok()) {
      throw std::runtime_error(status.error_msg_string());
    }
    *bytes = reinterpret_cast<const uint8_t *>(out_.data());
    *size = out_.size();
  }

  void decode(const uint8_t *bytes, size_t size, const Column *columns, size_t count,
              size_t rows) override {
    const auto parts = parts_of(columns, count);
    std::vector<double> numbers;
    for (const Part &part : parts) {
      numbers.resize(numbers.size() + (part.quantized ? 1 + part.columns.size() : 0));
    }
    const size_t head = numbers.size() * sizeof(double);
    if (size < head) {
      throw std::runtime_error("cut short");
    }
    std::copy_n(bytes, head, reinterpret_cast<uint8_t *>(numbers.data()));
    const double *number = numbers.data();
    draco::DecoderBuffer buffer;
    buffer.Init(reinterpret_cast<const char *>(bytes + head), size - head);
    draco::Decoder decoder;
    auto decoded = decoder.DecodePointCloudFromBuffer(&buffer);
    if (!decoded.ok()) {
      throw std::runtime_error(decoded.status().error_msg_string());
    }
    const draco::PointCloud &cloud = *decoded.value();
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
      const double step = *number++;
      for (size_t c = 0; c < part.columns.size(); ++c) {
        const Column &column = *part.columns[c];
        const double low = *number++;
        if (column.kind == F32) {
          spread(floats + c, part.columns.size(), rows, low, step,
                 static_cast<float *>(column.values));
        } else {
          spread(floats + c, part.columns.size(), rows, low, step,
                 static_cast<double *>(column.values));
        }
      }
    }
  }

 private:
  template <typename T>
  static void spread(const float *from, size_t stride, size_t rows, double low, double step,
                     T *to) {
    for (size_t row = 0; row < rows; ++row) {
      to[row] = T(low + from[row * stride] * step);
    }
  }

  template <typename T>
  static void gather(const Column &column, double low, double step, size_t stride, size_t rows,
                     float *to) {
    const T *from = static_cast<const T *>(column.values);
    const double factor = 1 / step;
    for (size_t row = 0; row < rows; ++row) {
      to[row * stride] = float((from[row] - low) * factor);
    }
  }

  template <typename T>
  static void bound(const Column &column, size_t rows, Grid &grid) {
    const T *values = static_cast<const T *>(column.values);
    T low = values[0], high = values[0];
    bool is_finite = true;
    for (size_t row = 0; row < rows; ++row) {
      is_finite &= std::isfinite(values[row]);
      low = std::min(low, values[row]);
      high = std::max(high, values[row]);
    }
    if (!is_finite) {
      throw std::runtime_error(name_of(column) + ": no NaN and no infinity can be said");
    }
    grid.lows.push_back(low);
    grid.span = std::max(grid.span, double(high) - double(low));
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

  static Grid fill(const Part &part, size_t rows, float *to) {
    Grid grid;
    for (const Column *column : part.columns) {
      column->kind == F32 ? bound<float>(*column, rows, grid) : bound<double>(*column, rows, grid);
    }
    widest(part, grid);
    const size_t stride = part.columns.size();
    for (size_t c = 0; c < stride; ++c) {
      const auto into = part.columns[c]->kind == F32 ? gather<float> : gather<double>;
      into(*part.columns[c], grid.lows[c], grid.step, stride, rows, to + c);
    }
    return grid;
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
