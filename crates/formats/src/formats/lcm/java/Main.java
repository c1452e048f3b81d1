import java.io.IOException;
import java.nio.ByteBuffer;
import lcm.lcm.LCMDataInputStream;
import lcm.lcm.LCMDataOutputStream;
import lcm.lcm.LCMEncodable;
import wiregauge_runner.Rejected;
import wiregauge_runner.Serve;

/** The normalized message by the classes that LCM's own compiler makes. */
final class Main extends ObjectCodec {
    private LCMDataOutputStream out = new LCMDataOutputStream();

    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    @Override
    public String library() {
        return Library.NAME;
    }

    @Override
    public void admit(Object message) throws Rejected {
        Nans.refuse(message);
    }

    @Override
    public ByteBuffer write(Object item) throws IOException {
        if (buffersReused) {
            out.reset();
        } else {
            out = new LCMDataOutputStream();
        }
        ((LCMEncodable) item).encode(out);
        return ByteBuffer.wrap(out.getBuffer(), 0, out.size());
    }

    @Override
    public Object parse(ByteBuffer wire) throws IOException {
        LCMDataInputStream in =
                new LCMDataInputStream(wire.array(), wire.position(), wire.remaining());
        Object object = Glue.parse(in);
        if (in.available() != 0) {
            throw new IOException("bytes left over after the message");
        }
        return object;
    }
}
