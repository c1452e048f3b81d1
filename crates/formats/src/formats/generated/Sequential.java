import java.nio.ByteBuffer;
import wiregauge.Wire;
import wiregauge_runner.Serve;

/** The normalized message by the holders that wiregauge generates, field after field. */
final class Main extends ParsingCodec {
    private static final Wire WIRE = WireName.WIRE;

    private wiregauge.Sequential kept = MessageForm.make();
    private Object built = MessageForm.make();

    public static void main(String[] arguments) throws Exception {
        Serve.serve(Main::new, new MessageForm());
    }

    @Override
    public String library() {
        return WireName.LIBRARY;
    }

    @Override
    public boolean hasClients() {
        return true;
    }

    @Override
    public Object build(Object message) {
        return Building.fill(message, objectsReused ? built : MessageForm.make());
    }

    @Override
    public ByteBuffer write(Object item) throws Exception {
        wiregauge.Sequential made = (wiregauge.Sequential) item;
        byte[] room = room();
        if (room == null) {
            return WIRE.serialize(made);
        }
        ByteBuffer out = ByteBuffer.wrap(room);
        try {
            WIRE.serialize(made, out);
        } catch (wiregauge.WireException error) {
            if (error.problem() != wiregauge.WireException.Problem.NO_ROOM) {
                throw error;
            }
            out = ByteBuffer.wrap(room(WIRE.size(made)));
            WIRE.serialize(made, out);
        }
        return out.flip();
    }

    @Override
    public Object parse(ByteBuffer wire) throws Exception {
        return WIRE.deserialize(wire, objectsReused ? kept : MessageForm.make());
    }
}
