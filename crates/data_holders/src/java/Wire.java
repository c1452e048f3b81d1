package wiregauge;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Wires that write field after field, little-endian unless it says otherwise. */
public enum Wire {
    /** ROS MSG, as ROS 1 writes it: no gaps. */
    ROS_MSG(1, 0, 0, 0),
    /** XCDR version 1, as ROS 2 writes it, without the header of DDS. */
    CDR(8, 1, 0, 0),
    /** XCDR version 1 behind the header of DDS, as in messages and recordings of ROS 2. */
    // DDS fills up to a multiple of four.
    CDR_WITH_HEADER(8, 1, 4, 3),
    /** XCDR version 2 of final types, without the header of DDS. */
    XCDR2(4, 7, 0, 0),
    /** XCDR version 2 of final types behind the header of DDS. */
    XCDR2_WITH_HEADER(4, 7, 4, 3),
    /**
     * The payload of SOME/IP by AUTOSAR's defaults: highest bytes first, no gaps, before texts and
     * lists how many bytes they take, texts between a byte order mark and a zero.
     */
    SOMEIP(1, -1, 0, 0);

    /** The largest alignment of a number. */
    final int alignment;
    /** Whether texts end in a zero, and records without fields take a byte. */
    final boolean isEnded;
    /** Whether a list's length counts bytes, and what may be absent is a list of none or one. */
    final boolean countsBytes;
    /** The bytes of a text beside its letters. */
    final int textFrame;
    /** Whether the size of a list or array of what is no number stands before it. */
    final boolean delimits;
    /** By what DDS tells it. */
    private final int kind;
    /** Bytes before a message. */
    private final int header;
    /** How many bytes may follow one. */
    private final int filling;

    Wire(int alignment, int kind, int header, int filling) {
        this.alignment = alignment;
        this.isEnded = kind != 0;
        this.countsBytes = kind < 0;
        this.textFrame = kind < 0 ? Texts.MARK.length + 1 : kind == 0 ? 0 : 1;
        this.delimits = kind == 7;
        this.kind = kind;
        this.header = header;
        this.filling = filling;
    }

    /**
     * How many bytes a message takes.
     *
     * @param message the message
     * @return its bytes
     * @throws WireException when it may not be written
     */
    public int size(Sequential message) throws WireException {
        Sizer sizer = new Sizer(this);
        message.measure(sizer);
        long size = header + sizer.size();
        if (size > Integer.MAX_VALUE) {
            throw new WireException(WireException.Problem.NO_ROOM);
        }
        return (int) size;
    }

    /**
     * Writes a message into memory of its own.
     *
     * @param message the message
     * @return its bytes, all that is in the buffer's array
     * @throws WireException when it may not be written
     */
    public ByteBuffer serialize(Sequential message) throws WireException {
        ByteBuffer out = ByteBuffer.allocate(size(message));
        put(message, out, 0);
        return out;
    }

    /**
     * Writes a message into a buffer, from its position on, which moves behind it.
     *
     * @param message the message
     * @param out the buffer
     * @throws WireException when it may not be written, or there is no room for it
     */
    public void serialize(Sequential message, ByteBuffer out) throws WireException {
        int size = size(message);
        if (size > out.remaining()) {
            throw new WireException(WireException.Problem.NO_ROOM);
        }
        int at = out.position();
        put(message, out, at);
        out.position(at + size);
    }

    private ByteOrder order() {
        return countsBytes ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    }

    /** Writes into a buffer, whose position and order of bytes are kept. */
    private void put(Sequential message, ByteBuffer out, int at) {
        if (header != 0) {
            out.put(at, (byte) 0).put(at + 1, (byte) kind);
            out.put(at + 2, (byte) 0).put(at + 3, (byte) 0);
        }
        ByteOrder order = out.order();
        try {
            message.write(new Writer(this, out.order(order()), at + header));
        } finally {
            out.order(order).position(at);
        }
    }

    /**
     * Reads a message from all that remains in a buffer, whose position moves to its
     * end. The arrays, lists and records that the message holds are used again, so none
     * of them may be in it twice; what it holds after an error is no message.
     *
     * @param in the bytes
     * @param message what is read into, new or used before
     * @param <T> its type
     * @return the same message
     * @throws WireException when the bytes are no message
     */
    public <T extends Sequential> T deserialize(ByteBuffer in, T message) throws WireException {
        ByteBuffer bytes = in.slice();
        if (header != 0 && (bytes.limit() < header || bytes.get(0) != 0 || bytes.get(1) != kind)) {
            throw new WireException(WireException.Problem.NO_HEADER);
        }
        ByteBuffer body = header == 0 ? bytes : bytes.slice(header, bytes.limit() - header);
        Reader reader = new Reader(this, body.order(order()));
        message.read(reader);
        if (reader.left() > filling) {
            throw new WireException(WireException.Problem.LEFT_OVER);
        }
        in.position(in.limit());
        return message;
    }
}
