package wiregauge;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Texts in UTF-8, and what is none. */
final class Texts {
    /** What stands before the letters of a text in SOME/IP: the mark of UTF-8. */
    static final byte[] MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    private Texts() {}

    /** The bytes of a text, which may have zeros or not. */
    static int size(String text, boolean mayHaveZeros) throws WireException {
        long bytes = text.length();
        for (int at = 0; at < text.length(); at++) {
            char letter = text.charAt(at);
            if (letter == 0 && !mayHaveZeros) {
                throw new WireException(WireException.Problem.NO_TEXT);
            }
            if (letter < 0x80) {
                continue;
            }
            bytes += letter < 0x800 ? 1 : 2;
            if (Character.isSurrogate(letter)) {
                // Two of them are four bytes; one alone is no letter.
                boolean isPair =
                        at + 1 < text.length()
                                && Character.isSurrogatePair(letter, text.charAt(at + 1));
                if (!isPair) {
                    throw new WireException(WireException.Problem.NO_TEXT);
                }
                at++;
            }
        }
        if (bytes >= Integer.MAX_VALUE) {
            throw new WireException(WireException.Problem.NO_ROOM);
        }
        return (int) bytes;
    }

    /** The text that so many bytes from a place on are. */
    static String of(byte[] bytes, int from, int length, boolean mayHaveZeros)
            throws WireException {
        String text = new String(bytes, from, length, StandardCharsets.UTF_8);
        if (!mayHaveZeros && text.indexOf('\0') >= 0) {
            throw new WireException(WireException.Problem.NO_TEXT);
        }
        // What is no UTF-8 was replaced by this letter, unless it was there.
        if (text.indexOf('\ufffd') >= 0) {
            byte[] again = text.getBytes(StandardCharsets.UTF_8);
            if (!Arrays.equals(again, 0, again.length, bytes, from, from + length)) {
                throw new WireException(WireException.Problem.NO_TEXT);
            }
        }
        return text;
    }
}
