import java.io.IOException;
import java.math.BigInteger;
import org.msgpack.core.MessageFormat;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.core.buffer.MessageBuffer;

/** Values that the library has no call for, and how many may follow in so many bytes. */
final class Values {
    final MessageUnpacker in;
    private final int size;

    Values(MessageUnpacker in, int size) {
        this.in = in;
        this.size = size;
    }

    /** A record of so many fields. */
    void record(int fields) throws IOException {
        int count = in.unpackArrayHeader();
        if (count != fields) {
            throw new IllegalArgumentException(
                    "a record has " + count + " fields, not " + fields);
        }
    }

    /** How many elements follow, of at least a byte each. */
    int count() throws IOException {
        return within(in.unpackArrayHeader());
    }

    /** The same of an array. */
    void array(int length) throws IOException {
        int count = in.unpackArrayHeader();
        if (count != length) {
            throw new IllegalArgumentException(
                    "an array has " + count + " elements, not " + length);
        }
    }

    int octetCount() throws IOException {
        return within(in.unpackBinaryHeader());
    }

    byte[] octets() throws IOException {
        return in.readPayload(octetCount());
    }

    /** Octets where they lie. */
    MessageBuffer block() throws IOException {
        return in.readPayloadAsReference(octetCount());
    }

    int textLength() throws IOException {
        int length = within(in.unpackRawStringHeader());
        in.readPayloadAsReference(length);
        return length;
    }

    /** One octet of those, of which there are so many. */
    int octet(int count, int place) throws IOException {
        return in.readPayloadAsReference(count).getByte(place) & 0xff;
    }

    private int within(int count) {
        if (count > size - in.getTotalReadBytes()) {
            throw new IllegalArgumentException("more elements than bytes");
        }
        return count;
    }

    /** The library reads numbers beyond those of a long by this alone. */
    long u64() throws IOException {
        return in.getNextFormat() == MessageFormat.UINT64
                ? in.unpackBigInteger().longValue() : in.unpackLong();
    }

    static void u64(MessagePacker out, long bits) throws IOException {
        if (bits >= 0) {
            out.packLong(bits);
        } else {
            out.packBigInteger(BigInteger.valueOf(bits & Long.MAX_VALUE).setBit(Long.SIZE - 1));
        }
    }

    static void octets(MessagePacker out, byte[] octets) throws IOException {
        out.packBinaryHeader(octets.length);
        out.writePayload(octets);
    }
}
