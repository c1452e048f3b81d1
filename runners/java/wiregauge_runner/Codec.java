package wiregauge_runner;

import java.nio.ByteBuffer;

/**
 * A codec; an instance is its scratch: what a user of the library keeps that is no message.
 *
 * <p>A library whose own objects stand between the normalized form and bytes is phased, and has all
 * four of {@code populate}, {@code write}, {@code parse} and {@code extract}.
 */
public abstract class Codec {
    /** Whether objects live on from message to message, where the library can. */
    public boolean objectsReused;

    /** Whether output buffers live on from message to message. */
    public boolean buffersReused = true;

    private byte[] room = new byte[0];

    /** Its name and version. */
    public abstract String library();

    /** Whether there is an object between the normalized form and bytes. */
    public boolean isPhased() {
        return false;
    }

    /**
     * Whether its objects remember what writing them found out, such as their size, so that writing
     * one again is cheaper than a user has it.
     */
    public boolean remembers() {
        return false;
    }

    /**
     * Whether users build and read its object, or the normalized form as if it were that, so that
     * there is the experiment {@code client}.
     */
    public boolean hasClients() {
        return false;
    }

    /** Whether there is {@code verify}: checking apart from reading. */
    public boolean verifies() {
        return false;
    }

    /** Whether decoding and reading trust the bytes. */
    public boolean isUnchecked() {
        return false;
    }

    /**
     * Called once with each message before anything is timed: refuses one that the library would
     * change in silence, so that no check has to be timed.
     */
    public void admit(Object message) throws Rejected {}

    /** The library's object of a message. */
    public Object populate(Object message) throws Exception {
        return message;
    }

    /** The same of values that a client has; where the normalized form is that object, a new one. */
    public Object build(Object message) throws Exception {
        return populate(message);
    }

    /** The bytes of the library's object, between position and limit, until the next call. */
    public abstract ByteBuffer write(Object item) throws Exception;

    /** The library's object in the bytes between position and limit of a buffer with an array. */
    public abstract Object parse(ByteBuffer wire) throws Exception;

    /** The message that the library's object is. */
    public Object extract(Object item) throws Exception {
        return item;
    }

    /** Checks bytes without reading them. */
    public void verify(ByteBuffer wire) throws Exception {}

    /** The sum of all numbers. */
    public abstract double project(ByteBuffer wire) throws Exception;

    /** One number outside of every list; 0 where it is not there. */
    public abstract double fixed(ByteBuffer wire) throws Exception;

    /** One number of the middle element of a list; 0 where it is not there. */
    public abstract double element(ByteBuffer wire) throws Exception;

    /** The numbers that one of these three reads, read in the same way. */
    public abstract Tally exact(String reading, ByteBuffer wire) throws Exception;

    /** The output buffer that lives on, as large as it is; null where buffers do not. */
    protected final byte[] room() {
        return buffersReused ? room : null;
    }

    /** An output buffer of this size at least. */
    protected final byte[] room(int size) {
        if (!buffersReused) {
            return new byte[size];
        }
        if (room.length < size) {
            room = new byte[Math.max(size, 2 * room.length)];
        }
        return room;
    }
}
