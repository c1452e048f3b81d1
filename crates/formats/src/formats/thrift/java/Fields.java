import org.apache.thrift.TException;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolUtil;
import org.apache.thrift.protocol.TType;

/** Goes to a field of a message by the protocol, and skips what stands before. */
final class Fields {
    private Fields() {}

    /** Enters a structure and goes to a field of it; false where it is not there. */
    static boolean find(TProtocol in, int wanted, byte type) throws TException {
        in.readStructBegin();
        for (TField field = in.readFieldBegin(); field.type != TType.STOP;
                field = in.readFieldBegin()) {
            if (field.id == wanted) {
                expect(field.type, type);
                return true;
            }
            TProtocolUtil.skip(in, field.type);
            in.readFieldEnd();
        }
        return false;
    }

    /** Enters a list: how many elements it has. */
    static int list(TProtocol in, byte type) throws TException {
        TList list = in.readListBegin();
        if (list.size != 0) {
            expect(list.elemType, type);
        }
        return list.size;
    }

    static void skip(TProtocol in, byte type, int count) throws TException {
        for (int done = 0; done < count; done++) {
            TProtocolUtil.skip(in, type);
        }
    }

    private static void expect(byte found, byte wanted) {
        if (found != wanted) {
            throw new IllegalArgumentException("a field has another type");
        }
    }
}
