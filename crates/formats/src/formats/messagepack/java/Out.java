import java.util.Arrays;
import org.msgpack.core.buffer.MessageBuffer;
import org.msgpack.core.buffer.MessageBufferOutput;

/**
 * The packer's output in one array that lives on, where the library's own is in blocks of 8 KiB
 * that would have to be put together.
 */
final class Out implements MessageBufferOutput {
    private static final int LEAST = 1 << 13;

    byte[] room = new byte[LEAST];
    int size;

    private void want(int more) {
        if (room.length - size < more) {
            room = Arrays.copyOf(room, Math.max(2 * room.length, Math.addExact(size, more)));
        }
    }

    @Override
    public MessageBuffer next(int least) {
        want(least);
        return MessageBuffer.wrap(room, size, room.length - size);
    }

    @Override
    public void writeBuffer(int length) {
        size += length;
    }

    @Override
    public void write(byte[] from, int offset, int length) {
        want(length);
        System.arraycopy(from, offset, room, size, length);
        size += length;
    }

    @Override
    public void add(byte[] from, int offset, int length) {
        write(from, offset, length);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
