import java.io.IOException;
import java.nio.ByteBuffer;
import lcm.lcm.LCMDataInputStream;
import lcm.lcm.LCMDataOutputStream;
import lcm.lcm.LCMEncodable;
import wiregauge_runner.Codec;
import wiregauge_runner.Rejected;
import wiregauge_runner.Serve;
import wiregauge_runner.Tally;

/** The normalized message by the classes that LCM's own compiler makes. */
final class Main extends Codec {
    private LCMDataOutputStream out = new LCMDataOutputStream();

    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    @Override
    public String library() {
        return Library.NAME;
    }

    @Override
    public boolean isPhased() {
        return true;
    }

    @Override
    public boolean hasClients() {
        return true;
    }

    @Override
    public void admit(Object message) throws Rejected {
        Nans.refuse(message);
    }

    @Override
    public Object populate(Object message) {
        return Glue.make(message);
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

    @Override
    public Object extract(Object item) {
        return Glue.take(item);
    }

    @Override
    public double project(ByteBuffer wire) throws IOException {
        return Numbers.project(parse(wire));
    }

    @Override
    public double fixed(ByteBuffer wire) throws IOException {
        return Numbers.fixed(parse(wire));
    }

    @Override
    public double element(ByteBuffer wire) throws IOException {
        return Numbers.element(parse(wire));
    }

    @Override
    public Tally exact(String reading, ByteBuffer wire) throws IOException {
        return Numbers.exact(reading, parse(wire));
    }
}
