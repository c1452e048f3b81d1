package wiregauge;

import java.util.Collection;

/** How many bytes a message takes so far, and whether it may be written. */
public final class Sizer {
    /** As many elements or bytes as a length can say. */
    public static final int NO_BOUND = -1;

    private final Wire wire;
    private final int alignment;
    private long size;

    Sizer(Wire wire) {
        this.wire = wire;
        this.alignment = wire.alignment;
    }

    long size() {
        return size;
    }

    /**
     * Adds a number.
     *
     * @param bytes its bytes
     */
    public void number(int bytes) {
        size += -size & (Math.min(bytes, alignment) - 1);
        size += bytes;
    }

    /**
     * Adds an unsigned number of a byte.
     *
     * @param value the number
     * @throws WireException when it is none
     */
    public void u8(int value) throws WireException {
        inRange(value, 0xff);
        number(1);
    }

    /**
     * Adds an unsigned number of two bytes.
     *
     * @param value the number
     * @throws WireException when it is none
     */
    public void u16(int value) throws WireException {
        inRange(value, 0xffff);
        number(2);
    }

    /**
     * Adds an unsigned number of four bytes.
     *
     * @param value the number
     * @throws WireException when it is none
     */
    public void u32(long value) throws WireException {
        inRange(value, 0xffffffffL);
        number(4);
    }

    private static void inRange(long value, long most) throws WireException {
        if (value < 0 || value > most) {
            throw new WireException(WireException.Problem.OUT_OF_RANGE);
        }
    }

    /**
     * What must be there.
     *
     * @param value the value
     * @param <T> its type
     * @return the value
     * @throws WireException when it is null
     */
    public <T> T there(T value) throws WireException {
        if (value == null) {
            throw new WireException(WireException.Problem.IS_NULL);
        }
        return value;
    }

    /**
     * Adds a text.
     *
     * @param text the text
     * @param most how many bytes it may have
     * @throws WireException when it has more, or is no text
     */
    public void text(String text, int most) throws WireException {
        int bytes = Texts.size(there(text), !wire.isEnded);
        count(bytes, most);
        size += bytes + wire.textFrame;
    }

    /**
     * Adds octets.
     *
     * @param octets the octets
     * @throws WireException when there are none
     */
    public void octets(byte[] octets) throws WireException {
        list(octets, NO_BOUND);
    }

    /**
     * Adds the length of a list.
     *
     * @param values the list
     * @param most how many there may be
     * @throws WireException when there are more, or no list
     */
    public void count(Collection<?> values, int most) throws WireException {
        count(there(values).size(), most);
    }

    /**
     * Holds a fixed array against its length.
     *
     * @param values the array
     * @param count how many there must be
     * @throws WireException when there are others
     */
    public void exactly(Object[] values, int count) throws WireException {
        exactly(there(values).length, count);
    }

    /**
     * Adds a record that may be absent.
     *
     * @param value the record or null
     * @throws WireException when it may not be written
     */
    public void option(Sequential value) throws WireException {
        number(wire.delimits ? 1 : 4);
        if (value != null) {
            value.measure(this);
        }
    }

    /**
     * Adds whether a value that may be absent is there.
     *
     * @param isThere whether it is
     * @return whether it is added too
     */
    public boolean presence(boolean isThere) {
        number(wire.countsBytes ? 4 : 1);
        return isThere || !(wire.delimits || wire.countsBytes);
    }

    /** Adds the size of a list or array of what is no number, where it stands before it. */
    public void open() {
        if (wire.delimits) {
            number(4);
        }
    }

    /** Adds the byte of a record without fields, where it has one. */
    public void nothing() {
        size += wire.isEnded ? 1 : 0;
    }

    /**
     * Adds a list of numbers.
     *
     * @param values the numbers
     * @param most how many there may be
     * @throws WireException when there are more, or no list
     */
    public void list(boolean[] values, int most) throws WireException {
        numbers(values == null ? -1 : values.length, 1, most);
    }

    /**
     * Adds a fixed array of numbers.
     *
     * @param values the numbers
     * @param count how many there must be
     * @throws WireException when there are others
     */
    public void array(boolean[] values, int count) throws WireException {
        exactly(values == null ? -1 : values.length, count);
        numbers(count, 1);
    }

