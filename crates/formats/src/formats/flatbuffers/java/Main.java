import com.google.flatbuffers.FlatBufferBuilder;
import java.nio.ByteBuffer;
import wiregauge_runner.Rejected;
import wiregauge_runner.Serve;

/** The normalized message by flatc's classes, which are read where the bytes are. */
final class Main extends ParsingCodec {
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
}
