import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.ByteBuffer;
import wiregauge_runner.Serve;

/** The normalized message by Java's own serialization. */
final class Main extends ParsingCodec {
    /** What is written, whose array is handed over without a copy. */
    private static final class Out extends ByteArrayOutputStream {
        ByteBuffer bytes() {
            return ByteBuffer.wrap(buf, 0, count);
        }
    }

    private Out out = new Out();

    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    @Override
    public String library() {
        return "java.io " + Runtime.version();
    }

    @Override
    public ByteBuffer write(Object item) throws Exception {
        if (buffersReused) {
            out.reset();
        } else {
            out = new Out();
        }
        ObjectOutputStream stream = new ObjectOutputStream(out);
        stream.writeObject(item);
        stream.flush();
        return out.bytes();
    }

    @Override
    public Object parse(ByteBuffer wire) throws Exception {
        ByteArrayInputStream in =
                new ByteArrayInputStream(wire.array(), wire.position(), wire.remaining());
        return new ObjectInputStream(in).readObject();
    }
}
