package wiregauge;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Writes a message that was measured. */
public final class Writer {
    private final Wire wire;
    private final int alignment;
    private final ByteBuffer out;
    private final int begin;
    private int at;

    Writer(Wire wire, ByteBuffer out, int begin) {
        this.wire = wire;
        this.alignment = wire.alignment;
        this.out = out;
        this.begin = begin;
        this.at = begin;
    }

    private void align(int bytes) {
        if (alignment == 1) {
            return;
        }
        int gap = (begin - at) & (Math.min(bytes, alignment) - 1);
        for (; gap > 0; gap--) {
            out.put(at++, (byte) 0);
        }
    }

    /**
     * Writes a truth value.
     *
     * @param value the value
     */
    public void bool(boolean value) {
        out.put(at++, (byte) (value ? 1 : 0));
    }

    /**
     * Writes a number of a byte.
     *
     * @param value the number, whose lowest bits are written
     */
    public void number1(int value) {
        out.put(at++, (byte) value);
    }

    /**
     * Writes a number of two bytes.
     *
     * @param value the number, whose lowest bits are written
     */
    public void number2(int value) {
        align(2);
        out.putShort(at, (short) value);
        at += 2;
    }

    /**
     * Writes a number of four bytes.
     *
     * @param value the number, whose lowest bits are written
     */
    public void number4(long value) {
        align(4);
        out.putInt(at, (int) value);
        at += 4;
    }

    /**
     * Writes a number of eight bytes.
     *
     * @param value the number
     */
    public void number8(long value) {
        align(8);
        out.putLong(at, value);
        at += 8;
    }

    /**
     * Writes a number of four bytes.
     *
     * @param value the number
     */
    public void f32(float value) {
        align(4);
        out.putFloat(at, value);
        at += 4;
    }

    /**
     * Writes a number of eight bytes.
     *
     * @param value the number
     */
    public void f64(double value) {
        align(8);
        out.putDouble(at, value);
        at += 8;
    }

    /**
     * Writes the length of a list.
     *
     * @param count the length
     */
    public void count(int count) {
        number4(count);
    }

    /**
     * Begins a list of what is no number.
     *
     * @param count how many there are
     * @return where their bytes begin
     */
    public int begin(int count) {
        number4(count);
        return at;
    }

    /**
     * Ends such a list: only then it is known how many bytes it takes.
     *
     * @param start where its bytes begin
     */
    public void end(int start) {
        if (wire.countsBytes) {
            out.putInt(start - 4, at - start);
        }
    }

    /** The length of a list of numbers. */
    private void count(int count, int bytes) {
        number4(wire.countsBytes ? count * bytes : count);
    }

    /**
     * Writes a text.
     *
     * @param text the text
     */
    public void text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        number4(bytes.length + wire.textFrame);
        if (wire.countsBytes) {
            array(Texts.MARK);
        }
        array(bytes);
        if (wire.isEnded) {
            out.put(at++, (byte) 0);
        }
    }

    /**
     * Writes octets.
     *
     * @param octets the octets
     */
    public void octets(byte[] octets) {
        list(octets);
    }

    /**
     * Writes a record that may be absent.
     *
     * @param value the record or null
     */
    public void option(Sequential value) {
        if (wire.delimits) {
            bool(value != null);
        } else {
            count(value == null ? 0 : 1);
        }
        if (value != null) {
            int start = at;
            value.write(this);
            end(start);
        }
    }

    /**
     * Writes whether a value that may be absent is there.
     *
     * @param isThere whether it is
     * @return whether it is written too
     */
    public boolean presence(boolean isThere) {
        if (wire.countsBytes) {
            count(0);
            return isThere;
        }
        bool(isThere);
        return isThere || !wire.delimits;
    }

    /**
     * Where a value that may be absent begins.
     *
     * @return the place, for {@link #end}
     */
    public int place() {
        return at;
    }

    /**
     * Leaves room for the size of a list or array of what is no number, where it stands before it.
     *
     * @return where that begins
     */
    public int open() {
        if (wire.delimits) {
            count(0);
        }
        return at;
    }

    /**
     * Writes the size of what ends here, where it stands before it.
     *
     * @param start where it begins
     */
    public void close(int start) {
        if (wire.delimits) {
            out.putInt(start - 4, at - start);
        }
    }

    /** Writes the byte of a record without fields, where it has one. */
    public void nothing() {
        if (wire.isEnded) {
            out.put(at++, (byte) 0);
        }
    }

    /**
     * Writes a list of truth values.
     *
     * @param values the values
     */
    public void list(boolean[] values) {
        count(values.length);
        array(values);
    }

    /**
     * Writes a fixed array of truth values.
     *
     * @param values the values
     */
    public void array(boolean[] values) {
        for (boolean value : values) {
            bool(value);
        }
    }

    /**
     * Writes a list of numbers.
     *
     * @param values the numbers
     */
    public void list(byte[] values) {
        count(values.length);
        array(values);
    }

    /**
     * Writes a fixed array of numbers.
     *
     * @param values the numbers
     */
    public void array(byte[] values) {
        out.put(at, values);
        at += values.length;
    }

    /**
     * Writes a list of numbers.
     *
     * @param values the numbers
     */
    public void list(short[] values) {
        count(values.length, 2);
        array(values);
    }

    /**
     * Writes a fixed array of numbers.
     *
     * @param values the numbers
     */
    public void array(short[] values) {
        if (values.length == 0) {
            return;
        }
        align(2);
        out.position(at);
        out.asShortBuffer().put(values);
        at += 2 * values.length;
    }

    /**
     * Writes a list of numbers.
     *
     * @param values the numbers
     */
    public void list(int[] values) {
        count(values.length, 4);
        array(values);
    }

    /**
     * Writes a fixed array of numbers.
     *
     * @param values the numbers
     */
    public void array(int[] values) {
        if (values.length == 0) {
            return;
        }
        align(4);
        out.position(at);
        out.asIntBuffer().put(values);
        at += 4 * values.length;
    }

    /**
     * Writes a list of numbers.
     *
     * @param values the numbers
     */
    public void list(long[] values) {
        count(values.length, 8);
        array(values);
    }

    /**
     * Writes a fixed array of numbers.
     *
     * @param values the numbers
     */
    public void array(long[] values) {
        if (values.length == 0) {
            return;
        }
        align(8);
        out.position(at);
        out.asLongBuffer().put(values);
        at += 8 * values.length;
    }

    /**
     * Writes a list of numbers.
     *
     * @param values the numbers
     */
    public void list(float[] values) {
        count(values.length, 4);
        array(values);
    }

    /**
     * Writes a fixed array of numbers.
     *
     * @param values the numbers
     */
    public void array(float[] values) {
        if (values.length == 0) {
            return;
        }
        align(4);
        out.position(at);
        out.asFloatBuffer().put(values);
        at += 4 * values.length;
    }

    /**
     * Writes a list of numbers.
     *
     * @param values the numbers
     */
    public void list(double[] values) {
        count(values.length, 8);
        array(values);
    }

    /**
     * Writes a fixed array of numbers.
     *
     * @param values the numbers
     */
    public void array(double[] values) {
        if (values.length == 0) {
            return;
        }
        align(8);
        out.position(at);
        out.asDoubleBuffer().put(values);
        at += 8 * values.length;
    }
}
