import java.nio.ByteBuffer;
import org.apache.thrift.TConfiguration;
import org.apache.thrift.TException;
import org.apache.thrift.transport.AutoExpandingBufferWriteTransport;
import org.apache.thrift.transport.TMemoryInputTransport;
import org.apache.thrift.transport.TTransportException;
import wiregauge_runner.Rejected;
import wiregauge_runner.Serve;
import wiregauge_runner.Tally;

/** The normalized message by the classes that Thrift's own compiler makes. */
final class Main extends ObjectCodec {
    private static final int LEAST = 1 << 12;

    /** The library's default limit of 100 MB a message is no limit of the format. */
    private static final TConfiguration CONFIGURATION = new TConfiguration(
            Integer.MAX_VALUE, Integer.MAX_VALUE, TConfiguration.DEFAULT_RECURSION_DEPTH);

    private AutoExpandingBufferWriteTransport out;
    private Protocol writer;
    private final TMemoryInputTransport in;
    private Protocol reader;
    private boolean isReading;

    private Main() {
        try {
            in = new TMemoryInputTransport(CONFIGURATION);
            reader = new Protocol(in);
            makeOutput();
        } catch (TTransportException error) {
            throw new IllegalStateException(error);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    private void makeOutput() throws TTransportException {
        out = new AutoExpandingBufferWriteTransport(CONFIGURATION, LEAST, 0);
        writer = new Protocol(out);
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
    public ByteBuffer write(Object item) throws TException {
        if (buffersReused) {
            out.reset();
            writer.reset();
        } else {
            makeOutput();
        }
        Glue.write(item, writer);
        return ByteBuffer.wrap(out.getBuf().array(), 0, out.getLength());
    }

    /** The protocol at the bytes. A read that failed leaves its traces in the one before. */
    private Protocol open(ByteBuffer wire) throws TException {
        if (isReading) {
            reader = new Protocol(in);
        }
        isReading = true;
        in.reset(wire.array(), wire.position(), wire.remaining());
        in.updateKnownMessageSize(wire.remaining());
        reader.reset();
        return reader;
    }

    @Override
    public Object parse(ByteBuffer wire) throws TException {
        Object made = Glue.read(open(wire));
        if (in.getBytesRemainingInBuffer() != 0) {
            throw new IllegalArgumentException("bytes left over after the message");
        }
        isReading = false;
        return made;
    }

    @Override
    public double fixed(ByteBuffer wire) throws TException {
        double found = Glue.fixed(open(wire));
        isReading = false;
        return found;
    }

    @Override
    public double element(ByteBuffer wire) throws TException {
        double found = Glue.element(open(wire));
        isReading = false;
        return found;
    }

    @Override
    public Tally exact(String reading, ByteBuffer wire) throws TException {
        return switch (reading) {
            case "fixed" -> Glue.exactFixed(open(wire));
            case "element" -> Glue.exactElement(open(wire));
            default -> Numbers.exact(reading, parse(wire));
        };
    }
}
