// Performance logs for FMUs that exchange OSI messages, in the JSON format of
// the SET Level project. C++17 and nothing else; take it into your own FMU.
//
//   wiregauge::PerformanceLog log;
//   log.open("sensor.json", "my sensor", {3, 8, 0},
//            {{"osi3::SensorView", 2}, {"osi3::SensorData", 5}});
//
//   // In DoStep; the second number is the message, by its place in the list.
//   log.stamp(wiregauge::PerformanceLog::kStartDeserialize, 0);
//   …
//   log.stamp(wiregauge::PerformanceLog::kStopDeserialize, 0);
//   …
//   log.stamp(wiregauge::PerformanceLog::kStartSerialize, 1);
//   …
//   log.stamp(wiregauge::PerformanceLog::kStopSerialize, 1);
//   log.end_step(time, {size_in, size_out});
//
//   log.close();  // in Terminate; the destructor and the end of the process do it too
//
// A stamp reads the clock into memory that is there already. Everything else
// happens in end_step, after the last stamp of a step: there the sizes are
// known, and there, once in a while, all that was gathered is written.
//
// The file is whole JSON at any time, whatever ends the process: blanks lie
// between the events and the closing brackets, and whole events go into the
// blanks, none of them across a page, as a write within one page is done or not.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace wiregauge {

class PerformanceLog {
 public:
  // Their numbers are the places in the header's EventTypes.
  enum Event : std::uint8_t {
    kStartCalculation,  // StartSourceCalc
    kStartSerialize,    // StartOSISerialize
    kStopSerialize,     // StopOSISerialize
    kStartDeserialize,  // StartOSIDeserialize
    kStopDeserialize,   // StopOSIDeserialize
  };

  struct Version {
    unsigned major;
    unsigned minor;
    unsigned patch;
  };

  struct Message {
    std::string type;             // osi3::SensorView
    unsigned size_reference = 0;  // the value reference of its size
  };

  PerformanceLog() = default;
  PerformanceLog(const PerformanceLog &) = delete;
  PerformanceLog &operator=(const PerformanceLog &) = delete;
  ~PerformanceLog() { close(); }

  // False if the file cannot be written. Without open, all the rest does nothing.
  bool open(const std::string &path, const std::string &model, Version osi,
            std::vector<Message> messages) {
    close();
    file_ = std::fopen(path.c_str(), "wb");
    if (file_ == nullptr) return false;
    // A write is to be one: the system's own buffers are enough.
    std::setvbuf(file_, nullptr, _IONBF, 0);
    path_ = path;
    messages_ = std::move(messages);
    events_.clear();
    events_.reserve(kCapacity);
    finished_ = 0;
    failed_ = false;
    first_ = true;
    anchor();
    const std::string text = head(model, osi);
    end_ = static_cast<long>(text.size());
    room_ = (end_ / kPage + kRoom) * kPage;
    if (!write(0, text + std::string(static_cast<std::size_t>(room_ - end_), ' ') + kClosing)) {
      std::fclose(file_);
      file_ = nullptr;
      return false;
    }
    flushed_ = now();
    Registry::instance().add(this);
    return true;
  }

  bool is_open() const { return file_ != nullptr; }

  // Whether a writing failed, as on a full disk. What was written before is whole.
  bool failed() const { return failed_; }

  // The only call for inside a span.
  void stamp(Event event, std::uint8_t message) {
    if (file_ != nullptr) events_.push_back({now(), 0, 0, event, message});
  }

  // Gives the events since the last call what all of them have in common.
  void end_step(double simulation_time, std::initializer_list<std::size_t> sizes) {
    if (file_ == nullptr) return;
    for (; finished_ < events_.size(); ++finished_) {
      Stamp &event = events_[finished_];
      event.simulation_time = simulation_time;
      event.size = event.message < sizes.size() ? sizes.begin()[event.message] : 0;
    }
    // Room is kept for a step, so that no stamp has to make some.
    if (events_.size() + kStep > kCapacity || now() - flushed_ > kInterval) flush();
  }

  // Forgets the events since the last end_step: of a step that came to nothing.
  void drop_step() { events_.resize(finished_); }

