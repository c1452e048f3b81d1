package wiregauge;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Protobuf's wire. */
public final class Protobuf {
    private Protobuf() {}

    /**
     * How many bytes a message takes.
     *
     * @param message the message
     * @return its bytes
     * @throws WireException when it may not be written
     */
    public static int size(Tagged message) throws WireException {
        Encoder encoder = new Encoder(null, 0);
        message.put(encoder);
        if (encoder.size() > Integer.MAX_VALUE) {
            throw new WireException(WireException.Problem.NO_ROOM);
        }
        return (int) encoder.size();
    }

    /**
     * Writes a message into memory of its own.
     *
     * @param message the message
     * @return its bytes, all that is in the buffer's array
     * @throws WireException when it may not be written
     */
    public static ByteBuffer serialize(Tagged message) throws WireException {
        ByteBuffer out = ByteBuffer.allocate(size(message));
        put(message, out);
        // Lists that are put as blocks have moved it.
        return out.clear();
    }

    /**
     * Writes a message into a buffer, from its position on, which moves behind it.
     *
     * @param message the message
     * @param out the buffer
     * @throws WireException when it may not be written, or there is no room for it
     */
    public static void serialize(Tagged message, ByteBuffer out) throws WireException {
        int size = size(message);
        if (size > out.remaining()) {
            throw new WireException(WireException.Problem.NO_ROOM);
        }
        put(message, out.slice(out.position(), size));
        out.position(out.position() + size);
    }

    private static void put(Tagged message, ByteBuffer room) throws WireException {
        message.put(new Encoder(room.order(ByteOrder.LITTLE_ENDIAN), room.limit()));
    }

    /**
     * Reads a message from all that remains in a buffer, whose position moves to its
     * end. What the message held is gone; what it holds after an error is no message.
     *
     * @param in the bytes
     * @param message what is read into, new or used before
     * @param <T> its type
     * @return the same message
     * @throws WireException when the bytes are no message
     */
    public static <T extends Tagged> T deserialize(ByteBuffer in, T message) throws WireException {
        message.clear();
        message.merge(new Decoder(in.slice().order(ByteOrder.LITTLE_ENDIAN)));
        in.position(in.limit());
        return message;
    }
}
