import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.MessageLite;
import com.google.protobuf.RuntimeVersion;
import java.nio.ByteBuffer;
import wiregauge_runner.Serve;

/** The normalized message by the classes that Protobuf's own compiler makes. */
final class Main extends ObjectCodec {
    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    @Override
    public String library() {
        return "protobuf-java " + RuntimeVersion.OSS_MAJOR + "." + RuntimeVersion.OSS_MINOR + "."
                + RuntimeVersion.OSS_PATCH;
    }

    @Override
    public boolean remembers() {
        return true; // the size of each message
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
}
