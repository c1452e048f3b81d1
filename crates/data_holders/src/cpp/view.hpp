// Reading in place: the fields of a message where they lie in its bytes. The whole message
// is checked once, with the verdicts of the reader that fills holders; what a view shows
// then needs no check. Nothing here throws or takes memory. The bytes must stay as they
// are for as long as they are looked at.
#pragma once

#include <iterator>

#include "wiregauge/layout.hpp"

namespace wiregauge {

// A record in place; what is generated has one for each holder.
template <class Wire, class T>
class View;

// Numbers, enums or truth values in place, at whatever addresses they lie.
template <class T>
class Numbers {
 public:
  using value_type = T;

  // Goes through them, any number of times.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T *;
    using reference = T;

    explicit Iterator(const std::uint8_t *at) noexcept : at_(at) {}
    T operator*() const noexcept { return detail::load<T>(at_); }
    Iterator &operator++() noexcept {
      at_ += sizeof(T);
      return *this;
    }
    Iterator operator++(int) noexcept {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(Iterator a, Iterator b) noexcept { return a.at_ == b.at_; }
    friend bool operator!=(Iterator a, Iterator b) noexcept { return a.at_ != b.at_; }

   private:
    const std::uint8_t *at_;
  };

  Numbers() = default;
  Numbers(const std::uint8_t *begin, std::size_t size) noexcept : begin_(begin), size_(size) {}

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T operator[](std::size_t place) const noexcept {
    return detail::load<T>(begin_ + place * sizeof(T));
  }
  Iterator begin() const noexcept { return Iterator(begin_); }
  Iterator end() const noexcept { return Iterator(begin_ + size_ * sizeof(T)); }

  // Copies all of them, to where there is room for `size()`.
  void copy_to(T *out) const noexcept {
    if (size_ != 0) std::memcpy(out, begin_, size_ * sizeof(T));
  }

  // Their bytes, little-endian, which need not be aligned.
  const std::uint8_t *octets() const noexcept { return begin_; }

  // Themselves, where any address will do.
  const T *data() const noexcept {
    static_assert(sizeof(T) == 1 && std::is_integral_v<T> && !std::is_same_v<T, bool>,
                  "only integers of one byte may lie anywhere; take copy_to() or octets()");
    return reinterpret_cast<const T *>(begin_);
  }

 private:
  const std::uint8_t *begin_ = nullptr;
  std::size_t size_ = 0;
};

template <class Wire, class T>
class List;

namespace detail {

template <class T>
struct Type {
  using type = T;
};

// As what a field of a holder is shown.
template <class Wire, class T>
constexpr auto seen() {
  if constexpr (is_single<T>) {
    return Type<T>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return Type<std::string_view>();
  } else if constexpr (is_optional<T>::value) {
    using Value = decltype(seen<Wire, typename T::value_type>());
    return Type<std::optional<typename Value::type>>();
  } else if constexpr (is_record<T>::value) {
    return Type<View<Wire, T>>();
  } else if constexpr (is_single<typename T::value_type>) {
    return Type<Numbers<typename T::value_type>>();
  } else {
    return Type<List<Wire, typename T::value_type>>();
  }
}

template <class Wire, class T>
using Seen = typename decltype(seen<Wire, T>())::type;

template <class Wire, class T>
Seen<Wire, T> show(const std::uint8_t *body, std::size_t at) noexcept;

}  // namespace detail

// Texts, octets or records in place. Where they lie at one distance from each other, any of
// them is found at once.
template <class Wire, class T>
class List {
 public:
  using value_type = detail::Seen<Wire, T>;

  // Goes through them, any number of times.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = detail::Seen<Wire, T>;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type *;
    using reference = value_type;

    Iterator(const std::uint8_t *body, std::size_t at, std::size_t left) noexcept
        : body_(body), at_(at), left_(left) {}
    value_type operator*() const noexcept { return detail::show<Wire, T>(body_, at_); }
    Iterator &operator++() noexcept {
      at_ = detail::behind<Wire, T>(body_, at_);
      --left_;
      return *this;
    }
    Iterator operator++(int) noexcept {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(Iterator a, Iterator b) noexcept { return a.left_ == b.left_; }
    friend bool operator!=(Iterator a, Iterator b) noexcept { return a.left_ != b.left_; }

   private:
    const std::uint8_t *body_;
    std::size_t at_;
    std::size_t left_;
  };

  // Whether the operator [] is there.
  static constexpr bool is_indexed() { return detail::repeats<Wire, T>(); }

  List() = default;
  List(const std::uint8_t *body, std::size_t at, std::size_t size) noexcept
      : body_(body), at_(at), size_(size) {}

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  Iterator begin() const noexcept { return Iterator(body_, at_, size_); }
  Iterator end() const noexcept { return Iterator(body_, at_, 0); }
  value_type operator[](std::size_t place) const noexcept {
    static_assert(is_indexed(), "these lie at no fixed distance from each other; go through them");
    return detail::show<Wire, T>(body_, detail::element<Wire, T>(at_, place));
  }

