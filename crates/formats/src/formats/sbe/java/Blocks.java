import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;

/**
 * Numbers in a group of one field, which lie side by side and move as blocks; and what a group or
 * data says of its length, held against the bytes that are there.
 */
final class Blocks {
    /** Entries of no bytes are believed up to a number that does no harm. */
    private static final int MOST_EMPTY = 1 << 24;

    private Blocks() {}

    /** The bytes from a place on, after room for so many was made. */
    private static ByteBuffer place(ExpandableArrayBuffer out, int at, int size) {
        out.checkLimit(Math.addExact(at, size));
        return view(out.byteArray(), at, size);
    }

    private static ByteBuffer view(byte[] array, int at, int size) {
        return ByteBuffer.wrap(array, at, size).slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    static int put(ExpandableArrayBuffer out, int at, boolean[] from) {
        ByteBuffer to = place(out, at, from.length);
        for (boolean value : from) {
            to.put((byte) (value ? 1 : 0));
        }
        return at + from.length;
    }

    static int put(ExpandableArrayBuffer out, int at, byte[] from) {
        place(out, at, from.length).put(from);
        return at + from.length;
    }

    static int put(ExpandableArrayBuffer out, int at, short[] from) {
        int size = Math.multiplyExact(2, from.length);
        place(out, at, size).asShortBuffer().put(from);
        return at + size;
    }

    static int put(ExpandableArrayBuffer out, int at, int[] from) {
        int size = Math.multiplyExact(4, from.length);
        place(out, at, size).asIntBuffer().put(from);
        return at + size;
    }

    static int put(ExpandableArrayBuffer out, int at, long[] from) {
        int size = Math.multiplyExact(8, from.length);
        place(out, at, size).asLongBuffer().put(from);
        return at + size;
    }

    static int put(ExpandableArrayBuffer out, int at, float[] from) {
        int size = Math.multiplyExact(4, from.length);
        place(out, at, size).asFloatBuffer().put(from);
        return at + size;
    }

    static int put(ExpandableArrayBuffer out, int at, double[] from) {
        int size = Math.multiplyExact(8, from.length);
        place(out, at, size).asDoubleBuffer().put(from);
        return at + size;
    }

    /** So many numbers of a size; entries that are longer than those are taken one by one. */
    private static ByteBuffer taken(DirectBuffer in, int at, int count, int stride, int size) {
        byte[] array = in.byteArray();
        int from = in.wrapAdjustment() + at;
        if (stride == size) {
            return view(array, from, count * size);
        }
        byte[] dense = new byte[count * size];
        for (int place = 0; place < count; place++) {
            System.arraycopy(array, from + place * stride, dense, place * size, size);
        }
        return view(dense, 0, dense.length);
    }

    static boolean[] booleans(DirectBuffer in, int at, int count, int stride) {
        ByteBuffer from = taken(in, at, count, stride, 1);
        boolean[] to = new boolean[count];
        for (int place = 0; place < count; place++) {
            to[place] = from.get(place) != 0;
        }
        return to;
    }

    static byte[] bytes(DirectBuffer in, int at, int count, int stride) {
        byte[] to = new byte[count];
        taken(in, at, count, stride, 1).get(to);
        return to;
    }

    static short[] shorts(DirectBuffer in, int at, int count, int stride) {
        short[] to = new short[count];
        taken(in, at, count, stride, 2).asShortBuffer().get(to);
        return to;
    }

    static int[] ints(DirectBuffer in, int at, int count, int stride) {
        int[] to = new int[count];
        taken(in, at, count, stride, 4).asIntBuffer().get(to);
        return to;
    }

    static long[] longs(DirectBuffer in, int at, int count, int stride) {
        long[] to = new long[count];
        taken(in, at, count, stride, 8).asLongBuffer().get(to);
        return to;
    }

    static float[] floats(DirectBuffer in, int at, int count, int stride) {
        float[] to = new float[count];
        taken(in, at, count, stride, 4).asFloatBuffer().get(to);
        return to;
    }

    static double[] doubles(DirectBuffer in, int at, int count, int stride) {
        double[] to = new double[count];
        taken(in, at, count, stride, 8).asDoubleBuffer().get(to);
        return to;
    }

    /**
     * How many entries a group has, of so many bytes each in the block and at least so many behind
     * it, which flyweights do not check.
     */
    static int count(DirectBuffer in, int at, int count, int acting, int block, int behind) {
        if (acting < block) {
            throw new IllegalArgumentException("the entries of a group are too short");
        }
        long least = acting + behind;
        if (count < 0 || (least == 0 ? count > MOST_EMPTY : count * least > in.capacity() - at)) {
            throw new IllegalArgumentException("a group has too many entries");
        }
        return count;
    }

    /** How long a text or octets are, with the length before them. */
    static int length(DirectBuffer in, int at, int length) {
        if (length < 0 || length > in.capacity() - at - 4) {
            throw new IllegalArgumentException("a text is longer than the message");
        }
        return length;
    }

    static void exactly(int count, int wanted) {
        if (count != wanted) {
            throw new IllegalArgumentException("a group has a wrong number of entries");
        }
    }
}
