package wiregauge;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** What a message is read with. A length is held against the bytes that are left. */
public final class Decoder {
    /** How deep records and groups may be in each other. */
    static final int DEEPEST = 100;

    private final ByteBuffer in;
    private int at;
    private int end;
    /** The key that ends the group that is read; 0 where the end of the bytes does. */
    private int last;
    private long copied;
    private int depth;

    Decoder(ByteBuffer in) {
        this.in = in;
        this.end = in.limit();
    }

    private static WireException of(WireException.Problem problem) {
        return new WireException(problem);
    }

    private static int grown(int count, int more) {
        // Twice as many, so that what is added bit by bit is not copied each time.
        return (int) Math.min(Integer.MAX_VALUE - 8L, Math.max((long) count + more, 2L * count));
    }

    /**
     * Counts numbers that are copied since a record is merged into once more; bytes that are
     * made for nothing else are no message.
     *
     * @param numbers the numbers
     * @throws WireException when there are too many
     */
    public void again(int numbers) throws WireException {
        copied += numbers;
        if (copied > 65_536 + 64L * in.capacity()) {
            throw of(WireException.Problem.TOO_MANY);
        }
    }

    private int take(int bytes) throws WireException {
        if (bytes > end - at) {
            throw of(WireException.Problem.ENDS_TOO_EARLY);
        }
        int from = at;
        at += bytes;
        return from;
    }

