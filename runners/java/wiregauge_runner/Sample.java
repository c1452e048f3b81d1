package wiregauge_runner;

import java.nio.ByteBuffer;

/** A loaded message and its encoded bytes. */
final class Sample {
    final Object message;
    private final byte[] wire;
    private final ByteBuffer buffer;

    Sample(Object message, byte[] wire) {
        this.message = message;
        this.wire = wire;
        this.buffer = ByteBuffer.wrap(wire);
    }

    int size() {
        return wire.length;
    }

    /** Its bytes, from the first to the last, wherever the last reader left them. */
    ByteBuffer wire() {
        return buffer.clear();
    }
}
