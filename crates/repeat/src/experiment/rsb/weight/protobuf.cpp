// Sends a Notification to standard output, or reads one from standard input: by
// Protobuf's library.
#include <cstdio>
#include <string>

#include "rsb.pb.h"

namespace {

int send() {
  rsb::Notification notification;
  notification.mutable_event_id()->set_sender_id("self");
  notification.mutable_event_id()->set_sequence_number(1);
  notification.set_scope("/a/b");
  notification.set_wire_schema("text");
  notification.set_data("data");
  notification.set_method("PUSH");
  notification.mutable_meta_data()->set_create_time(1);
  notification.mutable_meta_data()->set_send_time(2);
  rsb::UserInfo &info = *notification.mutable_meta_data()->add_user_infos();
  info.set_key("some");
  info.set_value("info");
  std::string bytes;
  if (!notification.SerializeToString(&bytes)) return 1;
  return std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() ? 0 : 1;
}

int read() {
  std::string bytes(1 << 16, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), stdin));
  rsb::Notification notification;
  if (!notification.ParseFromString(bytes)) return 1;
  std::printf("%s %s %s %u\n", notification.scope().c_str(), notification.data().c_str(),
              notification.event_id().sender_id().c_str(),
              notification.event_id().sequence_number());
  for (const rsb::UserInfo &info : notification.meta_data().user_infos())
    std::printf("%s %s\n", info.key().c_str(), info.value().c_str());
  return 0;
}

}  // namespace

int main(int count, char **) { return count == 1 ? send() : read(); }
