import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import wiregauge.Sequential;
import wiregauge.Wire;
import wiregauge.WireException;

/**
 * Reads messages of one wire and writes them on the others, and refuses what is no message: Cross
 * FOLDER, which has NNNN.type, NNNN.cdr, NNNN.xcdr2 and NNNN.ros_msg, maybe NNNN.someip, and the
 * same of badNNNN.
 */
final class Cross {
    private Cross() {}

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    /** In memory outside of the heap, in another byte order, and not at its beginning. */
    private static ByteBuffer elsewhere(byte[] bytes) {
        ByteBuffer all = ByteBuffer.allocateDirect(bytes.length + 5).order(ByteOrder.BIG_ENDIAN);
        all.position(3);
        all.put(bytes);
        return all.limit(bytes.length + 3).position(3);
    }

    private static void written(Wire wire, Sequential message, byte[] wanted, String where)
            throws WireException {
        check(wire.serialize(message).equals(ByteBuffer.wrap(wanted)), where + ": other bytes");
        check(wire.size(message) == wanted.length, where + ": another size");
        ByteBuffer direct = elsewhere(new byte[wanted.length]);
        wire.serialize(message, direct);
        check(direct.remaining() == 0, where + ": the position is not behind the message");
        check(direct.position(3).equals(ByteBuffer.wrap(wanted)), where + ": other direct bytes");
        if (wanted.length > 0) {
            ByteBuffer small = ByteBuffer.allocate(wanted.length - 1);
            try {
                wire.serialize(message, small);
            } catch (WireException error) {
                check(error.problem() == WireException.Problem.NO_ROOM, where + ": " + error);
                check(small.position() == 0, where + ": written where there is no room");
                return;
            }
            throw new AssertionError(where + ": written where there is no room");
        }
    }

    /** Cut bytes are an error, and damaged ones are one or another message. */
    private static void endured(
            Wire wire, Supplier<Sequential> make, byte[] bytes, String where) {
        int most = Math.min(bytes.length, 400);
        for (int cut = 0; cut < most; cut++) {
            try {
                wire.deserialize(ByteBuffer.wrap(bytes, 0, cut), make.get());
            } catch (WireException error) {
                continue;
            }
            throw new AssertionError(where + ": " + cut + " bytes are taken for a message");
        }
        Sequential used = make.get();
        for (int at = 0; at < most; at++) {
            byte[] damaged = bytes.clone();
            damaged[at] ^= (byte) 0xff;
            try {
                wire.deserialize(ByteBuffer.wrap(damaged), used);
            } catch (WireException error) {
                continue;
            }
            try {
                wire.serialize(used);
            } catch (WireException error) {
                throw new AssertionError(where + ": what was read cannot be written", error);
            }
        }
    }

    private static byte[] headed(byte[] cdr, int kind) {
        byte[] all = new byte[cdr.length + 4];
        all[1] = (byte) kind;
        System.arraycopy(cdr, 0, all, 4, cdr.length);
        return all;
    }