  // Writes what has been gathered. Not inside a span.
  void flush() {
    if (file_ == nullptr) return;
    std::string text;
    for (std::size_t i = 0; i < finished_; ++i) {
      const std::string next = line(events_[i]);
      const long size = static_cast<long>(text.size() + next.size());
      if (end_ % kPage + size > kPage) {
        put(text);
        text.clear();
        end_ = (end_ + kPage - 1) / kPage * kPage;
      }
      text += next;
    }
    put(text);
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(finished_));
    finished_ = 0;
    flushed_ = now();
  }

  void close() {
    if (file_ == nullptr) return;
    Registry::instance().remove(this);
    finish();
  }

 private:
  static constexpr std::size_t kCapacity = 4096;          // events
  static constexpr std::size_t kStep = 64;                // events a step may have
  static constexpr std::int64_t kInterval = 500'000'000;  // ns between writings, at most
  static constexpr long kPage = 4096;
  static constexpr long kRoom = 16;  // pages of blanks at first
  static constexpr char kClosing[] = "\n      ]\n    }\n  ]\n}\n";

  struct Stamp {
    std::int64_t time;  // of the steady clock
    double simulation_time;
    std::size_t size;
    Event event;
    std::uint8_t message;
  };

  // Logs that are still open when the process ends, or the library goes.
  class Registry {
   public:
    static Registry &instance() {
      static Registry registry;
      return registry;
    }
    void add(PerformanceLog *log) {
      const std::lock_guard<std::mutex> lock(mutex_);
      logs_.push_back(log);
    }
    void remove(PerformanceLog *log) {
      const std::lock_guard<std::mutex> lock(mutex_);
      logs_.erase(std::remove(logs_.begin(), logs_.end(), log), logs_.end());
    }
    ~Registry() {
      for (PerformanceLog *log : logs_) log->finish();
    }

   private:
    std::mutex mutex_;
    std::vector<PerformanceLog *> logs_;
  };

  static std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  // Spans are differences, so they are taken from a clock that nobody sets. It
  // is tied to the time of day once.
  void anchor() {
    const std::int64_t before = now();
    const std::int64_t system = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                    std::chrono::system_clock::now().time_since_epoch())
                                    .count();
    const std::int64_t after = now();
    offset_ = system - (before + (after - before) / 2);
  }

  static std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
        out += escape;
      } else {
        out += c;
      }
    }
    return out + '"';
  }

  std::string head(const std::string &model, Version osi) const {
    std::string text = "{\n  \"Header\": {\n    \"OsiMessages\": [";
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      text += (i == 0 ? "" : ", ") + quoted(messages_[i].type);
    }
    text +=
        "],\n"
        "    \"EventFields\": [\"EventId\", \"GlobalTime\", \"SimulationTime\", \"MessageId\", "
        "\"SizeValueReference\", \"MessageSize\"],\n"
        "    \"EventTypes\": [\"StartSourceCalc\", \"StartOSISerialize\", \"StopOSISerialize\", "
        "\"StartOSIDeserialize\", \"StopOSIDeserialize\"],\n"
        "    \"FormatVersion\": {\"Major\": 1, \"Minor\": 0, \"Patch\": 0, \"PreRelease\": "
        "\"beta\"}\n"
        "  },\n"
        "  \"Data\": [\n"
        "    {\n"
        "      \"Instance\": {\n"
        "        \"ModelIdentity\": " +
        quoted(model) +
        ",\n"
        "        \"OsiVersion\": {\"version_major\": " +
        std::to_string(osi.major) + ", \"version_minor\": " + std::to_string(osi.minor) +
        ", \"version_patch\": " + std::to_string(osi.patch) +
        "}\n"
        "      },\n"
        "      \"OsiEvents\": [";
    return text;
  }

  std::string line(const Stamp &stamp) {
    // From integers: a double has no nanoseconds left in our century.
    const std::int64_t time = stamp.time + offset_;
    const unsigned reference =
        stamp.message < messages_.size() ? messages_[stamp.message].size_reference : 0;
    char buffer[160];
    std::snprintf(buffer, sizeof buffer, "%s\n        [%u, %lld.%09lld, %.15g, %u, %u, %llu]",
                  first_ ? "" : ",", static_cast<unsigned>(stamp.event),
                  static_cast<long long>(time / 1'000'000'000),
                  static_cast<long long>(time % 1'000'000'000), stamp.simulation_time,
                  static_cast<unsigned>(stamp.message), reference,
                  static_cast<unsigned long long>(stamp.size));
    first_ = false;
    return buffer;
  }

  bool write(long at, const std::string &text) {
    const bool ok = std::fseek(file_, at, SEEK_SET) == 0 &&
                    std::fwrite(text.data(), 1, text.size(), file_) == text.size();
    failed_ = failed_ || !ok;
    return ok;
  }

  void put(const std::string &text) {
    if (text.empty() || failed_) return;
    if (end_ == room_) grow();
    if (!failed_ && write(end_, text)) end_ += static_cast<long>(text.size());
  }

  // Twice the room. The brackets are there twice for a moment: the only one in
  // which the file is not whole, and rare, as it comes each time twice as late.
  void grow() {
    const auto closing = static_cast<long>(sizeof kClosing - 1);
    const long room = 2 * room_;
    if (!write(room_ + closing,
               std::string(static_cast<std::size_t>(room - room_ - closing), ' '))) {
      return;
    }
    if (write(room, kClosing) && write(room_, std::string(sizeof kClosing - 1, ' '))) room_ = room;
  }

  // Takes the blanks out and lets go of the file.
  void finish() {
    flush();
    const bool ok = !failed_ && write(end_, kClosing);
    std::fclose(file_);
    file_ = nullptr;
    std::error_code error;
    if (ok)
      std::filesystem::resize_file(path_, static_cast<std::uintmax_t>(end_) + sizeof kClosing - 1,
                                   error);
  }

  std::FILE *file_ = nullptr;
  std::vector<Message> messages_;
  std::vector<Stamp> events_;
  std::size_t finished_ = 0;  // so many of them have their time and size
  std::string path_;
  std::int64_t offset_ = 0;
  std::int64_t flushed_ = 0;
  long end_ = 0;   // of the events, where blanks begin
  long room_ = 0;  // where the closing brackets begin, at a page
  bool first_ = true;
  bool failed_ = false;
};

}  // namespace wiregauge
