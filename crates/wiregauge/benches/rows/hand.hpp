// The LiDAR message as a user has it, and what times a program that is written by hand: it
// does what docs/runner-protocol.md asks for. A call that is not known ahead costs some
// nanoseconds a message, of which each takes ten microseconds or more.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace hand {

struct Info {
  std::uint64_t kind = 0;
  std::uint64_t timestamp = 0;
  std::uint64_t guid = 0;
};

struct Point {
  std::array<float, 3> position{};
  std::uint8_t intensity = 0;
};

struct Lidar {
  Info info;
  std::vector<Point> points;
};

struct Bytes {
  const std::uint8_t *data;
  std::size_t size;
};

// Keeps the compiler from leaving out what makes this.
template <class T>
void use(const T &value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// A library, as it is used by hand.
class ByHand {
 public:
  virtual ~ByHand() = default;
  virtual const char *library() = 0;
  // Whether the library has its own form of a message: writing and parsing it are then timed
  // too.
  virtual bool has_object() { return false; }
  // Makes the bytes of a message; returns how many there are.
  virtual std::size_t encode(const Lidar &message) = 0;
  // Those of the last message.
  virtual std::string written() = 0;
  virtual void decode(Bytes wire, Lidar &message) = 0;
  // Keeps the library's forms of these messages.
  virtual void fill(const std::vector<Lidar> &) {}
  virtual std::size_t write(std::size_t) { return 0; }
  virtual void parse(Bytes) {}
};

inline Lidar of_canonical(const std::vector<char> &bytes) {
  Lidar message;
  std::memcpy(&message.info, bytes.data(), 24);
  std::uint32_t count = 0;
  std::memcpy(&count, &bytes[24], 4);
  message.points.resize(count);
  const char *at = bytes.data() + 28;
  for (Point &point : message.points) {
    std::memcpy(point.position.data(), at, 12);
    std::memcpy(&point.intensity, at + 12, 1);
    at += 13;
  }
  return message;
}

inline std::string canonical(const Lidar &message) {
  std::string out(28 + 13 * message.points.size(), '\0');
  const auto count = static_cast<std::uint32_t>(message.points.size());
  std::memcpy(&out[0], &message.info, 24);
  std::memcpy(&out[24], &count, 4);
  char *at = &out[28];
  for (const Point &point : message.points) {
    std::memcpy(at, &point, 13);
    at += 13;
  }
  return out;
}

// All numbers of a message, its guid, and a number of its middle point: each by its sum,
// count and hash.
inline std::string values(const Lidar &message) {
  const auto mix = [](std::uint64_t place, std::uint64_t bits) {
    std::uint64_t x = bits + (place + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  };
  const auto bits = [](float number) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, 4);
    return bits;
  };
  const Info &info = message.info;
  double sum = double(info.kind) + double(info.timestamp) + double(info.guid);
  std::uint64_t hash = mix(0, mix(0, info.kind) + mix(1, info.timestamp) + mix(2, info.guid));
  for (const Point &point : message.points) {
    std::uint64_t inner = mix(1, point.intensity);
    for (const float number : point.position) {
      sum += double(number);
      inner += mix(0, bits(number));
    }
    sum += point.intensity;
    hash += mix(1, inner);
  }
  std::ostringstream reply;
  reply.precision(17);
  reply << "project " << sum << ' ' << 3 + 4 * message.points.size() << ' ' << hash << "\nfixed "
        << double(info.guid) << " 1 " << mix(0, info.guid) << '\n';
  if (message.points.empty()) {
    reply << "element 0 0 0\n";
  } else {
    const float number = message.points[message.points.size() / 2].position[1];
    reply << "element " << double(number) << " 1 " << mix(0, bits(number)) << '\n';
  }
  return reply.str();
}

// Answers until there is no more to answer.
class Server {
 public:
  explicit Server(ByHand &library) : library_(library) {}

  int serve() {
    std::ios::sync_with_stdio(false);
    std::string line;
    while (std::getline(std::cin, line)) {
      std::istringstream words(line);
      std::string verb;
      words >> verb;
      std::string reply;
      std::string word = "ok";
      if (verb == "hello") {
        reply = std::string("library ") + library_.library() + "\nexperiments encode decode" +
                (library_.has_object() ? " encode/write decode/parse\n" : "\n");
      } else if (verb == "schema") {
        payload(words);
      } else if (verb == "reset") {
        messages_.clear();
        wires_.clear();
      } else if (verb == "message") {
        messages_.push_back(of_canonical(payload(words)));
        reply = encoded(messages_.back());
        wires_.emplace_back(reply.begin(), reply.end());
      } else if (verb == "decode") {
        // As the allocator aligns them.
        const std::vector<char> wire = payload(words);
        reply = canonical(decoded(bytes(wire)));
      } else if (verb == "values") {
        std::size_t index = 0;
        words >> index;
        reply = values(decoded(bytes(wires_[index])));
      } else if (verb == "run") {
        reply = run(words);
      } else if (verb == "quit") {
        return 0;
      } else {
        word = "error";
        reply = "does not answer '" + verb + "'";
      }
      std::cout << word << ' ' << reply.size() << '\n' << reply << std::flush;
    }
    return 0;
  }

 private:
  static Bytes bytes(const std::vector<char> &from) {
    return {reinterpret_cast<const std::uint8_t *>(from.data()), from.size()};
  }
  std::string encoded(const Lidar &message) {
    library_.encode(message);
    return library_.written();
  }
  static std::vector<char> payload(std::istringstream &words) {
    std::size_t size = 0;
    words >> size;
    std::vector<char> payload(size);
    std::cin.read(payload.data(), static_cast<std::streamsize>(size));
    return payload;
  }
  Lidar decoded(Bytes wire) {
    Lidar message;
    library_.decode(wire, message);
    return message;
  }

  std::string run(std::istringstream &words) {
    std::string experiment, word;
    std::size_t times = 0;
    words >> experiment >> times;
    while (words >> word) continue;
    const std::size_t count = messages_.size();
    std::size_t sum = 0;
    if (experiment == "encode/write") library_.fill(messages_);
    const auto began = std::chrono::steady_clock::now();
    if (experiment == "encode") {
      for (std::size_t n = 0; n < times; ++n) sum += library_.encode(messages_[n % count]);
    } else if (experiment == "encode/write") {
      for (std::size_t n = 0; n < times; ++n) sum += library_.write(n % count);
    } else if (experiment == "decode") {
      for (std::size_t n = 0; n < times; ++n) {
        Lidar message;
        library_.decode(bytes(wires_[n % count]), message);
        use(message);
      }
    } else {
      for (std::size_t n = 0; n < times; ++n) library_.parse(bytes(wires_[n % count]));
    }
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - began;
    std::string reply =
        "ns " + std::to_string(took.count()) + "\nsum " + std::to_string(sum) + "\n";
    if (word == "prove=none") return reply;
    const std::size_t index = std::stoul(word.substr(6));
    const bool encodes = experiment[0] == 'e';
    const std::string product =
        encodes ? encoded(messages_[index]) : canonical(decoded(bytes(wires_[index])));
    reply += (encodes ? "encoded " : "decoded ") + std::to_string(product.size()) + "\n\n";
    return reply + product;
  }

  ByHand &library_;
  std::vector<Lidar> messages_;
  std::vector<std::vector<char>> wires_;
};

}  // namespace hand
