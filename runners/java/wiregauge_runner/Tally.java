package wiregauge_runner;

/**
 * How many numbers were read of a record and a hash of all their bits, in any order but each in its
 * own field and record (docs/runner-protocol.md has the formula).
 */
public final class Tally {
    private static final long STEP = 0x9e3779b97f4a7c15L;

    /** How many. */
    public long count;

    /** Of what. */
    public long hash;

    private void add(int place, long word) {
        long x = word + (place + 1) * STEP;
        x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
        x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
        hash += x ^ x >>> 31;
    }

    /** A number of the field at this place, by its bits at its own width; or a length. */
    public void number(int place, long word) {
        count++;
        add(place, word);
    }

    /** What a record inside brought. */
    public void record(int place, Tally inner) {
        count += inner.count;
        add(place, inner.hash);
    }

    /** The bits of a number of four bytes. */
    public static long word(float number) {
        return Float.floatToRawIntBits(number) & 0xffffffffL;
    }

    /** The bits of a number of eight bytes. */
    public static long word(double number) {
        return Double.doubleToRawLongBits(number);
    }

    /** The bits of a truth value. */
    public static long word(boolean value) {
        return value ? 1 : 0;
    }

    /** What an unsigned number of eight bytes counts. */
    public static double unsigned(long bits) {
        // Halved with its last bit kept, so that it is rounded once.
        return bits >= 0 ? bits : (bits >>> 1 | bits & 1) * 2.0;
    }

    /** How many octets a text has in UTF-8. */
    public static int octets(String text) {
        int octets = text.length();
        for (int at = 0; at < text.length(); at++) {
            char unit = text.charAt(at);
            if (unit >= 0x80) {
                // Each half of a pair takes two.
                octets += unit < 0x800 || Character.isSurrogate(unit) ? 1 : 2;
            }
        }
        return octets;
    }
}