    private long varint() throws WireException {
        long value = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            byte part = in.get(take(1));
            value |= (part & 0x7fL) << shift;
            if (part >= 0) {
                return value;
            }
        }
        throw of(WireException.Problem.NO_INTEGER);
    }

    /** An integer of 32 bits in at most five bytes, as keys and lengths are. */
    private int small() throws WireException {
        int start = at;
        long value = varint();
        if (at - start > 5 || value < 0 || value > 0xffffffffL) {
            throw of(WireException.Problem.NO_INTEGER);
        }
        return (int) value;
    }

    /**
     * Reads the next key.
     *
     * @return the key, 0 where the bytes or the group end
     * @throws WireException when it is none
     */
    public int key() throws WireException {
        if (at == end && last == 0) {
            return 0;
        }
        int key = anyKey();
        return key == last ? 0 : key;
    }

    private int anyKey() throws WireException {
        int key = small();
        if (key >>> 3 == 0) {
            throw of(WireException.Problem.NO_INTEGER);
        }
        return key;
    }

    private int length() throws WireException {
        int length = small();
        if (length < 0 || length > end - at) {
            throw of(WireException.Problem.ENDS_TOO_EARLY);
        }
        return length;
    }

    /**
     * Goes into what stands behind a length, where the bytes then end.
     *
     * @return where they ended before
     * @throws WireException when there are fewer
     */
    public int open() throws WireException {
        int length = length();
        int before = end;
        end = at + length;
        return before;
    }

    /**
     * Goes into a record behind its length, where the bytes then end.
     *
     * @return what ended the record before
     * @throws WireException when there are fewer, or it is too deep
     */
    public long enter() throws WireException {
        long before = deeper();
        last = 0;
        open();
        return before;
    }

    /**
     * Goes into a group, up to the key that ends it.
     *
     * @param key the key that begins it
     * @return what ended the record before
     * @throws WireException when it is too deep
     */
    public long enter(int key) throws WireException {
        long before = deeper();
        last = key + 1;
        return before;
    }

    private long deeper() throws WireException {
        if (depth == DEEPEST) {
            throw of(WireException.Problem.TOO_DEEP);
        }
        depth++;
        return (long) last << 32 | end;
    }

    /**
     * Goes out of a record that was read.
     *
     * @param before what ends the record then
     */
    public void leave(long before) {
        depth--;
        last = (int) (before >>> 32);
        end = (int) before;
    }

    /**
     * Whether there are more bytes.
     *
     * @return whether there are
     */
    public boolean more() {
        return at < end;
    }

    /**
     * Goes out of what was gone into and read.
     *
     * @param before where the bytes end then
     */
    public void close(int before) {
        end = before;
    }

    /**
     * How many numbers there are up to the end.
     *
     * @param bytes the bytes of each
     * @return the numbers
     * @throws WireException when the bytes are no multiple of it
     */
    public int count(int bytes) throws WireException {
        if ((end - at) % bytes != 0) {
            throw of(WireException.Problem.ENDS_TOO_EARLY);
        }
        return (end - at) / bytes;
    }

    /**
     * Reads octets.
     *
     * @return the octets
     * @throws WireException when the bytes end
     */
    public byte[] octets() throws WireException {
        int length = length();
        byte[] octets = new byte[length];
        in.get(take(length), octets);
        return octets;
    }

    /**
     * Reads a text.
     *
     * @return the text
     * @throws WireException when it is none
     */
    public String text() throws WireException {
        byte[] bytes = octets();
        return Texts.of(bytes, 0, bytes.length, true);
    }

    /**
     * Goes behind a field that is not known.
     *
     * @param first its key
     * @throws WireException when it does not end
     */
    public void skip(int first) throws WireException {
        int[] open = new int[DEEPEST];
        int count = 0;
        int key = first;
        while (true) {
            switch (key & 7) {
                case 0:
                    varint();
                    break;
                case 1:
                    take(8);
                    break;
                case 2:
                    take(length());
                    break;
                case 5:
                    take(4);
                    break;
                case 3:
                    if (count + depth == DEEPEST) {
                        throw of(WireException.Problem.NO_GROUP);
                    }
                    open[count++] = key >>> 3;
                    break;
                case 4:
                    if (count == 0 || open[--count] != key >>> 3) {
                        throw of(WireException.Problem.NO_GROUP);
                    }
                    break;
                default:
                    throw of(WireException.Problem.NO_INTEGER);
            }
            if (count == 0) {
                return;
            }
            key = anyKey();
        }
    }

    /**
     * Reads a number as int32.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public int int32() throws WireException {
        return (int) varint();
    }

    /**
     * Reads a number as int64.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public long int64() throws WireException {
        return varint();
    }

    /**
     * Reads a number as uint32.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public long uint32() throws WireException {
        return varint() & 0xffffffffL;
    }

    /**
     * Reads a number as uint64.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public long uint64() throws WireException {
        return varint();
    }

    /**
     * Reads a number as sint32.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public int sint32() throws WireException {
        int value = (int) varint();
        return value >>> 1 ^ -(value & 1);
    }

    /**
     * Reads a number as sint64.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public long sint64() throws WireException {
        long value = varint();
        return value >>> 1 ^ -(value & 1);
    }

    /**
     * Reads a number as fixed32.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public long fixed32() throws WireException {
        return Integer.toUnsignedLong(in.getInt(take(4)));
    }

    /**
     * Reads a number as fixed64.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public long fixed64() throws WireException {
        return in.getLong(take(8));
    }

    /**
     * Reads a number as sfixed32.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public int sfixed32() throws WireException {
        return in.getInt(take(4));
    }

    /**
     * Reads a number as sfixed64.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public long sfixed64() throws WireException {
        return in.getLong(take(8));
    }

    /**
     * Reads a number as bool.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public boolean bool() throws WireException {
        return varint() != 0;
    }

    /**
     * Reads a number as f32.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public float f32() throws WireException {
        return in.getFloat(take(4));
    }

    /**
     * Reads a number as f64.
     *
     * @return the number
     * @throws WireException when it is none
     */
    public double f64() throws WireException {
        return in.getDouble(take(8));
    }

    /**
     * Reads numbers of four bytes up to the end.
     *
     * @param into where they are put
     * @param from the place of the first
     * @param count how many there are
     */
    public void all(int[] into, int from, int count) {
        in.position(at);
        in.asIntBuffer().get(into, from, count);
        at = end;
    }

    /**
     * Reads numbers of eight bytes up to the end.
     *
     * @param into where they are put
     * @param from the place of the first
     * @param count how many there are
     */
    public void all(long[] into, int from, int count) {
        in.position(at);
        in.asLongBuffer().get(into, from, count);
        at = end;
    }

    /**
     * Reads numbers of four bytes up to the end.
     *
     * @param into where they are put
     * @param from the place of the first
     * @param count how many there are
     */
    public void all(float[] into, int from, int count) {
        in.position(at);
        in.asFloatBuffer().get(into, from, count);
        at = end;
    }

    /**
     * Reads numbers of eight bytes up to the end.
     *
     * @param into where they are put
     * @param from the place of the first
     * @param count how many there are
     */
    public void all(double[] into, int from, int count) {
        in.position(at);
        in.asDoubleBuffer().get(into, from, count);
        at = end;
    }

    /**
     * An array with room for more numbers.
     *
     * @param values the array
     * @param count how many of them there are
     * @param more how many there will be more
     * @return the array, or a larger one
     */
    public static boolean[] room(boolean[] values, int count, int more) {
        return more <= values.length - count ? values : Arrays.copyOf(values, grown(count, more));
    }

    /**
     * An array with room for more numbers.
     *
     * @param values the array
     * @param count how many of them there are
     * @param more how many there will be more
     * @return the array, or a larger one
     */
    public static int[] room(int[] values, int count, int more) {
        return more <= values.length - count ? values : Arrays.copyOf(values, grown(count, more));
    }

    /**
     * An array with room for more numbers.
     *
     * @param values the array
     * @param count how many of them there are
     * @param more how many there will be more
     * @return the array, or a larger one
     */
    public static long[] room(long[] values, int count, int more) {
        return more <= values.length - count ? values : Arrays.copyOf(values, grown(count, more));
    }

    /**
     * An array with room for more numbers.
     *
     * @param values the array
     * @param count how many of them there are
     * @param more how many there will be more
     * @return the array, or a larger one
     */
    public static float[] room(float[] values, int count, int more) {
        return more <= values.length - count ? values : Arrays.copyOf(values, grown(count, more));
    }

    /**
     * An array with room for more numbers.
     *
     * @param values the array
     * @param count how many of them there are
     * @param more how many there will be more
     * @return the array, or a larger one
     */
    public static double[] room(double[] values, int count, int more) {
        return more <= values.length - count ? values : Arrays.copyOf(values, grown(count, more));
    }
}
