import java.nio.ByteBuffer;
import org.apache.fory.Fory;
import org.apache.fory.memory.MemoryBuffer;
import wiregauge_runner.Serve;

/** The normalized message by Fory. */
final class Main extends ParsingCodec {
    private static final int LEAST = 1 << 12;

    private static final Fory FORY = Fory.builder()
            .withXlang(false)
            .requireClassRegistration(true)
            .withRefTracking(false)
            .withCompatible(false)
            .withMaxGraphMemoryBytes(1L << 30)
            .build();

    static {
        for (Class<?> one : MessageForm.classes()) {
            FORY.register(one);
        }
    }

    private MemoryBuffer out = MemoryBuffer.newHeapBuffer(LEAST);
    private final MemoryBuffer in = MemoryBuffer.fromByteArray(new byte[0]);

    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    @Override
    public String library() {
        return Library.NAME;
    }

    @Override
    public ByteBuffer write(Object message) {
        if (!buffersReused) {
            out = MemoryBuffer.newHeapBuffer(LEAST);
        }
        out.writerIndex(0);
        FORY.serialize(out, message);
        return ByteBuffer.wrap(out.getHeapMemory(), 0, out.writerIndex());
    }

    @Override
    public Object parse(ByteBuffer wire) {
        in.pointTo(wire.array(), wire.position(), wire.remaining());
        in.readerIndex(0);
        Object message = FORY.deserialize(in);
        if (in.readerIndex() != wire.remaining()) {
            throw new IllegalArgumentException("bytes left over after the message");
        }
        return message;
    }
}
