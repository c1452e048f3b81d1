import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import wiregauge_runner.Rejected;
import wiregauge_runner.Serve;

/** The normalized message by Kryo. */
final class Main extends ParsingCodec {
    private static final int LEAST = 1 << 12;

    private static final Kryo KRYO = new Kryo();

    static {
        KRYO.setRegistrationRequired(true);
        KRYO.setReferences(false);
        for (Class<?> one : MessageForm.classes()) {
            KRYO.register(one);
            KRYO.register(Array.newInstance(one, 0).getClass());
        }
        for (Class<?> one : new Class<?>[] {
            ArrayList.class, boolean[].class, byte[].class, short[].class, int[].class, long[].class,
            float[].class, double[].class, String[].class, byte[][].class
        }) {
            KRYO.register(one);
        }
    }

    private Output out = new Output(LEAST, -1);
    private final Input in = new Input();

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
    public ByteBuffer write(Object message) {
        if (buffersReused) {
            out.reset();
        } else {
            out = new Output(LEAST, -1);
        }
        KRYO.writeObject(out, message);
        return ByteBuffer.wrap(out.getBuffer(), 0, out.position());
    }

    @Override
    public Object parse(ByteBuffer wire) {
        in.setBuffer(wire.array(), wire.position(), wire.remaining());
        Object message = KRYO.readObject(in, MessageForm.ROOT);
        if (in.position() != in.limit()) {
            throw new IllegalArgumentException("bytes left over after the message");
        }
        return message;
    }
}
