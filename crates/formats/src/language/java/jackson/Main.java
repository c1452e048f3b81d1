import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.PropertyNamingStrategy;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.cfg.MapperConfig;
import com.fasterxml.jackson.databind.introspect.AnnotatedField;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import wiregauge_runner.Rejected;
import wiregauge_runner.Serve;

/** The normalized message by Jackson's databind. The mapper is one for the whole process. */
final class Main extends ParsingCodec {
    /** What fields are called on the wire. */
    private static final class Names extends PropertyNamingStrategy {
        private static final long serialVersionUID = 1;
        private final Map<String, String> keys = new HashMap<>();

        Names() {
            Keys.name(keys);
        }

        @Override
        public String nameForField(MapperConfig<?> config, AnnotatedField field, String name) {
            return keys.get(field.getDeclaringClass().getName() + "." + name);
        }
    }

    /** What is written, whose array is handed over without a copy. */
    private static final class Out extends ByteArrayOutputStream {
        ByteBuffer bytes() {
            return ByteBuffer.wrap(buf, 0, count);
        }
    }

    private static final ObjectWriter WRITER;
    private static final ObjectReader READER;

    static {
        ObjectMapper mapper = Mapper.make();
        mapper.setPropertyNamingStrategy(new Names());
        // Records without fields are no mistake here.
        mapper.disable(SerializationFeature.FAIL_ON_EMPTY_BEANS);
        mapper.enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
        WRITER = mapper.writerFor(MessageForm.ROOT);
        READER = mapper.readerFor(MessageForm.ROOT);
    }

    private Out out = new Out();

    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    @Override
    public String library() {
        return Mapper.NAME;
    }

    @Override
    public void admit(Object made) throws Rejected {
        if (Mapper.IS_TEXT && !Finite.message(made)) {
            throw new Rejected("JSON cannot say NaN or an infinity");
        }
    }

    @Override
    public ByteBuffer write(Object item) throws Exception {
        if (buffersReused) {
            out.reset();
        } else {
            out = new Out();
        }
        WRITER.writeValue(out, item);
        return out.bytes();
    }

    @Override
    public Object parse(ByteBuffer wire) throws Exception {
        return READER.readValue(wire.array(), wire.position(), wire.remaining());
    }
}
