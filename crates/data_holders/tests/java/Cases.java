import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import wiregauge.Protobuf;
import wiregauge.Tagged;
import wiregauge.WireException;

/** Reads and writes what Protobuf's library says of bytes: Cases CASES. */
final class Cases {
    private Cases() {}

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private static byte[] part(ByteBuffer data) {
        int size = data.getInt();
        if (size == -1) {
            return null;
        }
        byte[] part = new byte[size];
        data.get(part);
        return part;
    }

    private static void written(Tagged message, byte[] wanted, int count) throws WireException {
        check(Protobuf.serialize(message).equals(ByteBuffer.wrap(wanted)), count + ": other bytes");
        check(Protobuf.size(message) == wanted.length, count + ": another size");
        ByteBuffer direct = ByteBuffer.allocateDirect(wanted.length + 2).position(1);
        Protobuf.serialize(message, direct);
        check(direct.position() == wanted.length + 1, count + ": another position");
        check(direct.flip().position(1).equals(ByteBuffer.wrap(wanted)), count + ": direct");
    }

    public static void main(String[] arguments) throws IOException, WireException {
        ByteBuffer data = ByteBuffer.wrap(Files.readAllBytes(Path.of(arguments[0])));
        data.order(ByteOrder.LITTLE_ENDIAN);
        var used = Types.make();
        int count = 0;
        for (; data.hasRemaining(); count++) {
            byte[] given = part(data);
            byte[] wanted = part(data);
            byte[] cdr = part(data);
            var fresh = Types.make();
            try {
                Protobuf.deserialize(ByteBuffer.wrap(given), fresh);
            } catch (WireException error) {
                check(wanted == null, count + " is refused: " + error);
                continue;
            }
            check(wanted != null, count + " is taken for a message");
            Protobuf.deserialize(ByteBuffer.wrap(given).asReadOnlyBuffer(), used);
            check(used.equals(fresh), count + ": another when used again");
            written(fresh, wanted, count);
            written(used, wanted, count);
            if (cdr != null) {
                check(Types.isSame(fresh, cdr), count + ": CDR");
            }
        }
        System.out.println(count);
    }
}
