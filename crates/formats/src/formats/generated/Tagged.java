import java.nio.ByteBuffer;
import wiregauge.Protobuf;
import wiregauge_runner.Serve;

/** The normalized message by the holders that wiregauge generates, on Protobuf's wire. */
final class Main extends ParsingCodec {
    private wiregauge.Tagged kept = MessageForm.make();
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
        wiregauge.Tagged made = (wiregauge.Tagged) item;
        byte[] room = room();
        if (room == null) {
            return Protobuf.serialize(made);
        }
        ByteBuffer out = ByteBuffer.wrap(room);
        try {
            Protobuf.serialize(made, out);
        } catch (wiregauge.WireException error) {
            if (error.problem() != wiregauge.WireException.Problem.NO_ROOM) {
                throw error;
            }
            out = ByteBuffer.wrap(room(Protobuf.size(made)));
            Protobuf.serialize(made, out);
        }
        return out.flip();
    }

    @Override
    public Object parse(ByteBuffer wire) throws Exception {
        return Protobuf.deserialize(wire, objectsReused ? kept : MessageForm.make());
    }
}
