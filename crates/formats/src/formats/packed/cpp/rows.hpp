// Lists of plain records as packed fields, by the packed field's own header.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "wiregauge/packed.hpp"

namespace rows {

namespace packed = wiregauge::packed;

inline void check(const packed::Error &error) {
  if (error) throw std::runtime_error(error.message());
}

// The names of columns that are filled in one loop.
template <std::size_t kCount>
using Names = std::array<std::string_view, kCount>;

// What becomes of a column that rows may be without.
enum class State { absent, partial, whole };

// The three ways through the columns of records, of which `columns(visit)` tells one after
// the other: how many rows have each, what is planned, and the filling of it.

template <class Record>
class Count {
 public:
  explicit Count(const std::vector<Record> &records) : records_(records) {}

  template <class... T, class Get>
  void numbers(const Names<sizeof...(T)> &, Get) {
    any_ = true;
  }
  template <class T, class Get>
  void maybe(std::string_view, Get get) {
    add(count([&](const Record &record) { return get(record).has_value(); }));
  }
  template <class There, class Bare>
  void marker(std::string_view, There, Bare bare) {
    const std::size_t bare_ones = count(bare);
    states_.push_back(bare_ones == 0 ? State::absent : State::partial);
    any_ = any_ || bare_ones != 0;
  }

  // One column at least is there, so that the field's size bounds its rows.
  std::vector<State> states() {
    if (!any_) states_.front() = State::partial;
    return std::move(states_);
  }

 private:
  template <class Is>
  std::size_t count(Is is) const {
    return static_cast<std::size_t>(std::count_if(records_.begin(), records_.end(), is));
  }
  void add(std::size_t count) {
    states_.push_back(count == 0                 ? State::absent
                      : count == records_.size() ? State::whole
                                                 : State::partial);
    any_ = any_ || count != 0;
  }

  const std::vector<Record> &records_;
  std::vector<State> states_;
  bool any_ = false;
};

class Plan {
 public:
  explicit Plan(const std::vector<State> &states) : state_(states.begin()) {}

  template <class... T, class Get>
  void numbers(const Names<sizeof...(T)> &names, Get) {
    std::size_t i = 0;
    (add(names[i++], packed::detail::ElementOf<T>::value, State::whole), ...);
  }
  template <class T, class Get>
  void maybe(std::string_view name, Get) {
    add(name, packed::detail::ElementOf<T>::value, *state_++);
  }
  template <class There, class Bare>
  void marker(std::string_view name, There, Bare) {
    add(name, packed::Element::none, *state_++);
  }

  std::vector<packed::Column> columns;

 private:
  void add(std::string_view name, packed::Element element, State state) {
    if (state == State::absent) return;
    packed::Column column;
    column.name = name;
    column.element = element;
    column.optional = state == State::partial;
    columns.push_back(column);
  }

  std::vector<State>::const_iterator state_;
};

// Fills the rows from `begin` to before `end`.
template <class Record>
class Fill {
 public:
  Fill(const std::vector<Record> &records, const std::vector<State> &states,
       const packed::Table &table, std::size_t begin, std::size_t end)
      : records_(records.data()), state_(states.begin()), table_(table), begin_(begin), end_(end) {}

  template <class... T, class Get>
  void numbers(const Names<sizeof...(T)> &, Get get) {
    const std::tuple<packed::Sink<T>...> sinks{table_.column<T>(index_++)...};
    put(sinks, get, std::index_sequence_for<T...>());
  }
  template <class T, class Get>
  void maybe(std::string_view, Get get) {
    const State state = *state_++;
    if (state == State::absent) return;
    const auto sink = table_.column<T>(index_);
    const auto presence = table_.presence(index_++);
    for (std::size_t row = begin_; row < end_; ++row) {
      const std::optional<T> value = get(records_[row]);
      sink[row] = value.value_or(T{});
      if (value && presence) presence.set(row);
    }
  }
  template <class There, class Bare>
  void marker(std::string_view, There there, Bare) {
    if (*state_++ == State::absent) return;
    const auto presence = table_.presence(index_++);
    for (std::size_t row = begin_; row < end_; ++row) {
      if (there(records_[row])) presence.set(row);
    }
  }