    /**
     * Adds a list of numbers.
     *
     * @param values the numbers
     * @param most how many there may be
     * @throws WireException when there are more, or no list
     */
    public void list(byte[] values, int most) throws WireException {
        numbers(values == null ? -1 : values.length, 1, most);
    }

    /**
     * Adds a fixed array of numbers.
     *
     * @param values the numbers
     * @param count how many there must be
     * @throws WireException when there are others
     */
    public void array(byte[] values, int count) throws WireException {
        exactly(values == null ? -1 : values.length, count);
        numbers(count, 1);
    }

    /**
     * Adds a list of numbers.
     *
     * @param values the numbers
     * @param most how many there may be
     * @throws WireException when there are more, or no list
     */
    public void list(short[] values, int most) throws WireException {
        numbers(values == null ? -1 : values.length, 2, most);
    }

    /**
     * Adds a fixed array of numbers.
     *
     * @param values the numbers
     * @param count how many there must be
     * @throws WireException when there are others
     */
    public void array(short[] values, int count) throws WireException {
        exactly(values == null ? -1 : values.length, count);
        numbers(count, 2);
    }

    /**
     * Adds a list of numbers.
     *
     * @param values the numbers
     * @param most how many there may be
     * @throws WireException when there are more, or no list
     */
    public void list(int[] values, int most) throws WireException {
        numbers(values == null ? -1 : values.length, 4, most);
    }

    /**
     * Adds a fixed array of numbers.
     *
     * @param values the numbers
     * @param count how many there must be
     * @throws WireException when there are others
     */
    public void array(int[] values, int count) throws WireException {
        exactly(values == null ? -1 : values.length, count);
        numbers(count, 4);
    }

    /**
     * Adds a list of numbers.
     *
     * @param values the numbers
     * @param most how many there may be
     * @throws WireException when there are more, or no list
     */
    public void list(long[] values, int most) throws WireException {
        numbers(values == null ? -1 : values.length, 8, most);
    }

    /**
     * Adds a fixed array of numbers.
     *
     * @param values the numbers
     * @param count how many there must be
     * @throws WireException when there are others
     */
    public void array(long[] values, int count) throws WireException {
        exactly(values == null ? -1 : values.length, count);
        numbers(count, 8);
    }

    /**
     * Adds a list of numbers.
     *
     * @param values the numbers
     * @param most how many there may be
     * @throws WireException when there are more, or no list
     */
    public void list(float[] values, int most) throws WireException {
        numbers(values == null ? -1 : values.length, 4, most);
    }

    /**
     * Adds a fixed array of numbers.
     *
     * @param values the numbers
     * @param count how many there must be
     * @throws WireException when there are others
     */
    public void array(float[] values, int count) throws WireException {
        exactly(values == null ? -1 : values.length, count);
        numbers(count, 4);
    }

    /**
     * Adds a list of numbers.
     *
     * @param values the numbers
     * @param most how many there may be
     * @throws WireException when there are more, or no list
     */
    public void list(double[] values, int most) throws WireException {
        numbers(values == null ? -1 : values.length, 8, most);
    }

    /**
     * Adds a fixed array of numbers.
     *
     * @param values the numbers
     * @param count how many there must be
     * @throws WireException when there are others
     */
    public void array(double[] values, int count) throws WireException {
        exactly(values == null ? -1 : values.length, count);
        numbers(count, 8);
    }

    private void count(int count, int most) throws WireException {
        if (most != NO_BOUND && count > most) {
            throw new WireException(WireException.Problem.TOO_MANY);
        }
        number(4);
    }

    private static void exactly(int count, int wanted) throws WireException {
        if (count < 0) {
            throw new WireException(WireException.Problem.IS_NULL);
        }
        if (count != wanted) {
            throw new WireException(WireException.Problem.OTHER_LENGTH);
        }
    }

    private void numbers(int count, int bytes, int most) throws WireException {
        if (count < 0) {
            throw new WireException(WireException.Problem.IS_NULL);
        }
        count(count, most);
        numbers(count, bytes);
    }

    private void numbers(int count, int bytes) {
        if (count != 0) {
            number(bytes);
            size += (long) bytes * (count - 1);
        }
    }
}
