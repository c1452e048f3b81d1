package wiregauge;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Reads a message. A length is held against the bytes that are left before it is believed. */
public final class Reader {
    private final Wire wire;
    private final ByteBuffer in;
    private final int size;
    private int at;

    Reader(Wire wire, ByteBuffer in) {
        this.wire = wire;
        this.in = in;
        this.size = in.limit();
    }

    int left() {
        return size - at;
    }

    /** Holds so many bytes against what is left. */
    private void there(long bytes) throws WireException {
        if (bytes > size - at) {
            throw new WireException(WireException.Problem.ENDS_TOO_EARLY);
        }
    }

    /** Goes behind so many bytes, and says where they begin. */
    private int take(int bytes) throws WireException {
        there(bytes);
        int from = at;
        at += bytes;
        return from;
    }

    /** Goes behind so many numbers, and says where they begin. */
    private int take(int count, int bytes) throws WireException {
        if (count == 0) {
            return at;
        }
        there((-at & (Math.min(bytes, wire.alignment) - 1)) + (long) count * bytes);
        at += -at & (Math.min(bytes, wire.alignment) - 1);
        int from = at;
        at += count * bytes;
        return from;
    }

    /**
     * Reads a truth value.
     *
     * @return the value
     * @throws WireException when it is not what is there
     */
    public boolean bool() throws WireException {
        byte value = in.get(take(1));
        if (value != 0 && value != 1) {
            throw new WireException(WireException.Problem.NO_TRUTH_VALUE);
        }
        return value == 1;
    }

    /**
     * Reads a number.
     *
     * @return the number
     * @throws WireException when the bytes end
     */
    public int u8() throws WireException {
        return Byte.toUnsignedInt(in.get(take(1)));
    }

    /**
     * Reads a number.
     *
     * @return the number
     * @throws WireException when the bytes end
     */
    public byte i8() throws WireException {
        return in.get(take(1));
    }

    /**
     * Reads a number.
     *
     * @return the number
     * @throws WireException when the bytes end
     */
    public int u16() throws WireException {
        return Short.toUnsignedInt(i16());
    }

    /**
     * Reads a number.
     *
     * @return the number
     * @throws WireException when the bytes end
     */
    public short i16() throws WireException {
        return in.getShort(take(1, 2));
    }

    /**
     * Reads a number.
     *
     * @return the number
     * @throws WireException when the bytes end
     */
    public long u32() throws WireException {
        return Integer.toUnsignedLong(i32());
    }

    /**
     * Reads a number.
     *
     * @return the number
     * @throws WireException when the bytes end
     */
    public int i32() throws WireException {
        return in.getInt(take(1, 4));
    }

    /**
     * Reads a number.
     *
     * @return the number
     * @throws WireException when the bytes end
     */
    public long i64() throws WireException {
        return in.getLong(take(1, 8));
    }

    /**
     * Reads a number.
     *
     * @return the number
     * @throws WireException when the bytes end
     */
    public float f32() throws WireException {
        return in.getFloat(take(1, 4));
    }

    /**
     * Reads a number.
     *
     * @return the number
     * @throws WireException when the bytes end
     */
    public double f64() throws WireException {
        return in.getDouble(take(1, 8));
    }

    /**
     * Reads the length of a list.
     *
     * @param least the fewest bytes that an element takes
     * @param most how many elements there may be
     * @return the length, for which there are bytes
     * @throws WireException when there are more, or it cannot be
     */
    public int count(int least, int most) throws WireException {
        long count = u32();
        if (most != Sizer.NO_BOUND && count > most) {
            throw new WireException(WireException.Problem.TOO_MANY);
        }
        there(count * least);
        return (int) count;
    }

    /**
     * Reads a text.
     *
     * @param most how many bytes it may have
     * @return the text
     * @throws WireException when it has more, or is no text
     */
    public String text(int most) throws WireException {
        byte[] bytes = array((byte[]) null, count(1, Sizer.NO_BOUND));
        int length = bytes.length;
        if (wire.isCdr && length != 0) {
            length--;
            if (bytes[length] != 0) {
                throw new WireException(WireException.Problem.NO_TEXT);
            }
        }
        if (most != Sizer.NO_BOUND && length > most) {
            throw new WireException(WireException.Problem.TOO_MANY);
        }
        return Texts.of(bytes, length, !wire.isCdr);
    }

