import java.io.IOException;
import java.nio.ByteBuffer;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.core.buffer.ArrayBufferInput;
import wiregauge_runner.Codec;
import wiregauge_runner.Serve;
import wiregauge_runner.Tally;

/** The normalized message by msgpack-core's packer and unpacker, value by value. */
final class Main extends Codec {
    private static final byte[] NOTHING = {};

    private Out out = new Out();
    private final MessagePacker packer = MessagePack.newDefaultPacker(out);
    private final ArrayBufferInput in = new ArrayBufferInput(NOTHING);
    private final MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(in);

    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    @Override
    public String library() {
        return Library.NAME;
    }

    @Override
    public ByteBuffer write(Object message) throws IOException {
        if (!buffersReused) {
            out = new Out();
            packer.reset(out);
        }
        out.size = 0;
        Glue.pack(packer, message);
        packer.flush();
        return ByteBuffer.wrap(out.room, 0, out.size);
    }

    /** The unpacker at the bytes. */
    private MessageUnpacker open(ByteBuffer wire) throws IOException {
        in.reset(wire.array(), wire.position(), wire.remaining());
        unpacker.reset(in);
        return unpacker;
    }

    @Override
    public Object parse(ByteBuffer wire) throws IOException {
        Object message = Glue.unpack(new Values(open(wire), wire.remaining()));
        if (unpacker.hasNext()) {
            throw new IllegalArgumentException("bytes left over after the message");
        }
        return message;
    }

    @Override
    public double project(ByteBuffer wire) throws IOException {
        return Glue.sum(new Values(open(wire), wire.remaining()));
    }

    @Override
    public double fixed(ByteBuffer wire) throws IOException {
        return Glue.fixed(new Values(open(wire), wire.remaining()));
    }

    @Override
    public double element(ByteBuffer wire) throws IOException {
        return Glue.element(new Values(open(wire), wire.remaining()));
    }

    @Override
    public Tally exact(String reading, ByteBuffer wire) throws IOException {
        Values in = new Values(open(wire), wire.remaining());
        switch (reading) {
            case "fixed": return Glue.exactFixed(in);
            case "element": return Glue.exactElement(in);
            default: return Glue.exact(in);
        }
    }
}