 private:
  // All of a record's numbers at once, so that it is read once.
  template <class Sinks, class Get, std::size_t... kIndex>
  void put(const Sinks &sinks, Get get, std::index_sequence<kIndex...>) const {
    for (std::size_t row = begin_; row < end_; ++row) {
      const auto numbers = get(records_[row]);
      ((std::get<kIndex>(sinks)[row] = std::get<kIndex>(numbers)), ...);
    }
  }

  const Record *records_;
  std::vector<State>::const_iterator state_;
  const packed::Table &table_;
  std::size_t begin_;
  std::size_t end_;
  std::size_t index_ = 0;
};

// Rows that are filled, some columns after the others, while their records are in the cache.
constexpr std::size_t kBlock = 1024;

// The field of records that are there: which columns, and where they lie.
template <class Record, class Columns>
class Field {
 public:
  Field(const std::vector<Record> &records, Columns columns)
      : records_(records), columns_(columns) {
    Count<Record> count(records);
    columns(count);
    states_ = count.states();
    Plan plan(states_);
    columns(plan);
    plan_ = std::move(plan.columns);
  }

  // Columns lie at multiples of 64 bytes, counted from `start` bytes before the field.
  void plan(std::uint64_t start) { check(layout_.plan(plan_, records_.size(), start)); }
  std::size_t size() const { return layout_.size(); }

  // Into size() bytes of any value.
  void write(std::uint8_t *out) const {
    const packed::Table table = layout_.write(out);
    for (std::size_t begin = 0; begin < records_.size(); begin += kBlock) {
      const std::size_t end = std::min(begin + kBlock, records_.size());
      Fill<Record> fill(records_, states_, table, begin, end);
      columns_(fill);
    }
  }

 private:
  const std::vector<Record> &records_;
  Columns columns_;
  std::vector<State> states_;
  std::vector<packed::Column> plan_;
  packed::Layout layout_;
};

// Makes the field of records; empty where there are none.
template <class Record, class Columns>
void pack(const std::vector<Record> &records, std::string &out, Columns columns) {
  out.clear();
  if (records.empty()) return;
  Field<Record, Columns> field(records, columns);
  field.plan(0);
  out.resize(field.size());
  field.write(reinterpret_cast<std::uint8_t *>(out.data()));
}

// A field that was opened; without rows where it is empty.
class Opened {
 public:
  explicit Opened(packed::Bytes field) {
    if (field.size == 0) return;
    check(packed::View::open(field, view));
    if (view.rows() / 8 > field.size) {
      throw std::runtime_error("the packed field has rows that no column holds");
    }
  }

  std::size_t size() const { return view.rows(); }

  packed::View view;
};

[[noreturn]] inline void wrong(std::string_view name) {
  throw std::runtime_error("column '" + std::string(name) + "' is not there as it should be");
}

// A column that every row has.
template <class T>
class Number {
 public:
  Number(const Opened &rows, std::string_view name) : column_(rows.view.column<T>(name)) {
    if (rows.size() != 0 && (!column_ || column_.optional())) wrong(name);
  }
  T operator[](std::size_t row) const { return column_[row]; }

 private:
  packed::ColumnView<T> column_;
};

// A column that rows may be without.
template <class T>
class Maybe {
 public:
  Maybe(const Opened &rows, std::string_view name) : column_(rows.view.column<T>(name)) {
    if (!column_ && rows.view.values(name)) wrong(name);
  }
  bool has(std::size_t row) const { return column_ && column_.present(row); }
  T operator[](std::size_t row) const { return column_[row]; }

 private:
  packed::ColumnView<T> column_;
};

// A column that tells in which rows a record is, where it has to.
class Marker {
 public:
  Marker(const Opened &rows, std::string_view name) : values_(rows.view.values(name)) {}
  explicit operator bool() const { return static_cast<bool>(values_); }
  bool has(std::size_t row) const { return values_ && values_.present(row); }

 private:
  packed::Values values_;
};

}  // namespace rows
