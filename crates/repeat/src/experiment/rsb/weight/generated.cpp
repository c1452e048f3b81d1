// Sends a Notification to standard output, or reads one from standard input: by what
// wiregauge generates.
#include <cstdio>
#include <string>
#include <vector>

#include "on_wire.hpp"

namespace {

using Octets = std::vector<std::uint8_t>;

Octets octets(const std::string &text) { return Octets(text.begin(), text.end()); }
std::string text(const Octets &octets) { return std::string(octets.begin(), octets.end()); }

int send() {
  notification::Notification notification;
  notification.event_id.sender_id = octets("self");
  notification.event_id.sequence_number = 1;
  notification.scope = octets("/a/b");
  notification.wire_schema = octets("text");
  notification.data = octets("data");
  notification.method = octets("PUSH");
  notification.meta_data.create_time = 1;
  notification.meta_data.send_time = 2;
  notification.meta_data.user_infos.push_back({octets("some"), octets("info")});
  Octets bytes;
  if (!on_wire::serialize(notification, bytes)) return 1;
  return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() ? 0 : 1;
}

int read() {
  Octets bytes(1 << 16);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), stdin));
  notification::Notification notification;
  if (!on_wire::deserialize(bytes, notification)) return 1;
  std::printf("%s %s %s %u\n", text(notification.scope).c_str(), text(notification.data).c_str(),
              text(notification.event_id.sender_id).c_str(), notification.event_id.sequence_number);
  for (const auto &info : notification.meta_data.user_infos)
    std::printf("%s %s\n", text(info.key).c_str(), text(info.value).c_str());
  return 0;
}

}  // namespace

int main(int count, char **) { return count == 1 ? send() : read(); }
