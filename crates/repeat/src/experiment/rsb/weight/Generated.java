// Sends a Notification to standard output, or reads one from standard input: by what
// wiregauge generates.
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import notification.Notification;
import notification.UserInfo;
import wiregauge.Wire;

final class Program {
    private Program() {}

    private static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] octets) {
        return new String(octets, StandardCharsets.UTF_8);
    }

    private static byte[] send() throws Exception {
        Notification notification = new Notification();
        notification.event_id.sender_id = octets("self");
        notification.event_id.sequence_number = 1;
        notification.scope = octets("/a/b");
        notification.wire_schema = octets("text");
        notification.data = octets("data");
        notification.method = octets("PUSH");
        notification.meta_data.create_time = 1;
        notification.meta_data.send_time = 2;
        UserInfo info = new UserInfo();
        info.key = octets("some");
        info.value = octets("info");
        notification.meta_data.user_infos.add(info);
        byte[] bytes = new byte[Wire.ROS_MSG.size(notification)];
        Wire.ROS_MSG.serialize(notification, ByteBuffer.wrap(bytes));
        return bytes;
    }

    private static void read(byte[] bytes, PrintStream out) throws Exception {
        Notification notification =
                Wire.ROS_MSG.deserialize(ByteBuffer.wrap(bytes), new Notification());
        out.print(text(notification.scope)
                + " " + text(notification.data)
                + " " + text(notification.event_id.sender_id)
                + " " + notification.event_id.sequence_number + "\n");
        for (UserInfo info : notification.meta_data.user_infos) {
            out.print(text(info.key) + " " + text(info.value) + "\n");
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
