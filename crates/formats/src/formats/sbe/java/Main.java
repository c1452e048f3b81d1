import java.nio.ByteBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import wiregauge_runner.Codec;
import wiregauge_runner.Serve;
import wiregauge_runner.Tally;

/** The normalized message by SBE's flyweights. */
final class Main extends Codec {
    private final Glue glue = new Glue();
    private ExpandableArrayBuffer out = new ExpandableArrayBuffer();
    private final UnsafeBuffer in = new UnsafeBuffer(0, 0);

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
            out = new ExpandableArrayBuffer();
        }
        int size = glue.write(out, message);
        return ByteBuffer.wrap(out.byteArray(), 0, size);
    }

    private Glue open(ByteBuffer wire) {
        in.wrap(wire.array(), wire.position(), wire.remaining());
        glue.open(in);
        return glue;
    }

    @Override
    public Object parse(ByteBuffer wire) {
        return open(wire);
    }

    @Override
    public Object extract(Object opened) {
        Object message = glue.take();
        if (glue.limit() != in.capacity()) {
            throw new IllegalArgumentException("bytes left over after the message");
        }
        return message;
    }

    @Override
    public double project(ByteBuffer wire) {
        return open(wire).sum();
    }

    @Override
    public double fixed(ByteBuffer wire) {
        return open(wire).fixed();
    }

    @Override
    public double element(ByteBuffer wire) {
        return open(wire).element();
    }

    @Override
    public Tally exact(String reading, ByteBuffer wire) {
        switch (reading) {
            case "fixed": return open(wire).exactFixed();
            case "element": return open(wire).exactElement();
            default: return open(wire).exact();
        }
    }
}
