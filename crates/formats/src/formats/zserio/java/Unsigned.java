import java.math.BigInteger;

/** Unsigned numbers: by their bits in the normalized form, in larger types in zserio's objects. */
final class Unsigned {
    private static final BigInteger ALL = BigInteger.ONE.shiftLeft(64);

    private Unsigned() {}

    static BigInteger number(long bits) {
        BigInteger number = BigInteger.valueOf(bits);
        return bits >= 0 ? number : number.add(ALL);
    }

    static short[] array(byte[] bits) {
        short[] numbers = new short[bits.length];
        for (int at = 0; at < bits.length; at++) {
            numbers[at] = (short) (bits[at] & 0xff);
        }
        return numbers;
    }

    static int[] array(short[] bits) {
        int[] numbers = new int[bits.length];
        for (int at = 0; at < bits.length; at++) {
            numbers[at] = bits[at] & 0xffff;
        }
        return numbers;
    }

    static long[] array(int[] bits) {
        long[] numbers = new long[bits.length];
        for (int at = 0; at < bits.length; at++) {
            numbers[at] = bits[at] & 0xffffffffL;
        }
        return numbers;
    }

    static BigInteger[] array(long[] bits) {
        BigInteger[] numbers = new BigInteger[bits.length];
        for (int at = 0; at < bits.length; at++) {
            numbers[at] = number(bits[at]);
        }
        return numbers;
    }

    static byte[] bits(short[] numbers) {
        byte[] bits = new byte[numbers.length];
        for (int at = 0; at < numbers.length; at++) {
            bits[at] = (byte) numbers[at];
        }
        return bits;
    }

    static short[] bits(int[] numbers) {
        short[] bits = new short[numbers.length];
        for (int at = 0; at < numbers.length; at++) {
            bits[at] = (short) numbers[at];
        }
        return bits;
    }

    static int[] bits(long[] numbers) {
        int[] bits = new int[numbers.length];
        for (int at = 0; at < numbers.length; at++) {
            bits[at] = (int) numbers[at];
        }
        return bits;
    }

    static long[] bits(BigInteger[] numbers) {
        long[] bits = new long[numbers.length];
        for (int at = 0; at < numbers.length; at++) {
            bits[at] = numbers[at].longValue();
        }
        return bits;
    }
}
