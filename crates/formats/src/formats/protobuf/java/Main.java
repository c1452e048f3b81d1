import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.MessageLite;
import com.google.protobuf.RuntimeVersion;
import java.nio.ByteBuffer;
import wiregauge_runner.Codec;
import wiregauge_runner.Serve;
import wiregauge_runner.Tally;

/** The normalized message by the classes that Protobuf's own compiler makes. */
final class Main extends Codec {
    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    @Override
    public String library() {
        return "protobuf-java " + RuntimeVersion.OSS_MAJOR + "." + RuntimeVersion.OSS_MINOR + "."
                + RuntimeVersion.OSS_PATCH;
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
    public boolean remembers() {
        return true; // the size of each message
    }

    @Override
    public Object populate(Object message) {
        return Glue.make(message);
    }

    @Override
    public ByteBuffer write(Object item) throws Exception {
        MessageLite made = (MessageLite) item;
        int size = made.getSerializedSize();
        byte[] room = room(size);
        CodedOutputStream out = CodedOutputStream.newInstance(room, 0, size);
        made.writeTo(out);
        out.checkNoSpaceLeft();
        return ByteBuffer.wrap(room, 0, size);
    }

    @Override
    public Object parse(ByteBuffer wire) throws Exception {
        return Glue.parse(wire);
    }

    @Override
    public Object extract(Object item) {
        return Glue.take(item);
    }

    @Override
    public double project(ByteBuffer wire) throws Exception {
        return Numbers.project(Glue.parse(wire));
    }

    @Override
    public double fixed(ByteBuffer wire) throws Exception {
        return Numbers.fixed(Glue.parse(wire));
    }

    @Override
    public double element(ByteBuffer wire) throws Exception {
        return Numbers.element(Glue.parse(wire));
    }

    @Override
    public Tally exact(String reading, ByteBuffer wire) throws Exception {
        return Numbers.exact(reading, Glue.parse(wire));
    }
}
