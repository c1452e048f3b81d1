import com.google.flatbuffers.FlatBufferBuilder;
import java.nio.ByteBuffer;
import wiregauge_runner.Rejected;
import wiregauge_runner.Tally;

/**
 * Vectors of numbers, as blocks: the builder hands out the place, accessors the bytes. How many
 * there are goes by the bytes that are there.
 */
final class Blocks {
    private static final byte[] NO_BYTES = {};

    private Blocks() {}

    static int vector(FlatBufferBuilder builder, boolean[] from) {
        ByteBuffer place = builder.createUnintializedVector(1, from.length, 1);
        for (boolean value : from) {
            place.put((byte) (value ? 1 : 0));
        }
        return builder.endVector();
    }

    static int vector(FlatBufferBuilder builder, byte[] from) {
        return builder.createByteVector(from);
    }

    static int vector(FlatBufferBuilder builder, short[] from) {
        builder.createUnintializedVector(2, from.length, 2).asShortBuffer().put(from);
        return builder.endVector();
    }

    static int vector(FlatBufferBuilder builder, int[] from) {
        builder.createUnintializedVector(4, from.length, 4).asIntBuffer().put(from);
        return builder.endVector();
    }

    static int vector(FlatBufferBuilder builder, long[] from) {
        builder.createUnintializedVector(8, from.length, 8).asLongBuffer().put(from);
        return builder.endVector();
    }

    static int vector(FlatBufferBuilder builder, float[] from) {
        builder.createUnintializedVector(4, from.length, 4).asFloatBuffer().put(from);
        return builder.endVector();
    }

    static int vector(FlatBufferBuilder builder, double[] from) {
        builder.createUnintializedVector(8, from.length, 8).asDoubleBuffer().put(from);
        return builder.endVector();
    }

    static boolean[] booleans(ByteBuffer from) {
        boolean[] to = new boolean[from == null ? 0 : from.remaining()];
        for (int at = 0; at < to.length; at++) {
            to[at] = from.get() != 0;
        }
        return to;
    }

    static byte[] bytes(ByteBuffer from) {
        if (from == null) {
            return NO_BYTES;
        }
        byte[] to = new byte[from.remaining()];
        from.get(to);
        return to;
    }

    static short[] shorts(ByteBuffer from) {
        short[] to = new short[from == null ? 0 : from.remaining() / 2];
        if (from != null) {
            from.asShortBuffer().get(to);
        }
        return to;
    }

    static int[] ints(ByteBuffer from) {
        int[] to = new int[from == null ? 0 : from.remaining() / 4];
        if (from != null) {
            from.asIntBuffer().get(to);
        }
        return to;
    }

    static long[] longs(ByteBuffer from) {
        long[] to = new long[from == null ? 0 : from.remaining() / 8];
        if (from != null) {
            from.asLongBuffer().get(to);
        }
        return to;
    }

    static float[] floats(ByteBuffer from) {
        float[] to = new float[from == null ? 0 : from.remaining() / 4];
        if (from != null) {
            from.asFloatBuffer().get(to);
        }
        return to;
    }

    static double[] doubles(ByteBuffer from) {
        double[] to = new double[from == null ? 0 : from.remaining() / 8];
        if (from != null) {
            from.asDoubleBuffer().get(to);
        }
        return to;
    }

    /** What setters of structs take for unsigned numbers. */
    static int[] unsigned(byte[] from) {
        int[] to = new int[from.length];
        for (int at = 0; at < to.length; at++) {
            to[at] = from[at] & 0xff;
        }
        return to;
    }

    static int[] unsigned(short[] from) {
        int[] to = new int[from.length];
        for (int at = 0; at < to.length; at++) {
            to[at] = from[at] & 0xffff;
        }
        return to;
    }

    static long[] unsigned(int[] from) {
        long[] to = new long[from.length];
        for (int at = 0; at < to.length; at++) {
            to[at] = from[at] & 0xffffffffL;
        }
        return to;
    }

    /** What an absent text reads as. */
    static String text(String text) {
        return text == null ? "" : text;
    }

    /** How many octets a text has, where it lies. */
    static int octets(ByteBuffer text) {
        return text == null ? 0 : text.remaining();
    }

    static int octets(String text) {
        return Tally.octets(text);
    }

    static void fixed(int length, int wanted) {
        if (length != wanted) {
            throw new IllegalArgumentException(
                    "an array has " + length + " elements, not " + wanted);
        }
    }

    static void keepSign(double value, String field) throws Rejected {
        if (value == 0 && 1 / value < 0) {
            throw new Rejected("loses the sign of zero: " + field + " is -0.0");
        }
    }
}
