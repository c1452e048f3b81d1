package wiregauge_runner;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Canonical bytes, as the generated form reads and writes them. */
public final class Canonical {
    private Canonical() {}

    /** Canonical bytes while they are read. */
    public static final class Reader {
        private final ByteBuffer in;

        public Reader(byte[] canonical) {
            in = ByteBuffer.wrap(canonical).order(ByteOrder.LITTLE_ENDIAN);
        }

        public boolean bool() {
            return in.get() != 0;
        }

        public byte i8() {
            return in.get();
        }

        public int u8() {
            return in.get() & 0xff;
        }

        public short i16() {
            return in.getShort();
        }

        public int u16() {
            return in.getShort() & 0xffff;
        }

        public int i32() {
            return in.getInt();
        }

        public long u32() {
            return in.getInt() & 0xffffffffL;
        }

        public long i64() {
            return in.getLong();
        }

        public float f32() {
            return in.getFloat();
        }

        public double f64() {
            return in.getDouble();
        }

        public boolean[] booleans(int count) {
            boolean[] values = new boolean[count];
            for (int at = 0; at < count; at++) {
                values[at] = bool();
            }
            return values;
        }

        public byte[] bytes(int count) {
            byte[] values = new byte[count];
            in.get(values);
            return values;
        }

        public short[] shorts(int count) {
            short[] values = new short[count];
            in.asShortBuffer().get(values);
            in.position(in.position() + 2 * count);
            return values;
        }

        public int[] ints(int count) {
            int[] values = new int[count];
            in.asIntBuffer().get(values);
            in.position(in.position() + 4 * count);
            return values;
        }

        public long[] longs(int count) {
            long[] values = new long[count];
            in.asLongBuffer().get(values);
            in.position(in.position() + 8 * count);
            return values;
        }

        public float[] floats(int count) {
            float[] values = new float[count];
            in.asFloatBuffer().get(values);
            in.position(in.position() + 4 * count);
            return values;
        }

        public double[] doubles(int count) {
            double[] values = new double[count];
            in.asDoubleBuffer().get(values);
            in.position(in.position() + 8 * count);
            return values;
        }

        public String text() {
            return new String(octets(), StandardCharsets.UTF_8);
        }

        public byte[] octets() {
            return bytes(i32());
        }

        public void end() {
            if (in.hasRemaining()) {
                throw new IllegalArgumentException("bytes left over after the message");
            }
        }
    }

    /** Canonical bytes while they are written. */
    public static final class Writer {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();
        private final ByteBuffer word = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);

        private void put(int size) {
            out.write(word.array(), 0, size);
            word.clear();
        }

        /** An integer's last bytes. */
        public void integer(long value, int size) {
            word.putLong(value);
            put(size);
        }

        public void bool(boolean value) {
            out.write(value ? 1 : 0);
        }

        public void f32(float value) {
            word.putFloat(value);
            put(4);
        }

        public void f64(double value) {
            word.putDouble(value);
            put(8);
        }

        public void text(String text) {
            octets(text.getBytes(StandardCharsets.UTF_8));
        }

        public void octets(byte[] octets) {
            integer(octets.length, 4);
            out.write(octets, 0, octets.length);
        }

        /** Refuses an array of another length. */
        public void fixed(int length, int wanted) {
            if (length != wanted) {
                throw new IllegalArgumentException(
                        "an array has " + length + " elements, not " + wanted);
            }
        }

        public byte[] bytes() {
            return out.toByteArray();
        }
    }
}