 private:
  const std::uint8_t *body_ = nullptr;
  std::size_t at_ = 0;
  std::size_t size_ = 0;
};

namespace detail {

// A value that was checked, as a view shows it.
template <class Wire, class T>
Seen<Wire, T> show(const std::uint8_t *body, std::size_t at) noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    return body[at] != 0;
  } else if constexpr (is_number<T>) {
    return load<T>(body + aligned<Wire>(at, sizeof(T)));
  } else if constexpr (std::is_same_v<T, std::string>) {
    std::size_t size = length<Wire>(body, at);
    if (Wire::ends_texts && size != 0) size -= 1;
    return std::string_view(reinterpret_cast<const char *>(body + at), size);
  } else if constexpr (is_optional<T>::value) {
    using Value = typename T::value_type;
    bool is_there = false;
    if constexpr (!Wire::delimits && is_record<Value>::value) {
      is_there = length<Wire>(body, at) != 0;
    } else {
      is_there = body[at++] != 0;
    }
    if (!is_there) return std::nullopt;
    return show<Wire, Value>(body, at);
  } else if constexpr (is_record<T>::value) {
    return View<Wire, T>(Place<Wire, T>(body, at));
  } else {
    using Element = typename T::value_type;
    if constexpr (is_delimited<Wire, Element>) length<Wire>(body, at);
    std::size_t count = 0;
    if constexpr (is_array<T>::value) {
      count = std::tuple_size_v<T>;
    } else {
      count = length<Wire>(body, at);
    }
    if constexpr (is_single<Element>) {
      if (count != 0) at = aligned<Wire>(at, sizeof(Element));
      return Numbers<Element>(body + at, count);
    } else {
      return List<Wire, Element>(body, at, count);
    }
  }
}

// A field of a record that was checked.
template <std::size_t Field, class Wire, class T>
auto show_field(const Place<Wire, T> &place) noexcept {
  return show<Wire, FieldAt<T, Field>>(place.body(), place.template begin<Field>());
}

// Checks a message as the reader does that fills holders, and in its order.
template <class Wire>
class Checker : public Reader<Wire> {
 public:
  using Reader<Wire>::Reader;

  // A record; where its fields lie is noted where there is a place for it.
  template <class T>
  void record(Place<Wire, T> *place) {
    constexpr std::size_t count = T::wiregauge_fields::count;
    if constexpr (count == 0) {
      this->nothing();
    } else {
      fields(place, std::make_index_sequence<count>());
    }
  }

 private:
  template <class T, std::size_t... Fields>
  void fields(Place<Wire, T> *place, std::index_sequence<Fields...>) {
    static_cast<void>((... && field<T, Fields>(place)));
  }

  template <class T, std::size_t Field>
  bool field(Place<Wire, T> *place) {
    value<FieldAt<T, Field>>(View<Wire, T>::wiregauge_limits[Field]);
    if (place != nullptr) place->template ends<Field>(this->at_);
    return this->error_ == Error::none;
  }

  template <class T>
  void value(const Limits &limits) {
    if constexpr (std::is_same_v<T, bool>) {
      bool ignored = false;
      this->flag(ignored);
    } else if constexpr (is_number<T>) {
      numbers<T>(1);
    } else if constexpr (std::is_same_v<T, std::string>) {
      text(limits.text);
    } else if constexpr (is_optional<T>::value) {
      option<typename T::value_type>(limits);
    } else if constexpr (is_record<T>::value) {
      record(static_cast<Place<Wire, T> *>(nullptr));
    } else {
      using Element = typename T::value_type;
      const std::size_t mark = this->template open<Element>();
      if constexpr (is_array<T>::value) {
        elements<Element>(std::tuple_size_v<T>, limits);
      } else {
        const std::size_t count = this->length(least<Wire, Element>(), limits.elements);
        elements<Element>(count, limits.of_elements());
      }
      this->template close<Element>(mark);
    }
  }

  template <class T>
  void numbers(std::size_t count) {
    this->align(sizeof(T));
    this->take(count, sizeof(T));
  }

  void text(std::size_t most) {
    std::size_t size = 0;
    this->text_in_place(most, size);
  }

  template <class T>
  void elements(std::size_t count, const Limits &limits) {
    if (count == 0) return;
    if constexpr (is_number<T>) {
      numbers<T>(count);
    } else if constexpr (is_plain<T>() && repeats<Wire, T>() &&
                         !(Wire::delimits && has_sizes<T>())) {
      // Nothing can be wrong with them but that they are not there.
      this->align(head<Wire, T>());
      const std::size_t one = behind<Wire, T>(nullptr, this->at_) - this->at_;
      const std::size_t stride = element<Wire, T>(this->at_, 1) - this->at_;
      const std::size_t left = this->left();
      if (one > left || count - 1 > (left - one) / stride) return this->fail(Error::ends_too_early);
      this->at_ += (count - 1) * stride + one;
    } else {
      for (; count != 0 && this->error_ == Error::none; --count) value<T>(limits);
    }
  }

  template <class T>
  void option(const Limits &limits) {
    const bool is_there = this->template is_there<T>();
    if (is_there || is_always<Wire, T>) value<T>(limits);
  }
};

}  // namespace detail

// Checks a message and has a view show it. The verdict is that of `deserialize`; after an
// error the view is what it was.
template <class Wire, class T>
Error check(const std::uint8_t *data, std::size_t bytes, View<Wire, T> &view) noexcept {
  if (!Wire::is_header(data, bytes)) return Error::no_header;
  const std::uint8_t *body = data + Wire::header_size;
  detail::Checker<Wire> checker(body, bytes - Wire::header_size);
  detail::Place<Wire, T> place(body);
  checker.record(&place);
  if (checker.error() != Error::none) return checker.error();
  if (checker.left() > Wire::filling) return Error::left_over;
  view = View<Wire, T>(place);
  return Error::none;
}

// Copies what a view shows into a holder, whose memory is used again.
template <class Wire, class T>
void to_holder(const View<Wire, T> &view, T &message) {
  const auto &place = view.wiregauge_place;
  detail::Reader<Wire> reader(place.body(), std::numeric_limits<std::size_t>::max(), place.at());
  detail::walk(reader, message, Limits());
}

template <class Wire, class T>
T to_holder(const View<Wire, T> &view) {
  T message;
  to_holder(view, message);
  return message;
}

}  // namespace wiregauge
