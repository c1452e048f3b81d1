import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import wiregauge_runner.Rejected;
import wiregauge_runner.Serve;
import zserio.runtime.io.BitStreamReader;
import zserio.runtime.io.ByteArrayBitStreamReader;
import zserio.runtime.io.ByteArrayBitStreamWriter;
import zserio.runtime.io.Writer;

/** The normalized message by the classes that zserio's own compiler makes. */
final class Main extends ObjectCodec {
    private ByteArrayBitStreamWriter out = new ByteArrayBitStreamWriter();

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
            out.setBitPosition(0);
        } else {
            out = new ByteArrayBitStreamWriter();
        }
        ((Writer) item).write(out);
        return ByteBuffer.wrap(out.toByteArray());
    }

    @Override
    public Object parse(ByteBuffer wire) throws IOException {
        int from = wire.position();
        int to = wire.limit();
        byte[] array = wire.array();
        // The reader takes an array whole.
        boolean isWhole = from == 0 && to == array.length;
        BitStreamReader in =
                new ByteArrayBitStreamReader(isWhole ? array : Arrays.copyOfRange(array, from, to));
        Object object = Glue.parse(in);
        if (in.getBufferBitSize() - in.getBitPosition() >= 8) {
            throw new IOException("bytes left over after the message");
        }
        return object;
    }
}