    /**
     * Reads a list of texts.
     *
     * @param old a list that is used again
     * @param most how many there may be
     * @param mostText how many bytes each may have
     * @return the texts
     * @throws WireException when they are not what is there
     */
    public List<String> texts(List<String> old, int most, int mostText) throws WireException {
        int count = count(4, most);
        List<String> texts = emptied(old, count);
        for (int place = 0; place < count; place++) {
            texts.add(text(mostText));
        }
        return texts;
    }

    /**
     * Reads octets.
     *
     * @param old an array that is used again where it fits
     * @return the octets
     * @throws WireException when they are not what is there
     */
    public byte[] octets(byte[] old) throws WireException {
        return list(old, Sizer.NO_BOUND);
    }

    /**
     * Reads a list of octets.
     *
     * @param old a list that is used again
     * @param most how many there may be
     * @return the octets
     * @throws WireException when they are not what is there
     */
    public List<byte[]> blocks(List<byte[]> old, int most) throws WireException {
        int count = count(4, most);
        List<byte[]> blocks = emptied(old, count);
        for (int place = 0; place < count; place++) {
            blocks.add(octets(null));
        }
        return blocks;
    }

    private static <T> List<T> emptied(List<T> old, int count) {
        // Of others it is not known whether they may be changed.
        if (old == null || old.getClass() != ArrayList.class) {
            return new ArrayList<>(count);
        }
        old.clear();
        return old;
    }

    /**
     * Reads the length of a list of records.
     *
     * @param old a list that is used again, with its records
     * @param least the fewest bytes that a record takes
     * @param most how many there may be
     * @param make makes a record
     * @param <T> the type of the records
     * @return as many records as are to be read into
     * @throws WireException when there are more, or there cannot be so many
     */
    public <T> List<T> records(List<T> old, int least, int most, Supplier<T> make)
            throws WireException {
        int count = count(least, most);
        boolean isOurs = old != null && old.getClass() == ArrayList.class;
        List<T> records = isOurs ? old : new ArrayList<>(count);
        if (records.size() > count) {
            records.subList(count, records.size()).clear();
        }
        for (int place = 0; place < records.size(); place++) {
            if (records.get(place) == null) {
                records.set(place, make.get());
            }
        }
        while (records.size() < count) {
            records.add(make.get());
        }
        return records;
    }

    /**
     * Reads whether a record that may be absent is there.
     *
     * @param least the fewest bytes that it takes
     * @return whether it is there
     * @throws WireException when there is more than one, or it cannot be there
     */
    public boolean option(int least) throws WireException {
        return wire.delimits ? bool() : count(least, 1) == 1;
    }

    /**
     * Whether a value that may be absent is there to be read.
     *
     * @param isThere whether it is not absent
     * @return whether it is read
     */
    public boolean presence(boolean isThere) {
        return isThere || !wire.delimits;
    }

    /**
     * Reads the size of a list or array of what is no number, where it stands before it.
     *
     * @return where that must end
     * @throws WireException when there are fewer bytes
     */
    public int open() throws WireException {
        if (!wire.delimits) {
            return 0;
        }
        int size = count(1, Sizer.NO_BOUND);
        return at + size;
    }

    /**
     * Holds where something ends against the size before it.
     *
     * @param end where it must end
     * @throws WireException when it ends elsewhere
     */
    public void close(int end) throws WireException {
        if (wire.delimits && at != end) {
            throw new WireException(WireException.Problem.OTHER_SIZE);
        }
    }

    /**
     * Reads the byte of a record without fields, where it has one.
     *
     * @throws WireException when it is not there
     */
    public void nothing() throws WireException {
        take(wire.isCdr ? 1 : 0);
    }

    /**
     * Reads a list of truth values.
     *
     * @param old an array that is used again where it fits
     * @param most how many there may be
     * @return the values
     * @throws WireException when they are not what is there
     */
    public boolean[] list(boolean[] old, int most) throws WireException {
        return array(old, count(1, most));
    }

    /**
     * Reads a fixed array of truth values.
     *
     * @param old an array that is used again where it fits
     * @param count how many there are
     * @return the values
     * @throws WireException when they are not what is there
     */
    public boolean[] array(boolean[] old, int count) throws WireException {
        there(count);
        boolean[] values = old != null && old.length == count ? old : new boolean[count];
        for (int place = 0; place < count; place++) {
            values[place] = bool();
        }
        return values;
    }

