package wiregauge;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
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
        int from = wire.countsBytes ? Texts.MARK.length : 0;
        if (wire.countsBytes
                && (length <= from || !Arrays.equals(bytes, 0, from, Texts.MARK, 0, from))) {
            throw new WireException(WireException.Problem.NO_TEXT);
        }
        if (wire.isEnded && length != 0) {
            length--;
            if (bytes[length] != 0) {
                throw new WireException(WireException.Problem.NO_TEXT);
            }
        }
        length -= from;
        if (most != Sizer.NO_BOUND && length > most) {
            throw new WireException(WireException.Problem.TOO_MANY);
        }
        return Texts.of(bytes, from, length, !wire.isEnded);
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
        if (wire.countsBytes) {
            int end = end();
            List<String> texts = emptied(old, 0);
            while (at < end) {
                fits(texts.size(), most);
                texts.add(text(mostText));
            }
            ends(end);
            return texts;
        }
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
        if (wire.countsBytes) {
            int end = end();
            List<byte[]> blocks = emptied(old, 0);
            while (at < end) {
                fits(blocks.size(), most);
                blocks.add(octets(null));
            }
            ends(end);
            return blocks;
        }
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
     * @return as many records as there are, of which {@link #unread} are to be read into
     * @throws WireException when there are more, or there cannot be so many
     */
    public <T extends Sequential> List<T> records(
            List<T> old, int least, int most, Supplier<T> make) throws WireException {
        if (wire.countsBytes) {
            return counted(old, most, make);
        }
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

    /** Reads records of which it is known how many bytes they take, but not how many they are. */
    private <T extends Sequential> List<T> counted(List<T> old, int most, Supplier<T> make)
            throws WireException {
        int end = end();
        boolean isOurs = old != null && old.getClass() == ArrayList.class;
        List<T> records = isOurs ? old : new ArrayList<>();
        int count = 0;
        for (; at < end; count++) {
            fits(count, most);
            if (count == records.size()) {
                records.add(make.get());
            } else if (records.get(count) == null) {
                records.set(count, make.get());
            }
            records.get(count).read(this);
        }
        ends(end);
        records.subList(count, records.size()).clear();
        return records;
    }

    /**
     * The records of a list that are still to be read into.
     *
     * @param records the list
     * @param <T> the type of the records
     * @return all of them, or none where they had to be read to be counted
     */
    public <T> List<T> unread(List<T> records) {
        return wire.countsBytes ? Collections.emptyList() : records;
    }

    /** Where what ends whose bytes are counted. */
    private int end() throws WireException {
        int size = count(1, Sizer.NO_BOUND);
        return at + size;
    }

    private void ends(int end) throws WireException {
        if (at != end) {
            throw new WireException(WireException.Problem.OTHER_SIZE);
        }
    }

    private static void fits(int count, int most) throws WireException {
        if (most != Sizer.NO_BOUND && count >= most) {
            throw new WireException(WireException.Problem.TOO_MANY);
        }
    }

    /** The length of a list of numbers. */
    private int numbers(int bytes, int most) throws WireException {
        if (!wire.countsBytes) {
            return count(bytes, most);
        }
        int size = count(1, Sizer.NO_BOUND);
        if (size % bytes != 0) {
            throw new WireException(WireException.Problem.OTHER_SIZE);
        }
        if (most != Sizer.NO_BOUND && size / bytes > most) {
            throw new WireException(WireException.Problem.TOO_MANY);
        }
        return size / bytes;
    }

    /**
     * Reads whether a record that may be absent is there.
     *
     * @param least the fewest bytes that it takes
     * @return what {@link #ended} is given behind it; less than zero where it is not there
     * @throws WireException when there is more than one, or it cannot be there
     */
    public int option(int least) throws WireException {
        if (wire.countsBytes) {
            return presence();
        }
        boolean isThere = wire.delimits ? bool() : count(least, 1) == 1;
        return isThere ? 0 : -1;
    }

    /**
     * Reads whether a value that may be absent is there.
     *
     * @return what {@link #ended} is given behind it; less than zero where it is not there
     * @throws WireException when it cannot be there
     */
    public int presence() throws WireException {
        if (wire.countsBytes) {
            int end = end();
            return end == at ? -1 : end;
        }
        return bool() ? 0 : -1;
    }

    /**
     * Holds where a value that may be absent ends against its length, where it has one.
     *
     * @param end what was told of it before
     * @throws WireException when it ends elsewhere
     */
    public void ended(int end) throws WireException {
        if (wire.countsBytes && end >= 0) {
            ends(end);
        }
    }

    /**
     * Whether a value that may be absent is there to be read.
     *
     * @param isThere whether it is not absent
     * @return whether it is read
     */
    public boolean presence(boolean isThere) {
        return isThere || !(wire.delimits || wire.countsBytes);
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
        take(wire.isEnded ? 1 : 0);
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
        return array(old, numbers(2, most));
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
        return array(old, numbers(4, most));
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
        return array(old, numbers(8, most));
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
        return array(old, numbers(4, most));
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
        return array(old, numbers(8, most));
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
