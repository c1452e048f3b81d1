import com.google.flatbuffers.FlatBufferBuilder;
import java.nio.ByteBuffer;
import wiregauge_runner.Codec;
import wiregauge_runner.Rejected;
import wiregauge_runner.Serve;
import wiregauge_runner.Tally;

/** The normalized message by flatc's classes, which are read where the bytes are. */
final class Main extends Codec {
    private FlatBufferBuilder builder = new FlatBufferBuilder();

    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    @Override
    public String library() {
        return Library.NAME;
    }

    @Override
    public void admit(Object message) throws Rejected {
        Glue.admit(message);
    }

    @Override
    public ByteBuffer write(Object message) {
        if (buffersReused) {
            builder.clear();
        } else {
            builder = new FlatBufferBuilder();
        }
        builder.finish(Glue.make(builder, message));
        return builder.dataBuffer();
    }

    @Override
    public Object parse(ByteBuffer wire) {
        return Glue.root(wire);
    }

    @Override
    public Object extract(Object root) {
        return Glue.take(root);
    }

    @Override
    public double project(ByteBuffer wire) {
        return Numbers.project(Glue.root(wire));
    }

    @Override
    public double fixed(ByteBuffer wire) {
        return Numbers.fixed(Glue.root(wire));
    }

    @Override
    public double element(ByteBuffer wire) {
        return Numbers.element(Glue.root(wire));
    }

    @Override
    public Tally exact(String reading, ByteBuffer wire) {
        return Numbers.exact(reading, Glue.root(wire));
    }
}
