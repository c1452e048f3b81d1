import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DatumReader;
import org.apache.avro.io.DatumWriter;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumReader;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.avro.util.NonCopyingByteArrayOutputStream;
import wiregauge_runner.Serve;
import wiregauge_runner.Tally;

/** The normalized message by the classes that Avro's compiler makes. */
final class Main extends ObjectCodec {
    private static final int LEAST = 1 << 12;

    private static final SpecificData MODEL = new SpecificData();
    private static final DatumWriter<Object> WRITER;
    private static final DatumReader<Object> READER;

    static {
        MODEL.setCustomCoders(true);
        WRITER = new SpecificDatumWriter<>(Glue.SCHEMA, MODEL);
        READER = new SpecificDatumReader<>(Glue.SCHEMA, Glue.SCHEMA, MODEL);
    }

    private NonCopyingByteArrayOutputStream out = new NonCopyingByteArrayOutputStream(LEAST);
    private BinaryEncoder encoder;
    private BinaryDecoder decoder;
    private Object last;

    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    @Override
    public String library() {
        return Library.NAME;
    }

    @Override
    public ByteBuffer write(Object item) throws IOException {
        if (buffersReused) {
            out.reset();
        } else {
            out = new NonCopyingByteArrayOutputStream(LEAST);
        }
        encoder = EncoderFactory.get().binaryEncoder(out, encoder);
        WRITER.write(item, encoder);
        encoder.flush();
        return out.asByteBuffer();
    }

    /** The decoder at the bytes. */
    private BinaryDecoder open(ByteBuffer wire) {
        decoder = DecoderFactory.get().binaryDecoder(
                wire.array(), wire.position(), wire.remaining(), decoder);
        return decoder;
    }

    @Override
    public Object parse(ByteBuffer wire) throws IOException {
        Object made = READER.read(objectsReused ? last : null, open(wire));
        if (!decoder.isEnd()) {
            throw new IllegalArgumentException("bytes left over after the message");
        }
        last = made;
        return made;
    }

    @Override
    public double fixed(ByteBuffer wire) throws IOException {
        return Parts.fixed(open(wire));
    }

    @Override
    public double element(ByteBuffer wire) throws IOException {
        return Parts.element(open(wire));
    }

    @Override
    public Tally exact(String reading, ByteBuffer wire) throws IOException {
        return switch (reading) {
            case "fixed" -> Parts.exactFixed(open(wire));
            case "element" -> Parts.exactElement(open(wire));
            default -> Numbers.exact(reading, parse(wire));
        };
    }
}
