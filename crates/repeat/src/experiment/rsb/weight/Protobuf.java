// Sends a Notification to standard output, or reads one from standard input: by
// Protobuf's library.
import com.google.protobuf.ByteString;
import java.io.PrintStream;
import wg.Messages.EventId;
import wg.Messages.EventMetaData;
import wg.Messages.Notification;
import wg.Messages.UserInfo;

final class Program {
    private Program() {}

    private static byte[] send() {
        return Notification.newBuilder()
                .setEventId(EventId.newBuilder()
                        .setSenderId(ByteString.copyFromUtf8("self"))
                        .setSequenceNumber(1))
                .setScope(ByteString.copyFromUtf8("/a/b"))
                .setWireSchema(ByteString.copyFromUtf8("text"))
                .setData(ByteString.copyFromUtf8("data"))
                .setMethod(ByteString.copyFromUtf8("PUSH"))
                .setMetaData(EventMetaData.newBuilder()
                        .setCreateTime(1)
                        .setSendTime(2)
                        .addUserInfos(UserInfo.newBuilder()
                                .setKey(ByteString.copyFromUtf8("some"))
                                .setValue(ByteString.copyFromUtf8("info"))))
                .build()
                .toByteArray();
    }

    private static void read(byte[] bytes, PrintStream out) throws Exception {
        Notification notification = Notification.parseFrom(bytes);
        out.print(notification.getScope().toStringUtf8()
                + " " + notification.getData().toStringUtf8()
                + " " + notification.getEventId().getSenderId().toStringUtf8()
                + " " + notification.getEventId().getSequenceNumber() + "\n");
        for (UserInfo info : notification.getMetaData().getUserInfosList()) {
            out.print(info.getKey().toStringUtf8() + " " + info.getValue().toStringUtf8() + "\n");
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) {
            System.out.write(send());
        } else {
            read(System.in.readAllBytes(), System.out);
        }
        System.out.flush();
    }
}
