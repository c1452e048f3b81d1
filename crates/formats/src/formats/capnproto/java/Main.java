import java.io.IOException;
import java.nio.ByteBuffer;
import org.capnproto.ArrayOutputStream;
import org.capnproto.BuilderArena;
import org.capnproto.MessageBuilder;
import org.capnproto.ReaderOptions;
import org.capnproto.Serialize;
import wiregauge_runner.Serve;

/** The normalized message by Cap'n Proto's structs, which are read where the bytes are. */
final class Main extends ParsingCodec {
    private static final int WORD = 8;

    /** Where messages begin; all of it is zero between two. */
    private ByteBuffer first = segment(BuilderArena.SUGGESTED_FIRST_SEGMENT_WORDS);

    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    private static ByteBuffer segment(int words) {
        return ByteBuffer.allocate(words * WORD);
    }

    @Override
    public String library() {
        return Library.NAME;
    }

    @Override
    public ByteBuffer write(Object message) throws IOException {
        MessageBuilder builder =
                buffersReused ? new MessageBuilder(first) : new MessageBuilder();
        Glue.make(builder, message);
        int words = Math.toIntExact(Serialize.computeSerializedSizeInWords(builder));
        byte[] room = room(words * WORD);
        Serialize.write(new ArrayOutputStream(ByteBuffer.wrap(room)), builder);
        if (buffersReused) {
            builder.clearFirstSegment();
            if (first.capacity() < words * WORD) {
                first = segment(words);
            }
        }
        return ByteBuffer.wrap(room, 0, words * WORD);
    }

    @Override
    public Object parse(ByteBuffer wire) throws IOException {
        ReaderOptions usual = ReaderOptions.DEFAULT_READER_OPTIONS;
        long limit = Math.max(usual.traversalLimitInWords, 2L * wire.remaining() / WORD);
        return Glue.root(Serialize.read(wire.slice(), new ReaderOptions(limit, Glue.NESTING)));
    }

    @Override
    public Object extract(Object root) {
        return Glue.take(root);
    }
}
