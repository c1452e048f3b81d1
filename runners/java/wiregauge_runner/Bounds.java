package wiregauge_runner;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The two bounds: no operation, which shows what the harness costs, and memcpy, which shows what
 * moving the bytes costs. They look at nothing in a message: its form is its canonical bytes.
 */
public final class Bounds {
    private Bounds() {}

    /** The form of a message whose content nobody looks at. */
    public static final class Opaque implements Form {
        @Override
        public Object read(byte[] canonical) {
            return canonical;
        }

        @Override
        public byte[] write(Object message) {
            ByteBuffer bytes = (ByteBuffer) message;
            byte[] copy = new byte[bytes.remaining()];
            bytes.duplicate().get(copy);
            return copy;
        }
    }

    /** Does nothing. */
    public static final class Noop extends Codec {
        private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

        @Override
        public String library() {
            return "none";
        }

        @Override
        public ByteBuffer write(Object item) {
            return NOTHING;
        }

        @Override
        public Object parse(ByteBuffer wire) {
            return NOTHING;
        }

        @Override
        public double project(ByteBuffer wire) {
            return 0;
        }

        @Override
        public double fixed(ByteBuffer wire) {
            return 0;
        }

        @Override
        public double element(ByteBuffer wire) {
            return 0;
        }

        @Override
        public Tally exact(String reading, ByteBuffer wire) {
            return new Tally();
        }
    }

    /** Copies the canonical bytes there and back. */
    public static final class Memcpy extends Codec {
        private static final VarHandle WORD =
                MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

        @Override
        public String library() {
            return "System.arraycopy";
        }

        @Override
        public ByteBuffer write(Object item) {
            byte[] bytes = (byte[]) item;
            byte[] room = room(bytes.length);
            System.arraycopy(bytes, 0, room, 0, bytes.length);
            return ByteBuffer.wrap(room, 0, bytes.length);
        }

        @Override
        public Object parse(ByteBuffer wire) {
            byte[] copy = new byte[wire.remaining()];
            System.arraycopy(wire.array(), wire.position(), copy, 0, copy.length);
            return ByteBuffer.wrap(copy);
        }

        @Override
        public double project(ByteBuffer wire) {
            byte[] bytes = wire.array();
            long sum = 0;
            int at = wire.position();
            for (; at + 8 <= wire.limit(); at += 8) {
                sum += (long) WORD.get(bytes, at);
            }
            for (; at < wire.limit(); at++) {
                sum += bytes[at];
            }
            return sum;
        }

        @Override
        public double fixed(ByteBuffer wire) {
            return wire.hasRemaining() ? wire.get(wire.position()) : 0;
        }

        @Override
        public double element(ByteBuffer wire) {
            return wire.hasRemaining() ? wire.get(wire.position() + wire.remaining() / 2) : 0;
        }

        @Override
        public Tally exact(String reading, ByteBuffer wire) {
            return new Tally();
        }
    }
}
