package wiregauge;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * What fields are put into, the last one first, so that the length of what is inside is known when
 * its key is put.
 */
public final class Encoder {
    /** Null where bytes are only counted. */
    private final ByteBuffer out;
    private final long end;
    private long at;
    private int depth;

    Encoder(ByteBuffer out, int end) {
        this.out = out;
        this.end = end;
        this.at = end;
    }

    /**
     * How many bytes there are.
     *
     * @return the bytes
     */
    public long size() {
        return end - at;
    }

    private static long inRange(long value) throws WireException {
        if (value < 0 || value > 0xffffffffL) {
            throw new WireException(WireException.Problem.OUT_OF_RANGE);
        }
        return value;
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
     * Puts the fields of a record.
     *
     * @param record the record
     * @throws WireException when it is null or too deep, or may not be written
     */
    public void fields(Tagged record) throws WireException {
        if (depth == Decoder.DEEPEST) {
            throw new WireException(WireException.Problem.TOO_DEEP);
        }
        depth++;
        there(record).put(this);
        depth--;
    }

    private void varint(long value) {
        int bytes = (70 - Long.numberOfLeadingZeros(value | 1)) / 7;
        at -= bytes;
        if (out == null) {
            return;
        }
        int place = (int) at;
        for (; bytes > 1; bytes--) {
            out.put(place++, (byte) (value | 0x80));
            value >>>= 7;
        }
        out.put(place, (byte) value);
    }

    private void putKey(int key) {
        varint(Integer.toUnsignedLong(key));
    }

    private void four(int value) {
        at -= 4;
        if (out != null) {
            out.putInt((int) at, value);
        }
    }

    private void eight(long value) {
        at -= 8;
        if (out != null) {
            out.putLong((int) at, value);
        }
    }

    /**
     * Puts a number as int32, without its key.
     *
     * @param value the number
     */
    public void int32(int value) {
        varint(value);
    }

    /**
     * Puts a number as int32.
     *
     * @param key what stands before it
     * @param value the number
     */
    public void int32(int key, int value) {
        int32(value);
        putKey(key);
    }

    /**
     * Puts a number as int64, without its key.
     *
     * @param value the number
     */
    public void int64(long value) {
        varint(value);
    }

    /**
     * Puts a number as int64.
     *
     * @param key what stands before it
     * @param value the number
     */
    public void int64(int key, long value) {
        int64(value);
        putKey(key);
    }

    /**
     * Puts a number as uint32, without its key.
     *
     * @param value the number
     * @throws WireException when it is none
     */
    public void uint32(long value) throws WireException {
        varint(inRange(value));
    }

    /**
     * Puts a number as uint32.
     *
     * @param key what stands before it
     * @param value the number
     * @throws WireException when it is none
     */
    public void uint32(int key, long value) throws WireException {
        uint32(value);
        putKey(key);
    }

    /**
     * Puts a number as uint64, without its key.
     *
     * @param value the number
     */
    public void uint64(long value) {
        varint(value);
    }

    /**
     * Puts a number as uint64.
     *
     * @param key what stands before it
     * @param value the number
     */
    public void uint64(int key, long value) {
        uint64(value);
        putKey(key);
    }

    /**
     * Puts a number as sint32, without its key.
     *
     * @param value the number
     */
    public void sint32(int value) {
        varint(Integer.toUnsignedLong(value << 1 ^ value >> 31));
    }

    /**
     * Puts a number as sint32.
     *
     * @param key what stands before it
     * @param value the number
     */
    public void sint32(int key, int value) {
        sint32(value);
        putKey(key);
    }

    /**
     * Puts a number as sint64, without its key.
     *
     * @param value the number
     */
    public void sint64(long value) {
        varint(value << 1 ^ value >> 63);
    }

    /**
     * Puts a number as sint64.
     *
     * @param key what stands before it
     * @param value the number
     */
    public void sint64(int key, long value) {
        sint64(value);
        putKey(key);
    }

    /**
     * Puts a number as fixed32, without its key.
     *
     * @param value the number
     * @throws WireException when it is none
     */
    public void fixed32(long value) throws WireException {
        four((int) inRange(value));
    }

    /**
     * Puts a number as fixed32.
     *
     * @param key what stands before it
     * @param value the number
     * @throws WireException when it is none
     */
    public void fixed32(int key, long value) throws WireException {
        fixed32(value);
        putKey(key);
    }

    /**
     * Puts a number as fixed64, without its key.
     *
     * @param value the number
     */
    public void fixed64(long value) {
        eight(value);
    }

    /**
     * Puts a number as fixed64.
     *
     * @param key what stands before it
     * @param value the number
     */
    public void fixed64(int key, long value) {
        fixed64(value);
        putKey(key);
    }

    /**
     * Puts a number as sfixed32, without its key.
     *
     * @param value the number
     */
    public void sfixed32(int value) {
        four(value);
    }

    /**
     * Puts a number as sfixed32.
     *
     * @param key what stands before it
     * @param value the number
     */
    public void sfixed32(int key, int value) {
        sfixed32(value);
        putKey(key);
    }

    /**
     * Puts a number as sfixed64, without its key.
     *
     * @param value the number
     */
    public void sfixed64(long value) {
        eight(value);
    }

    /**
     * Puts a number as sfixed64.
     *
     * @param key what stands before it
     * @param value the number
     */
    public void sfixed64(int key, long value) {
        sfixed64(value);
        putKey(key);
    }

    /**
     * Puts a number as bool, without its key.
     *
     * @param value the number
     */
    public void bool(boolean value) {
        varint(value ? 1 : 0);
    }

    /**
     * Puts a number as bool.
     *
     * @param key what stands before it
     * @param value the number
     */
    public void bool(int key, boolean value) {
        bool(value);
        putKey(key);
    }

    /**
     * Puts a number as f32, without its key.
     *
     * @param value the number
     */
    public void f32(float value) {
        four(Float.floatToRawIntBits(value));
    }

    /**
     * Puts a number as f32.
     *
     * @param key what stands before it
     * @param value the number
     */
    public void f32(int key, float value) {
        f32(value);
        putKey(key);
    }

    /**
     * Puts a number as f64, without its key.
     *
     * @param value the number
     */
    public void f64(double value) {
        eight(Double.doubleToRawLongBits(value));
    }

    /**
     * Puts a number as f64.
     *
     * @param key what stands before it
     * @param value the number
     */
    public void f64(int key, double value) {
        f64(value);
        putKey(key);
    }

    /**
     * Puts numbers of four bytes, without a key.
     *
     * @param values the numbers
     */
    public void all(int[] values) {
        at -= 4L * values.length;
        if (out != null) {
            out.position((int) at);
            out.asIntBuffer().put(values);
        }
    }

    /**
     * Puts numbers of eight bytes, without a key.
     *
     * @param values the numbers
     */
    public void all(long[] values) {
        at -= 8L * values.length;
        if (out != null) {
            out.position((int) at);
            out.asLongBuffer().put(values);
        }
    }

    /**
     * Puts numbers of four bytes, without a key.
     *
     * @param values the numbers
     */
    public void all(float[] values) {
        at -= 4L * values.length;
        if (out != null) {
            out.position((int) at);
            out.asFloatBuffer().put(values);
        }
    }

    /**
     * Puts numbers of eight bytes, without a key.
     *
     * @param values the numbers
     */
    public void all(double[] values) {
        at -= 8L * values.length;
        if (out != null) {
            out.position((int) at);
            out.asDoubleBuffer().put(values);
        }
    }

    /**
     * Puts a key that begins or ends a group.
     *
     * @param key the key
     */
    public void mark(int key) {
        putKey(key);
    }

    /**
     * Puts the length and the key of what was put since there were so many bytes.
     *
     * @param key what stands before it
     * @param before how many bytes there were
     */
    public void behind(int key, long before) {
        varint(size() - before);
        putKey(key);
    }

    /**
     * Puts octets.
     *
     * @param key what stands before them
     * @param octets the octets
     * @throws WireException when there are none
     */
    public void octets(int key, byte[] octets) throws WireException {
        long before = size();
        at -= there(octets).length;
        if (out != null) {
            out.put((int) at, octets);
        }
        behind(key, before);
    }

    /**
     * Puts a text.
     *
     * @param key what stands before it
     * @param text the text
     * @throws WireException when it is none
     */
    public void text(int key, String text) throws WireException {
        if (out != null) {
            octets(key, text.getBytes(StandardCharsets.UTF_8));
            return;
        }
        long before = size();
        at -= Texts.size(there(text), true);
        behind(key, before);
    }
}
