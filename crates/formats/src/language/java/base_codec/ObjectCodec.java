/** A codec of a library with objects of its own, which {@code Glue} makes and takes apart. */
abstract class ObjectCodec extends ParsingCodec {
    @Override
    public final boolean isPhased() {
        return true;
    }

    @Override
    public final boolean hasClients() {
        return true;
    }

    @Override
    public final Object populate(Object message) {
        return Glue.make(message);
    }

    @Override
    public final Object extract(Object item) {
        return Glue.take(item);
    }
}
