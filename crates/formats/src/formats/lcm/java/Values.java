import java.nio.charset.StandardCharsets;

/** Values that LCM's classes have in another way than the normalized form. */
final class Values {
    static final byte[] NO_OCTETS = {};

    private Values() {}

    /** A text as LCM writes it: an octet each of its characters. */
    static String narrow(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    /** The text that was written in this way. */
    static String wide(String octets) {
        return new String(octets.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }
}
