// An element of a list in place: found at once, where that can be.
template <class T>
T nth(const wiregauge::Numbers<T> &numbers, std::size_t place) {
  return numbers[place];
}
template <class T>
auto nth(const wiregauge::List<OnWire, T> &list, std::size_t place) {
  if constexpr (wiregauge::List<OnWire, T>::is_indexed()) {
    return list[place];
  } else {
    auto one = list.begin();
    for (; place != 0; --place) ++one;
    return *one;
  }
}