    private static void whole(
            Supplier<Sequential> make, byte[] cdr, byte[] xcdr2, byte[] ros, String name)
            throws WireException {
        Sequential fromCdr = Wire.CDR.deserialize(ByteBuffer.wrap(cdr), make.get());
        Sequential fromRos = Wire.ROS_MSG.deserialize(elsewhere(ros), make.get());
        check(fromCdr.equals(fromRos), name + ": two messages");
        check(fromCdr.hashCode() == fromRos.hashCode(), name + ": two hashes");
        check(fromCdr.toString().equals(fromRos.toString()), name + ": two texts");
        written(Wire.ROS_MSG, fromCdr, ros, name + " from CDR");
        written(Wire.CDR, fromRos, cdr, name + " from ROS MSG");
        byte[] headed = headed(cdr, 1);
        written(Wire.CDR_WITH_HEADER, fromRos, headed, name + " behind a header");
        Sequential fromXcdr2 = Wire.XCDR2.deserialize(ByteBuffer.wrap(xcdr2), make.get());
        check(fromXcdr2.equals(fromRos), name + ": another message in XCDR2");
        written(Wire.XCDR2, fromRos, xcdr2, name + " in XCDR2");
        written(Wire.XCDR2_WITH_HEADER, fromRos, headed(xcdr2, 7), name + " in XCDR2, headed");
        byte[] none = Wire.XCDR2.serialize(make.get()).array();
        for (byte[] bytes : new byte[][] {none, xcdr2}) {
            Wire.XCDR2.deserialize(ByteBuffer.wrap(bytes), fromXcdr2);
            written(Wire.XCDR2, fromXcdr2, bytes, name + " in XCDR2, used again");
        }
        endured(Wire.XCDR2, make, xcdr2, name + ".xcdr2");
        byte[] other = headed.clone();
        other[1] = 0;
        try {
            Wire.CDR_WITH_HEADER.deserialize(ByteBuffer.wrap(other), make.get());
            throw new AssertionError(name + ": the other byte order");
        } catch (WireException error) {
            check(error.problem() == WireException.Problem.NO_HEADER, name + ": " + error);
        }
        // An object that held another message is used again.
        Sequential again = make.get();
        byte[] empty = Wire.CDR.serialize(make.get()).array();
        for (byte[] bytes : new byte[][] {cdr, empty, cdr}) {
            ByteBuffer in = ByteBuffer.wrap(bytes).asReadOnlyBuffer();
            Wire.CDR.deserialize(in, again);
            check(in.remaining() == 0, name + ": the position is not behind the message");
            written(Wire.CDR, again, bytes, name + " used again");
        }
        check(again.equals(fromRos), name + ": not the same when used again");
        endured(Wire.CDR, make, cdr, name + ".cdr");
        endured(Wire.CDR_WITH_HEADER, make, headed, name + ".cdr behind a header");
        endured(Wire.ROS_MSG, make, ros, name + ".ros_msg");
    }

    private static void someip(Supplier<Sequential> make, byte[] someip, byte[] ros, String name)
            throws WireException {
        Sequential fromRos = Wire.ROS_MSG.deserialize(ByteBuffer.wrap(ros), make.get());
        Sequential from = Wire.SOMEIP.deserialize(elsewhere(someip), make.get());
        check(from.equals(fromRos), name + ": another message in SOME/IP");
        written(Wire.SOMEIP, fromRos, someip, name + " in SOME/IP");
        byte[] none = Wire.SOMEIP.serialize(make.get()).array();
        for (byte[] bytes : new byte[][] {none, someip}) {
            Wire.SOMEIP.deserialize(ByteBuffer.wrap(bytes), from);
            written(Wire.SOMEIP, from, bytes, name + " in SOME/IP, used again");
        }
        endured(Wire.SOMEIP, make, someip, name + ".someip");
    }

    private static void refused(Wire wire, Supplier<Sequential> make, byte[] bytes, String name) {
        try {
            wire.deserialize(ByteBuffer.wrap(bytes), make.get());
        } catch (WireException error) {
            return;
        }
        throw new AssertionError(name + " is taken for a message");
    }

    private static int each(Path folder, String prefix) throws IOException, WireException {
        for (int count = 0; ; count++) {
            String name = String.format("%s%04d", prefix, count);
            Path file = folder.resolve(name + ".type");
            if (!Files.exists(file)) {
                return count;
            }
            Supplier<Sequential> make = Types.TYPES.get(Files.readString(file));
            check(make != null, name + ": no such type");
            byte[] cdr = Files.readAllBytes(folder.resolve(name + ".cdr"));
            byte[] ros = Files.readAllBytes(folder.resolve(name + ".ros_msg"));
            byte[] xcdr2 = Files.readAllBytes(folder.resolve(name + ".xcdr2"));
            Path own = folder.resolve(name + ".someip");
            byte[] someip = Files.exists(own) ? Files.readAllBytes(own) : null;
            if (prefix.isEmpty()) {
                whole(make, cdr, xcdr2, ros, name);
                if (someip != null) {
                    someip(make, someip, ros, name);
                }
            } else {
                if (someip != null) {
                    refused(Wire.SOMEIP, make, someip, name + ".someip");
                }
                refused(Wire.CDR, make, cdr, name + ".cdr");
                refused(Wire.XCDR2, make, xcdr2, name + ".xcdr2");
                refused(Wire.ROS_MSG, make, ros, name + ".ros_msg");
            }
        }
    }

    public static void main(String[] arguments) throws IOException, WireException {
        Path folder = Path.of(arguments[0]);
        each(folder, "bad");
        System.out.println(each(folder, ""));
    }
}