    /**
     * Reads a list of numbers.
     *
     * @param old an array that is used again where it fits
     * @param most how many there may be
     * @return the numbers
     * @throws WireException when they are not what is there
     */
    public byte[] list(byte[] old, int most) throws WireException {
        return array(old, count(1, most));
    }

    /**
     * Reads a fixed array of numbers.
     *
     * @param old an array that is used again where it fits
     * @param count how many there are
     * @return the numbers
     * @throws WireException when they are not what is there
     */
    public byte[] array(byte[] old, int count) throws WireException {
        int from = take(count);
        byte[] values = old != null && old.length == count ? old : new byte[count];
        in.get(from, values);
        return values;
    }

    /**
     * Reads a list of numbers.
     *
     * @param old an array that is used again where it fits
     * @param most how many there may be
     * @return the numbers
     * @throws WireException when they are not what is there
     */
    public short[] list(short[] old, int most) throws WireException {
        return array(old, count(2, most));
    }

    /**
     * Reads a fixed array of numbers.
     *
     * @param old an array that is used again where it fits
     * @param count how many there are
     * @return the numbers
     * @throws WireException when they are not what is there
     */
    public short[] array(short[] old, int count) throws WireException {
        int from = take(count, 2);
        short[] values = old != null && old.length == count ? old : new short[count];
        in.position(from);
        in.asShortBuffer().get(values);
        return values;
    }

    /**
     * Reads a list of numbers.
     *
     * @param old an array that is used again where it fits
     * @param most how many there may be
     * @return the numbers
     * @throws WireException when they are not what is there
     */
    public int[] list(int[] old, int most) throws WireException {
        return array(old, count(4, most));
    }

    /**
     * Reads a fixed array of numbers.
     *
     * @param old an array that is used again where it fits
     * @param count how many there are
     * @return the numbers
     * @throws WireException when they are not what is there
     */
    public int[] array(int[] old, int count) throws WireException {
        int from = take(count, 4);
        int[] values = old != null && old.length == count ? old : new int[count];
        in.position(from);
        in.asIntBuffer().get(values);
        return values;
    }

    /**
     * Reads a list of numbers.
     *
     * @param old an array that is used again where it fits
     * @param most how many there may be
     * @return the numbers
     * @throws WireException when they are not what is there
     */
    public long[] list(long[] old, int most) throws WireException {
        return array(old, count(8, most));
    }

    /**
     * Reads a fixed array of numbers.
     *
     * @param old an array that is used again where it fits
     * @param count how many there are
     * @return the numbers
     * @throws WireException when they are not what is there
     */
    public long[] array(long[] old, int count) throws WireException {
        int from = take(count, 8);
        long[] values = old != null && old.length == count ? old : new long[count];
        in.position(from);
        in.asLongBuffer().get(values);
        return values;
    }

    /**
     * Reads a list of numbers.
     *
     * @param old an array that is used again where it fits
     * @param most how many there may be
     * @return the numbers
     * @throws WireException when they are not what is there
     */
    public float[] list(float[] old, int most) throws WireException {
        return array(old, count(4, most));
    }

    /**
     * Reads a fixed array of numbers.
     *
     * @param old an array that is used again where it fits
     * @param count how many there are
     * @return the numbers
     * @throws WireException when they are not what is there
     */
    public float[] array(float[] old, int count) throws WireException {
        int from = take(count, 4);
        float[] values = old != null && old.length == count ? old : new float[count];
        in.position(from);
        in.asFloatBuffer().get(values);
        return values;
    }

    /**
     * Reads a list of numbers.
     *
     * @param old an array that is used again where it fits
     * @param most how many there may be
     * @return the numbers
     * @throws WireException when they are not what is there
     */
    public double[] list(double[] old, int most) throws WireException {
        return array(old, count(8, most));
    }

    /**
     * Reads a fixed array of numbers.
     *
     * @param old an array that is used again where it fits
     * @param count how many there are
     * @return the numbers
     * @throws WireException when they are not what is there
     */
    public double[] array(double[] old, int count) throws WireException {
        int from = take(count, 8);
        double[] values = old != null && old.length == count ? old : new double[count];
        in.position(from);
        in.asDoubleBuffer().get(values);
        return values;
    }
}
